"""Libraries as no version of Zotero leaves them: the index, however it is made, says what memory says."""

from __future__ import annotations

import contextlib
import random
import re
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bibgenie_desktop.zotero.index import build as index_build
from bibgenie_desktop.zotero.index import process as index_process
from bibgenie_desktop.zotero.index.helpers import helping
from bibgenie_desktop.zotero.index.indexed_search import IndexedSearch
from bibgenie_desktop.zotero.index.search import MetadataIndex, Query
from tests.zotero.helpers import generated, sample_copy
from tests.zotero.index.test_changes import title
from tests.zotero.index.test_index import Both, same
from tests.zotero.index.test_life import FACTS

Odd = Callable[[sqlite3.Connection], None]
SIGNS = "a\x1fb\x00c\n\u2028d\"\\'"
TABLES = ("item", "item_body", "member", "attachment", "note", "annotation", "collection_tally", "tag_tally")


def as_blobs(db: sqlite3.Connection) -> None:
    blob = "CAST({} || 'é' AS BLOB)"
    db.execute(f"UPDATE creators SET firstName = {blob.format('creatorID')} WHERE creatorID % 2")
    db.execute(f"UPDATE tags SET name = {blob.format('tagID')} WHERE tagID % 2")
    db.execute(f"UPDATE itemDataValues SET value = {blob.format('valueID')} WHERE valueID % 5 = 0")
    db.execute(f"UPDATE itemNotes SET note = {blob.format('itemID')}, title = X'41'")
    db.execute("UPDATE itemAnnotations SET text = X'41', comment = 7, pageLabel = 12, authorName = X'41'")
    db.execute(f"UPDATE collections SET collectionName = {blob.format('collectionID')}")


def as_numbers(db: sqlite3.Connection) -> None:
    db.execute("UPDATE itemDataValues SET value = valueID + 0.5 WHERE valueID % 7 = 0")
    db.execute("UPDATE itemDataValues SET value = 10000 + valueID WHERE valueID % 11 = 1")
    db.execute("UPDATE items SET key = itemID WHERE itemID % 5 = 0")


def with_signs(db: sqlite3.Connection) -> None:
    """Characters that separate values in the index."""
    db.execute("UPDATE itemDataValues SET value = ? || valueID WHERE valueID % 3 = 0", (SIGNS,))
    db.execute("UPDATE creators SET lastName = ? || creatorID", (SIGNS,))
    db.execute("UPDATE tags SET name = ? || tagID", (SIGNS,))
    db.execute("UPDATE collections SET collectionName = ?", (SIGNS,))
    db.execute("UPDATE itemNotes SET note = ?", (SIGNS,))


def of_many_scripts(db: sqlite3.Connection) -> None:
    db.execute("UPDATE creators SET firstName = '明 é', lastName = '王小' || creatorID || 'Straße’s ﬁ'")
    db.execute("UPDATE tags SET name = '睡眠_é' || tagID")
    odd = "İstanbul ＡＢＣ ㍿ 睡眠a1 ẞ "
    db.execute("UPDATE itemDataValues SET value = ? || valueID WHERE valueID % 4 = 0", (odd,))


def badly_encoded(db: sqlite3.Connection) -> None:
    """Also in the trash, and in names of collections, groups and searches."""
    bad = "CAST(X'C3286162' AS TEXT) || {}"
    db.execute("INSERT OR IGNORE INTO deletedItems (itemID) SELECT itemID FROM itemCreators LIMIT 3")
    for table, column, row in (
        ("itemDataValues", "value", "valueID"),
        ("creators", "lastName", "creatorID"),
        ("tags", "name", "tagID"),
        ("collections", "collectionName", "collectionID"),
        ("groups", "name", "groupID"),
        ("itemAnnotations", "text", "itemID"),
        ("itemAttachments", "path", "itemID"),
    ):
        db.execute(f"UPDATE {table} SET {column} = {bad.format(row)} WHERE {row} % 2")


def with_gaps(db: sqlite3.Connection) -> None:
    """Rows that others name are gone."""
    for table, row in (("creators", "creatorID"), ("tags", "tagID"), ("collections", "collectionID")):
        db.execute(f"DELETE FROM {table} WHERE {row} % 3 = 0")
    db.execute("DELETE FROM itemDataValues WHERE valueID % 5 = 0")
    db.execute("DELETE FROM items WHERE itemID % 9 = 0")
    db.execute("UPDATE itemAttachments SET contentType = NULL, linkMode = NULL, path = NULL WHERE itemID % 2")
    db.execute("UPDATE itemNotes SET note = NULL, title = NULL")
    db.execute("UPDATE items SET itemTypeID = 9999 WHERE itemID % 13 = 0")


def in_another_order(db: sqlite3.Connection) -> None:
    for table in ("itemTags", "collectionItems", "itemCreators"):
        rows = db.execute(f"SELECT * FROM {table}").fetchall()
        db.execute(f"DELETE FROM {table}")
        marks = ", ".join("?" * len(rows[0]))
        db.executemany(f"INSERT INTO {table} VALUES ({marks})", rows[::-1])


