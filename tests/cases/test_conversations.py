"""Faults other programs had with compaction, forks and names of models, provoked again over loopback HTTP."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.compose.application import Application
from bibgenie_desktop.compose.options import Options
from bibgenie_desktop.domain.entries import ModelEntry, ProviderEntry
from bibgenie_desktop.domain.errors import NotAllowed
from bibgenie_desktop.domain.ledger import NAMED, keys_of
from bibgenie_desktop.domain.locators import FULL_KEY, Locator, Resource
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint
from bibgenie_desktop.domain.parts import text_of
from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.services import events
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.services.tools.base import ToolResult
from tests.cli.helpers import command
from tests.domain.paths import words
from tests.fakes import Notebook
from tests.providers.mapped_server import mapped
from tests.scripted_server import ScriptedServer, text, tool_calls
from tests.services.desk import Desk, ask, desk, summary_text
from tests.services.test_checkpoints import compacted, converse

# -- a manual compaction while an automatic one runs


async def under_way(d: Desk, held: threading.Event) -> tuple[Chat, asyncio.Future[None]]:
    """A conversation whose last answer has set off a compaction by itself, which waits."""
    chat = await converse(d, 3, size=850)
    summary = text(summary_text())
    d.server.script(text(f"A4 {words(700)}"), summary.held(held, 0), summary, summary)
    sending = asyncio.ensure_future(chat.send(ask(f"U4 {words(300)}")))
    async with asyncio.timeout(20):
        while chat.state is not SessionState.COMPACTING:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    return chat, sending


def asked_for_summaries(d: Desk) -> int:
    return sum("<span>" in json.dumps(body["messages"]) for body in d.server.bodies)


async def test_pi_7253_compact_while_it_compacts_by_itself_is_refused_with_a_reason_and_runs_nothing_twice(
    tmp_path: Path,
) -> None:
    """earendil-works/pi#7253, little-coder#109. What is asked afterwards is a success without work."""
    held = threading.Event()
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=8_192) as d:
            chat, sending = await under_way(d, held)
            for _ in range(3):
                with pytest.raises(NotAllowed, match="being compacted"):
                    await chat.compact()
            held.set()
            await sending
            assert [e.outcome for e in d.happened(events.CompactionEnded)] == ["done"]
            (checkpoint,) = [m for m in chat.path if isinstance(m, Checkpoint)]
            assert checkpoint.trigger != "manual"
            server.reply_with(lambda body: text(summary_text()))
            outcomes = []
            for _ in range(4):
                requests, path = len(server.requests), chat.path
                await chat.compact()
                outcomes.append(d.happened(events.CompactionEnded)[-1].outcome)
            assert outcomes[-1] == "nothing"
            assert set(outcomes) <= {"done", "nothing"}
            assert d.happened(events.CompactionEnded)[-1].message
            assert (len(server.requests), chat.path, chat.state) == (requests, path, SessionState.IDLE)


