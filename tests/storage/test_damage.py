"""Damaged files: shown with a reason, read-only, and not a byte changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import NotAllowed, StoreUnavailable
from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.messages import Checkpoint
from bibgenie_desktop.domain.parts import Draft, TextPart
from bibgenie_desktop.domain.topology import DamagedBranch, Placeholder
from bibgenie_desktop.storage.store import Store, open_reader
from tests.storage.helpers import (
    MODEL,
    Counting,
    compacted,
    conversation,
    damaged,
    opened,
    plain,
    reply_id,
    tree_rows,
    turn,
)

Change = tuple[str, tuple[object, ...]]


class Broken:
    """q1 a1 q2 a2 q3 a3 C(boundary q3) q4 a4, closed, with the ids by name; and another session beside it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with opened(path) as store:
            other, other_asked, _ = conversation(store, 1)
            session, asked, answers = conversation(store, 3)
            session, checkpoint = compacted(store, session, answers[2], asked[2].id)
            session, last, last_answer = turn(store, session, "q4", "a4")
        self.session: SessionId = session.id
        self.other = other.id
        self.id: dict[str, MessageId] = {f"q{n + 1}": message.id for n, message in enumerate(asked)}
        self.id |= {f"a{n + 1}": message.id for n, message in enumerate(answers)}
        self.id |= {
            "c": checkpoint.id,
            "q4": last.id,
            "a4": last_answer.id,
            "other": other_asked[0].id,
            "other tree": MessageId(other.tree_id),
            "missing": MessageId("018bcfe5-0000-7000-8000-000000000000"),
        }

    def name(self, message_id: MessageId) -> str:
        return next(name for name, i in self.id.items() if i == message_id)

    def change(self, sql: str, *names: str) -> None:
        damaged(self.path, (sql, tuple(self.id.get(name, name) for name in names)))


@pytest.fixture
def broken(path: Path) -> Broken:
    return Broken(path)


PARENT = "UPDATE message SET parent_id = ? WHERE id = ?"
CASES: dict[str, tuple[tuple[str, ...], str, str, list[str]]] = {
    "missing parent": ((PARENT, "missing", "q2"), "missing", "missing", ["q2", "a2", "q3", "a3", "c"]),
    "deleted message": (
        ("DELETE FROM message WHERE id = ?", "a1"),
        "a1",
        "missing",
        ["q2", "a2", "q3", "a3", "c"],
    ),
    "cycle": ((PARENT, "a4", "q2"), "q2", "circle", ["a2", "q3", "a3", "c"]),
    "self-parent": ((PARENT, "q2", "q2"), "q2", "itself", ["a2", "q3", "a3", "c"]),
    "broken JSON": (
        ("UPDATE message SET parts = substr(parts, 1, 9) WHERE id = ?", "a2"),
        "a2",
        "JSON",
        ["q1", "a1", "q2", "q3", "a3", "c"],
    ),
    "a run of NULs": (
        ("UPDATE message SET parts = CAST(zeroblob(40) AS TEXT) WHERE id = ?", "a2"),
        "a2",
        "JSON",
        ["q1", "a1", "q2", "q3", "a3", "c"],
    ),
    "bytes that are no text": (
        ("UPDATE message SET parts = CAST(X'5B22FFFE225D' AS TEXT) WHERE id = ?", "a2"),
        "a2",
        "object",
        ["q1", "a1", "q2", "q3", "a3", "c"],
    ),
    "a blob": (
        ("UPDATE message SET parts = X'00' WHERE id = ?", "a2"),
        "a2",
        "not text",
        ["q1", "a1", "q2", "q3", "a3", "c"],
    ),
    "unknown part": (
        ("""UPDATE message SET parts = '[{"type": "hologram"}]' WHERE id = ?""", "q2"),
        "q2",
        "hologram",
        ["q1", "a1", "a2", "q3", "a3", "c"],
    ),
    "unfinished call": (
        (
            """UPDATE message SET parts = '[{"type": "tool", "id": "t", "name": "x", "input": {}, """
            """"state": "pending"}]' WHERE id = ?""",
            "a2",
        ),
        "a2",
        "no result",
        ["q1", "a1", "q2", "q3", "a3", "c"],
    ),
    "broken usage": (
        ("UPDATE message SET usage = '{}' WHERE id = ?", "a2"),
        "a2",
        "usage",
        ["q1", "a1", "q2", "q3", "a3", "c"],
    ),
    "foreign boundary": (
        ("UPDATE checkpoint SET first_kept_id = ?", "other"),
        "c",
        "not before it",
        ["q1", "a1", "q2", "a2", "q3", "a3"],
    ),
    "boundary after the checkpoint": (
        ("UPDATE checkpoint SET first_kept_id = ?", "q4"),
        "c",
        "not before it",
        ["q1", "a1", "q2", "a2", "q3", "a3"],
    ),
    "boundary inside a turn": (
        ("UPDATE checkpoint SET first_kept_id = ?", "a2"),
        "c",
        "middle of a turn",
        ["q1", "a1", "q2", "a2", "q3", "a3"],
    ),
    "a checkpoint without record": (
        ("DELETE FROM checkpoint",),
        "c",
        "no record",
        ["q1", "a1", "q2", "a2", "q3", "a3"],
    ),
    "broken ledger": (
        ("UPDATE checkpoint SET ledger = 'none'",),
        "c",
        "JSON",
        ["q1", "a1", "q2", "a2", "q3", "a3"],
    ),
    "wrong kind": (
        ("UPDATE message SET kind = 'assistant' WHERE id = ?", "q3"),
        "c",
        "middle of a turn",
        ["q1", "a1", "q2", "a2"],
    ),
    "unknown kind": (
        ("UPDATE message SET kind = 'system' WHERE id = ?", "q2"),
        "q2",
        "unknown kind",
        ["q1", "a1", "a2", "q3", "a3", "c"],
    ),
    "a first message that is an answer": (
        (PARENT, "", "a1"),
        "",
        "missing",
        ["a1", "q2", "a2", "q3", "a3", "c"],
    ),
    "wrong depth": (
        ("UPDATE message SET depth = 40 WHERE id = ?", "a2"),
        "a2",
        "place",
        ["q1", "a1", "q2", "q3", "a3", "c"],
    ),
    "foreign tree": (
        ("UPDATE message SET tree_id = ? WHERE id = ?", "other tree", "q2"),
        "q2",
        "another conversation",
        ["q1", "a1", "a2", "q3", "a3", "c"],
    ),
    "question after question": (
        ("UPDATE message SET parent_id = ?, depth = 1 WHERE id = ?", "q1", "q2"),
        "a2",
        "place",
        ["q1", "q3", "a3", "c"],
    ),
}


