"""The compaction commit: everything or nothing, and never at a wrong place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import NotAllowed, StaleBranch
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.messages import Head
from bibgenie_desktop.domain.parts import TextPart
from bibgenie_desktop.domain.projection import project
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.values import Cancelled
from tests.storage.helpers import (
    MODEL,
    after,
    compacted,
    conversation,
    count,
    everything,
    opened,
    reply_id,
    summary_under,
    tree_rows,
    turn,
)


def projected(store: Store, session_id: str) -> list[MessageId]:
    path = store.open_branch(session_id).path  # type: ignore[arg-type]
    assert isinstance(path, tuple)
    return [message.id for message in project(path).messages]


def test_checkpoint_after_a3_with_boundary_u3_survives_a_restart(path: Path) -> None:
    with opened(path) as store:
        session, asked, answers = conversation(store, 3)
        head = session.head
        session, checkpoint = compacted(store, session, answers[2], asked[2].id)
        assert session.head == Head(checkpoint.id, head.branch_revision + 1)
    with opened(path, start=9000) as store:
        session = store.session(session.id)
        assert store.open_branch(session.id).path[-1] == checkpoint  # type: ignore[index]
        session, question, _ = store.send(session.id, session.head, (TextPart("q4"),), reply_id(store), MODEL)
        assert projected(store, session.id) == [checkpoint.id, asked[2].id, answers[2].id, question.id]
    assert count(path, "write_permit") == 0


def test_the_record_names_the_head_it_was_made_for(store: Store) -> None:
    session, asked, answers = conversation(store, 2)
    wrong = replace(summary_under(store, session, answers[1], asked[1].id), head_revision=99, imported=True)
    store.commit_checkpoint(session.id, session.head, wrong)
    stored = store.open_branch(session.id).path[-1]  # type: ignore[index]
    assert stored == replace(wrong, head_revision=session.branch_revision, imported=False)


def test_two_commits_at_one_head_one_is_stale(store: Store, path: Path) -> None:
    session, asked, answers = conversation(store, 2)
    with opened(path, owner=False, start=5000) as other:
        mine = summary_under(store, session, answers[1], asked[1].id)
        theirs = summary_under(other, session, answers[1], asked[1].id)
        store.commit_checkpoint(session.id, session.head, mine)
        before = everything(path)
        with pytest.raises(StaleBranch):
            other.commit_checkpoint(session.id, session.head, theirs)
    assert everything(path) == before


def test_a_message_that_came_meanwhile_makes_the_commit_stale(store: Store, path: Path) -> None:
    session, asked, answers = conversation(store, 2)
    summary = summary_under(store, session, answers[1], asked[1].id)
    turn(store, session)
    before = everything(path)
    with pytest.raises(StaleBranch):
        store.commit_checkpoint(session.id, session.head, summary)
    assert everything(path) == before


def test_the_token_is_read_last_and_then_no_row_is_written(store: Store, path: Path) -> None:
    session, asked, answers = conversation(store, 2)
    summary = summary_under(store, session, answers[1], asked[1].id)
    before = everything(path)
    with pytest.raises(Cancelled):
        store.commit_checkpoint(session.id, session.head, summary, after(0))
    assert everything(path) == before
    store.commit_checkpoint(session.id, session.head, summary, after(1))
    assert count(path, "checkpoint") == 1


def test_the_token_is_asked_when_everything_is_ready_for_commit(store: Store, path: Path) -> None:
    session, asked, answers = conversation(store, 2)
    asked_when: list[tuple[int, int]] = []

    def token() -> bool:
        inside = store._db.value("SELECT count(*) FROM checkpoint")
        asked_when.append((inside, count(path, "checkpoint")))
        return False

    summary = summary_under(store, session, answers[1], asked[1].id)
    store.commit_checkpoint(session.id, session.head, summary, token)
    assert asked_when == [(1, 0)]


def test_a_token_that_raises_writes_nothing(store: Store, path: Path) -> None:
    session, asked, answers = conversation(store, 2)
    before = everything(path)

    def broken() -> bool:
        raise OSError("no token")

    with pytest.raises(OSError, match="no token"):
        store.commit_checkpoint(
            session.id, session.head, summary_under(store, session, answers[1], asked[1].id), broken
        )
    assert everything(path) == before
    compacted(store, session, answers[1], asked[1].id)


def test_a_boundary_must_be_a_question_of_this_path(store: Store, path: Path) -> None:
    session, _, answers = conversation(store, 2)
    other, other_asked, _ = conversation(store, 1)
    session, beside, _ = store.edit(
        session.id, session.head, answers[0].id, (TextPart("x"),), reply_id(store), MODEL
    )
    store.finish(session.id, "complete", "", (), ())
    session = store.switch(session.id, store.session(session.id).head, answers[1].id)
    before = everything(path)
    for boundary in (answers[0].id, answers[1].id, beside.id, other_asked[0].id, MessageId("nowhere")):
        with pytest.raises(NotAllowed, match="nothing was written"):
            compacted(store, session, answers[1], boundary)
    assert everything(path) == before
    assert store.session(other.id) == other


def test_a_boundary_never_goes_back(store: Store, path: Path) -> None:
    session, asked, answers = conversation(store, 3)
    session, first = compacted(store, session, answers[2], asked[1].id)
    before = everything(path)
    with pytest.raises(NotAllowed, match=r"less far|not before it"):
        compacted(store, session, first, asked[0].id)
    assert everything(path) == before
    session, second = compacted(store, session, first, asked[1].id)
    session, third = compacted(store, session, second, asked[2].id)
    session, fourth = compacted(store, session, third, None)
    with pytest.raises(NotAllowed):
        compacted(store, session, fourth, asked[2].id)
    session, question, answer = turn(store, session)
    assert projected(store, session.id) == [fourth.id, question.id, answer.id]
    session, _ = compacted(store, session, answer, question.id)
    assert store.check_session(session.id) is None


def test_a_checkpoint_cannot_stand_elsewhere_than_at_the_leaf(store: Store, path: Path) -> None:
    session, asked, answers = conversation(store, 2)
    good = summary_under(store, session, answers[1], asked[1].id)
    before = everything(path)
    for wrong in (
        summary_under(store, session, answers[0], asked[0].id),
        replace(good, depth=7),
        replace(good, tree_id=store.create_session("x", MODEL).tree_id),
    ):
        with pytest.raises((NotAllowed, StaleBranch)):
            store.commit_checkpoint(session.id, session.head, wrong)
    assert [row for row in everything(path) if row[0] in ("message", "checkpoint")] == [
        row for row in before if row[0] in ("message", "checkpoint")
    ]


def test_compacting_a_long_branch_reads_only_back_to_the_last_boundary(store: Store) -> None:
    session, _, _ = conversation(store, 120)
    session, asked, answer = turn(store, session)
    session, _ = compacted(store, session, answer, asked.id)
    session, asked, answer = turn(store, session)
    store.open_branch(session.id, 1)
    before = store.rows_read
    compacted(store, session, answer, asked.id)
    assert store.rows_read - before <= 210


def test_an_undone_checkpoint_is_remembered_until_the_leaf_moves_again(path: Path) -> None:
    with opened(path) as store:
        session, asked, answers = conversation(store, 3)
        session, checkpoint = compacted(store, session, answers[2], asked[2].id)
        session = store.switch(session.id, session.head, answers[0].id)
        session = store.switch(session.id, session.head, checkpoint.id)
        before = tree_rows(path)
        session = store.undo_checkpoint(session.id, session.head)
        assert session.leaf_id == answers[2].id
        assert tree_rows(path) == before
        fork = store.fork(session.id, answers[2].id, "fork")
    with opened(path, start=9000) as store:
        assert store.checkpoint_undone(session.id)
        assert not store.checkpoint_undone(fork.id)
        with pytest.raises(NotAllowed, match="no checkpoint"):
            store.undo_checkpoint(session.id, session.head)
        session, *_ = turn(store, session)
        assert not store.checkpoint_undone(session.id)
