"""Writing items, notes and annotations into an index, and taking them out again.

Belongs to one connection inside one transaction, which its caller begins and ends. Figures of collections and
tags move with what is written.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection as Some
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bibgenie_desktop.zotero.index import schema
from bibgenie_desktop.zotero.index.codec import (
    Unpacker,
    collections_of,
    libraries_of,
    pack,
    pack_annotation,
    pack_collection,
    pack_item,
    pack_note,
    unpack_annotation,
)
from bibgenie_desktop.zotero.index.overview import is_readable
from bibgenie_desktop.zotero.index.schema import SEPARATOR
from bibgenie_desktop.zotero.index.terms import folded
from bibgenie_desktop.zotero.model.counts import Tally
from bibgenie_desktop.zotero.model.fields import bare_doi
from bibgenie_desktop.zotero.model.folding import key
from bibgenie_desktop.zotero.model.library import Attachment, Collection, Contents, Creator, Item
from bibgenie_desktop.zotero.model.ordering import first_name

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """What is to be inserted into each table for a piece of a library."""

    items: list[Row]
    bodies: list[Row]
    words: list[Row]
    members: list[Row]
    attachments: list[Row]
    notes: list[Row]
    annotations: list[Row]


def rows_of(piece: Contents, sources: Mapping[str, int], first_row: int) -> Rows:
    """Needs no connection, so any process may do it. `sources`: rows in Zotero's tables by id."""
    numbered = list(enumerate(piece.items.values(), first_row))
    return Rows(
        items=[_item_row(row, item, sources.get(item.id, 0)) for row, item in numbered],
        bodies=[(row, pack_item(item)) for row, item in numbered],
        words=[(row, *item_words(item)) for row, item in numbered],
        members=[(c.id, row) for row, item in numbered for c in item.collections],
        attachments=[
            (a.id, sources.get(a.id, 0), row, is_readable(a))
            for row, item in numbered
            for a in item.attachments
        ],
        notes=[
            (
                sources[note.id],  # also where it stands
                note.id,
                sources[note.id],
                note.item_id,
                note.modified,
                _several(c.id for c in note.collections),
                pack_note(note),
            )
            for note in piece.notes.values()
        ],
        annotations=[
            (
                a.id,
                sources.get(a.id, 0),
                a.item_id,
                a.attachment_id,
                sources.get(a.attachment_id, 0),
                a.sort_index,
                pack_annotation(a),
            )
            for a in piece.annotations.values()
        ],
    )