@pytest.mark.parametrize("case", list(CASES))
def test_damage_is_named_and_the_file_is_left_alone(broken: Broken, case: str) -> None:
    change, bad, word, readable = CASES[case]
    broken.change(*change)
    before = hashlib.sha256(broken.path.read_bytes()).hexdigest()
    with opened(broken.path, start=9000) as store:
        for found in (store.check_session(broken.session), store.open_branch(broken.session).path):
            assert isinstance(found, DamagedBranch)
            assert broken.id.get(bad, bad) == found.bad_id
            assert word in found.reason
            shown = [broken.name(m.id) for m in found.readable if not isinstance(m, Placeholder)]
            assert shown == [*readable, "q4", "a4"]
            bad_ones = [node for node in found.readable if isinstance(node, Placeholder)]
            assert found.bad_id in {node.id for node in bad_ones}
        assert isinstance(store.open_branch(broken.other).path, tuple)
        assert store.check_session(broken.other) is None
        store.outline(store.session(broken.session).tree_id)
        store.older(store.session(broken.session).tree_id, broken.id["q4"], 50)
        assert store.recover() == ()
    assert hashlib.sha256(broken.path.read_bytes()).hexdigest() == before


@pytest.mark.parametrize("case", ["missing parent", "cycle", "broken JSON", "foreign boundary"])
def test_damage_before_the_boundary_is_found_in_the_background(broken: Broken, case: str) -> None:
    """Where opening does not look that far back, the check of the whole path does."""
    change, bad, _, _ = CASES[case]
    broken.change(*change)
    reader = open_reader(broken.path)
    try:
        found = reader.open_branch(broken.session, 1).path
        assert isinstance(found, DamagedBranch) == (bad == "c")
        whole = reader.check_session(broken.session)
        assert whole is not None
        assert whole.bad_id == broken.id[bad]
    finally:
        reader.close()


@pytest.mark.parametrize("case", list(CASES))
def test_what_was_not_loaded_of_a_damaged_branch_can_be_paged_or_is_out_of_reach(
    broken: Broken, case: str
) -> None:
    broken.change(*CASES[case][0])
    with opened(broken.path, start=9000) as store:
        tree_id = store.session(broken.session).tree_id
        whole = store.check_session(broken.session)
        assert whole is not None
        found = store.open_branch(broken.session, 1)
        loaded = found.path.readable if isinstance(found.path, DamagedBranch) else found.path
        seen = [node.id for node in loaded]
        while not found.complete and (page := store.older(tree_id, seen[0], 2)):
            seen[:0] = [node.id for node in page]
            assert len(seen) < 30
        assert seen[-len(whole.readable) :] == [node.id for node in whole.readable]


