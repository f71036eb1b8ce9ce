"""`inspect sessions|tree|checkpoints` while the window's store is open."""

from __future__ import annotations

from pathlib import Path

from bibgenie_desktop.domain.locators import Locator
from bibgenie_desktop.domain.messages import Session
from bibgenie_desktop.domain.parts import Draft, TextPart
from bibgenie_desktop.storage.store import Store
from tests.cli.helpers import command
from tests.storage.helpers import (
    LEDGER,
    MODEL,
    compacted,
    conversation,
    damaged,
    database,
    opened,
    reply_id,
    turn,
)


def inspect(data: Path, what: str, session: Session | None = None):
    named = ("--session", session.id) if session else ()
    return command("--data-dir", data, "inspect", what, *named).json


def test_sessions_are_listed_with_their_state_newest_first(data: Path, store: Store) -> None:
    old, _, answers = conversation(store, 1)
    fork = store.fork(old.id, answers[0].id, "Größe 漢字")
    asked, _, _ = store.send(fork.id, fork.head, (TextPart("q"),), reply_id(store), MODEL)
    store.save_draft(old.id, None, Draft("later"))
    store.pin(old.id, True)
    trashed = store.trash(store.create_session("gone", "").id)
    found = inspect(data, "sessions")
    assert [row["id"] for row in found] == [trashed.id, fork.id, old.id]
    assert found[1] == {
        "id": fork.id,
        "title": "Größe 漢字",
        "tree": old.tree_id,
        "leaf": asked.leaf_id,
        "revision": 1,
        "model": MODEL,
        "origin": {"session": old.id, "message": answers[0].id},
        "pinned": False,
        "trashed": False,
        "pending": True,
        "has_draft": False,
        "updated": asked.updated_at,
    }
    assert (found[2]["pinned"], found[2]["has_draft"], found[2]["origin"]) == (True, True, None)
    assert found[0]["trashed"]


def test_no_sessions_are_an_empty_list(data: Path, store: Store) -> None:
    assert inspect(data, "sessions") == []


def test_changes_to_zotero_are_listed_with_what_came_of_them(data: Path, store: Store) -> None:
    session, _, answers = conversation(store, 1)
    one, other = f"{answers[0].id}/1", f"{answers[0].id}/2"
    store.propose(one, session.id, {"text": "words of the note"}, {"kind": "note"})
    store.propose(other, session.id, {}, {"kind": "tags"})
    store.journal_entry(one, session.id, "accepted")
    store.journal_entry(one, session.id, "written", {"key": "ABCD2345"})
    store.trash(session.id)
    store.empty_trash()
    first, second = inspect(data, "changes")
    assert (first["id"], first["state"], first["session"]) == (one, "written", session.id)
    assert [entry["kind"] for entry in first["entries"]] == ["proposed", "accepted", "written"]
    assert first["entries"][2]["facts"] == {"key": "ABCD2345"}
    assert all(entry["time"] > 0 for entry in first["entries"])
    assert (second["id"], second["state"]) == (other, "proposed")
    assert "words of the note" not in str((first, second))


def test_no_changes_are_an_empty_list(data: Path, store: Store) -> None:
    assert inspect(data, "changes") == []


def test_a_tree_shows_every_branch_and_who_points_where(data: Path, store: Store) -> None:
    session, asked, answers = conversation(store, 2)
    store.retry(session.id, session.head, asked[1].id, reply_id(store), "other/model")
    other = store.finish(session.id, "stopped", "", (TextPart("b2"),), ())
    fork = store.fork(session.id, answers[0].id, "fork")
    found = inspect(data, "tree", session)
    assert {node["id"] for node in found["nodes"]} == {m.id for m in (*asked, *answers, other.message)}
    assert next(n for n in found["nodes"] if n["id"] == other.message.id) == {
        "id": other.message.id,
        "parent_id": asked[1].id,
        "kind": "assistant",
        "status": "stopped",
        "depth": 3,
        "model": "other/model",
        "created_at": other.message.created_at,
        "words": "b2",
    }
    assert found["active_path"] == [asked[0].id, answers[0].id, asked[1].id, other.message.id]
    assert {s["id"]: s["leaf"] for s in found["sessions"]} == {
        session.id: other.message.id,
        fork.id: answers[0].id,
    }
    assert (found["ok"], found["bad_id"], found["unreadable"]) == (True, None, [])


