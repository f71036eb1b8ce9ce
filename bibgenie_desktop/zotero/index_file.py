"""The index of one library: an SQLite file beside the application's data, made only from what Zotero holds.

It can be thrown away at any time. One thread writes it, others read through connections of their own; nothing
here knows where texts come from (`fulltext` does) or what a search means (`search` does).
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bibgenie_desktop.zotero import index_terms
from bibgenie_desktop.zotero.fields import bare_doi
from bibgenie_desktop.zotero.folding import fold, key
from bibgenie_desktop.zotero.index_terms import indexed
from bibgenie_desktop.zotero.library import Contents, Item

NAME: Final = "index.sqlite"
COLUMNS: Final = ("title", "creators", "tags", "citekey", "year", "venue", "abstract")
WEIGHTS: Final = (8.0, 5.0, 3.0, 3.0, 2.0, 1.0, 1.0)
_SCHEMA: Final = 2
_BATCH: Final = 1_000
_SEPARATOR: Final = "\x1f"
_SHOWN: Final = ("type", "title", "creators", "year", "modified", "added")
_ITEM: Final = ("id", "digest", *_SHOWN, "name", "citekey", "doi", "text")
_DOCUMENT: Final = ("id", "item", "kind", "stamp", "source", "chars", "text")
_TOKENIZER: Final = "unicode61 remove_diacritics 2"
_TABLES: Final = f"""
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE item (row INTEGER PRIMARY KEY, id TEXT UNIQUE, digest INTEGER, type TEXT, title TEXT,
    creators TEXT, year INTEGER, modified TEXT, added TEXT, name TEXT, citekey TEXT, doi TEXT, text BLOB);
CREATE INDEX item_modified ON item (modified DESC, row);
CREATE INDEX item_name ON item (name);
CREATE INDEX item_citekey ON item (citekey);
CREATE INDEX item_doi ON item (doi);
CREATE VIRTUAL TABLE item_words USING fts5 ({", ".join(COLUMNS)}, content='', tokenize='{_TOKENIZER}');
CREATE TABLE document (row INTEGER PRIMARY KEY, id TEXT UNIQUE, item TEXT, kind TEXT, stamp TEXT, source TEXT,
    chars INTEGER, text BLOB);
