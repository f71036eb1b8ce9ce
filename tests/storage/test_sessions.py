"""Sessions as pointers: list, fork, switch, drafts, trash, the outline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import NotAllowed, StaleBranch
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.locators import Locator
from bibgenie_desktop.domain.messages import Checkpoint
from bibgenie_desktop.domain.parts import Draft, ImagePart, ResourcePart, TextPart, ToolPart
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.values import TrashCounts
from tests.storage.helpers import (
    MODEL,
    compacted,
    conversation,
    count,
    damaged,
    everything,
    opened,
    plain,
    reply_id,
    tree_rows,
    turn,
)


def test_the_list_shows_pinned_then_recent_ones(store: Store) -> None:
    first, *_ = conversation(store, 1)
    second, asked, answers = conversation(store, 2)
    third = store.create_session("Empty", MODEL)
    store.pin(first.id, True)
    store.save_draft(third.id, None, Draft("soon"))
    compacted(store, second, answers[1], asked[1].id)
    listed = store.sessions()
    assert [row.session.id for row in listed] == [first.id, second.id, third.id]
    assert [row.preview for row in listed] == ["a1", "a2", ""]
    assert [row.has_draft for row in listed] == [False, False, True]
    session, *_ = store.send(third.id, third.head, (TextPart("a\n\n b"),), reply_id(store), MODEL)
    assert [(row.session.id, row.preview, row.pending) for row in store.sessions()][1] == (
        session.id,
        "a b",
        True,
    )


def test_renaming_does_not_reorder_the_list(store: Store) -> None:
    first, *_ = conversation(store, 1)
    second, *_ = conversation(store, 1)
    assert store.rename(first.id, "New name").title == "New name"
    assert store.set_model(first.id, "p/a/b:c").model == "p/a/b:c"
    assert [row.session.id for row in store.sessions()] == [second.id, first.id]


def test_fork_before_checkpoint_does_not_inherit_it(store: Store, path: Path) -> None:
    session, asked, answers = conversation(store, 3)
    session, _ = compacted(store, session, answers[2], asked[2].id)
    before = tree_rows(path)
    fork = store.fork(session.id, answers[1].id, "A fork")
    assert (fork.tree_id, fork.leaf_id, fork.branch_revision) == (session.tree_id, answers[1].id, 0)
    assert (fork.origin_session_id, fork.origin_message_id, fork.title) == (
        session.id,
        answers[1].id,
        "A fork",
    )
    forked = store.open_branch(fork.id).path
    assert not any(isinstance(message, Checkpoint) for message in forked)  # type: ignore[union-attr]
    assert tree_rows(path) == before
    assert store.session(session.id) == session


def test_fork_after_checkpoint_has_it_as_ancestor(store: Store) -> None:
    session, asked, answers = conversation(store, 3)
    session, checkpoint = compacted(store, session, answers[2], asked[2].id)
    session, _, answer = turn(store, session)
    fork = store.fork(session.id, answer.id, "A fork")
    assert checkpoint in store.open_branch(fork.id).path  # type: ignore[operator]
    turn(store, fork)
    assert store.session(session.id) == session


def test_fork_needs_an_answer(store: Store) -> None:
    session, asked, answers = conversation(store, 1)
    session, checkpoint = compacted(store, session, answers[0], None)
    for message_id in (asked[0].id, checkpoint.id):
        with pytest.raises(NotAllowed, match="answer"):
            store.fork(session.id, message_id, "x")


def branched(store: Store) -> tuple[Store, dict[str, MessageId], str]:
    """q1 a1 then (q2 a2) and, edited, (q3 a3 q4 a4); the session ends at a4."""
    session, asked, answers = conversation(store, 2)
    session, third, _ = store.edit(
        session.id, session.head, answers[0].id, (TextPart("q3"),), reply_id(store), MODEL
    )
    session = store.finish(session.id, "complete", "", (TextPart("a3"),), ()).session
    third_answer = session.leaf_id
    session, fourth, answer = turn(store, session, "q4", "a4")
    assert third_answer is not None
    names = {
        "q1": asked[0].id,
        "a1": answers[0].id,
        "q2": asked[1].id,
        "a2": answers[1].id,
        "q3": third.id,
        "a3": third_answer,
        "q4": fourth.id,
        "a4": answer.id,
    }
    return store, names, session.id


def test_switching_goes_to_the_leaf_last_visited_below(store: Store) -> None:
    store, ids, session_id = branched(store)
    session = store.session(session_id)  # type: ignore[arg-type]
    assert store.leaf_below(ids["q1"]) == ids["a4"]
    assert store.leaf_below(ids["q2"]) == ids["a2"]
    session = store.switch(session.id, session.head, store.leaf_below(ids["q2"]))
    assert session.leaf_id == ids["a2"]
    assert store.leaf_below(ids["q1"]) == ids["a2"]
    assert store.leaf_below(ids["q3"]) == ids["a4"]
    session = store.switch(session.id, session.head, ids["a3"])
    assert [m.id for m in store.open_branch(session.id).path][-1] == ids["a3"]  # type: ignore[union-attr]


def test_without_a_memory_the_newest_branch_is_taken(store: Store, path: Path) -> None:
    store, ids, _ = branched(store)
    with plain(path) as other:
        other.execute("DELETE FROM last_child")
    assert store.leaf_below(ids["q1"]) == ids["a4"]


def test_a_wrong_memory_is_not_followed(store: Store, path: Path) -> None:
    store, ids, _ = branched(store)
    with plain(path) as other:
        other.execute("UPDATE last_child SET child_id = ? WHERE parent_id = ?", (ids["q1"], ids["a1"]))
    assert store.leaf_below(ids["q1"]) == ids["a4"]


def test_switch_checks_the_head_and_the_target(store: Store, path: Path) -> None:
    store, ids, session_id = branched(store)
    session = store.session(session_id)  # type: ignore[arg-type]
    before = everything(path)
    with pytest.raises(NotAllowed, match="no answer"):
        store.switch(session.id, session.head, ids["q2"])
    with pytest.raises(StaleBranch):
        store.switch(session.id, session.head.__class__(ids["a2"], 0), ids["a2"])
    assert everything(path) == before


def test_siblings_look_through_checkpoints(store: Store) -> None:
    session, asked, answers = conversation(store, 1)
    session, one = compacted(store, session, answers[0], asked[0].id)
    session, two = compacted(store, session, one, None)
    session, under_two, _ = turn(store, session)
    session, under_answer, _ = store.edit(
        session.id, session.head, answers[0].id, (TextPart("x"),), reply_id(store), MODEL
    )
    expected = (under_two.id, under_answer.id)
    assert store.siblings(under_two) == expected == store.siblings(under_answer)
    assert store.siblings(two) == (two.id,)
    assert store.siblings(asked[0]) == (asked[0].id,)


def test_the_outline_has_every_node_of_every_branch(store: Store) -> None:
    store, ids, session_id = branched(store)
    outline = store.outline(store.session(session_id).tree_id)  # type: ignore[arg-type]
    assert {(node.id, node.words) for node in outline} == {(i, name) for name, i in ids.items()}
    assert [node.depth for node in outline] == sorted(node.depth for node in outline)
    assert {node.id: node.parent_id for node in outline}[ids["q3"]] == ids["a1"]


def test_the_outline_shows_the_beginning_of_long_texts_only(store: Store, path: Path) -> None:
    session = store.create_session("S", MODEL)
    store.send(session.id, session.head, (TextPart("word\n" * 50_000),), reply_id(store), MODEL)
    (node,) = store.outline(session.tree_id)
    assert node.words.startswith("word word")
    assert len(node.words) <= 160
    damaged(path, ("UPDATE message SET words = NULL", ()))
    assert store.outline(session.tree_id)[0].words.startswith("word\nword")
    damaged(path, ("UPDATE message SET parts = '{broken'", ()))
    assert store.outline(session.tree_id)[0].words == ""


def test_drafts_are_kept_apart_and_come_back_whole(store: Store, path: Path) -> None:
    session, asked, _ = conversation(store, 1)
    attached = (
        ImagePart("ab" * 32, "figure.png", "image/png", 10, 10),
        ResourcePart(Locator("g42", "pdf", "AAAA2222", "BBBB3333", page_index=0), "A paper", "its text"),
    )
    normal, edited = Draft("half \x00 a thought", attached), Draft("  ")
    before = store.session(session.id)
    store.save_draft(session.id, None, normal)
    store.save_draft(session.id, asked[0].id, edited)
    store.save_draft(session.id, None, normal)
    assert (store.draft(session.id), store.draft(session.id, asked[0].id)) == (normal, edited)
    assert store.session(session.id) == before
    store.save_draft(session.id, None, Draft())
    assert store.draft(session.id) == Draft()
    assert [d.edits for d in store.drafts(session.id)] == [asked[0].id]
    assert count(path, "draft") == 1


def test_a_draft_that_cannot_be_read_shows_its_text(store: Store, path: Path) -> None:
    session, *_ = conversation(store, 1)
    store.save_draft(session.id, None, Draft("weeks of thought"))
    with plain(path) as other:
        other.execute("UPDATE draft SET content = substr(content, 1, 20)")
    assert "weeks of" in store.draft(session.id).text


def test_a_picture_is_kept_once(store: Store, path: Path) -> None:
    assert store.put_blob(b"same", "image/png") == store.put_blob(b"same", "image/jpeg")
    assert count(path, "blob") == 1


def test_the_trash_gives_back_what_it_got(store: Store) -> None:
    session, *_ = conversation(store, 1)
    store.trash(session.id)
    store.trash(session.id)
    assert store.sessions() == ()
    assert [row.session.id for row in store.sessions(trashed=True)] == [session.id]
    assert store.restore(session.id) == session


def test_nodes_go_only_with_the_last_session_of_their_tree(store: Store, path: Path) -> None:
    session, asked, answers = conversation(store, 2)
    session, _ = compacted(store, session, answers[1], asked[1].id)
    fork = store.fork(session.id, answers[0].id, "A fork")
    kept, *_ = conversation(store, 1)
    store.save_draft(session.id, None, Draft("x"))
    before = tree_rows(path)
    store.trash(session.id)
    assert store.count_nodes_going() == TrashCounts(1, 0, 0)
    assert store.empty_trash() == TrashCounts(1, 0, 0)
    assert tree_rows(path) == before
    store.trash(fork.id)
    assert store.count_nodes_going((kept.id,)) == TrashCounts(0, 0, 0)
    assert store.count_nodes_going((fork.id,)) == TrashCounts(1, 1, 5)
    assert store.empty_trash() == TrashCounts(1, 1, 5)
    assert store.empty_trash() == TrashCounts(0, 0, 0)
    assert [row.session.id for row in store.sessions()] == [kept.id]
    assert (count(path, "message"), count(path, "checkpoint"), count(path, "tree")) == (2, 0, 1)
    assert (count(path, "purge_permit"), count(path, "last_child"), count(path, "draft")) == (0, 1, 0)


def test_pictures_go_with_the_last_thing_that_shows_them(store: Store, path: Path) -> None:
    own, shared, looked, typed, open_ = (
        ImagePart(store.put_blob(name.encode(), "image/png", 9, 9), name, "image/png", 9, 9)
        for name in ("own", "shared", "looked", "typed", "open")
    )
    session = store.create_session("Pictures", MODEL)
    session, _, _ = store.send(session.id, session.head, (own, shared), reply_id(store), MODEL)
    seen = ToolPart("t", "view_page", {}, "done", images=(looked,))
    session = store.finish(session.id, "complete", "", (seen,), ()).session
    store.save_draft(session.id, None, Draft("", (typed,)))
    other, *_ = conversation(store, 1)
    store.save_draft(other.id, None, Draft("", (shared,)))
    store.send(other.id, other.head, (TextPart("?"),), reply_id(store), MODEL)
    store.save_pending(other.id, (replace(seen, images=(open_,)),), ())
    store.trash(session.id)
    assert count(path, "blob") == 5
    store.empty_trash()
    assert store.blob(shared.blob).data == b"shared"
    assert store.blob(open_.blob).data == b"open"
    assert count(path, "blob") == 2


def test_a_session_with_an_answer_under_way_is_not_emptied(store: Store, path: Path) -> None:
    session = store.create_session("S", MODEL)
    store.trash(session.id)
    store.send(session.id, session.head, (TextPart("q"),), reply_id(store), MODEL)
    assert store.empty_trash() == TrashCounts(0, 0, 0)
    assert count(path, "message") == 1


def test_emptying_that_fails_half_way_removes_nothing(path: Path) -> None:
    with opened(path) as store:
        session, *_ = conversation(store, 3)
        store.trash(session.id)
        with plain(path) as other:
            other.execute(
                "CREATE TRIGGER stumble BEFORE DELETE ON tree BEGIN SELECT RAISE(ABORT, 'stumbled'); END"
            )
        before = everything(path)
        with pytest.raises(Exception, match="stumbled"):
            store.empty_trash()
        assert everything(path) == before
        turn(store, store.restore(session.id))