def test_a_leaf_that_is_missing_is_damage(broken: Broken) -> None:
    broken.change("UPDATE session SET leaf_id = ? WHERE title = 'A conversation'", "missing")
    with opened(broken.path) as store:
        found = store.open_branch(broken.session).path
        assert isinstance(found, DamagedBranch)
        assert [type(node) for node in found.readable] == [Placeholder]
        with pytest.raises(NotAllowed, match="Nothing readable"):
            store.copy_readable(broken.session)


def test_no_checkpoint_is_committed_on_a_damaged_path(broken: Broken) -> None:
    broken.change("UPDATE message SET parts = '[' WHERE id = ?", "q4")
    with opened(broken.path, start=9000) as store:
        session = store.session(broken.session)
        before = tree_rows(broken.path)
        last = store._message(broken.id["a4"])
        assert not isinstance(last, Checkpoint)
        with pytest.raises(NotAllowed, match="damaged"):
            compacted(store, session, last, None)  # type: ignore[arg-type]
        with pytest.raises(NotAllowed, match="damaged"):
            store.path_to(broken.id["a4"])
        assert tree_rows(broken.path) == before


@pytest.mark.parametrize(
    ("case", "copied"),
    [
        ("missing parent", ["q2", "a2", "q3", "a3", "c", "q4", "a4"]),
        ("cycle", ["q3", "a3", "c", "q4", "a4"]),
        ("broken JSON", ["q3", "a3", "c", "q4", "a4"]),
        ("unknown part", ["q3", "a3", "c", "q4", "a4"]),
        ("foreign boundary", ["q4", "a4"]),
        ("wrong kind", ["q4", "a4"]),
    ],
)
def test_a_copy_starts_at_the_first_question_after_the_last_break(
    broken: Broken, case: str, copied: list[str]
) -> None:
    broken.change(*CASES[case][0])
    before = tree_rows(broken.path)
    with opened(broken.path, start=9000) as store:
        wanted = [store._message(broken.id[name]) for name in copied]
        copy = store.copy_readable(broken.session)
        path = store.open_branch(copy.id).path
        assert isinstance(path, tuple)
        assert store.check_session(copy.id) is None
        assert [type(message) for message in path] == [type(message) for message in wanted]
        assert [getattr(m, "parts", None) for m in path] == [getattr(m, "parts", None) for m in wanted]
        assert not {message.id for message in path} & set(broken.id.values())
        assert all(message.imported for message in path if isinstance(message, Checkpoint))
        assert isinstance(store.open_branch(broken.session).path, DamagedBranch)
        turn(store, copy)
    assert [row for row in tree_rows(broken.path) if row in before] == before


def test_a_copied_checkpoint_whose_boundary_is_lost_keeps_all_that_is_left(broken: Broken) -> None:
    broken.change("UPDATE message SET parts = '[' WHERE id = ?", "q3")
    with opened(broken.path, start=9000) as store:
        store.copy_readable(broken.session)
    broken.change("UPDATE message SET parts = '[]' WHERE id = ?", "q3")
    broken.change("UPDATE checkpoint SET first_kept_id = ? WHERE imported = 0", "q1")
    broken.change("UPDATE message SET parts = '[' WHERE id = ?", "q2")
    with opened(broken.path, start=19000) as store:
        copy = store.copy_readable(broken.session, "Repaired")
        path = store.open_branch(copy.id).path
        assert isinstance(path, tuple)
        (checkpoint,) = (message for message in path if isinstance(message, Checkpoint))
        assert checkpoint.first_kept_id == path[0].id
        assert copy.title == "Repaired"


def test_a_question_whose_answer_is_lost_becomes_the_draft(broken: Broken) -> None:
    broken.change("UPDATE message SET parts = '[' WHERE id = ?", "a4")
    with opened(broken.path, start=9000) as store:
        copy = store.copy_readable(broken.session)
        assert store.draft(copy.id) == Draft("q4")
        assert len(store.open_branch(copy.id).path) == 7  # type: ignore[arg-type]