def test_the_tree_of_a_damaged_session_shows_what_can_be_read_and_why(data: Path, path: Path) -> None:
    with opened(path) as store:
        session, asked, answers = conversation(store, 3)
    damaged(path, ("UPDATE message SET parts = '[' WHERE id = ?", (answers[1].id,)))
    found = inspect(data, "tree", session)
    reason = "The content is not readable JSON."
    assert (found["ok"], found["bad_id"], found["reason"]) == (False, answers[1].id, reason)
    assert found["unreadable"] == [{"id": answers[1].id, "reason": reason}]
    assert found["active_path"] == [asked[0].id, answers[0].id, asked[1].id, asked[2].id, answers[2].id]
    assert len(found["nodes"]) == 6


def test_checkpoints_name_what_each_newly_replaced(data: Path, store: Store) -> None:
    session, asked, answers = conversation(store, 3)
    session, first = compacted(store, session, answers[2], asked[2].id)
    head = session.head
    session, asked_4, answer_4 = turn(store, session, "q4", "a4")
    session, second = compacted(store, session, answer_4, None)
    found = inspect(data, "checkpoints", session)
    assert [c["id"] for c in found] == [first.id, second.id]
    assert found[0] == {
        "id": first.id,
        "trigger": "manual",
        "head": {"leaf_id": answers[2].id, "branch_revision": head.branch_revision - 1},
        "boundary": asked[2].id,
        "span": [asked[0].id, answers[0].id, asked[1].id, answers[1].id],
        "model": MODEL,
        "tokens_before": 48_000,
        "tokens_after": 6_000,
        "time": first.created_at,
        "imported": False,
        "resources": [
            {
                "id": "u-BBBB3333",
                "locator": {
                    "lib": "u",
                    "kind": "pdf",
                    "item": "AAAA2222",
                    "att": "BBBB3333",
                    "page_index": 3,
                },
                "title": "A paper",
                "count": 2,
                "last_used": 4,
                "pinned": False,
            }
        ],
    }
    assert LEDGER[0].locator == Locator("u", "pdf", "AAAA2222", "BBBB3333", page_index=3)
    assert found[1]["boundary"] is None
    assert found[1]["span"] == [asked[2].id, answers[2].id, asked_4.id, answer_4.id]


def test_a_refreshed_checkpoint_newly_replaces_nothing(data: Path, store: Store) -> None:
    session, asked, answers = conversation(store, 3)
    session, first = compacted(store, session, answers[2], asked[2].id)
    session, _ = compacted(store, session, first, asked[2].id)
    assert [len(c["span"]) for c in inspect(data, "checkpoints", session)] == [4, 0]


def test_a_fork_before_the_checkpoint_has_none(data: Path, store: Store) -> None:
    session, asked, answers = conversation(store, 3)
    fork = store.fork(session.id, answers[1].id, "fork")
    compacted(store, session, answers[2], asked[2].id)
    assert inspect(data, "checkpoints", fork) == []
    assert len(inspect(data, "checkpoints", session)) == 1


def test_checkpoints_of_a_damaged_session_are_those_behind_the_break(data: Path, path: Path) -> None:
    with opened(path) as store:
        session, asked, answers = conversation(store, 4)
        session, checkpoint = compacted(store, session, answers[3], asked[2].id)
    damaged(path, ("UPDATE message SET parts = '[' WHERE id = ?", (answers[0].id,)))
    said = command("--data-dir", data, "inspect", "checkpoints", "--session", session.id)
    assert said.code == 0
    assert said.err == "This conversation is damaged. The content is not readable JSON.\n"
    assert checkpoint.id in said.out
    assert '"span": null' in said.out


def test_the_newest_session_is_meant_where_none_is_named(data: Path, store: Store) -> None:
    conversation(store, 1)
    newest, _, _ = conversation(store, 1)
    store.trash(store.create_session("gone", "").id)
    assert inspect(data, "tree")["session"] == newest.id


def test_the_beginning_of_an_id_is_enough_if_only_one_begins_so(
    tmp_path: Path, data: Path, path: Path
) -> None:
    assert path == database(tmp_path)
    with opened(path, start=1) as store:
        first = store.create_session("first", MODEL)
    with opened(path, start=2_000_000) as store:
        second = store.create_session("second", MODEL)
        shared = 0
        while first.id[shared] == second.id[shared]:
            shared += 1
        unique = second.id[: shared + 1].upper()
        assert (
            command("--data-dir", data, "inspect", "tree", "--session", unique).json["session"] == second.id
        )
        said = command("--data-dir", data, "inspect", "tree", "--session", first.id[:shared])
    assert said.code == 2
    assert said.err == (
        f"The id “{first.id[:shared]}” is the beginning of 2 sessions' ids. Give more of it. "
        "`bibgenie-desktop inspect sessions` lists them all.\n"
    )
