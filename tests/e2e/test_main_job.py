"""The main job over real HTTP and a library of 2,000 items, each request foreseen by the command line."""

from __future__ import annotations

import asyncio
import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.compose.application import Application
from bibgenie_desktop.compose.options import Options
from bibgenie_desktop.domain.messages import Checkpoint
from bibgenie_desktop.domain.parts import Draft, ToolPart, text_of
from bibgenie_desktop.services.chat import Chat
from tests.cli.helpers import command
from tests.scripted_server import ScriptedServer, text, tool_calls
from tests.services.desk import summary_text


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Zotero data directory with 2,000 items, made by the shared generator."""
    generator = Path(__file__).parents[3] / "shared" / "fixtures" / "make_zotero_library.py"
    if not generator.is_file():
        pytest.skip("the generator of libraries in ../shared is not here")
    folder = tmp_path_factory.mktemp("zotero")
    order = [sys.executable, str(generator), "--out", str(folder), "--items", "2000", "--max-files", "20"]
    subprocess.run(order, check=True, capture_output=True)
    return folder / "Zotero"


def fingerprint(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class Job:
    """One session, whose every request is looked at before it is sent."""

    def __init__(
        self, app: Application, chat: Chat, server: ScriptedServer, data: Path, library: Path
    ) -> None:
        self.app = app
        self.chat = chat
        self.server = server
        self.data = data
        self.library = library

    async def foreseen(self) -> Mapping[str, Any]:
        def look() -> Any:
            options = ("--data-dir", self.data, "--zotero-dir", self.library)
            return command(*options, "inspect", "projection", "--session", self.chat.session_id).json

        return await asyncio.to_thread(look)

    async def send(self, question: str) -> None:
        """Sends and checks that the first request is the one foreseen with the stored draft."""
        await self.app.workspace.save_draft(self.chat.session_id, None, Draft(question))
        foreseen = await self.foreseen()
        count = len(self.server.requests)
        await self.chat.send(Draft(question))
        assert self.server.bodies[count] == json.loads(json.dumps(foreseen["body"]))

    def kinds(self) -> str:
        """What the last request held: C, then the first word of each spoken message."""
        words = []
        for message in self.server.bodies[-1]["messages"]:
            said = message.get("content") or ""
            if message["role"] in ("user", "assistant") and said:
                words.append("C" if said.startswith("<checkpoint>") else said.split()[0])
        return " ".join(words)


@pytest.mark.patience(120)
async def test_ask_read_cite_branch_compact_restart(tmp_path: Path, library: Path) -> None:
    before = fingerprint(library)
    data = tmp_path / "data"
    data.mkdir()
    with ScriptedServer() as server:
        (data / "config.toml").write_text(
            f'[[provider]]\nid = "t"\nkind = "openai-chat"\nbase_url = "{server.base_url}"\n'
            'models = [{ id = "scripted", context_window = 60000 }]\n[defaults]\nmodel = "t/scripted"\n'
        )
        options = Options(data_dir=data, zotero_dir=library)
        app = Application(options)
        await app.open()
        try:
            assert app.library is not None
            await app.load_library()
            assert app.library.status.items >= 1_900
            session = await app.workspace.new_session()
            chat = await app.workspace.chat(session.id)
            job = Job(app, chat, server, data, library)
            await first_questions(job)
            await branch(job)
            await compact(job)
        finally:
            await app.close()

        app = Application(options)
        await app.open()
        try:
            job = Job(app, await app.workspace.chat(session.id), server, data, library)
            server.script(text("A4 after the restart."))
            await job.send("U4 And then?")
            assert job.kinds() == "C U3 A3 U4"
        finally:
            await app.close()
    assert fingerprint(library) == before


async def first_questions(job: Job) -> None:
    """A question answered by searching and reading a PDF, its quote checked; then two more."""
    attachment: list[str] = []

    def read_best(body: Any) -> Any:
        found = body["messages"][-1]["content"]
        rows = json.loads(found.split("\n", 1)[1].rsplit("\n", 1)[0])["items"]
        attachment.append(next(a["id"] for row in rows for a in row["attachments"] if a["kind"] == "pdf"))
        return tool_calls(("read_document", {"attachment_id": attachment[0], "pages": "1"}))

    def cite(body: Any) -> Any:
        page = body["messages"][-1]["content"]
        block = json.loads(page.split("\n", 1)[1].rsplit("\n", 1)[0])["pages"][0]["text"]
        quote = next(s for s in block.replace("\n", " ").split(". ") if 30 < len(s) < 200 and '"' not in s)
        return text(f'A1 It says so. [[{attachment[0]} p.1 "{quote}"]] {"word " * 300}')

    answers = iter((read_best, cite))
    job.server.script(tool_calls(("search_items", {"query": "overnight motor skill sleep"})))
    job.server.reply_with(lambda body: next(answers)(body))
    await job.send("U1 How large is the overnight gain?")
    answer = job.chat.path[-1]
    checked = await job.app.workspace.check_citations(text_of(answer.parts))
    assert [c.state for c in checked.values()] == ["verified"]
    assert [c.link.startswith("zotero://open-pdf/library/items/") for c in checked.values()] == [True]
    assert [p.state for p in answer.parts if isinstance(p, ToolPart)] == ["done", "done"]
    for n in (2, 3):
        job.server.script(text(f"A{n} {'word ' * 300}"))
        await job.send(f"U{n} More, please.")


async def branch(job: Job) -> None:
    """Retry, edit and fork send what their place in the tree says; then back to the first branch."""
    chat, server = job.chat, job.server
    home = chat.path[-1].id
    server.script(text("A3b"), text("A2b"), text("A9"))
    await chat.retry(home)
    assert job.kinds() == "U1 A1 U2 A2 U3"
    await chat.edit(chat.path[2].id, Draft("U2b Other words"))
    assert job.kinds() == "U1 A1 U2b"
    fork = await job.app.workspace.chat((await chat.fork(chat.path[1].id)).id)
    await Job(job.app, fork, server, job.data, job.library).send("U9 In the fork")
    assert job.kinds() == "U1 A1 U9"
    await chat.switch_to(home)
    assert chat.path[-1].id == home


async def compact(job: Job) -> None:
    job.server.script(text(summary_text()))
    await job.chat.compact()
    checkpoint = job.chat.path[-1]
    assert isinstance(checkpoint, Checkpoint)
    assert checkpoint.first_kept_id == job.chat.path[4].id
    assert {e.locator.kind for e in checkpoint.ledger if e.locator} >= {"item", "pdf"}
