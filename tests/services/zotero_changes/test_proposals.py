"""A proposal from the model's call to Zotero and back: card, journal, crash, late answers, undo."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.domain.messages import AssistantMessage
from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.services import events
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.services.tools.base import Card, Decision, ToolResult
from bibgenie_desktop.services.tools.propose_change import ProposeChange
from bibgenie_desktop.storage.journal import NOT_ANSWERED, NOT_SENT
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.zotero.notes.note_citations import cited_ids
from bibgenie_desktop.zotero.notes.note_markdown import note_markdown
from bibgenie_desktop.zotero.online.changes import NoteChange
from tests.scripted_server import ScriptedServer, text, tool_calls
from tests.services.desk import ask
from tests.services.zotero_changes.helpers import FOLDER, PAPER, PDF, Workbench, call_of, put_into, workbench
from tests.zotero.online.helpers import MemoryKeyring
from tests.zotero.online.zotero_server import ZoteroServer

QUOTE = "An equal period of wakefulness produced no significant change."
NOTE = (
    f'# Sleep\n\nSpeed rose by **a fifth** [[{PDF} p.2 "{QUOTE}"]]; see [@{PAPER}, p. 12].\n\n- $x^2$\n- two'
)
CALL: dict[str, Any] = {"kind": "note", "target": PAPER, "content": NOTE}


async def proposed(bench: Workbench, server: ScriptedServer, call: dict[str, Any] = CALL) -> tuple[Chat, Any]:
    """A chat whose turn waits for the person, and the turn."""
    chat = await bench.on.chat()
    server.script(tool_calls(("propose_change", call)), text("Done."))
    running = asyncio.ensure_future(chat.send(ask("Save this as a note")))
    await bench.on.until(events.CardOpened)
    return chat, running


def card_of(bench: Workbench) -> Card:
    card = bench.on.happened(events.CardOpened)[-1].card
    assert isinstance(card, Card)
    return card


async def test_a_proposed_note_is_on_the_server_with_its_citations_after_it_is_accepted(
    tmp_path: Path,
) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            put_into(zotero, bench.library.contents)
            chat, running = await proposed(bench, server)
            card = card_of(bench)
            assert "Walker et al. 2002: Practice with Sleep Makes Perfect" in card.target
            assert (card.kind, card.content, card.refusal) == ("note", NOTE, "")
            assert zotero.writes == []
            assert await bench.kinds() == ["proposed"]
            zotero.dialog("always")
            chat.answer_card(Decision("accepted"))
            await running

            (note,) = zotero.notes
            assert note["parentItem"] == PAPER.partition("-")[2]
            assert cited_ids(note["note"]) == (PAPER,)
            assert "users%2Flocal%2FsAmPlE01%2Fitems" in note["note"]  # this library was never synced
            assert 'class="highlight"' in note["note"]  # the person had underlined these words
            back = note_markdown(note["note"], "u")
            assert back.startswith("# Sleep\n\nSpeed rose by **a fifth** “An equal period")
            assert back.endswith("- $x^2$\n- two")
            call = call_of(chat)
            assert (call.state, call.note) == ("done", "accepted")
            assert f"u-{note['key']}" in call.result
            assert await bench.kinds() == ["proposed", "accepted", "sending", "written"]
            assert chat.state is SessionState.IDLE

            (shown,) = await bench.proposals(chat)
            assert shown.state == "written"
            assert shown.link == f"zotero://select/library/items/{note['key']}"
            assert (await bench.changes.undo(shown.call_id)).written
            assert zotero.item(note["key"])["deleted"] == 1
            assert await bench.kinds() == ["proposed", "accepted", "sending", "written", "undo", "undone"]
            (shown,) = await bench.proposals(chat)
            assert (shown.state, shown.link) == ("undone", "")


async def test_an_edited_note_is_written_as_edited_and_the_model_is_told(tmp_path: Path) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            put_into(zotero, bench.library.contents)
            zotero.dialog("always")
            chat, running = await proposed(bench, server)
            chat.answer_card(Decision("edited", "My *own* words"))
            await running
            (note,) = zotero.notes
            assert "<p>My <em>own</em> words</p>" in note["note"]
            assert "My *own* words" in call_of(chat).result
            assert await bench.kinds() == ["proposed", "edited", "sending", "written"]
            (shown,) = await bench.proposals(chat)
            assert (shown.card.content, shown.card.edited) == (NOTE, "My *own* words")


@pytest.mark.parametrize("kind", ["declined", "copied"])
async def test_what_is_declined_or_copied_is_not_written(tmp_path: Path, kind: Any) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            put_into(zotero, bench.library.contents)
            chat, running = await proposed(bench, server)
            chat.answer_card(Decision(kind))
            await running
            assert zotero.writes == []
            assert await bench.kinds() == ["proposed", kind]
            assert call_of(chat).state == ("denied" if kind == "declined" else "done")
            assert call_of(chat).note == kind


async def test_tags_and_collections_are_changed_and_taken_back(tmp_path: Path) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            put_into(zotero, bench.library.contents)
            zotero.dialog("always")
            key = PAPER.partition("-")[2]
            before = dict(zotero.item(key))
            chat, running = await proposed(
                bench, server, {"kind": "tags", "target": PDF, "content": "to read\n-sleep"}
            )
            assert (card_of(bench).add, card_of(bench).remove) == (("to read",), ("sleep",))
            chat.answer_card(Decision("accepted"))
            await running
            server.script(
                tool_calls(("propose_change", {"kind": "collection", "target": PAPER, "content": "aging"})),
                text("Ok"),
            )
            running = asyncio.ensure_future(chat.send(ask("File it")))
            await bench.on.until(events.CardOpened, 2)
            assert card_of(bench).add == ("Aging",)
            chat.answer_card(Decision("accepted"))
            await running
            names = {t["tag"] for t in zotero.item(key)["tags"]}
            assert "to read" in names
            assert "sleep" not in names
            assert "KIMFRIEP" in zotero.item(key)["collections"]
            for shown in await bench.proposals(chat):
                assert shown.state == "written"
                assert (await bench.changes.undo(shown.call_id)).written
            after = zotero.item(key)
            assert {t["tag"] for t in after["tags"]} == {t["tag"] for t in before["tags"]}
            assert after["collections"] == before["collections"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ({"kind": "delete", "target": PAPER, "content": "x"}, "kind is one of: note, tags, collection."),
        ({"kind": "note", "target": PAPER, "content": " "}, "content is missing"),
        ({"kind": "note", "target": "u-ZZZZ2222", "content": "x"}, "There is no u-ZZZZ2222"),
        ({"kind": "note", "target": "", "content": "x"}, "target is missing"),
        ({"kind": "note", "target": PAPER, "content": "[[u-ZZZZ2222 p.1]]"}, "cites what is not there"),
        ({"kind": "tags", "target": PAPER, "content": "sleep"}, "has these tags already"),
        ({"kind": "tags", "target": PAPER, "content": "-nowhere"}, "Its tags: "),
        ({"kind": "tags", "target": PAPER, "content": "a\n-a"}, "added and removed at once"),
        ({"kind": "tags", "target": PAPER, "content": "t" * 300}, "at most 255"),
        ({"kind": "tags", "target": "u", "content": "a"}, "is not an id"),
        ({"kind": "collection", "target": PAPER, "content": "Nothing"}, "There are: Aging, History"),
        ({"kind": "collection", "target": PAPER, "content": "-Aging"}, "is not in: Aging"),
        ({"kind": "collection", "target": PAPER, "content": "Procedural memory"}, "already"),
        ({"kind": "note", "target": PAPER, "content": "x", "where": "y"}, "Unknown argument where"),
    ],
)
async def test_a_proposal_that_does_not_fit_teaches_what_would(
    tmp_path: Path, call: dict[str, Any], words: str
) -> None:
    with ScriptedServer() as server:
        async with workbench(tmp_path, server, None) as bench:
            chat = await bench.on.chat()
            server.script(tool_calls(("propose_change", call)), text("Sorry."))
            await chat.send(ask("Save it"))
            assert call_of(chat).state == "error"
            assert words in call_of(chat).result
            assert bench.on.happened(events.CardOpened) == []
            assert await bench.kinds() == []


async def test_half_characters_and_control_signs_never_reach_zotero(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with workbench(tmp_path, server, None) as bench:
            change = bench.changes.builder.change("note", PAPER, "a\ud800b \x07c")
            assert isinstance(change, NoteChange)
            assert change.html == '<div data-schema-version="9"><p>a\ufffdb c</p></div>'
            assert change.html.encode()


async def test_a_note_longer_than_zotero_can_sync_is_refused_before_it_is_shown(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with workbench(tmp_path, server, None) as bench:
            tool = ProposeChange(bench.library, bench.changes)
            found = await tool.propose({"kind": "note", "target": PAPER, "content": "x" * 260_000})
            assert isinstance(found, ToolResult)
            assert "too long" in found.text


@pytest.mark.parametrize(
    ("target", "parent", "collections"),
    [(PDF, "FQ3D7P4Y", None), (FOLDER, None, ["92C6IZP8"]), ("u", None, None), ("My Library", None, None)],
)
async def test_a_note_goes_where_it_was_meant_to(
    tmp_path: Path, target: str, parent: str | None, collections: list[str] | None
) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            put_into(zotero, bench.library.contents)
            zotero.dialog("once")
            chat, running = await proposed(bench, server, {"kind": "note", "target": target, "content": "x"})
            chat.answer_card(Decision("accepted"))
            await running
            (note,) = zotero.notes
            assert (note.get("parentItem"), note.get("collections")) == (parent, collections)


async def test_where_nothing_can_be_written_the_card_says_what_to_switch_on(tmp_path: Path) -> None:
    with ScriptedServer() as server, ZoteroServer(enabled=False) as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            put_into(zotero, bench.library.contents)
            chat, running = await proposed(bench, server)
            assert "Allow other applications" in card_of(bench).refusal
            chat.answer_card(Decision("accepted"))
            await running
            assert call_of(chat).state == "error"
            assert "Allow other applications" in call_of(chat).result
            (shown,) = await bench.proposals(chat)
            assert shown.state == "failed"

            zotero.enabled = True  # as the card said
            zotero.dialog("always")
            outcome = await bench.changes.accept(shown.call_id, Decision("accepted"), told_in=chat.session_id)
            assert outcome.written
            assert len(zotero.notes) == 1
            news = [s.news for s in bench.settled if s.news is not None]
            assert len(news) == 1
            assert f"u-{zotero.notes[0]['key']}" in news[0].sent
            assert news[0].locator.kind == "note"


async def test_the_sample_library_is_never_written_to(tmp_path: Path) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero, forbidden="Not the sample.") as bench:
            chat, running = await proposed(bench, server)
            assert card_of(bench).refusal == "Not the sample."
            chat.answer_card(Decision("accepted"))
            await running
            assert zotero.requests == []
            assert await bench.kinds() == ["proposed", "accepted", "failed"]


async def test_a_proposal_that_nobody_answered_before_the_end_can_be_accepted_later(tmp_path: Path) -> None:
    keyring = MemoryKeyring()
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero, keyring) as bench:
            chat, running = await proposed(bench, server)
            running.cancel()  # the application is closed
            await asyncio.gather(running, return_exceptions=True)
        async with workbench(tmp_path, server, zotero, keyring) as bench:
            put_into(zotero, bench.library.contents)
            chat = await bench.on.chat(chat.session_id)
            call = call_of(chat)
            assert (call.state, call.result) == ("interrupted", NOT_ANSWERED)
            (shown,) = await bench.proposals(chat)
            assert shown.state == "proposed"
            assert shown.card.content == NOTE
            zotero.dialog("always")
            assert (
                await bench.changes.accept(call.id, Decision("edited", "Later"), told_in=chat.session_id)
            ).written
            assert [n["note"] for n in zotero.notes] == ['<div data-schema-version="9"><p>Later</p></div>']
            (news,) = [s.news for s in bench.settled if s.news is not None]
            assert "Later" in news.sent
            assert bench.settled[-1].session_id == chat.session_id
            assert call_of(chat).result == NOT_ANSWERED  # what is stored stays


async def test_a_crash_between_yes_and_zoteros_answer_writes_once(tmp_path: Path) -> None:
    keyring = MemoryKeyring()
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero, keyring) as bench:
            put_into(zotero, bench.library.contents)
            zotero.dialog("always")
            chat, running = await proposed(bench, server)
            zotero.cut_after_next_write = True  # written, but nobody hears of it
            chat.answer_card(Decision("accepted"))
            await running
            assert len(zotero.notes) == 1
            assert await bench.kinds() == ["proposed", "accepted", "sending", "unknown"]
        async with workbench(tmp_path, server, zotero, keyring) as bench:
            chat = await bench.on.chat(chat.session_id)
            (shown,) = await bench.proposals(chat)
            outcome = await bench.changes.accept(shown.call_id, Decision("accepted"), told_in=chat.session_id)
            assert outcome.written
            assert len(zotero.notes) == 1
            assert (await bench.journal())[-1].content["already"] is True


async def test_accepting_twice_at_once_writes_once(tmp_path: Path) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            put_into(zotero, bench.library.contents)
            chat, running = await proposed(bench, server)
            chat.stop()
            await running
            zotero.dialog("always")
            call = call_of(chat).id
            both = [
                bench.changes.accept(call, Decision("accepted"), told_in=chat.session_id) for _ in range(3)
            ]
            outcomes = await asyncio.gather(*both)
            assert all(o.written for o in outcomes)
            assert len(zotero.notes) == 1
            assert await bench.kinds() == ["proposed", "accepted", "sending", "written"]
            assert len([s for s in bench.settled if s.news is not None]) == 1


async def test_stop_while_zotero_asks_writes_nothing_and_the_proposal_stays(tmp_path: Path) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            put_into(zotero, bench.library.contents)
            chat, running = await proposed(bench, server)
            chat.answer_card(Decision("accepted"))
            while not zotero.asked:  # noqa: ASYNC110 - the server is in another thread
                await asyncio.sleep(0.01)
            chat.stop()
            await running
            answer = chat.path[-1]
            assert isinstance(answer, AssistantMessage)
            assert answer.status == "stopped"
            zotero.dialog("always")
            while "failed" not in await bench.kinds():  # noqa: ASYNC110 - the write ends by itself
                await asyncio.sleep(0.01)
            assert zotero.writes == []
            (shown,) = await bench.proposals(chat)
            assert shown.state == "failed"


async def test_quitting_while_zotero_asks_leaves_nothing_behind_and_is_told_at_the_next_start(
    tmp_path: Path,
) -> None:
    keyring = MemoryKeyring()
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero, keyring, closing_s=0.1) as bench:
            put_into(zotero, bench.library.contents)
            chat, running = await proposed(bench, server)
            chat.answer_card(Decision("accepted"))
            while not zotero.asked:  # noqa: ASYNC110 - the server is in another thread
                await asyncio.sleep(0.01)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        zotero.dialog("always")  # answered after the end
        async with workbench(tmp_path, server, zotero, keyring) as bench:
            chat = await bench.on.chat(chat.session_id)
            assert call_of(chat).result == NOT_SENT
            (shown,) = await bench.proposals(chat)
            assert shown.state == "failed"
            assert "before anything was sent" in shown.words
            assert zotero.writes == []
            zotero.dialog("always")
            assert (await bench.changes.accept(shown.call_id, Decision("accepted"))).written
            assert len(zotero.notes) == 1


async def test_a_declined_proposal_can_still_be_declined_later_but_not_undone(tmp_path: Path) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            chat, running = await proposed(bench, server)
            chat.stop()
            await running
            call = call_of(chat).id
            await bench.changes.decline(call)
            assert await bench.kinds() == ["proposed", "declined"]
            assert not (await bench.changes.undo(call)).written
            assert zotero.writes == []


async def test_what_cannot_be_taken_back_says_why_and_stays_written(tmp_path: Path) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            put_into(zotero, bench.library.contents)
            zotero.dialog("always")
            chat, running = await proposed(bench, server)
            chat.answer_card(Decision("accepted"))
            await running
            note = zotero.notes[0]
            note["note"], note["version"] = "<p>Mine now</p>", zotero.touch("u")
            outcome = await bench.changes.undo(call_of(chat).id)
            assert not outcome.written
            (shown,) = await bench.proposals(chat)
            assert shown.state == "kept"
            assert "changed in Zotero since" in shown.words
            assert shown.link


async def test_the_journal_holds_no_words_of_a_note(tmp_path: Path) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            put_into(zotero, bench.library.contents)
            zotero.dialog("always")
            chat, running = await proposed(bench, server)
            chat.answer_card(Decision("edited", "Secret thoughts"))
            await running
            await bench.changes.undo(call_of(chat).id)
            whole = str([e.content for e in await bench.journal()])
            assert "Secret" not in whole
            assert "fifth" not in whole
            await bench.on.workspace.trash(chat.session_id)
            await bench.on.store.run(Store.empty_trash)
            assert await bench.on.store.run(Store.proposal, call_of(chat).id) is None
            assert await bench.kinds() == ["proposed", "edited", "sending", "written", "undo", "undone"]
