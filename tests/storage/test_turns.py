"""Send, retry, edit, finish and recovery."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import NotAllowed, StaleBranch
from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.messages import AssistantMessage, Head, Session
from bibgenie_desktop.domain.parts import Draft, ImagePart, ReasoningPart, TextPart, ToolPart
from bibgenie_desktop.domain.projection import project
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.values import Cancelled, NotFound
from tests.storage.helpers import (
    MODEL,
    USAGE,
    after,
    compacted,
    conversation,
    count,
    everything,
    opened,
    plain,
    reply_id,
    summary_under,
    tree_rows,
    turn,
)

Q = (TextPart("why?"),)


def path_ids(store: Store, session: Session) -> list[MessageId]:
    path = store.open_branch(session.id).path
    assert isinstance(path, tuple)
    return [message.id for message in path]


def test_a_question_and_its_answer_come_back_as_they_were(store: Store) -> None:
    session = store.create_session("S", MODEL)
    picture = store.put_blob(b"\x89PNG...", "image/png", 640, 480)
    parts = (ImagePart(picture, "figure.png", "image/png", 640, 480), TextPart("What is\u2028this?\x00"))
    session, asked, pending = store.send(session.id, session.head, parts, reply_id(store), MODEL)
    assert store.open_branch(session.id).pending == pending
    answer = (
        ReasoningPart("Hm.", 0, {"signature": "abc", "n": [1, 2.5, None]}),
        ToolPart("t1", "search_items", {"query": "graph"}, "done", 0, "whole", "cut", note="3 items"),
        TextPart("A figure.", 1),
    )
    ended = store.finish(session.id, "complete", "", answer, USAGE)
    opened_branch = store.open_branch(session.id)
    assert opened_branch.path == (asked, ended.message)
    assert (opened_branch.pending, opened_branch.complete) == (None, True)
    assert asked.parts == parts
    assert (ended.message.parts, ended.message.usage, ended.message.model) == (answer, USAGE, MODEL)
    assert ended.message.id == pending.message_id
    assert store.blob(picture).data == b"\x89PNG..."


def test_each_move_of_the_leaf_counts_once(store: Store) -> None:
    session = store.create_session("S", MODEL)
    assert session.head == Head(None, 0)
    session, asked, pending = store.send(session.id, session.head, Q, reply_id(store), MODEL)
    assert session.head == Head(asked.id, 1) == pending.head
    store.save_pending(session.id, (TextPart("bec"),), ())
    store.save_draft(session.id, None, Draft("next"))
    store.rename(session.id, "other")
    store.set_model(session.id, "p/other")
    store.pin(session.id, True)
    assert store.session(session.id).head == Head(asked.id, 1)
    ended = store.finish(session.id, "complete", "", (TextPart("because"),), ())
    assert ended.session.head == Head(ended.message.id, 2)
    switched = store.switch(session.id, ended.session.head, ended.message.id)
    assert switched.head == ended.session.head


def test_sending_uses_up_the_draft_that_it_sends_and_no_other(store: Store) -> None:
    session, asked, _ = conversation(store, 1)
    store.save_draft(session.id, None, Draft("next"))
    store.save_draft(session.id, asked[0].id, Draft("next"))
    store.send(session.id, session.head, Draft("next").parts(), reply_id(store), MODEL)
    assert [(d.edits, d.draft.text) for d in store.drafts(session.id)] == [(asked[0].id, "next")]


def test_what_was_typed_meanwhile_outlives_the_sending_of_another_text(store: Store) -> None:
    session, *_ = conversation(store, 1)
    store.keep_queue(session.id, (Draft("one"), Draft("two")))
    store.save_draft(session.id, None, Draft("typing"))
    session, *_ = store.send(session.id, session.head, Draft("one").parts(), reply_id(store), MODEL)
    store.finish(session.id, "complete", "", (), ())
    assert store.draft(session.id) == Draft("typing")
    store.reclaim_queue(session.id)
    assert store.draft(session.id) == Draft("two\n\ntyping")
    store.reclaim_queue(session.id)
    assert store.draft(session.id) == Draft("two\n\ntyping")


def test_a_follow_up_leaves_the_composer_and_a_refused_one_comes_back_before_what_is_typed(
    store: Store,
) -> None:
    session, *_ = conversation(store, 1)
    store.save_draft(session.id, None, Draft("one"))
    store.keep_queue(session.id, (Draft("one"),))
    assert store.draft(session.id).empty
    store.save_draft(session.id, None, Draft("typing"))
    store.keep_queue(session.id, (), Draft("one"))
    assert store.draft(session.id) == Draft("one\n\ntyping")
    store.reclaim_queue(session.id)
    assert store.draft(session.id) == Draft("one\n\ntyping")


def test_two_stores_at_one_head_one_is_stale(store: Store, path: Path) -> None:
    session, *_ = conversation(store, 1)
    with opened(path, owner=False, start=5000) as other:
        store.send(session.id, session.head, Q, reply_id(store), MODEL)
        before = everything(path)
        with pytest.raises(StaleBranch):
            other.send(session.id, session.head, Q, reply_id(other), MODEL)
    assert everything(path) == before


def test_nothing_else_starts_while_an_answer_is_under_way(store: Store, path: Path) -> None:
    session, asked, answers = conversation(store, 2)
    session, *_ = store.send(session.id, session.head, Q, reply_id(store), MODEL)
    before = everything(path)
    head, new = session.head, reply_id(store)
    for attempt in (
        lambda: store.send(session.id, head, Q, new, MODEL),
        lambda: store.retry(session.id, head, asked[1].id, new, MODEL),
        lambda: store.edit(session.id, head, answers[0].id, Q, new, MODEL),
        lambda: store.switch(session.id, head, answers[0].id),
        lambda: store.trash(session.id),
        lambda: store.commit_checkpoint(
            session.id, head, summary_under(store, session, answers[1], asked[1].id)
        ),
    ):
        with pytest.raises((NotAllowed, StaleBranch)):
            attempt()
    assert everything(path) == before


def test_cancelling_before_commit_writes_nothing(store: Store, path: Path) -> None:
    session, asked, answers = conversation(store, 2)
    store.save_draft(session.id, None, Draft("next"))
    store.save_draft(session.id, asked[1].id, Draft("edited"))
    summary = summary_under(store, session, answers[0], asked[0].id)
    before, new = everything(path), reply_id(store)
    for attempt in (
        lambda: store.send(session.id, session.head, Q, new, MODEL, cancelled=after(0)),
        lambda: store.retry(session.id, session.head, asked[1].id, new, MODEL, cancelled=after(0)),
        lambda: store.edit(
            session.id, session.head, answers[0].id, Q, new, MODEL, summary, cancelled=after(0)
        ),
    ):
        with pytest.raises(Cancelled):
            attempt()
    assert everything(path) == before


def test_a_token_that_is_not_set_does_not_hinder(store: Store) -> None:
    session, *_ = conversation(store, 1)
    sent, *_ = store.send(session.id, session.head, Q, reply_id(store), MODEL, cancelled=after(1))
    assert sent.head != session.head


def test_retry_puts_another_answer_beside_the_first(store: Store, path: Path) -> None:
    session, asked, answers = conversation(store, 2)
    session, checkpoint = compacted(store, session, answers[1], asked[1].id)
    before = tree_rows(path)
    session, question, _ = store.retry(session.id, session.head, asked[1].id, reply_id(store), "p/other")
    assert (question, session.leaf_id) == (asked[1], asked[1].id)
    ended = store.finish(session.id, "complete", "", (TextPart("b2"),), ())
    assert path_ids(store, ended.session) == [asked[0].id, answers[0].id, asked[1].id, ended.message.id]
    assert ended.message.model == "p/other"
    assert store.siblings(ended.message) == (answers[1].id, ended.message.id) == store.siblings(answers[1])
    assert set(before) < set(tree_rows(path))
    assert store.leaf_below(answers[1].id) == checkpoint.id


def test_retry_of_an_answer_is_refused(store: Store) -> None:
    session, _, answers = conversation(store, 1)
    with pytest.raises(NotAllowed, match="question"):
        store.retry(session.id, session.head, answers[0].id, reply_id(store), MODEL)


def test_edit_puts_another_question_beside_the_old_one(store: Store) -> None:
    session, asked, answers = conversation(store, 2)
    for edited in asked:
        store.save_draft(session.id, edited.id, Draft("better"))
    session, question, _ = store.edit(session.id, session.head, answers[0].id, Q, reply_id(store), MODEL)
    assert [d.edits for d in store.drafts(session.id)] == [asked[0].id]
    ended = store.finish(session.id, "complete", "", (TextPart("a"),), ())
    assert path_ids(store, ended.session) == [asked[0].id, answers[0].id, question.id, ended.message.id]
    assert store.siblings(question) == (asked[1].id, question.id)


def test_edit_of_the_first_question_makes_another_first_message(store: Store) -> None:
    session, asked, _ = conversation(store, 2)
    store.save_draft(session.id, asked[0].id, Draft("better"))
    session, question, _ = store.edit(
        session.id, session.head, None, Q, reply_id(store), MODEL, edits=asked[0].id
    )
    store.finish(session.id, "complete", "", (), ())
    assert store.drafts(session.id) == ()
    assert (question.parent_id, question.depth) == (None, 0)
    assert store.siblings(question) == (asked[0].id, question.id) == store.siblings(asked[0])


def test_edit_with_compaction_is_one_transaction(store: Store) -> None:
    session, asked, answers = conversation(store, 3)
    summary = summary_under(store, session, answers[1], asked[1].id)
    head = session.head
    session, question, _ = store.edit(session.id, head, answers[1].id, Q, reply_id(store), MODEL, summary)
    assert session.head == Head(question.id, head.branch_revision + 1)
    store.finish(session.id, "complete", "", (TextPart("new"),), ())
    path = store.open_branch(session.id).path
    assert isinstance(path, tuple)
    assert path[4] == summary
    projection = [message.id for message in project(path).messages]
    assert projection == [summary.id, asked[1].id, answers[1].id, question.id, path[-1].id]
    assert store.siblings(question) == (asked[2].id, question.id) == store.siblings(asked[2])


def test_edit_with_a_checkpoint_for_another_place_writes_nothing(store: Store, path: Path) -> None:
    session, asked, answers = conversation(store, 3)
    before = everything(path)
    elsewhere = summary_under(store, session, answers[2], asked[2].id)
    with pytest.raises(ValueError, match="parent"):
        store.edit(session.id, session.head, answers[1].id, Q, reply_id(store), MODEL, elsewhere)
    later_boundary = summary_under(store, session, answers[1], asked[2].id)
    with pytest.raises(NotAllowed, match="not before it"):
        store.edit(session.id, session.head, answers[1].id, Q, reply_id(store), MODEL, later_boundary)
    assert everything(path) == before


def test_a_question_cannot_follow_a_question(store: Store) -> None:
    session, asked, _ = conversation(store, 1)
    with pytest.raises(NotAllowed, match="follow an answer"):
        store.edit(session.id, session.head, asked[0].id, Q, reply_id(store), MODEL)


def test_an_answer_is_never_stale_but_moves_no_foreign_leaf(store: Store, path: Path) -> None:
    session, asked, answers = conversation(store, 2)
    session, question, _ = store.send(session.id, session.head, Q, reply_id(store), MODEL)
    with plain(path) as other:
        other.execute(
            "UPDATE session SET leaf_id = ?, branch_revision = branch_revision + 1", (answers[0].id,)
        )
    ended = store.finish(session.id, "complete", "", (TextPart("late"),), ())
    assert not ended.moved
    assert store.session(session.id).leaf_id == answers[0].id == ended.session.leaf_id
    assert store.path_to(ended.message.id)[-2:] == (question, ended.message)
    assert path_ids(store, session) == [asked[0].id, answers[0].id]


@pytest.mark.parametrize(
    ("status", "state", "word"),
    [("stopped", "cancelled", "cancelled"), ("failed", "interrupted", "interrupted")],
)
def test_open_calls_get_a_result_that_says_so(store: Store, status: str, state: str, word: str) -> None:
    session = store.create_session("S", MODEL)
    session, *_ = store.send(session.id, session.head, Q, reply_id(store), MODEL)
    done = ToolPart("t1", "search_items", {}, "done", 0, "r", "r")
    pending = ToolPart("t2", "get_items", {"ids": ["u-AAAA2222"]}, "pending")
    store.save_pending(session.id, (done, pending), USAGE)
    kept = store.open_branch(session.id).pending
    assert kept is not None
    assert (kept.parts, kept.usage) == ((done, pending), USAGE)
    ended = store.finish(session.id, status, "cut off", (done, pending), USAGE)  # type: ignore[arg-type]
    first, second = ended.message.parts
    assert first == done
    assert isinstance(second, ToolPart)
    assert (second.state, second.input) == (state, pending.input)
    assert word in second.result
    assert second.sent == second.result
    assert ended.message.error == "cut off"


def test_an_empty_failed_answer_is_stored(store: Store) -> None:
    session = store.create_session("S", MODEL)
    session, *_ = store.send(session.id, session.head, Q, reply_id(store), MODEL)
    ended = store.finish(session.id, "failed", "The server is down.", (), ())
    path = store.open_branch(session.id).path
    assert path[-1] == ended.message  # type: ignore[index]
    assert (ended.message.parts, ended.message.status) == ((), "failed")
    assert turn(store, ended.session)[0].leaf_id != ended.message.id


def test_text_with_half_characters_still_finds_its_end(store: Store) -> None:
    session = store.create_session("S", MODEL)
    session, asked, _ = store.send(session.id, session.head, (TextPart("a\udc00b"),), reply_id(store), MODEL)
    tool = ToolPart("t", "x", {"k\ud800": ["v\udfff", float("nan"), ("t",)]}, "done", opaque={"o": b"1"})
    store.save_pending(session.id, (TextPart("\ud83d"), tool), ())
    ended = store.finish(session.id, "complete", "\ud800", (TextPart("\ud83d"), tool), ())
    assert asked.parts == (TextPart("a\ufffdb"),)
    assert ended.message.error == "\ufffd"
    assert store.open_branch(session.id).path[-1] == ended.message  # type: ignore[index]


def test_ending_twice_or_saving_after_the_end_changes_nothing(store: Store, path: Path) -> None:
    session, *_ = conversation(store, 1)
    before = everything(path)
    assert store.save_pending(session.id, (TextPart("late"),), ()) is False
    with pytest.raises(NotAllowed, match="ended already"):
        store.finish(session.id, "complete", "", (), ())
    assert everything(path) == before


def test_after_a_crash_every_answer_under_way_ends_as_interrupted(path: Path) -> None:
    with opened(path) as store:
        first, *_ = conversation(store, 1)
        first, asked, pending = store.send(first.id, first.head, Q, reply_id(store), MODEL)
        store.save_pending(
            first.id, (TextPart("half an ans"), ToolPart("t", "get_items", {}, "pending", 1)), USAGE
        )
        second = store.create_session("T", MODEL)
        second, *_ = store.send(second.id, second.head, Q, reply_id(store), MODEL)
    with opened(path, start=9000) as store:
        recovered = store.recover()
        assert [one.session_id for one in recovered] == [first.id, second.id]
        assert store.recover() == ()
        answer = store.open_branch(first.id).path[-1]  # type: ignore[index]
        assert isinstance(answer, AssistantMessage)
        assert (answer.id, answer.parent_id, answer.status) == (pending.message_id, asked.id, "interrupted")
        assert (answer.parts[0], answer.usage) == (TextPart("half an ans"), USAGE)
        assert [p.state for p in answer.parts if isinstance(p, ToolPart)] == ["interrupted"]
        assert answer.error
        turn(store, store.session(first.id))
    assert count(path, "pending_reply") == 0


def test_unknown_ids_have_their_own_sentence(store: Store) -> None:
    session, *_ = conversation(store, 1)
    nowhere, nothing = SessionId("nowhere"), MessageId("nothing")
    with pytest.raises(NotFound, match="nowhere"):
        store.session(nowhere)
    with pytest.raises(NotFound, match="nowhere"):
        store.send(nowhere, Head(None, 0), Q, reply_id(store), MODEL)
    with pytest.raises(NotFound, match="nothing"):
        store.fork(session.id, nothing, "x")
    with pytest.raises(NotFound, match="nothing"):
        store.path_to(nothing)
    with pytest.raises(NotFound, match="nothing"):
        store.blob("nothing")


def test_a_message_of_another_tree_is_out_of_reach(store: Store, path: Path) -> None:
    session, *_ = conversation(store, 1)
    other, asked, answers = conversation(store, 1)
    before = everything(path)
    for attempt in (
        lambda: store.fork(session.id, answers[0].id, "x"),
        lambda: store.switch(session.id, session.head, answers[0].id),
        lambda: store.retry(session.id, session.head, asked[0].id, reply_id(store), MODEL),
        lambda: store.edit(session.id, session.head, answers[0].id, Q, reply_id(store), MODEL),
    ):
        with pytest.raises(NotFound):
            attempt()
    assert everything(path) == before
    assert store.session(other.id) == other


def test_an_id_that_is_taken_cannot_be_promised_to_an_answer(store: Store, path: Path) -> None:
    session, _, answers = conversation(store, 1)
    before = everything(path)
    with pytest.raises(Exception, match="used already"):
        store.send(session.id, session.head, Q, answers[0].id, MODEL)
    assert everything(path) == before
    assert store.session(session.id) == replace(session)