async def test_pi_7253_two_clicks_on_compact_are_one_compaction(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            server.script(text(summary_text()))
            outcomes = await asyncio.gather(chat.compact(), chat.compact(), return_exceptions=True)
            assert [type(o) for o in outcomes].count(NotAllowed) == 1
            assert asked_for_summaries(d) == 1
            assert sum(isinstance(m, Checkpoint) for m in chat.path) == 1


# -- works that a summary does not mention


LETTERS = "23456789ABCDEFGHIJKLMNPQRSTUVWXYZ"


def key(n: int) -> str:
    return f"WRKS22{LETTERS[n // 33]}{LETTERS[n % 33]}"


class Shelf:
    """A tool that finds a hundred works at once."""

    spec = Notebook.spec

    async def run(self, arguments: Any) -> ToolResult:
        found = tuple(Resource(Locator("u", "item", item=key(n)), f"Work {n}") for n in range(100))
        return ToolResult("\n".join(f"u-{r.locator.item} {r.title}" for r in found), found, "100 items")


async def test_claude_code_9796_163_works_are_known_after_a_summary_that_names_one(
    tmp_path: Path,
) -> None:
    """claude-code#9796, Kun#747. A hundred found by a tool, sixty-three in a list that the person wrote."""
    ids = {f"u-{key(n)}" for n in range(163)}
    with ScriptedServer() as server:
        async with desk(tmp_path, server, tools=(Shelf(),)) as d:
            chat = await d.chat()
            server.script(tool_calls(("search_items", {"query": "x"})), text(f"A1 {words(400)}"))
            await chat.send(ask("U1 find them"))
            server.script(text(f"A2 {words(400)}"))
            await chat.send(ask("U2 to do: " + ", ".join(f"u-{key(n)}" for n in range(100, 163))))
            await converse(d, 2, chat, first=3)
            checkpoint = await compacted(d, chat, f"one work was u-{key(7)}")
            assert set(FULL_KEY.findall(checkpoint.summary)) == {("u", key(7))}
            assert ids <= keys_of(checkpoint.ledger)
            # What the next request has no room for is counted, and how to read it is said.
            shown = {m[0] for m in FULL_KEY.finditer(checkpoint.ledger_projected)}
            if missing := ids - shown:
                assert f"and {len(missing)} more: read_result" in checkpoint.ledger_projected
            server.script(tool_calls(("read_result", {"handle": "ledger"})), text("A5"))
            await chat.send(ask("U5 which works?"))
            whole = server.bodies[-1]["messages"][-1]
            assert whole["role"] == "tool"
            assert {m[0] for m in FULL_KEY.finditer(str(whole["content"]))} | shown >= ids
            again = await compacted(d, await converse(d, 2, chat, first=6), "nothing of them")
            assert ids <= keys_of(again.ledger)


async def test_an_id_the_person_wrote_gets_its_title_once_a_tool_has_looked_it_up(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server, window=16_384, tools=(Shelf(),)) as d:
            chat = await converse(d, 1)
            server.script(text(f"A2 {words(90)}"))
            await chat.send(ask(f"U2 see u-{key(3)}"))
            await converse(d, 2, chat, first=3)
            first = await compacted(d, chat)
            assert [e.title for e in first.ledger] == [NAMED]
            server.script(tool_calls(("search_items", {"query": "x"})), text(f"A5 {words(90)}"))
            await chat.send(ask("U5"))
            second = await compacted(d, await converse(d, 3, chat, first=6, size=900))
            assert {e.title for e in second.ledger} == {f"Work {n}" for n in range(100)}


# -- a fork that nobody ever typed in


async def test_hermes_71960_a_fork_never_typed_in_is_there_after_a_restart_with_all_its_ancestors(
    tmp_path: Path,
) -> None:
    """NousResearch/hermes-agent#71960. It is in the file at once: a kill right after it loses nothing."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await converse(d, 3)
            answers = [m for m in chat.path if isinstance(m, AssistantMessage)]
            fork = await chat.fork(answers[1].id)
            with closing(sqlite3.connect(tmp_path / "bibgenie.sqlite")) as other:
                stored = other.execute("SELECT count(*) FROM session WHERE id = ?", (fork.id,)).fetchone()
            assert stored == (1,)
            ancestors = chat.path[:4]
        async with desk(tmp_path, server) as d:
            assert fork.id in {row.session.id for row in await d.workspace.sessions()}
            opened = await d.chat(fork.id)
            assert opened.path == ancestors
            assert [text_of(m.parts).split()[0] for m in opened.path] == ["U1", "A1", "U2", "A2"]  # type: ignore[union-attr]
            server.script(text("A3b"))
            await opened.send(ask("U3b"))
            assert d.roles() == "U1 A1 U2 A2 U3b"


# -- a model with a colon in its name

GEMMA = "gemma3:12b"


def ollama(body: Any) -> bytes:
    assert body["model"] == GEMMA
    lines = (
        {"model": GEMMA, "message": {"role": "assistant", "content": "Sleep "}, "done": False},
        {"model": GEMMA, "message": {"role": "assistant", "content": "helps."}, "done": False},
        {"model": GEMMA, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop",
         "prompt_eval_count": 900, "eval_count": 4},
    )  # fmt: skip
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


@pytest.mark.parametrize("kind", ["openai-chat", "ollama"])
async def test_papersgpt_66_gemma3_12b_is_added_asked_and_still_chosen_after_a_restart(
    tmp_path: Path, kind: str
) -> None:
    """papersgpt#66; beaver#302: without a key, and without a header for one."""
    ref = f"here/{GEMMA}"
    shown = {"capabilities": ["completion"], "model_info": {"gemma3.context_length": 131_072}}
    paths = {
        "/api/tags": {"models": [{"name": GEMMA, "model": GEMMA}]},
        "/api/show": shown,
        "/api/ps": {"models": []},
        "/api/version": {"version": "0.12.0"},
        "/api/chat": ollama,
    }
    with ScriptedServer(models=(GEMMA,)) as server, mapped(paths) as native:
        server.reply_with(lambda body: text("Sleep ", "helps."))
        base = server.base_url if kind == "openai-chat" else native.root
        options = Options(data_dir=tmp_path / "data", home=tmp_path, environment={})
        app = Application(options)
        await app.open()
        try:
            entry = ProviderEntry("here", kind, base, (ModelEntry(GEMMA),))
            async for step in app.providers.test(entry, None, GEMMA):
                last = step
            assert type(last).__name__ == "Passed", last
            await app.providers.put(entry)
            chat = await app.workspace.chat((await app.workspace.new_session()).id)
            await chat.choose_model(ref)
            await chat.send(ask("Does sleep help?"))
            answer = chat.path[-1]
            assert isinstance(answer, AssistantMessage)
            assert (text_of(answer.parts), answer.status) == ("Sleep helps.", "complete")
            assert answer.model == ref
        finally:
            await app.close()
        app = Application(options)
        await app.open()
        try:
            again = await app.workspace.chat(chat.session_id)
            await again.send(ask("And naps?"))
            assert text_of(again.path[-1].parts) == "Sleep helps."  # type: ignore[union-attr]
        finally:
            await app.close()
        looked = await asyncio.to_thread(
            command, "--data-dir", tmp_path / "data", "inspect", "projection", "--model", ref
        )
        assert looked.json["body"]["model"] == GEMMA
        if kind == "openai-chat":
            assert {body["model"] for body in server.bodies} == {GEMMA}
            assert all("authorization" not in r.headers for r in server.requests)
        else:
            assert native.asked.count("/api/chat") >= 3
            assert all("authorization" not in headers for _, _, headers in native.seen)
