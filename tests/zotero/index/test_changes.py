"""Bringing an index up to date: after any change Zotero makes it equals one that is made anew."""

from __future__ import annotations

import contextlib
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from bibgenie_desktop.zotero.index import build as index_build
from bibgenie_desktop.zotero.index import library_index
from bibgenie_desktop.zotero.index.changes import MOST_CHANGED
from bibgenie_desktop.zotero.index.indexed_search import IndexedSearch
from bibgenie_desktop.zotero.index.search import MetadataIndex, Query
from tests.zotero.helpers import generated, retitle, sample_copy, titled
from tests.zotero.index.test_index import Both, same

Change = Callable[[sqlite3.Connection, random.Random], None]


def _any(db: sqlite3.Connection, rng: random.Random, question: str) -> int:
    rows = db.execute(question).fetchall()
    return int(rng.choice(rows)[0]) if rows else -1


def _item(db: sqlite3.Connection, rng: random.Random) -> int:
    return _any(
        db,
        rng,
        "SELECT itemID FROM items JOIN itemTypes USING (itemTypeID)"
        " WHERE typeName NOT IN ('attachment', 'note', 'annotation')",
    )


def _touch(db: sqlite3.Connection, item: int) -> None:
    """As every saving of an item does."""
    db.execute(
        "UPDATE items SET clientDateModified = datetime('now'), version = version + 1, synced = 0"
        " WHERE itemID = ?",
        (item,),
    )


def title(db: sqlite3.Connection, rng: random.Random) -> None:
    found = db.execute(
        "SELECT itemID, fieldID FROM itemData JOIN fields USING (fieldID) WHERE fieldName = 'title'"
    ).fetchall()
    item, field = rng.choice(found)
    db.execute("INSERT INTO itemDataValues (value) VALUES (?)", (f"Marmot {rng.random()} 睡眠",))
    (value,) = db.execute("SELECT last_insert_rowid()").fetchone()
    db.execute("UPDATE itemData SET valueID = ? WHERE itemID = ? AND fieldID = ?", (value, item, field))
    _touch(db, item)


def tag(db: sqlite3.Connection, rng: random.Random) -> None:
    item, name = _any(db, rng, "SELECT itemID FROM items"), f"tag {rng.randrange(6)}"
    db.execute("INSERT OR IGNORE INTO tags (name) VALUES (?)", (name,))
    (row,) = db.execute("SELECT tagID FROM tags WHERE name = ?", (name,)).fetchone()
    db.execute("INSERT OR REPLACE INTO itemTags VALUES (?, ?, ?)", (item, row, rng.randrange(2)))
    _touch(db, item)


def untag(db: sqlite3.Connection, rng: random.Random) -> None:
    item = _any(db, rng, "SELECT itemID FROM itemTags")
    db.execute("DELETE FROM itemTags WHERE itemID = ?", (item,))
    _touch(db, item)


def rename_tag(db: sqlite3.Connection, rng: random.Random) -> None:
    row = _any(db, rng, "SELECT tagID FROM itemTags")
    db.execute("UPDATE tags SET name = ? WHERE tagID = ?", (f"renamed {rng.random()}", row))


def file_untouched(db: sqlite3.Connection, rng: random.Random) -> None:
    """Into a collection, without any date."""
    collection = _any(db, rng, "SELECT collectionID FROM collections")
    db.execute(
        "INSERT OR IGNORE INTO collectionItems (collectionID, itemID) VALUES (?, ?)",
        (collection, _item(db, rng)),
    )


def unfile(db: sqlite3.Connection, rng: random.Random) -> None:
    item = _any(db, rng, "SELECT itemID FROM collectionItems")
    db.execute("DELETE FROM collectionItems WHERE itemID = ?", (item,))


def move_collection(db: sqlite3.Connection, rng: random.Random) -> None:
    row = _any(db, rng, "SELECT collectionID FROM collections WHERE parentCollectionID IS NOT NULL")
    db.execute("UPDATE collections SET parentCollectionID = NULL WHERE collectionID = ?", (row,))


def rename_collection(db: sqlite3.Connection, rng: random.Random) -> None:
    row = _any(db, rng, "SELECT collectionID FROM collections")
    db.execute("UPDATE collections SET collectionName = ? WHERE collectionID = ?", (f"New {row}", row))


def bin_collection(db: sqlite3.Connection, rng: random.Random) -> None:
    row = _any(db, rng, "SELECT collectionID FROM collections")
    db.execute("INSERT OR IGNORE INTO deletedCollections (collectionID) VALUES (?)", (row,))