CREATE VIRTUAL TABLE document_words USING fts5 (body, content='', tokenize='{_TOKENIZER}');
"""


@dataclass(frozen=True, slots=True)
class Brief:
    """An item as a list shows it before the library itself is read."""

    id: str
    type: str
    title: str
    creators: str
    year: int | None


@dataclass(frozen=True, slots=True)
class Document:
    """A text in the index: of a file, a note, or the annotations of an attachment.

    `source` says where a file's text came from: `cache` (Zotero's own extract), `file`, or `none`, then with
    the reason as text. `stamp` names the state it was made from.
    """

    id: str
    item_id: str
    kind: str
    stamp: str
    source: str
    text: str


class IndexFile:
    """Blocks. The writing methods belong to one thread; each reading one opens its own connection."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._writer: sqlite3.Connection | None = None

    # -- writing

    def open(self) -> None:
        """Open for writing; a file of another version or a damaged one is begun anew."""
        if self._writer is not None:
            return
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for attempt in (1, 2):
            writer = sqlite3.connect(self.path, isolation_level=None, timeout=10, check_same_thread=False)
            try:
                writer.execute("PRAGMA journal_mode=WAL")
                writer.execute("PRAGMA synchronous=NORMAL")
                with contextlib.suppress(OSError):
                    self.path.chmod(0o600)
                if self._usable(writer):
                    self._writer = writer
                    return
            except sqlite3.DatabaseError:
                if attempt == 2:
                    writer.close()
                    raise
            writer.close()
            for suffix in ("", "-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    Path(f"{self.path}{suffix}").unlink()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def update_items(self, contents: Contents, cancelled: Callable[[], bool]) -> int:
        """Bring the items up to the state of the library; returns how many differed, -1 if cancelled."""
        db = self._connection()
        known = {
            full_id: (row, digest) for row, full_id, digest in db.execute("SELECT row, id, digest FROM item")
        }
        changed: list[tuple[int | None, Item, int]] = []
        total = 0
        for count, item in enumerate(contents.items.values()):
            if count % _BATCH == 0:
                if cancelled():
                    return -1
                time.sleep(0)  # others first
            digest = _digest(item)
            row, before = known.pop(item.id, (None, None))
            if digest == before:
                continue
            changed.append((row, item, digest))
            if len(changed) >= _BATCH:
                total += self._put(changed)
                changed = []
        total += self._put(changed)
        with self._transaction() as writer:
            for row, _ in known.values():
                self._forget(writer, row)
        return total + len(known)

    def documents(self) -> dict[str, str]:
        """The stamps of all texts by id."""
        return dict(self._connection().execute("SELECT id, stamp FROM document"))

    def put_documents(self, documents: Iterable[Document]) -> None:
        with self._transaction() as db:
            for document in documents:
                self._drop_document(db, document.id)
                text = document.text if document.source != "none" else ""
                blob = zlib.compress(document.text.encode("utf-8", "replace"), 1)
                values = (document.id, document.item_id, document.kind, document.stamp, document.source)
                row = _insert(db, "document", _DOCUMENT, (*values, len(text), blob))
                if text:
                    db.execute(
                        "INSERT INTO document_words (rowid, body) VALUES (?, ?)",
                        (row, indexed(text)),
                    )

    def drop_documents(self, ids: Iterable[str]) -> None:
        with self._transaction() as db:
            for full_id in ids:
                self._drop_document(db, full_id)

    # -- reading

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that cannot write. Raises `sqlite3.Error` where there is no usable index."""
        connection = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)
        try:
            yield connection
        finally:
            connection.close()

    def newest(self, limit: int) -> tuple[Brief, ...]:
        """The items changed last, for a list at the start; empty without an index."""
        try:
            with self.reading() as db:
                rows = db.execute(
                    "SELECT id, type, title, creators, year FROM item ORDER BY modified DESC, row LIMIT ?",
                    (limit,),
                )
                return tuple(Brief(*row) for row in rows)
        except sqlite3.Error:
            return ()

    # -- helpers

    def _connection(self) -> sqlite3.Connection:
        self.open()
        assert self._writer is not None
        return self._writer

    def _usable(self, db: sqlite3.Connection) -> bool:
        """Whether the tables are of this version; an empty file gets them."""
        version = f"{_SCHEMA}.{index_terms.VERSION}"
        tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not tables:
            db.executescript(f"BEGIN; {_TABLES} INSERT INTO fact VALUES ('version', '{version}'); COMMIT;")
            return True
        row = db.execute("SELECT value FROM fact WHERE name = 'version'").fetchone()
        return row is not None and row[0] == version

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        db = self._connection()
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")

    def _put(self, changed: Sequence[tuple[int | None, Item, int]]) -> int:
        with self._transaction() as db:
            for row, item, digest in changed:
                if row is not None:
                    self._forget(db, row)
                texts = [indexed(t) for t in item_texts(item)]
                creators = "; ".join(c.name for c in item.authors[:4])
                shown = (item.type, item.title, creators, item.year, item.modified, item.added)
                exact = (key(item.title), item.citekey.lower(), bare_doi(item.doi))
                blob = zlib.compress(_SEPARATOR.join(texts).encode("utf-8", "replace"), 1)
                new = _insert(db, "item", _ITEM, (item.id, digest, *shown, *exact, blob))
                self._words(db, new, texts)
        return len(changed)

    def _words(self, db: sqlite3.Connection, row: int, texts: Sequence[str]) -> None:
        names = ", ".join(COLUMNS)
        marks = ", ".join("?" * len(COLUMNS))
        db.execute(f"INSERT INTO item_words (rowid, {names}) VALUES (?, {marks})", (row, *texts))

    def _forget(self, db: sqlite3.Connection, row: int) -> None:
        found = db.execute("SELECT text FROM item WHERE row = ?", (row,)).fetchone()
        if found is None:
            return
        texts = zlib.decompress(found[0]).decode("utf-8").split(_SEPARATOR)
        names = ", ".join(COLUMNS)
        marks = ", ".join("?" * len(COLUMNS))
        db.execute(
            f"INSERT INTO item_words (item_words, rowid, {names}) VALUES ('delete', ?, {marks})",
            (row, *texts),
        )
        db.execute("DELETE FROM item WHERE row = ?", (row,))

    def _drop_document(self, db: sqlite3.Connection, full_id: str) -> None:
        row = db.execute("SELECT row, chars, text FROM document WHERE id = ?", (full_id,)).fetchone()
        if row is None:
            return
        if row[1]:
            body = indexed(zlib.decompress(row[2]).decode("utf-8"))
            db.execute(
                "INSERT INTO document_words (document_words, rowid, body) VALUES ('delete', ?, ?)",
                (row[0], body),
            )
        db.execute("DELETE FROM document WHERE row = ?", (row[0],))


def _insert(db: sqlite3.Connection, table: str, columns: Sequence[str], values: Sequence[object]) -> int:
    marks = ", ".join("?" * len(columns))
    cursor = db.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", values)
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def item_texts(item: Item) -> tuple[str, ...]:
    """The words of an item by column, folded."""
    return tuple(
        fold(text).replace(_SEPARATOR, " ") if text else ""
        for text in (
            item.title,
            " ".join(c.name if c.name == c.last else f"{c.name} {c.last}" for c in item.creators),
            " ".join(t.name for t in item.tags),
            item.citekey,
            str(item.year or ""),
            item.venue,
            item.abstract,
        )
    )


def _digest(item: Item) -> int:
    """A number that differs when anything of an item that the index holds does."""
    pieces = [
        item.type,
        item.title,
        item.citekey,
        item.date,
        item.venue,
        item.abstract,
        item.doi,
        item.modified,
    ]
    pieces += [c.sort_name for c in item.creators]
    pieces += [t.name for t in item.tags]
    return zlib.crc32(_SEPARATOR.join(pieces).encode("utf-8", "replace"))
