"""The journal of writes to Zotero: append-only, a state for each proposal, outliving its conversation."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.messages import Session
from bibgenie_desktop.domain.parts import Part, TextPart, ToolPart
from bibgenie_desktop.storage.journal import NOT_ANSWERED, NOT_KNOWN, NOT_SENT, EntryKind
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.turns import INTERRUPTED_CALL, STOPPED_CALL
from tests.storage.helpers import MODEL, count, opened, plain, reply_id, rows

CARD = {"title": "Save this?", "content": "secret words"}
REST = "call_id, session_id, message_id, kind, content, created_at"
FACTS = {"kind": "note", "target": "u-AAAA2222"}


def asked(store: Store) -> tuple[Session, str]:
    """A conversation whose answer is under way, and the id of the proposal in it."""
    session = store.create_session("Notes", MODEL)
    session, _, pending = store.send(session.id, session.head, (TextPart("Save it"),), reply_id(store), MODEL)
    return session, f"{pending.message_id}/0"


def proposed(store: Store) -> tuple[Session, str]:
    session, call = asked(store)
    store.propose(call, session.id, CARD, FACTS)
    parts: tuple[Part, ...] = (ToolPart(call, "propose_change", {}, "pending", 0),)
    store.save_pending(session.id, parts, ())
    return session, call


def ended_call(store: Store, session: Session) -> ToolPart:
    found = store.open_branch(session.id).path
    assert isinstance(found, tuple)
    part = found[-1].parts[0]  # type: ignore[union-attr]
    assert isinstance(part, ToolPart)
    return part


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE journal SET kind = 'written'",
        "UPDATE OR IGNORE journal SET content = ''",
        "DELETE FROM journal",
        "INSERT OR REPLACE INTO journal SELECT * FROM journal",
        "REPLACE INTO journal SELECT * FROM journal",
        f"INSERT OR REPLACE INTO journal SELECT seq, 'other', {REST} FROM journal",
        f"INSERT OR REPLACE INTO journal SELECT 99, id, {REST} FROM journal",
        "INSERT INTO journal SELECT * FROM journal WHERE 1 ON CONFLICT (id) DO UPDATE SET kind = 'x'",
    ],
)
def test_a_journal_entry_cannot_be_changed(store: Store, path: Path, statement: str) -> None:
    proposed(store)
    before = rows(path, "SELECT * FROM journal")
    assert len(before) == 1
    with plain(path) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(statement)
    assert rows(path, "SELECT * FROM journal") == before


def test_the_state_of_a_proposal_is_its_newest_entry(store: Store) -> None:
    session, call = proposed(store)
    store.journal_entry(call, session.id, "edited", {"key": "NOTE2345"})
    store.journal_entry(call, session.id, "written", {"key": "NOTE2345", "version": 7})
    found = store.proposal(call)
    assert found is not None
    assert (found.newest, found.content) == ("written", CARD)
    assert [e.kind for e in found.entries] == ["proposed", "edited", "written"]
    assert found.entries[0].content == FACTS
    last = found.last("accepted", "edited")
    assert last is not None
    assert last.content == {"key": "NOTE2345"}
    assert store.proposals([MessageId(call.rpartition("/")[0])]) == (found,)
    assert store.proposals([MessageId("other")]) == ()


def test_the_order_of_entries_is_that_of_writing_whatever_the_clock_says(path: Path) -> None:
    with opened(path, start=10_000) as store:
        session, call = proposed(store)
        store.journal_entry(call, session.id, "accepted")
        store.recover()
    with opened(path, start=1) as store:  # the clock was set back
        store.journal_entry(call, session.id, "written")
        found = store.proposal(call)
        assert found is not None
        assert [e.kind for e in found.entries] == ["proposed", "accepted", "written"]


def test_the_order_of_proposals_is_that_of_proposing_whatever_the_clock_and_the_ids_say(path: Path) -> None:
    made = [9, 10, 2, 11, 0]
    with opened(path, start=10_000) as store:
        session, call = asked(store)
        answer = call.rpartition("/")[0]
        for number in made[:3]:
            store.propose(f"{answer}/{number}", session.id, CARD, FACTS)
    with opened(path, start=1) as store:  # the clock was set back
        for number in made[3:]:
            store.propose(f"{answer}/{number}", session.id, CARD, FACTS)
        found = store.proposals([MessageId(answer)])
        assert [p.call_id for p in found] == [f"{answer}/{number}" for number in made]


def test_proposing_the_same_call_again_keeps_the_first(store: Store) -> None:
    session, call = proposed(store)
    store.propose(call, session.id, {"content": "other"}, {})
    assert [e.kind for e in store.journal(call)] == ["proposed"]
    found = store.proposal(call)
    assert found is not None
    assert found.content == CARD


@pytest.mark.parametrize("end", ["interrupted", "stopped", "crash"])
def test_a_proposal_without_an_answer_is_told_as_not_answered(path: Path, end: str) -> None:
    with opened(path) as store:
        session, call = proposed(store)
        if end != "crash":
            parts: tuple[Part, ...] = (ToolPart(call, "propose_change", {}, "pending", 0),)
            store.finish(session.id, end, "", parts, ())  # type: ignore[arg-type]
    with opened(path, start=10_000) as store:
        store.recover()
        part = ended_call(store, session)
        assert part.state == ("cancelled" if end == "stopped" else "interrupted")
        assert part.result == part.sent == NOT_ANSWERED
        found = store.proposal(call)
        assert found is not None
        assert found.newest == "proposed"


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        (["accepted"], NOT_SENT),
        (["edited"], NOT_SENT),
        (["accepted", "sending"], NOT_KNOWN),
        (["accepted", "sending", "unknown"], NOT_KNOWN),
    ],
)
def test_a_proposal_accepted_before_a_crash_says_what_is_known(
    store: Store, kinds: list[EntryKind], told: str
) -> None:
    session, call = proposed(store)
    for kind in kinds:
        store.journal_entry(call, session.id, kind)
    store.recover()
    assert ended_call(store, session).result == told


def test_other_calls_say_what_they_said_before(store: Store) -> None:
    for status, sentence in (("stopped", STOPPED_CALL), ("interrupted", INTERRUPTED_CALL)):
        session, call = asked(store)
        parts: tuple[Part, ...] = (ToolPart(call, "search_items", {}, "pending", 0),)
        store.finish(session.id, status, "", parts, ())  # type: ignore[arg-type]
        assert ended_call(store, session).result == sentence


def test_emptying_the_trash_takes_the_words_of_a_proposal_and_leaves_what_was_done(
    store: Store, path: Path
) -> None:
    session, call = proposed(store)
    store.journal_entry(call, session.id, "accepted", {"key": "NOTE2345"})
    store.journal_entry(call, session.id, "written", {"key": "NOTE2345"})
    store.recover()
    store.trash(session.id)
    store.empty_trash()
    assert count(path, "session") == count(path, "message") == count(path, "proposal") == 0
    assert [e.kind for e in store.journal()] == ["proposed", "accepted", "written"]
    assert "secret words" not in "".join(map(str, rows(path, "SELECT * FROM journal")))


def test_half_characters_in_a_proposal_are_stored_as_replacement_characters(store: Store) -> None:
    session, call = asked(store)
    store.propose(call, session.id, {"content": "a\ud800b"}, {"title": "\udfff"})
    found = store.proposal(call)
    assert found is not None
    assert found.content == {"content": "a\ufffdb"}