def restore_collections(db: sqlite3.Connection, rng: random.Random) -> None:
    db.execute("DELETE FROM deletedCollections")


def bin_something(db: sqlite3.Connection, rng: random.Random) -> None:
    """An item, attachment, note or annotation."""
    row = _any(db, rng, "SELECT itemID FROM items")
    db.execute("INSERT OR IGNORE INTO deletedItems (itemID) VALUES (?)", (row,))


def restore(db: sqlite3.Connection, rng: random.Random) -> None:
    row = _any(db, rng, "SELECT itemID FROM deletedItems")
    db.execute("DELETE FROM deletedItems WHERE itemID = ?", (row,))


def erase(db: sqlite3.Connection, rng: random.Random) -> None:
    """A top-level item with everything below it, as when the trash is emptied."""
    gone = {_item(db, rng)}
    for table in ("itemAttachments", "itemNotes", "itemAnnotations"):
        marks = ", ".join("?" * len(gone))
        rows = db.execute(f"SELECT itemID FROM {table} WHERE parentItemID IN ({marks})", (*gone,))
        gone |= {row for (row,) in rows.fetchall()}
    tables = ("itemAnnotations", "itemNotes", "itemAttachments", "itemData", "itemCreators", "itemTags")
    for table in (*tables, "collectionItems", "itemRelations", "deletedItems", "fulltextItems", "items"):
        db.executemany(f"DELETE FROM {table} WHERE itemID = ?", [(row,) for row in gone])


def move_attachment(db: sqlite3.Connection, rng: random.Random) -> None:
    row = _any(db, rng, "SELECT itemID FROM itemAttachments WHERE parentItemID IS NOT NULL")
    db.execute("UPDATE itemAttachments SET parentItemID = ? WHERE itemID = ?", (_item(db, rng), row))
    _touch(db, row)


def free_attachment(db: sqlite3.Connection, rng: random.Random) -> None:
    row = _any(db, rng, "SELECT itemID FROM itemAttachments WHERE parentItemID IS NOT NULL")
    db.execute("UPDATE itemAttachments SET parentItemID = NULL WHERE itemID = ?", (row,))
    _touch(db, row)


def edit_note(db: sqlite3.Connection, rng: random.Random) -> None:
    row = _any(db, rng, "SELECT itemID FROM itemNotes")
    db.execute("UPDATE itemNotes SET note = ? WHERE itemID = ?", (f"<p>Note {rng.random()}</p>", row))
    _touch(db, row)


def comment(db: sqlite3.Connection, rng: random.Random) -> None:
    row = _any(db, rng, "SELECT itemID FROM itemAnnotations")
    db.execute("UPDATE itemAnnotations SET comment = ? WHERE itemID = ?", (f"Mark {rng.random()}", row))
    _touch(db, row)


def new_item(db: sqlite3.Connection, rng: random.Random) -> None:
    key = "".join(rng.choices("23456789ABCDEFGHIJKLMNPQRSTUVWXYZ", k=8))
    like = _item(db, rng)
    db.execute(
        "INSERT INTO items (itemTypeID, libraryID, key) SELECT itemTypeID, libraryID, ? FROM items"
        " WHERE itemID = ?",
        (key, like),
    )
    (row,) = db.execute("SELECT last_insert_rowid()").fetchone()
    db.execute("INSERT INTO itemData SELECT ?, fieldID, valueID FROM itemData WHERE itemID = ?", (row, like))
    db.execute(
        "INSERT INTO itemCreators SELECT ?, creatorID, creatorTypeID, orderIndex FROM itemCreators"
        " WHERE itemID = ?",
        (row, like),
    )


def count_pages(db: sqlite3.Connection, rng: random.Random) -> None:
    """Zotero indexes a file, which touches nothing else."""
    row = _any(db, rng, "SELECT itemID FROM fulltextItems")
    db.execute("UPDATE fulltextItems SET totalPages = ? WHERE itemID = ?", (rng.randrange(500), row))


def relate(db: sqlite3.Connection, rng: random.Random) -> None:
    db.execute("INSERT OR IGNORE INTO relationPredicates (predicate) VALUES ('dc:relation')")
    (predicate,) = db.execute(
        "SELECT predicateID FROM relationPredicates WHERE predicate = 'dc:relation'"
    ).fetchone()
    (key,) = db.execute("SELECT key FROM items WHERE itemID = ?", (_item(db, rng),)).fetchone()
    target = f"http://zotero.org/users/1/items/{key}"
    db.execute("INSERT OR IGNORE INTO itemRelations VALUES (?, ?, ?)", (_item(db, rng), predicate, target))