def hanging_anywhere(db: sqlite3.Connection) -> None:
    """Below what holds no such thing, below nothing, below an item that was made later."""
    note = _row(db, "note", "NOTE2222")
    alone, below_note, lost = (_row(db, "attachment", f"ATT{n}2222") for n in "ABC")
    young = _row(db, "journalArticle", "LATE2222")
    for row, parent in (
        (note, None),
        (_row(db, "note", "NOTE3333"), alone),
        (_row(db, "note", "NOTE4444"), note),
    ):
        db.execute("INSERT INTO itemNotes (itemID, parentItemID, note) VALUES (?, ?, 'x')", (row, parent))
    for row, parent in (
        (alone, None),
        (below_note, note),
        (lost, 999_999),
        (_row(db, "attachment", "ATTD2222"), lost),
    ):
        db.execute(
            "INSERT INTO itemAttachments (itemID, parentItemID, linkMode, contentType, path)"
            " VALUES (?, ?, 1, 'application/pdf', 'storage:x.pdf')",
            (row, parent),
        )
    for number, parent in enumerate((young, alone, below_note, 999_999)):
        db.execute(
            "INSERT INTO itemAnnotations (itemID, parentItemID, type, text, color, sortIndex, position,"
            " isExternal) VALUES (?, ?, 1, 'q', '#ffd400', ?, ?, 0)",
            (
                _row(db, "annotation", f"MRK{number}2222"),
                parent,
                number,
                '{"pageIndex":0}' if number else "x",
            ),
        )
    _row(db, "note", "BARE2222")  # a note without words
    for table in ("itemAttachments", "itemNotes"):
        db.execute(
            f"UPDATE {table} SET parentItemID = ? WHERE itemID = (SELECT min(itemID) FROM {table})", (young,)
        )
    db.execute(
        "INSERT INTO deletedItems (itemID) SELECT max(parentItemID) FROM itemAttachments WHERE itemID % 2"
    )


def in_no_library(db: sqlite3.Connection) -> None:
    """A feed, a group without a row, and one without a name."""
    for library, kind in ((77, "feed"), (78, "group")):
        db.execute(
            "INSERT INTO libraries (libraryID, type, editable, filesEditable) VALUES (?, ?, 0, 0)",
            (library, kind),
        )
        _row(db, "journalArticle", "FEED2222", library)
        note = _row(db, "note", "FEED3333", library)
        db.execute("INSERT INTO itemNotes (itemID, note) VALUES (?, 'x')", (note,))
    db.execute("UPDATE groups SET name = ''")


def in_circles(db: sqlite3.Connection) -> None:
    rows = [row for (row,) in db.execute("SELECT collectionID FROM collections ORDER BY 1")]
    for row, parent in ((rows[0], rows[1]), (rows[1], rows[0]), (rows[2], rows[2])):
        db.execute("UPDATE collections SET parentCollectionID = ? WHERE collectionID = ?", (parent, row))
    db.execute("INSERT INTO deletedCollections (collectionID) VALUES (?)", (rows[3],))


def without_tables(db: sqlite3.Connection) -> None:
    for table in (
        "itemAnnotations",
        "retractedItems",
        "fulltextItems",
        "collections",
        "savedSearches",
        "tags",
    ):
        db.execute(f"DROP TABLE IF EXISTS {table}")


def with_nothing(db: sqlite3.Connection) -> None:
    for table in ("items", "itemData", "itemCreators", "itemTags", "itemNotes", "itemAttachments"):
        db.execute(f"DELETE FROM {table}")


ODD: Sequence[Odd] = (
    *(as_blobs, as_numbers, badly_encoded, with_signs, of_many_scripts, with_gaps, in_another_order),
    *(hanging_anywhere, in_no_library, in_circles, without_tables, with_nothing),
)


def _row(db: sqlite3.Connection, kind: str, key: str, library: int = 1) -> int:
    (type_id,) = db.execute("SELECT itemTypeID FROM itemTypesCombined WHERE typeName = ?", (kind,)).fetchone()
    row = db.execute(
        "INSERT INTO items (itemTypeID, libraryID, key) VALUES (?, ?, ?)", (type_id, library, key)
    ).lastrowid
    assert row is not None
    return row


def spoiled(folder: Path, odd: Odd) -> Path:
    """The sample library, changed where Zotero's own triggers would have refused."""
    data_dir = sample_copy(folder / "Zotero")
    with contextlib.closing(sqlite3.connect(data_dir / "zotero.sqlite")) as db, db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f'DROP TRIGGER "{name}"')
        odd(db)
    return data_dir


def asked_of(both: Both) -> set[str]:
    """Words, names and beginnings of words that are in this library, and some that only look so."""
    rng = random.Random(5)
    texts = [t for i in both.memory.items.values() for t in (i.title, i.abstract, i.citekey, i.doi)]
    texts += [t.name for i in both.memory.items.values() for t in i.tags]
    texts += [c.name for i in both.memory.items.values() for c in i.creators]
    found = sorted({w for text in texts for w in re.split(r"[\s,.]+", text) if w} | {t for t in texts if t})
    some = rng.sample(found, min(60, len(found)))
    return {*some, *(w[:3] for w in some), "睡", "王小", "ss", "é", "a b", "10.1", ""}


