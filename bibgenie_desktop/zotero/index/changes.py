"""Finding what changed in Zotero's tables since an index was made, and writing only that into it.

Zotero touches the row of an item with nearly every change; what it may change without (collections, the
trash, names of tags, counted pages, retractions) is compared as well. What is found is read again together
with everything that hangs below the same item, by the same reader that reads a whole library.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from bibgenie_desktop.zotero.index import schema as index_schema
from bibgenie_desktop.zotero.index.codec import pack, pack_collection
from bibgenie_desktop.zotero.index.writer import IndexWriter
from bibgenie_desktop.zotero.model.library import Contents

MOST_CHANGED: Final = 0.3
"""With a larger share of the items an index is made anew, which is quicker then."""

_STATE: Final = (
    *("itemTypeID", "libraryID", "key", "dateAdded", "dateModified", "clientDateModified"),
    *("version", "synced"),
)
_SEEN: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "seen_item": ("items", _STATE),
    "seen_bin": ("deletedItems", ()),
    "seen_pages": ("fulltextItems", ("totalPages",)),
    "seen_retraction": ("retractedItems", ("data",)),
    "seen_tag": ("tags", ("name",)),
}
_MEMBERS: Final = (
    "SELECT itemID, sum((collectionID * 32452843 + 41) % 2147483647) AS total"
    " FROM zotero.collectionItems GROUP BY itemID"
)
_NAMES: Final = (
    *("itemTypes", "itemTypesCombined", "fields", "fieldsCombined", "baseFieldMappings"),
    *("baseFieldMappingsCombined", "creatorTypes", "itemTypeCreatorTypes", "users"),
)


class TooMuch(Exception):
    """The index is better made anew."""


@contextlib.contextmanager
def beside(db: sqlite3.Connection, database: Path) -> Iterator[None]:
    """While this lasts the tables of a private copy are at hand as `zotero`; outside of transactions."""
    db.execute("ATTACH ? AS zotero", (f"{database.absolute().as_uri()}?mode=ro&immutable=1",))
    try:
        yield
    finally:
        db.execute("DETACH zotero")


def remember(db: sqlite3.Connection) -> None:
    """Keep what later states are compared with. Inside `beside` and a transaction."""
    for seen, (table, columns) in _SEEN.items():
        key, *others = _columns(db, table, columns)
        names = ", ".join(f"c{i}" for i in range(len(others)))
        db.execute(f"CREATE TABLE {seen} (source INTEGER PRIMARY KEY{', ' if names else ''}{names})")
        if key:
            db.execute(f"INSERT INTO {seen} SELECT {', '.join([key, *others])} FROM zotero.{table}")
    db.execute("CREATE TABLE seen_member (source INTEGER PRIMARY KEY, total INTEGER)")
    if _has(db, "collectionItems"):
        db.execute(f"INSERT INTO seen_member {_MEMBERS}")
    index_schema.set_facts(db, {"names": _names(db)})


def apply(
    db: sqlite3.Connection,
    frame: Contents,
    read: Callable[[Iterable[int]], tuple[Contents, dict[str, int]]],
    relations: Callable[[Contents], Contents],
) -> int:
    """Bring the index up to the state beside it; returns how many top-level items and notes were read.

    Inside `beside` and a transaction. Raises `TooMuch`.
    """
    known = index_schema.facts(db)
    if _names(db) != known["names"] or pack([lib.id for lib in frame.libraries]) != pack(
        [lib[0] for lib in json.loads(known["libraries"])]
    ):
        raise TooMuch
    touched = _touched(db)
    collections = [pack_collection(c) for c in frame.collections]
    moved = pack(collections) != known["collections"]
    if moved:
        touched |= _in_other_light(db, frame, json.loads(known["collections"]))
    owners = _owners(db, touched)
    (total,) = db.execute("SELECT count(*) FROM item").fetchone()
    if len(owners) > max(50, MOST_CHANGED * total):
        raise TooMuch
    writer = IndexWriter(db, frame.collections)
    if owners:
        writer.forget(owners)
        writer.put(*read(owners))
    writer.set_frame(relations(frame))
    if moved:
        writer.recount_collections(frame.collections)
    writer.save_counts()
    _remember_again(db)
    return len(owners)


def _touched(db: sqlite3.Connection) -> set[int]:
    """Rows of `items` that differ, are new, or are gone."""
    db.execute("CREATE TEMP TABLE IF NOT EXISTS touched (kind TEXT, source INTEGER)")
    db.execute("DELETE FROM temp.touched")
    for seen, (table, columns) in _SEEN.items():
        key, *others = _columns(db, table, columns)
        if not key:
            continue
        named = [(i, name) for i, name in enumerate(others) if name != "NULL"]
        differs = " OR ".join(["s.source IS NULL", *(f"s.c{i} IS NOT z.{name}" for i, name in named)])
        db.execute(
            f"INSERT INTO temp.touched SELECT '{seen}', z.{key} FROM zotero.{table} z"
            f" LEFT JOIN {seen} s ON s.source = z.{key} WHERE {differs}"
        )
        db.execute(
            f"INSERT INTO temp.touched SELECT '{seen}', source FROM {seen}"
            f" WHERE source NOT IN (SELECT {key} FROM zotero.{table})"
        )
    if _has(db, "collectionItems"):
        db.execute("CREATE TEMP TABLE IF NOT EXISTS totals (source INTEGER PRIMARY KEY, total INTEGER)")
        db.execute("DELETE FROM temp.totals")
        db.execute(f"INSERT INTO temp.totals {_MEMBERS}")
        db.execute(
            "INSERT INTO temp.touched SELECT 'seen_member', m.source FROM temp.totals m"
            " LEFT JOIN seen_member s ON s.source = m.source WHERE s.total IS NOT m.total"
        )
        db.execute(
            "INSERT INTO temp.touched SELECT 'seen_member', source FROM seen_member"
            " WHERE source NOT IN (SELECT source FROM temp.totals)"
        )
    found = {row for (row,) in db.execute("SELECT source FROM temp.touched WHERE kind <> 'seen_tag'")}
    if _has(db, "itemTags"):
        tags = "SELECT source FROM temp.touched WHERE kind = 'seen_tag'"
        found |= {row for (row,) in db.execute(f"SELECT itemID FROM zotero.itemTags WHERE tagID IN ({tags})")}
    return found


def _in_other_light(db: sqlite3.Connection, frame: Contents, before: list[list[object]]) -> set[int]:
    """Rows in collections that went to the trash or came back, themselves or with one above them."""
    trashed = {c[0]: c[3] for c in before}
    differing = [c for c in frame.collections if trashed.get(c.id, c.trashed) != c.trashed]
    found: set[int] = set()
    for collection in differing:
        found |= {
            row
            for (row,) in db.execute(
                "SELECT m.itemID FROM zotero.collections c"
                " JOIN zotero.collectionItems m ON m.collectionID = c.collectionID WHERE c.key = ?",
                (collection.id.partition("-")[2],),
            )
        }
    return found


def _owners(db: sqlite3.Connection, touched: Iterable[int]) -> set[int]:
    """The top-level rows that these belong to, now and as the index has it."""
    db.execute("CREATE TEMP TABLE IF NOT EXISTS climbing (source INTEGER PRIMARY KEY)")
    db.execute("DELETE FROM temp.climbing")
    db.executemany("INSERT OR IGNORE INTO temp.climbing VALUES (?)", ((t,) for t in touched))
    above: dict[int, int] = {}
    tables = [t for t in ("itemAttachments", "itemNotes", "itemAnnotations") if _has(db, t)]
    for table in reversed(tables):  # what an annotation hangs below may itself hang below something
        links = db.execute(
            f"SELECT itemID, parentItemID FROM zotero.{table}"
            " WHERE itemID IN temp.climbing AND parentItemID IS NOT NULL"
        ).fetchall()
        above.update(links)
        db.executemany("INSERT OR IGNORE INTO temp.climbing VALUES (?)", ((p,) for _, p in links))
    climbing = [row for (row,) in db.execute("SELECT source FROM temp.climbing")]
    found = {row for row in climbing if row not in above}
    for question in (
        "SELECT source FROM item WHERE source IN temp.climbing",
        "SELECT i.source FROM attachment a JOIN item i ON i.row = a.item WHERE a.source IN temp.climbing",
        "SELECT source FROM note WHERE source IN temp.climbing AND owner = ''",
        "SELECT i.source FROM note n JOIN item i ON i.id = n.owner WHERE n.source IN temp.climbing",
        "SELECT i.source FROM annotation a JOIN item i ON i.id = a.item WHERE a.source IN temp.climbing",
    ):
        found |= {row for (row,) in db.execute(question)}
    return found


def _remember_again(db: sqlite3.Connection) -> None:
    for seen, (table, columns) in _SEEN.items():
        key, *others = _columns(db, table, columns)
        of_these = f"IN (SELECT source FROM temp.touched WHERE kind = '{seen}')"
        db.execute(f"DELETE FROM {seen} WHERE source {of_these}")
        if key:
            values = ", ".join([key, *others])
            db.execute(f"INSERT INTO {seen} SELECT {values} FROM zotero.{table} WHERE {key} {of_these}")
    if _has(db, "collectionItems"):
        of_these = "IN (SELECT source FROM temp.touched WHERE kind = 'seen_member')"
        db.execute(f"DELETE FROM seen_member WHERE source {of_these}")
        db.execute(f"INSERT INTO seen_member SELECT * FROM temp.totals WHERE source {of_these}")


def _columns(db: sqlite3.Connection, table: str, columns: tuple[str, ...]) -> tuple[str, ...]:
    """(key, columns) of a table of Zotero, NULL for a column of another version; an empty key without it."""
    present = [row[1] for row in db.execute(f'PRAGMA zotero.table_info("{table}")')]
    if not present:
        return ("",)
    key = "tagID" if table == "tags" else "itemID"
    return (key, *(c if c in present else "NULL" for c in columns))


def _has(db: sqlite3.Connection, table: str) -> bool:
    return bool(db.execute(f'PRAGMA zotero.table_info("{table}")').fetchone())


def _names(db: sqlite3.Connection) -> str:
    """A number of all names of types, fields, roles and people, which items are read with."""
    total = 0
    for table in _NAMES:
        if _has(db, table):
            rows = db.execute(f'SELECT * FROM zotero."{table}"').fetchall()
            total = zlib.crc32(repr(rows).encode("utf-8", "replace"), total)
    return str(total)