CHANGES: tuple[Change, ...] = (
    *(title, tag, untag, rename_tag, file_untouched, unfile, move_collection, rename_collection),
    *(bin_collection, restore_collections, bin_something, restore, erase, move_attachment),
    *(free_attachment, edit_note, comment, new_item, count_pages, relate),
)


def alter(data_dir: Path, *changes: Change, seed: int = 0) -> None:
    rng = random.Random(seed)
    with contextlib.closing(sqlite3.connect(data_dir / "zotero.sqlite")) as db, db:
        db.execute("PRAGMA foreign_keys=OFF")
        for (trigger,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f'DROP TRIGGER "{trigger}"')
        for change in changes:
            change(db, rng)


@pytest.fixture
def never_anew(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """After it was called, making an index from nothing is an error."""

    def forbid() -> None:
        def build(*_: object) -> None:
            raise AssertionError("the index was made anew")

        monkeypatch.setattr(index_build, "build", build)

    return forbid


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generated(tmp_path_factory.mktemp("lib"), "--items", "80", "--schema-version", "125")


@pytest.mark.parametrize("change", CHANGES, ids=lambda c: c.__name__)
def test_one_change_is_found_and_nothing_else_is_made_anew(
    tmp_path: Path, original: Path, change: Change, never_anew: Callable[[], None]
) -> None:
    data_dir = tmp_path / "Zotero"
    data_dir.mkdir()
    shutil.copy(original / "zotero.sqlite", data_dir)
    both = Both(data_dir, tmp_path / "private")
    never_anew()
    for seed in (1, 2):
        alter(data_dir, change, seed=seed)
        both.again()
        same(both.memory, both.indexed)


@pytest.mark.parametrize("version", ["121", "129"])
def test_many_changes_in_a_row_leave_the_same_library(
    tmp_path: Path, version: str, never_anew: Callable[[], None]
) -> None:
    data_dir = generated(tmp_path / "lib", "--items", "250", "--schema-version", version)
    both = Both(data_dir, tmp_path / "private")
    never_anew()
    rng = random.Random(7)
    for seed in range(12):
        alter(data_dir, *rng.choices(CHANGES, k=6), seed=seed)
        both.again()
        same(both.memory, both.indexed)
        plain, fast = MetadataIndex(both.memory), IndexedSearch(both.indexed)
        for text in ("marmot", "睡眠", "tag 3", "memory", "renamed"):
            one, other = plain.search(Query(text, limit=50)), fast.search(Query(text, limit=50))
            assert [i.id for i in one.items] == [i.id for i in other.items]


def test_when_much_has_changed_the_index_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_dir = generated(tmp_path / "lib", "--items", "200", "--schema-version", "125")
    both = Both(data_dir, tmp_path / "private")
    made: list[object] = []
    build = index_build.build
    monkeypatch.setattr(index_build, "build", lambda *a: made.append(a) or build(*a))
    with contextlib.closing(sqlite3.connect(data_dir / "zotero.sqlite")) as db, db:
        db.execute("UPDATE items SET version = version + 1 WHERE itemID % 2 = 0")
    assert MOST_CHANGED < 0.5
    both.again()
    assert made
    same(both.memory, both.indexed)


def test_a_day_later_everything_is_read_whatever_the_dates_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_dir = sample_copy(tmp_path / "Zotero")
    both = Both(data_dir, tmp_path / "private")
    with contextlib.closing(sqlite3.connect(data_dir / "zotero.sqlite")) as db, db:
        db.execute("UPDATE itemDataValues SET value = 'Edited in place' WHERE value LIKE 'Practice with%'")
    monkeypatch.setattr(library_index, "WHOLE_AFTER_MS", 0)
    both.again()
    assert titled(both.indexed, "Edited in place")


def test_changed_names_of_fields_make_the_index_anew(tmp_path: Path) -> None:
    data_dir = sample_copy(tmp_path / "Zotero")
    both = Both(data_dir, tmp_path / "private")
    retitle(data_dir, "Practice with Sleep", "Another title")
    with contextlib.closing(sqlite3.connect(data_dir / "zotero.sqlite")) as db, db:
        db.execute("UPDATE creatorTypes SET creatorType = 'writer' WHERE creatorType = 'author'")
    both.again()
    assert {c.role for i in both.indexed.items.values() for c in i.creators} & {"writer"}
    same(both.memory, both.indexed)