@pytest.mark.parametrize("piece", [2_000, 7])
@pytest.mark.parametrize("odd", ODD, ids=lambda o: o.__name__)
def test_an_odd_library_is_the_same_through_its_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: Odd, piece: int
) -> None:
    monkeypatch.setattr(index_build, "PIECE", piece)
    both = Both(spoiled(tmp_path, odd), tmp_path / "private")
    same(both.memory, both.indexed)
    plain, fast = MetadataIndex(both.memory), IndexedSearch(both.indexed)
    for text in asked_of(both):
        one, other = (index.search(Query(text, limit=200)) for index in (plain, fast))
        assert [i.id for i in other.items] == [i.id for i in one.items], text


def rows_in(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Everything that the index holds, with each word of each item."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        found = {table: sorted(db.execute(f"SELECT * FROM {table}"), key=repr) for table in TABLES}
        db.execute("CREATE VIRTUAL TABLE temp.term USING fts5vocab (main, item_words, instance)")
        columns = "i.id, term.term, term.col, term.offset"
        question = f"SELECT {columns} FROM temp.term JOIN item i ON i.row = term.doc"
        found["words"] = sorted(db.execute(question))
        (words,) = db.execute("SELECT count(*) FROM temp.term").fetchone()
        assert words == len(found["words"]), "words of items that are gone"
        return found


@pytest.mark.parametrize(
    "odd", [as_blobs, badly_encoded, with_signs, hanging_anywhere], ids=lambda o: o.__name__
)
def test_what_other_processes_read_is_written_as_what_this_one_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: Odd
) -> None:
    monkeypatch.setattr(index_build, "PIECE", 7)
    database = spoiled(tmp_path, odd) / "zotero.sqlite"
    alone, helped = tmp_path / "index-1.sqlite", tmp_path / "index-2.sqlite"
    index_build.build(alone, database, {}, FACTS)
    command = index_process.worker_command()
    index_build.build(
        helped, database, {}, FACTS, helpers=lambda items: helping(command, 2, database, "", items)
    )
    assert rows_in(helped) == rows_in(alone)


def test_after_changes_the_index_holds_the_words_and_bodies_of_one_made_anew(tmp_path: Path) -> None:
    """`row` numbers aside, which are given in turn."""
    data_dir = generated(tmp_path / "lib", "--items", "300", "--schema-version", "129")
    both, rng = Both(data_dir, tmp_path / "private"), random.Random(11)
    (before,) = (tmp_path / "private").glob("index-*.sqlite")
    for _ in range(4):
        with contextlib.closing(sqlite3.connect(data_dir / "zotero.sqlite")) as db, db:
            for _ in range(5):
                title(db, rng)
            gone = rng.choice(db.execute("SELECT DISTINCT itemID FROM itemCreators").fetchall())
            db.execute("INSERT OR IGNORE INTO deletedItems (itemID) VALUES (?)", gone)
        both.again()
    (changed,) = (tmp_path / "private").glob("index-*.sqlite")
    assert changed == before, "it was made anew, so nothing was tried"
    anew = tmp_path / "index-9.sqlite"
    index_build.build(anew, data_dir / "zotero.sqlite", {}, FACTS)
    one, other = rows_in(changed), rows_in(anew)
    assert one["words"] == other["words"]
    for table in ("note", "annotation", "collection_tally", "tag_tally"):
        assert one[table] == other[table], table
    for table in ("item", "item_body"):
        assert len(one[table]) == len(other[table]), table
        assert sorted(r[1:] for r in map(list, one[table])) == sorted(r[1:] for r in map(list, other[table]))


@pytest.mark.parametrize(
    "asked", ["BERT", "bert 文本", "bert的文本", "COVID19", "covid 疫情", "于BERT", "2020"]
)
def test_a_word_right_beside_chinese_is_found_in_small_and_large_libraries(
    tmp_path: Path, asked: str
) -> None:
    titles = ("基于BERT的文本分类", "2020年COVID19疫情研究")

    def in_chinese(db: sqlite3.Connection) -> None:
        values = db.execute(
            "SELECT d.valueID FROM itemData d JOIN fields USING (fieldID) JOIN items USING (itemID)"
            " JOIN itemTypes t USING (itemTypeID) WHERE fieldName = 'title' AND typeName = 'journalArticle'"
            " ORDER BY itemID"
        )
        for name, (value,) in zip(titles, values.fetchall(), strict=False):
            db.execute("UPDATE itemDataValues SET value = ? WHERE valueID = ?", (name, value))

    both = Both(spoiled(tmp_path, in_chinese), tmp_path / "private")
    one, other = (
        x.search(Query(asked)).items for x in (MetadataIndex(both.memory), IndexedSearch(both.indexed))
    )
    assert [i.id for i in one] == [i.id for i in other]
    assert one[0].title in titles
