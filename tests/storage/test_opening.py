"""Opening reads what is needed from the leaf backwards; older messages come page by page."""

from __future__ import annotations

from pathlib import Path

import pytest

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.messages import Session
from bibgenie_desktop.storage.branches import SHOWN
from bibgenie_desktop.storage.store import Store
from tests.storage.helpers import MODEL, compacted, conversation, opened, plain, turn

LONG = 10_000


def lengthened(path: Path, session: Session, turns: int) -> None:
    """Many turns at once, written by another program through the same triggers."""
    with plain(path) as other:
        other.execute("BEGIN")
        parent, depth = other.execute("SELECT id, depth FROM message ORDER BY depth DESC").fetchone()
        for n in range(depth + 1, depth + 1 + turns * 2):
            kind = "user" if n % 2 == 0 else "assistant"
            other.execute(
                "INSERT INTO message (id, tree_id, parent_id, kind, depth, model, created_at, parts) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    f"n{n:06}",
                    session.tree_id,
                    parent,
                    kind,
                    n,
                    "" if kind == "user" else MODEL,
                    n,
                    f'[{{"type": "text", "step": 0, "text": "{kind} {n}"}}]',
                ),
            )
            parent = f"n{n:06}"
        other.execute(
            "UPDATE session SET leaf_id = ?, branch_revision = branch_revision + ?", (parent, turns * 2)
        )
        other.execute("COMMIT")


@pytest.fixture(scope="module")
def long_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long") / "data" / "bibgenie.sqlite"
    with opened(path) as store:
        session, *_ = conversation(store, 1)
        lengthened(path, session, LONG // 2 - 1)
    return path


def test_a_path_of_ten_thousand_with_a_checkpoint_opens_with_few_rows(long_path: Path) -> None:
    with opened(long_path, start=50_000) as store:
        session = store.sessions()[0].session
        session, asked, answer = turn(store, session, "newest question")
        session, checkpoint = compacted(store, session, answer, asked.id)
        before = store.rows_read
        found = store.open_branch(session.id)
        assert store.rows_read - before <= 210
        assert len(found.path) == SHOWN  # type: ignore[arg-type]
        assert found.path[-1] == checkpoint  # type: ignore[index]
        assert not found.complete
        before = store.rows_read
        page = store.older(session.tree_id, found.path[0].id, 100)  # type: ignore[index]
        assert store.rows_read - before <= 110
        assert len(page) == 100
        assert page[-1].id == found.path[0].parent_id  # type: ignore[index]


def test_a_boundary_far_back_is_loaded(long_path: Path) -> None:
    with opened(long_path, start=60_000) as store:
        origin = store.sessions()[0].session
        fork = store.fork(origin.id, MessageId(f"n{LONG - 1:06}"), "A fork")
        boundary = MessageId(f"n{LONG - 600:06}")
        fork, _ = compacted(store, fork, store.path_to(fork.leaf_id)[-1], boundary)  # type: ignore[arg-type]
        found = store.open_branch(fork.id, 50)
        assert found.path[0].id == boundary  # type: ignore[index]
        assert len(found.path) == 601  # type: ignore[arg-type]


def test_without_a_checkpoint_the_whole_path_is_the_models(long_path: Path) -> None:
    with opened(long_path, start=70_000) as store:
        origin = store.sessions()[0].session
        fork = store.fork(origin.id, MessageId(f"n{LONG - 3:06}"), "A fork")
        found = store.open_branch(fork.id)
        assert found.complete
        assert len(found.path) == LONG - 2  # type: ignore[arg-type]
        assert store.check_session(fork.id) is None


def test_paging_backwards_brings_every_message_once(store: Store) -> None:
    session, _, answers = conversation(store, 15)
    session, _ = compacted(store, session, answers[-1], None)
    whole = store.path_to(session.leaf_id)  # type: ignore[arg-type]
    found = store.open_branch(session.id, 4)
    pages = list(found.path)
    assert len(pages) == 4
    while page := store.older(session.tree_id, pages[0].id, 7):
        pages[:0] = page
    assert tuple(pages) == whole
    assert store.older(session.tree_id, MessageId("nowhere"), 5) == ()


def test_an_empty_session_opens(store: Store) -> None:
    session = store.create_session("S", MODEL)
    found = store.open_branch(session.id)
    assert (found.path, found.pending, found.complete) == ((), None, True)
    assert store.check_session(session.id) is None


def test_checkpoints_of_a_long_branch_come_without_what_lies_between(tmp_path: Path) -> None:
    path = tmp_path / "bibgenie.sqlite"
    with opened(path) as store:
        session, *_ = conversation(store, 1)
        made = []
        for n in range(3):
            session, asked, answer = turn(store, session, f"question {n}")
            session, checkpoint = compacted(store, session, answer, asked.id)
            made.append(checkpoint.id)
            session, *_ = turn(store, session, f"after {n}")
        before = store.rows_read
        found = store.checkpoints_to(session.leaf_id or MessageId(""))
        assert [c.id for c in found] == made
        assert store.rows_read - before == len(made)
        assert [c.id for c in store.checkpoints_to(made[1])] == made[:2]
        assert store.checkpoints_to(MessageId("nowhere")) == ()
