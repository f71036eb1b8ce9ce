"""A full disk, a locked file, a file that may not be written: a sentence, nothing lost, work goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import StoreUnavailable
from bibgenie_desktop.domain.parts import Draft, TextPart
from bibgenie_desktop.storage.store import Store
from tests.storage.helpers import MODEL, conversation, everything, plain, reply_id, turn

LONG_TEXT = (TextPart("x" * 200_000),)


def test_a_full_disk(store: Store, path: Path) -> None:
    session, *_ = conversation(store, 1)
    session, *_ = store.send(session.id, session.head, (TextPart("q"),), reply_id(store), MODEL)
    before = everything(path)
    pages = store._db.value("PRAGMA page_count")
    store._db.run(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreUnavailable, match="disk is full"):
        store.finish(session.id, "complete", "", LONG_TEXT, ())
    with pytest.raises(StoreUnavailable, match="disk is full"):
        store.save_draft(session.id, None, Draft("y" * 200_000))
    assert everything(path) == before
    store._db.run("PRAGMA max_page_count = 1000000")
    ended = store.finish(session.id, "complete", "", LONG_TEXT, ())
    turn(store, ended.session)


def test_a_file_that_another_program_has_locked(store: Store, path: Path) -> None:
    session, *_ = conversation(store, 1)
    store._db.run("PRAGMA busy_timeout = 20")
    with plain(path) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="Another program") as caught:
            turn(store, session)
        assert str(path) in caught.value.advice
        assert len(store.open_branch(session.id).path) == 2
        other.execute("ROLLBACK")
    turn(store, session)


def test_a_file_that_may_not_be_written(store: Store, path: Path) -> None:
    session, *_ = conversation(store, 1)
    store._db.run("PRAGMA query_only = 1")
    with pytest.raises(StoreUnavailable, match="cannot be written"):
        turn(store, session)
    store._db.run("PRAGMA query_only = 0")
    turn(store, session)


def test_a_broken_rule_is_a_fault_and_not_the_persons_matter(store: Store) -> None:
    session, *_ = conversation(store, 1)
    with pytest.raises(Exception, match="never changes") as caught:
        store._db.run("UPDATE message SET parts = '[]'")
    assert not isinstance(caught.value, StoreUnavailable)
    turn(store, session)
