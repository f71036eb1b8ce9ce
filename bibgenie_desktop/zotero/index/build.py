"""Making the index of a library from nothing: all of a database in Zotero's tables, piece by piece.

Pieces keep the memory small and let the work be given up between two of them. The file becomes complete with
its last statement; until then it counts as none.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from bibgenie_desktop.zotero import quiet_gc
from bibgenie_desktop.zotero.index import changes as index_changes
from bibgenie_desktop.zotero.index import schema as index_schema
from bibgenie_desktop.zotero.index.writer import IndexWriter, Rows, rows_of
from bibgenie_desktop.zotero.local.children import relations_of
from bibgenie_desktop.zotero.local.reader import (
    LegacyKeys,
    read_frame,
    read_some,
    readable_tables,
)
from bibgenie_desktop.zotero.local.shared import Shared
from bibgenie_desktop.zotero.local.tables import Tables
from bibgenie_desktop.zotero.model.counts import Tally
from bibgenie_desktop.zotero.model.library import Collection, Contents
from bibgenie_desktop.zotero.source import TakingCancelled

PIECE: Final = 500
"""Top-level items that are held at once: few enough to stay in the processor's cache."""
WORDS_HELD: Final = 64 * 1024 * 1024
"""Bytes, in a process that ends with its work; few large parts cost less than many that are merged."""
WORDS_HELD_LATER: Final = 1024 * 1024
"""SQLite's own value, for changes."""
T = TypeVar("T")
Piece: TypeAlias = tuple[Rows, Sequence[Mapping[Any, int]]]


class Helper(Protocol):
    """Another process that reads pieces: several may be asked for, and are answered in turn."""

    @property
    def asked(self) -> int:
        """Pieces that were not answered yet."""

    def ask(self, start: int) -> None: ...

    def has_answer(self) -> bool: ...

    def answer(self) -> Piece: ...


Helpers: TypeAlias = Callable[[Sequence[int]], AbstractContextManager[Sequence[Helper]]]
Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]


class PieceReader:
    """Reads some top-level items with all that hangs below them; in one process or in several."""

    def __init__(
        self, zotero: sqlite3.Connection, keys: LegacyKeys, collections: Iterable[Collection]
    ) -> None:
        self._zotero = zotero
        self._keys = keys
        self._collections = tuple(collections)
        self._shared = Shared(Tables(zotero))

    def read(self, rows: Sequence[int], first_row: int) -> Piece:
        """What is to be inserted, and what it adds to the counts."""
        contents, sources = read_some(self._zotero, self._keys, rows, self._shared)
        tally = Tally(self._collections)
        tally.add(contents)
        return rows_of(contents, sources, first_row), tally.parts


def build(
    target: Path,
    database: Path,
    keys: LegacyKeys,
    facts: Mapping[str, str],
    progress: Progress = lambda _done, _total: None,
    cancelled: Cancelled = lambda: False,
    helpers: Helpers = lambda _items: contextlib.nullcontext(()),
) -> None:
    """Raises `LibraryUnavailable` for senseless tables, `TakingCancelled`, `sqlite3.Error`, `OSError`.

    `helpers` starts others that read pieces as well.
    """
    with _new(target, database) as db, contextlib.closing(opened(database)) as zotero:
        _hold_words(db, WORDS_HELD)
        with readable_tables():
            items = top_level(zotero)
        frame = read_frame(zotero)
        writer = IndexWriter(db, frame.collections)
        reader = PieceReader(zotero, keys, frame.collections)
        starts = range(0, len(items), PIECE)
        with helpers(items) as started:
            for done, (rows, counts) in enumerate(shared(starts, items, reader, started)):
                if cancelled():
                    raise TakingCancelled
                progress(min(done * PIECE, len(items)), len(items))
                writer.insert(rows)
                writer.add_counts(counts)
        _make_indexes(db)
        with readable_tables():
            frame = with_relations(frame, db, zotero)
        writer.set_frame(frame)
        writer.save_counts()
        index_changes.remember(db)
        _complete(db, facts)
        progress(len(items), len(items))


def shared(
    starts: Sequence[int], items: Sequence[int], reader: PieceReader, helpers: Sequence[Helper]
) -> Iterator[Piece]:
    """The pieces in any order; helpers read most of them while this process writes."""
    left = deque(starts)
    for helper in helpers:
        for _ in range(2):  # one in hand, and one that waits for it
            if left:
                helper.ask(left.popleft())
    while left or any(h.asked for h in helpers):
        ready = [h for h in helpers if h.asked and (not left or h.has_answer())]
        if ready:
            piece = ready[0].answer()
            if left:
                ready[0].ask(left.popleft())
            yield piece
        else:
            start = left.popleft()
            yield reader.read(items[start : start + PIECE], start + 1)


