"""Writes that got no answer: nobody claims to know, nothing is done twice, and only our own is taken back."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.services.tools.base import Decision
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.zotero.online.attempts import Attempt, attempt_from_json
from tests.scripted_server import ScriptedServer, text, tool_calls
from tests.services.desk import ask
from tests.services.zotero_changes.helpers import PAPER, Workbench, call_of, put_into, workbench
from tests.services.zotero_changes.test_proposals import CALL, proposed
from tests.zotero.online.helpers import MemoryKeyring, writing
from tests.zotero.online.zotero_server import Rights, ZoteroServer

TAGS: dict[str, Any] = {"kind": "tags", "target": PAPER, "content": "brand new\nanother"}
FILING: dict[str, Any] = {"kind": "collection", "target": PAPER, "content": "u-SD2TZ5K3"}
YES = Decision("accepted")
ITEM = PAPER.partition("-")[2]


async def answered(
    bench: Workbench, server: ScriptedServer, zotero: ZoteroServer, call: dict[str, Any] = CALL
) -> Chat:
    """A proposal whose turn has ended with what the server made of it."""
    put_into(zotero, bench.library.contents)
    zotero.dialog("always")
    chat, running = await proposed(bench, server, call)
    chat.answer_card(YES)
    await running
    return chat


async def state(bench: Workbench, chat: Chat) -> str:
    *_, shown = await bench.proposals(chat)
    return shown.state


@pytest.mark.parametrize("status", [None, 500, 502, 503, 504, 408, 429])
async def test_what_was_not_answered_is_not_known(tmp_path: Path, status: int | None) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            zotero.cut_after_next_write, zotero.say_after_next_write = status is None, status
            chat = await answered(bench, server, zotero)
            result = call_of(chat).result
            assert "not known" in result
            assert "nothing was written" not in result.lower()
            (shown,) = await bench.proposals(chat)
            assert shown.state == "unknown"
            assert "may have been written" in shown.words
            assert (await bench.changes.accept(shown.call_id, YES, told_in=chat.session_id)).written
            assert len(zotero.notes) == 1
            assert (await bench.changes.undo(shown.call_id)).written
            assert zotero.notes[0]["deleted"] == 1


async def test_a_note_that_arrives_late_and_the_one_sent_again_are_one(tmp_path: Path) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            zotero.cut_before_next_write = True
            chat = await answered(bench, server, zotero)
            (late,) = zotero.writes
            (note,) = late.body

            def arrives() -> None:
                zotero.seed("items", note["key"], **{k: v for k, v in note.items() if k != "key"})

            zotero.before_next_write = arrives  # after it was looked for, and before it is sent again
            assert (await bench.changes.accept(call_of(chat).id, YES)).written
            assert len(zotero.notes) == 1


@pytest.mark.parametrize("first", ["deny", "cut", 429, 403])
async def test_a_persons_own_note_with_the_same_words_is_never_ours(tmp_path: Path, first: object) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            put_into(zotero, bench.library.contents)
            zotero.dialog("always")
            chat, running = await proposed(bench, server)
            chat.answer_card(YES)
            await running
            (first_note,) = zotero.notes
            hers = {k: v for k, v in first_note.items() if k not in ("key", "version")}
            await bench.changes.undo(call_of(chat).id)
            del zotero.libraries["u"].items[first_note["key"]]
            zotero.seed("items", "PERS2345", **hers)  # she has made the same note herself

            zotero.granted.clear()
            zotero.dialog("deny" if first == "deny" else "always")
            zotero.cut_before_next_write = first == "cut"
            if isinstance(first, int):
                zotero.refuse_next = first, "no"
            server.script(tool_calls(("propose_change", CALL)), text("Done."))
            running = asyncio.ensure_future(chat.send(ask("Once more")))
            while chat.state is not SessionState.AWAITING_APPROVAL:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            chat.answer_card(YES)
            await running
            call = call_of(chat).id
            assert await state(bench, chat) in ("failed", "unknown")
            zotero.dialog("always")
            assert (await bench.changes.accept(call, YES)).written
            assert len(zotero.notes) == 2
            assert (await bench.changes.undo(call)).written
            assert "deleted" not in zotero.item("PERS2345")
            assert sum(bool(n.get("deleted")) for n in zotero.notes) == 1


@pytest.mark.parametrize("call", [TAGS, FILING], ids=["tags", "collection"])
async def test_lists_without_an_answer_can_be_taken_back(tmp_path: Path, call: dict[str, Any]) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            put_into(zotero, bench.library.contents)
            before = dict(zotero.item(ITEM))
            zotero.cut_after_next_write = True
            chat = await answered(bench, server, zotero, call)
            assert await state(bench, chat) == "unknown"
            outcome = await bench.changes.accept(call_of(chat).id, YES)
            assert outcome.written
            assert "added" in outcome.words
            assert (await bench.changes.undo(call_of(chat).id)).written
            after = zotero.item(ITEM)
            assert sorted(map(str, after["tags"])) == sorted(map(str, before["tags"]))
            assert after["collections"] == before["collections"]


async def test_an_edit_after_an_unknown_result_does_not_write_a_second_note(tmp_path: Path) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            zotero.cut_after_next_write = True
            chat = await answered(bench, server, zotero)
            call = call_of(chat).id
            assert (await bench.changes.accept(call, Decision("edited", "Other words"))).written
            assert len(zotero.notes) == 1
            (shown,) = await bench.proposals(chat)
            assert shown.card.edited == ""  # the card says what is in Zotero
            assert (await bench.changes.undo(call)).written
            assert zotero.notes[0]["deleted"] == 1


async def test_another_zotero_gets_nothing_while_it_is_not_known(tmp_path: Path) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            zotero.cut_after_next_write = True
            chat = await answered(bench, server, zotero)
            zotero.server_id = "server-two"
            writes = len(zotero.writes)
            outcome = await bench.changes.accept(call_of(chat).id, YES)
            assert outcome.unknown
            assert "Another Zotero answers" in outcome.words
            assert len(zotero.writes) == writes
            assert await state(bench, chat) == "unknown"
            zotero.server_id = "server-one"
            assert (await bench.changes.accept(call_of(chat).id, YES)).written
            assert len(zotero.notes) == 1


async def test_the_other_way_is_not_taken_while_it_is_not_known(tmp_path: Path) -> None:
    keyring = MemoryKeyring({"zotero-web": "K"})
    with (
        ScriptedServer() as server,
        ZoteroServer() as zotero,
        ZoteroServer("web", keys={"K": Rights()}) as org,
    ):
        ways = writing(keyring, local=zotero.local, web=org.web)
        async with workbench(tmp_path, server, zotero, keyring, ways=ways) as bench:
            put_into(org, bench.library.contents)
            zotero.cut_after_next_write = True
            chat = await answered(bench, server, zotero)
            zotero.enabled = False
            assert (await bench.changes.accept(call_of(chat).id, YES)).unknown
            assert org.notes == []
            zotero.enabled = True
            assert (await bench.changes.accept(call_of(chat).id, YES)).written
            assert (len(zotero.notes), len(org.notes)) == (1, 0)


async def test_declining_looks_whether_it_was_written(tmp_path: Path) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            zotero.cut_after_next_write = True
            chat = await answered(bench, server, zotero)
            zotero.enabled = False
            with pytest.raises(UserError, match="not known yet"):
                await bench.changes.decline(call_of(chat).id)
            assert await state(bench, chat) == "unknown"
            zotero.enabled = True
            with pytest.raises(UserError, match="had been written"):
                await bench.changes.decline(call_of(chat).id)
            assert await state(bench, chat) == "written"


async def test_declining_what_never_arrived_declines_it(tmp_path: Path) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            zotero.cut_before_next_write = True
            chat = await answered(bench, server, zotero)
            assert await state(bench, chat) == "unknown"
            await bench.changes.decline(call_of(chat).id)
            assert await state(bench, chat) == "declined"
            assert zotero.notes == []


async def test_a_note_that_was_trashed_meanwhile_is_not_told_as_in_zotero(tmp_path: Path) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            zotero.cut_after_next_write = True
            chat = await answered(bench, server, zotero)
            zotero.notes[0]["deleted"] = 1
            outcome = await bench.changes.accept(call_of(chat).id, YES)
            assert not outcome.written
            assert "trash" in outcome.words
            (shown,) = await bench.proposals(chat)
            assert (shown.state, shown.link) == ("undone", "")


@pytest.mark.parametrize("call", [CALL, TAGS], ids=["note", "tags"])
async def test_what_is_gone_for_good_has_nothing_to_take_back(tmp_path: Path, call: dict[str, Any]) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            chat = await answered(bench, server, zotero, call)
            key = zotero.notes[0]["key"] if call is CALL else ITEM
            del zotero.libraries["u"].items[key]
            assert "not in Zotero any more" in (await bench.changes.undo(call_of(chat).id)).words
            (shown,) = await bench.proposals(chat)
            assert (shown.state, shown.link) == ("undone", "")
            assert "not in Zotero any more" in shown.words


async def test_an_application_that_ended_before_sending_says_so_and_one_after_does_not_know(
    tmp_path: Path,
) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            put_into(zotero, bench.library.contents)
            chat, running = await proposed(bench, server)
            chat.stop()
            await running
            call = call_of(chat).id
            await bench.on.store.run(Store.journal_entry, call, chat.session_id, "accepted")
            (shown,) = await bench.proposals(chat)
            assert shown.state == "failed"
            assert "before anything was sent" in shown.words
            kept = {"route": "local", "server_id": "server-one", "digest": "0", "change": _note("GQNE2345")}
            await bench.on.store.run(Store.journal_entry, call, chat.session_id, "sending", kept)
            assert await state(bench, chat) == "unknown"
            zotero.dialog("always")
            assert (await bench.changes.accept(call, YES)).written
            assert len(zotero.notes) == 1


async def test_a_proposal_is_written_into_the_library_it_was_made_for_or_nowhere(tmp_path: Path) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            put_into(zotero, bench.library.contents)
            chat, running = await proposed(bench, server)
            chat.stop()
            await running
            (shown,) = await bench.proposals(chat)
            assert shown.card.home
            elsewhere = {**shown.card.to_json(), "home": "users/77@0123456789ab"}
            await bench.on.store.run(Store.revise_proposal, shown.call_id, elsewhere)
            outcome = await bench.changes.accept(shown.call_id, YES)
            assert not outcome.written
            assert "another Zotero library" in outcome.words
            assert zotero.writes == []


async def test_an_answer_that_makes_no_sense_leaves_a_card_that_can_look_again(tmp_path: Path) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with workbench(tmp_path, server, zotero) as bench:
            ways = bench.ways
            real = ways.apply

            async def apply(*what: Any, record: Any, **how: Any) -> Any:
                await real(*what, record=record, **how)
                raise RecursionError

            ways.apply = apply  # type: ignore[method-assign]
            chat = await answered(bench, server, zotero)
            assert await state(bench, chat) == "unknown"
            ways.apply = real  # type: ignore[method-assign]
            assert (await bench.changes.accept(call_of(chat).id, YES)).written
            assert len(zotero.notes) == 1


def _note(key: str) -> dict[str, Any]:
    return {"kind": "note", "library": "u", "markdown": "", "html": "", "parent": ITEM, "key": key}


def test_attempts_of_another_form_are_told() -> None:
    for odd in ({}, {"change": 3}, {"change": {"kind": "x"}}, {"change": _note("K"), "sort": 1}):
        with pytest.raises(ValueError, match="not a"):
            attempt_from_json(odd)
    assert isinstance(attempt_from_json({"change": _note("K"), "route": "local"}), Attempt)
