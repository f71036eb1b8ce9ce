"""Items as a list shows them before anything else is known of a library."""

from __future__ import annotations

import contextlib
import heapq
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.zotero.index import build as index_build
from bibgenie_desktop.zotero.index.indexed_contents import IndexedItems
from bibgenie_desktop.zotero.local.reader import read_contents
from bibgenie_desktop.zotero.model.library import Contents, Item

_NEWEST: Final = "SELECT id, type, title, creators, year FROM item ORDER BY modified DESC, row LIMIT ?"


@dataclass(frozen=True, slots=True)
class Brief:
    """`creators` are the first few names in one line."""

    id: str
    type: str
    title: str
    creators: str
    year: int | None


def newest_of(contents: Contents, limit: int) -> tuple[Brief, ...]:
    """The items changed last."""
    if isinstance(contents.items, IndexedItems):
        rows = contents.items.state.rows(_NEWEST, (limit,))
        return tuple(Brief(*row) for row in rows)
    newest = heapq.nlargest(limit, contents.items.values(), key=lambda i: i.modified)
    return tuple(map(_brief, newest))


def newest_in_index(db: sqlite3.Connection, limit: int) -> tuple[Brief, ...]:
    return tuple(Brief(*row) for row in db.execute(_NEWEST, (limit,)))


def newest_in_database(database: Path | None, limit: int) -> tuple[Brief, ...]:
    """The same from a copy of Zotero's database that nobody has read yet; nothing where it cannot be had."""
    if database is None:
        return ()
    try:
        with contextlib.closing(index_build.opened(database)) as zotero:
            rows = zotero.execute(
                "SELECT itemID FROM items WHERE itemID NOT IN (SELECT itemID FROM itemNotes)"
                " AND itemID NOT IN (SELECT itemID FROM itemAttachments WHERE parentItemID IS NOT NULL)"
                " AND itemID NOT IN (SELECT itemID FROM deletedItems) ORDER BY dateModified DESC LIMIT ?",
                (limit * 2,),  # some are annotations, or of feeds
            ).fetchall()
            found = read_contents(zotero, None, [row for (row,) in rows])
    except (sqlite3.Error, LibraryUnavailable):
        return ()
    return newest_of(found, limit)


def _brief(item: Item) -> Brief:
    return Brief(item.id, item.type, item.title, "; ".join(c.name for c in item.authors[:4]), item.year)