def build_from_contents(
    target: Path, contents: Contents, facts: Mapping[str, str], cancelled: Cancelled = lambda: False
) -> None:
    """The same from values in memory, for a source that has no database."""
    with _new(target) as db:
        writer = IndexWriter(db, contents.collections)
        numbers: dict[str, int] = {}
        for values in (contents.items, contents.attachments, contents.notes, contents.annotations):
            for full_id in values:
                numbers.setdefault(full_id, len(numbers))
        found = (
            Contents((), dict(some), {a.id: a for _, i in some for a in i.attachments}, ())
            for some in _batches(contents.items.items())
        )
        notes = (
            Contents((), {}, contents.attachments, (), notes=dict(some))
            for some in _batches(contents.notes.items())
        )
        marks = (
            Contents((), {}, {}, (), annotations=dict(some))
            for some in _batches(contents.annotations.items())
        )

        row = 1
        for source in (found, notes, marks):
            for piece in source:
                if cancelled():
                    raise TakingCancelled
                writer.count(piece)
                writer.insert(rows_of(piece, numbers, row))
                row += len(piece.items)
        _make_indexes(db)
        writer.set_frame(contents)
        writer.save_counts()
        _complete(db, facts)


def top_level(zotero: sqlite3.Connection) -> list[int]:
    """The rows of everything that hangs below nothing."""
    tables = Tables(zotero)
    below = {
        row
        for table in ("itemAttachments", "itemNotes", "itemAnnotations")
        for row, parent in tables.rows(table, "itemID", "parentItemID")
        if parent is not None
    }
    return [row for (row,) in tables.rows("items", "itemID", order="itemID") if row not in below]


def opened(database: Path) -> sqlite3.Connection:
    """A private copy, which nobody writes, with room for temporary tables."""
    uri = f"{database.absolute().as_uri()}?mode=ro&immutable=1"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA temp_store=MEMORY")
    connection.execute("PRAGMA cache_size=-32768")
    return connection


def with_relations(frame: Contents, db: sqlite3.Connection, zotero: sqlite3.Connection) -> Contents:
    """The frame with the relations between what the index holds."""
    tables = Tables(zotero)
    rows = [row for (row,) in tables.rows("itemRelations", "itemID")]
    ids: dict[int, str] = {}
    for row in set(rows):
        for table in ("item", "note"):
            for (full_id,) in db.execute(f"SELECT id FROM {table} WHERE source = ?", (row,)):
                ids[row] = full_id
    related, copies = relations_of(tables, ids, _Known(db))
    return replace(frame, related=related, copies=copies)


class _Known:
    """The ids of items and notes in the index."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __contains__(self, full_id: object) -> bool:
        question = "SELECT 1 FROM item WHERE id = ?1 UNION ALL SELECT 1 FROM note WHERE id = ?1 LIMIT 1"
        return self._db.execute(question, (full_id,)).fetchone() is not None


@contextlib.contextmanager
def _new(target: Path, database: Path | None = None) -> Iterator[sqlite3.Connection]:
    """A file without a journal, under another name until it lies on the disk as a whole."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = index_schema.unfinished(target)
    index_schema.remove(part)
    part.touch(mode=0o600)
    db = index_schema.connect(part)
    try:
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-65536", "locking_mode=EXCLUSIVE"):
            db.execute(f"PRAGMA {pragma}").fetchall()
        with contextlib.ExitStack() as stack:
            if database is not None:
                stack.enter_context(index_changes.beside(db, database))
            db.execute("BEGIN")
            for statement in index_schema.TABLES.split(";\n"):
                db.execute(statement)
            stack.enter_context(quiet_gc.loading())
            yield db
        db.execute("PRAGMA locking_mode=NORMAL").fetchall()
        db.execute("PRAGMA journal_mode=WAL").fetchall()
        db.close()
        _sync(part)
        os.replace(part, target)
    except BaseException:
        db.close()
        index_schema.remove(part)
        raise


def _make_indexes(db: sqlite3.Connection) -> None:
    for statement in index_schema.INDEXES.split(";\n"):
        db.execute(statement)


def _hold_words(db: sqlite3.Connection, size: int) -> None:
    """So many bytes of words are gathered in memory before they are written and merged."""
    db.execute("INSERT INTO item_words (item_words, rank) VALUES ('hashsize', ?)", (size,))


def _complete(db: sqlite3.Connection, facts: Mapping[str, str]) -> None:
    _hold_words(db, WORDS_HELD_LATER)
    db.execute("INSERT INTO item_words (item_words) VALUES ('optimize')")
    index_schema.set_facts(db, {**facts, "version": index_schema.VERSION, "complete": "yes"})
    db.execute("COMMIT")


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _batches(values: Iterable[T]) -> Iterator[list[T]]:
    source = iter(values)
    while batch := list(islice(source, PIECE)):
        yield batch