class IndexWriter:
    def __init__(self, db: sqlite3.Connection, collections: Iterable[Collection]) -> None:
        self._db = db
        self._tally = Tally(collections)

    def count(self, piece: Contents, sign: int = 1) -> None:
        self._tally.add(piece, sign)

    def add_counts(self, counts: Sequence[Mapping[Any, int]]) -> None:
        """What another tally of other pieces found."""
        self._tally.merge(counts)

    def insert(self, rows: Rows) -> None:
        _insert(self._db, "item", schema.ITEM, rows.items)
        _insert(self._db, "item_body", schema.BODY, rows.bodies)
        _insert(self._db, "item_words", ("rowid", *schema.COLUMNS), rows.words)
        _insert(self._db, "member", schema.MEMBER, rows.members)
        _insert(self._db, "attachment", schema.ATTACHMENT, rows.attachments)
        _insert(self._db, "note", schema.NOTE, rows.notes)
        _insert(self._db, "annotation", schema.ANNOTATION, rows.annotations)

    def put(self, piece: Contents, sources: Mapping[str, int]) -> None:
        """Add what was not there, or was forgotten before."""
        self.count(piece)
        (last,) = self._db.execute("SELECT max(row) FROM item").fetchone()
        self.insert(rows_of(piece, sources, (last or 0) + 1))

    def forget(self, sources: Some[int]) -> None:
        """Take out items and notes by their rows in Zotero's tables, with everything that hangs below."""
        db = self._db
        db.execute("CREATE TEMP TABLE IF NOT EXISTS leaving (source INTEGER PRIMARY KEY)")
        db.execute("DELETE FROM temp.leaving")
        db.executemany("INSERT OR IGNORE INTO temp.leaving VALUES (?)", ((s,) for s in sources))
        unpack = self._unpacker()
        gone = "SELECT {} FROM item WHERE source IN temp.leaving"
        items = db.execute(
            "SELECT row, body FROM item_body JOIN item USING (row) WHERE source IN temp.leaving"
        ).fetchall()
        values = {item.id: item for item in (unpack.item(body) for _, body in items)}
        owned = f"owner IN ({gone.format('id')}) OR source IN temp.leaving"
        notes = db.execute(f"SELECT id, body FROM note WHERE {owned}").fetchall()
        inside = f"item IN ({gone.format('id')})"
        marks = db.execute(f"SELECT body FROM annotation WHERE {inside}").fetchall()
        attachments: dict[str, Attachment] = {a.id: a for i in values.values() for a in i.attachments}
        self.count(
            Contents(
                (),
                values,
                attachments,
                (),
                {full_id: unpack.note(full_id, body) for full_id, body in notes},
                {a.id: a for a in (unpack_annotation(body) for (body,) in marks)},
            ),
            -1,
        )
        _insert(
            db,
            "item_words",
            ("item_words", "rowid", *schema.COLUMNS),
            [("delete", row, *item_words(i)) for (row, _), i in zip(items, values.values(), strict=True)],
        )
        db.execute(f"DELETE FROM item_body WHERE row IN ({gone.format('row')})")
        for table in ("member", "attachment"):
            db.execute(f"DELETE FROM {table} WHERE item IN ({gone.format('row')})")
        db.execute(f"DELETE FROM annotation WHERE {inside}")
        db.execute(f"DELETE FROM note WHERE {owned}")
        db.execute("DELETE FROM item WHERE source IN temp.leaving")

    def set_frame(self, frame: Contents) -> None:
        """What is not an item: read anew each time, since it is small."""
        searches = [[s.id, s.library.id, s.name] for s in frame.saved_searches]
        parts: dict[str, object] = {
            "libraries": [[lib.id, lib.name, lib.group_id] for lib in frame.libraries],
            "collections": [pack_collection(c) for c in frame.collections],
            "related": frame.related,
            "copies": frame.copies,
            "tag_colors": [[lib, name, color] for (lib, name), color in frame.tag_colors.items()],
            "saved_searches": searches,
            "trashed": sorted(frame.trashed),
            "account": frame.account,
        }
        schema.set_facts(self._db, {name: pack(value) for name, value in parts.items()})

    def save_counts(self) -> None:
        tally, db = self._tally, self._db
        db.executemany(
            "INSERT INTO collection_tally VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE"
            " SET direct = direct + excluded.direct, whole = whole + excluded.whole",
            [(c, tally.direct[c], tally.whole[c]) for c in tally.direct.keys() | tally.whole.keys()],
        )
        db.executemany(
            "INSERT INTO tag_tally VALUES (?, ?, ?, ?, ?) ON CONFLICT (library, name) DO UPDATE SET"
            " items = items + excluded.items, elsewhere = elsewhere + excluded.elsewhere,"
            " manual = manual + excluded.manual",
            [
                (*name, tally.items[name], tally.elsewhere[name], tally.manual[name])
                for name in tally.items.keys() | tally.elsewhere.keys()
            ],
        )
        db.execute("DELETE FROM tag_tally WHERE items = 0 AND elsewhere = 0")

    def recount_collections(self, collections: Iterable[Collection]) -> None:
        """Everything anew, where collections were moved, removed or brought back."""
        tally = Tally(collections)
        for table in ("item", "note"):
            rows = self._db.execute(f"SELECT collections FROM {table} WHERE collections <> ''")
            for (several,) in rows:
                tally.place(tuple(several.strip(SEPARATOR).split(SEPARATOR)))
        self._db.execute("DELETE FROM collection_tally")
        self._tally.direct.clear()
        self._tally.whole.clear()
        self._db.executemany(
            "INSERT INTO collection_tally VALUES (?, ?, ?)",
            [(c, tally.direct[c], tally.whole[c]) for c in tally.direct.keys() | tally.whole.keys()],
        )

    def _unpacker(self) -> Unpacker:
        known = schema.facts(self._db)
        libraries = {lib.id: lib for lib in libraries_of(json.loads(known["libraries"]))}
        collections = collections_of(json.loads(known["collections"]), libraries)
        return Unpacker(libraries, {c.id: c for c in collections})


tag_key = lru_cache(50_000)(key)
_tag_words = lru_cache(50_000)(folded)
"""The same few names come again and again."""


@lru_cache(50_000)
def _names(first: str, last: str) -> tuple[str, str]:
    """A person's name as it is spoken, and its words."""
    name = Creator("", first, last, primary=True).name
    return name, folded(name if name == last else f"{name} {last}")


def item_words(item: Item) -> tuple[str, ...]:
    """The words of an item by column."""
    return (
        folded(item.title),
        " ".join([_names(c.first, c.last)[1] for c in item.creators]),
        " ".join([_tag_words(t.name) for t in item.tags]),
        folded(item.citekey),
        str(item.year or ""),
        folded(item.venue),
        folded(item.abstract),
    )


def _item_row(row: int, item: Item, source: int) -> Row:
    return (
        row,
        item.id,
        source,
        item.library.id,
        item.type,
        item.title,
        "; ".join([_names(c.first, c.last)[0] for c in item.authors[:4]]),
        item.year,
        item.modified,
        item.added,
        item.sort_date,
        key(item.title),
        first_name(item),
        item.citekey.lower(),
        bare_doi(item.doi),
        len([a for a in item.attachments if a.kind == "pdf"]),
        _several(dict.fromkeys([tag_key(t.name) for t in item.tags])),
        _several([c.id for c in item.collections]),
    )


def _several(values: Iterable[str]) -> str:
    found = list(values)  # one of them may be empty: a tag of signs only
    return f"{SEPARATOR}{SEPARATOR.join(found)}{SEPARATOR}" if found else ""


def _insert(db: sqlite3.Connection, table: str, columns: Sequence[str], rows: list[Row]) -> None:
    marks = ", ".join("?" * len(columns))
    db.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)
