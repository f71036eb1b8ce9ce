"""Branches out of sight: a mark that can be taken away, and no message touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import NotAllowed
from bibgenie_desktop.storage.store import Store
from tests.storage.helpers import MODEL, conversation, reply_id, tree_rows


def test_an_archived_branch_keeps_every_message_and_comes_back(store: Store, path: Path) -> None:
    session, asked, answers = conversation(store, 2)
    store.retry(session.id, session.head, asked[1].id, reply_id(store), MODEL)
    finished = store.finish(session.id, "complete", "", (), ())
    assert finished.moved
    session, other = finished.session, finished.message
    before = tree_rows(path)
    store.archive(session.id, answers[1].id)
    store.archive(session.id, answers[1].id)
    assert store.archived(session.tree_id) == {answers[1].id}
    assert tree_rows(path) == before
    assert {n.id for n in store.outline(session.tree_id)} >= {answers[1].id, other.id}
    store.bring_back(answers[1].id)
    assert store.archived(session.tree_id) == frozenset()


def test_the_branch_one_is_on_cannot_be_archived(store: Store) -> None:
    session, asked, answers = conversation(store, 2)
    for message in (asked[0], answers[1]):
        with pytest.raises(NotAllowed, match="on this branch"):
            store.archive(session.id, message.id)
    assert store.archived(session.tree_id) == frozenset()