def under_way(path: Path, session_id: SessionId, start: int = 9000) -> None:
    with opened(path, start=start) as store:
        session = store.session(session_id)
        store.send(session.id, session.head, (TextPart("q5"),), reply_id(store), MODEL)
        store.save_pending(session.id, (TextPart("half"),), ())


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (("UPDATE message SET parts = '[' WHERE id = ?", "q4"), "JSON"),
        (("UPDATE pending_reply SET parts = '['",), "under way"),
    ],
)
def test_recovery_leaves_a_damaged_session_alone(broken: Broken, change: tuple[str, ...], word: str) -> None:
    under_way(broken.path, broken.session)
    broken.change(*change)
    before = hashlib.sha256(broken.path.read_bytes()).hexdigest()
    with opened(broken.path, start=12_000) as store:
        assert store.recover() == ()
        found = store.open_branch(broken.session).path
        assert isinstance(found, DamagedBranch)
        assert word in found.reason
    assert hashlib.sha256(broken.path.read_bytes()).hexdigest() == before


def test_recovery_goes_on_after_a_damaged_session(broken: Broken) -> None:
    under_way(broken.path, broken.session)
    under_way(broken.path, broken.other, 10_000)
    broken.change("UPDATE message SET parts = '[' WHERE id = ?", "q4")
    with opened(broken.path, start=12_000) as store:
        assert [one.session_id for one in store.recover()] == [broken.other]


def test_an_answer_finds_its_end_under_a_question_that_was_damaged_meanwhile(
    store: Store, path: Path
) -> None:
    session = store.create_session("S", MODEL)
    session, asked, _ = store.send(session.id, session.head, (TextPart("q"),), reply_id(store), MODEL)
    damaged(path, ("UPDATE message SET parts = '[' WHERE id = ?", (asked.id,)))
    ended = store.finish(session.id, "complete", "", (TextPart("a"),), ())
    assert (ended.moved, ended.message.parent_id) == (True, asked.id)


def test_paging_through_damage_ends(broken: Broken) -> None:
    def pages(change: Callable[[], None]) -> list[str]:
        change()
        with opened(broken.path, start=9000) as store:
            tree_id = store.session(broken.session).tree_id
            seen, at = [], broken.id["a4"]
            while page := store.older(tree_id, at, 2):
                seen[:0] = [type(node).__name__[:1] for node in page]
                at = page[0].id
                assert len(seen) < 30
            return seen

    assert pages(lambda: broken.change("UPDATE message SET parts = '[' WHERE id = ?", "a2"))[3] == "P"
    assert pages(lambda: broken.change(PARENT, "missing", "q2"))[0] == "P"


def test_a_database_that_is_a_folder_is_said_in_a_sentence(path: Path) -> None:
    path.mkdir(parents=True)
    for attempt in (
        lambda: Store(path, Counting().clock, Counting().ids, owner=True),
        lambda: open_reader(path),
    ):
        with pytest.raises(StoreUnavailable, match="folder"):
            attempt()


def test_a_database_that_lost_a_table_is_damaged_not_a_fault(path: Path) -> None:
    with opened(path) as store:
        conversation(store, 1)
    with plain(path) as raw:
        raw.execute("PRAGMA foreign_keys = OFF")
        raw.execute("DROP TABLE session")
    reader = open_reader(path)
    try:
        with pytest.raises(StoreUnavailable, match="a part of it is missing"):
            reader.sessions()
    finally:
        reader.close()


def test_an_emptied_database_is_not_taken_for_a_new_one(path: Path) -> None:
    with opened(path) as store:
        conversation(store, 1)
    path.write_bytes(b"")
    (path.parent / "backups").mkdir(exist_ok=True)
    (path.parent / "backups" / "bibgenie-0001-20231114T221320001Z.sqlite").write_bytes(b"x")
    for attempt in (
        lambda: Store(path, Counting().clock, Counting().ids, owner=True),
        lambda: open_reader(path),
    ):
        with pytest.raises(StoreUnavailable, match="empty"):
            attempt()
    assert path.read_bytes() == b""


def test_no_folder_of_copies_is_named_that_is_not_there(path: Path) -> None:
    with opened(path) as store:
        conversation(store, 1)
    path.write_bytes(b"not a database, but long enough to look at it" * 100)
    with pytest.raises(StoreUnavailable) as caught:
        open_reader(path)
    assert "backups" not in caught.value.advice
    assert "a backup of your own" in caught.value.advice
    (path.parent / "backups").mkdir(exist_ok=True)
    with pytest.raises(StoreUnavailable) as caught:
        open_reader(path)
    assert "“backups”" not in caught.value.advice
    (path.parent / "backups" / "bibgenie-0001-20231114T221320001Z.sqlite").write_bytes(b"x")
    with pytest.raises(StoreUnavailable) as caught:
        open_reader(path)
    assert "“backups”" in caught.value.advice
