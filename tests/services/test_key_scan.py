"""The key of a provider is nowhere it could be found.

After a run in which everything goes wrong, the database, the logs at their most talkative, exports, `inspect`
and tracebacks are searched for it.
"""

from __future__ import annotations

import base64
import logging
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from bibgenie_desktop.compose.application import Application
from bibgenie_desktop.compose.options import Options
from bibgenie_desktop.domain.entries import ModelEntry, ProviderEntry, ProviderKind
from bibgenie_desktop.domain.errors import ProviderError
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.services.planner import request_of
from tests.cli.helpers import command
from tests.scripted_server import Reply, ScriptedServer, cut, error, html, raw, sse, text
from tests.services.desk import ask

KEY = "Zq7-scan-0815-abcdefghijkl"  # of no form that could be recognised
FORMS = (KEY, quote(KEY), base64.b64encode(KEY.encode()).decode().rstrip("="), KEY[3:])


def echoing() -> tuple[Reply, ...]:
    """What a careless server may answer: the key in every place a message can stand."""
    begun = sse({"choices": [{"index": 0, "delta": {"content": "Ha"}}]})
    mid = raw(begun, sse({"error": {"message": f"key {KEY}"}}))
    return (
        error(401, f"Incorrect API key provided: {KEY}. Find yours at https://example.com"),
        error(400, f"bad request for {KEY}"),
        error(403, f"{KEY} may not"),
        error(429, f"limit reached for {KEY}", code="rate_limit_exceeded"),
        error(500, body=f"fault with Authorization: Bearer {KEY}"),
        error(418, body={"error": {"message": "no", "metadata": {"raw": f"x-api-key: {KEY}"}}}),
        html(403, f"<html><p>{KEY}</p></html>"),
        html(200, f"<html><p>{KEY}</p></html>"),
        raw(f"data: not json {KEY}\n\n".encode()),
        raw(f'{{"error": "{KEY}"}}'.encode(), content_type="application/json"),
        mid,
        cut("Half an answer"),
    )  # fmt: skip


@pytest.fixture
def talkative(tmp_path: Path) -> Iterator[Path]:
    """Everything that is logged, by us and by the libraries, in a file and with tracebacks."""
    folder = tmp_path / "data" / "logs"
    folder.mkdir(parents=True)
    handler = logging.FileHandler(folder / "everything.log", encoding="utf-8")
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(1)
    yield folder / "everything.log"
    root.setLevel(level)
    root.removeHandler(handler)
    handler.close()


def found_in(content: bytes) -> list[str]:
    return [form for form in FORMS if form.encode() in content or form.encode("utf-16-le") in content]


def without_source(told: str) -> str:
    """A traceback without the lines of this test that write the key themselves."""
    return "\n".join(line for line in told.splitlines() if "{KEY}" not in line)


@pytest.mark.parametrize("kind", ["openai-chat", "openai-responses", "anthropic", "gemini", "ollama"])
@pytest.mark.patience(90)
async def test_key_is_nowhere_after_a_run_in_which_everything_fails(
    kind: ProviderKind, tmp_path: Path, talkative: Path
) -> None:
    environment = {"BIBGENIE_LAB_API_KEY": KEY}
    options = Options(data_dir=tmp_path / "data", home=tmp_path, environment=environment)
    told: list[str] = []
    with ScriptedServer() as server:
        app = Application(options)
        await app.open()
        try:
            base = server.base_url if kind.startswith("openai") else server.root_url
            entry = ProviderEntry("lab", kind, base, (ModelEntry("scripted", 50_000, 1_000),))
            await app.providers.put(entry)
            chat = await app.workspace.chat((await app.workspace.new_session("", "lab/scripted")).id)
            chat.subscribe(lambda event: told.append(repr(event)))
            for reply in echoing():
                server.script(reply)
                server.reply_with(lambda body, reply=reply: reply)  # a busy server is asked again
                await chat.send(ask("Does it work now?"))
                server._replies.clear()
                told += [f"{step!r}" async for step in app.providers.test(entry)]
                server._replies.clear()
            server.reply_with(lambda body: text("Fine."))
            told += await raised(app, chat, server)
        finally:
            await app.close()
        assert any("authorization" in r.headers or "x-api-key" in r.headers or "x-goog-api-key" in r.headers
                   for r in server.requests)  # fmt: skip
    for name in ("sessions", "tree", "projection", "checkpoints"):
        said = command("--data-dir", tmp_path / "data", "inspect", name)
        told += [said.out, said.err]
    for form in ("md", "html", "json"):
        said = command(
            "--data-dir", tmp_path / "data", "export", "--session", chat.session_id, "--format", form
        )
        assert said.code == 0
        told += [said.out, said.err]
    assert len(told) > 50
    search(told, tmp_path / "data", talkative)


def search(told: list[str], folder: Path, log: Path) -> None:
    for each in told:
        assert not found_in(each.encode()), each[:400]
    assert log.stat().st_size > 1_000
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    assert {"bibgenie.sqlite", "config.toml", log.name} <= {path.name for path in files}
    for path in files:
        assert not found_in(path.read_bytes()), path


async def raised(app: Application, chat: Chat, server: ScriptedServer) -> list[str]:
    """The tracebacks, causes included, of what a provider raises."""
    found = []
    profile = app.workspace.models.profile("lab/scripted")
    request = request_of(await chat.plan(ask("x")))
    working = app.workspace.models.provider(profile)
    await app.providers.put(replace(app.providers.providers()[0], base_url="http://127.0.0.1:9/v1"))
    for provider, reply in [(working, reply) for reply in echoing()] + [
        (app.workspace.models.provider(profile), text())
    ]:
        server.reply_with(lambda body, reply=reply: reply)
        try:
            async for _ in provider.stream(request):
                pass
        except ProviderError as error:
            found.append(without_source("".join(traceback.format_exception(error))))
    assert len(found) > 8
    return found


def test_no_core_dump_is_written_of_a_process_that_holds_keys(tmp_path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("Windows has no such limit")
    code = (
        "import asyncio, resource, sys; from pathlib import Path;"
        "from bibgenie_desktop.compose.application import Application\n"
        "from bibgenie_desktop.compose.options import Options\n"
        "async def main():\n"
        "    app = Application(Options(data_dir=Path(sys.argv[1]), home=Path(sys.argv[1]), environment={}))\n"
        "    await app.open(); print(resource.getrlimit(resource.RLIMIT_CORE)[0]); await app.close()\n"
        "asyncio.run(main())"
    )
    command = f'ulimit -c unlimited 2>/dev/null; exec "{sys.executable}" -c "$0" "$1"'
    run = subprocess.run(
        ["sh", "-c", command, code, str(tmp_path / "data")],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert run.stdout.strip() == "0"


def test_the_scan_finds_a_key_where_there_is_one() -> None:
    assert found_in(f"Bearer {KEY}".encode())
    assert found_in(KEY.encode("utf-16-le"))
    assert found_in(base64.b64encode(KEY.encode()))
    assert not found_in(b"sk-another-key")
