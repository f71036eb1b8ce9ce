"""The texts of documents, notes and annotations, made searchable in one file beside the application's data.

It can be thrown away at any time. One thread writes it, others read through connections of their own; nothing
here knows where texts come from (`fulltext` does) or what a search means (`text_search` does).
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bibgenie_desktop.zotero.index import schema as index_schema
from bibgenie_desktop.zotero.index import terms as index_terms
from bibgenie_desktop.zotero.index.terms import indexed_in_pieces

NAME: Final = "texts.sqlite"
_SCHEMA: Final = 5
_ASKED: Final = 500
"""Ids in one question; some builds of SQLite take no more than 999."""
_HELD: Final = 8 << 20
"""Bytes of words that are gathered in memory before they are written: fewer, larger pieces to be merged."""
_TABLES: Final = f"""
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE document (row INTEGER PRIMARY KEY, id TEXT UNIQUE, item TEXT, kind TEXT, stamp TEXT, source TEXT,
    chars INTEGER, parts INTEGER);
CREATE TABLE document_text (row INTEGER PRIMARY KEY, text BLOB);
CREATE VIRTUAL TABLE document_words USING fts5
    (body, content='', tokenize='{index_schema.TOKENIZER}');
INSERT INTO document_words (document_words, rank) VALUES ('hashsize', {_HELD});
"""


@dataclass(frozen=True, slots=True)
class Document:
    """A text in the index: of a file, a note, or the annotations of an attachment.

    `source` says where a file's text came from: `cache` (Zotero's own extract), `file`, or `none`, then
    without a text. `stamp` names the state it was made from.
    """

    id: str
    item_id: str
    kind: str
    stamp: str
    source: str
    text: str


class TextsFile:
    """Blocks. The writing methods belong to one thread; each reading one opens its own connection."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._writer: sqlite3.Connection | None = None
        self._lock = threading.Lock()
        self._kept: tuple[int, sqlite3.Connection] | None = None
        self._closed = False
        self.made_anew = False
        """The file was damaged when it was opened."""

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
                writer.execute("PRAGMA wal_autocheckpoint=4000")
                with contextlib.suppress(OSError):
                    self.path.chmod(0o600)
                if self._usable(writer):
                    self._writer = writer
                    return
            except sqlite3.DatabaseError:
                if attempt == 2:
                    writer.close()
                    raise
                self.made_anew = True
            writer.close()
            index_schema.remove(self.path)

    def close(self) -> None:
        with self._lock:
            kept, self._kept, self._closed = self._kept, None, True
        if kept is not None:
            kept[1].close()
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def documents(self) -> dict[str, str]:
        """The stamps of all texts by id."""
        return dict(self._connection().execute("SELECT id, stamp FROM document"))

    def put_documents(self, documents: Iterable[Document]) -> None:
        """All of them in one transaction, each in place of what was there of its id."""
        fresh = {document.id: document for document in documents}
        with self._transaction() as db:
            self._forget(db, list(fresh))
            (last,) = db.execute("SELECT ifnull(max(row), 0) FROM document").fetchone()
            heads, texts, bodies = [], [], []
            for row, d in enumerate(fresh.values(), last + 1):
                text = d.text if d.source != "none" else ""
                heads.append(
                    (row, d.id, d.item_id, d.kind, d.stamp, d.source, len(text), text.count("\f") + 1)
                )
                if text:
                    texts.append((row, zlib.compress(text.encode("utf-8", "replace"), 1)))
                    bodies.append((row, indexed_in_pieces(text)))
            db.executemany("INSERT INTO document VALUES (?, ?, ?, ?, ?, ?, ?, ?)", heads)
            db.executemany("INSERT INTO document_text VALUES (?, ?)", texts)
            db.executemany("INSERT INTO document_words (rowid, body) VALUES (?, ?)", bodies)

    def drop_documents(self, ids: Iterable[str]) -> None:
        with self._transaction() as db:
            self._forget(db, list(ids))

    # -- reading

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that cannot write. Raises `sqlite3.Error` where there is no usable index.

        One is kept for the next time, with what it has read, as long as the file is the same.
        """
        with self._lock:
            kept, self._kept = self._kept, None
        try:
            identity = self.path.stat().st_ino
        except OSError:
            identity = 0
        if kept is not None and kept[0] != identity:
            kept[1].close()
            kept = None
        connection = kept[1] if kept is not None else self._reader()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        with self._lock:
            if self._kept is None and not self._closed:
                self._kept = (identity, connection)
                return
        connection.close()

    def _reader(self) -> sqlite3.Connection:
        uri = f"{self.path.absolute().as_uri()}?mode=ro"
        connection = sqlite3.connect(uri, uri=True, timeout=5, check_same_thread=False)
        connection.execute("PRAGMA cache_size=-32768")
        return connection

    def counted(self) -> tuple[int, int]:
        """(files with a text, files without one that can be had); nothing without an index."""
        try:
            with self.reading() as db:
                rows = db.execute(
                    "SELECT source = 'none', count(*) FROM document WHERE kind = 'file' GROUP BY 1"
                )
                found = dict(rows.fetchall())
        except sqlite3.Error:
            return 0, 0
        return found.get(0, 0), found.get(1, 0)

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

    def _forget(self, db: sqlite3.Connection, ids: Sequence[str]) -> None:
        rows: list[tuple[int]] = []
        for start in range(0, len(ids), _ASKED):
            some = ids[start : start + _ASKED]
            marks = ", ".join("?" * len(some))
            rows += db.execute(f"SELECT row FROM document WHERE id IN ({marks})", some).fetchall()
        for row in rows:
            text = db.execute("SELECT text FROM document_text WHERE row = ?", row).fetchone()
            if text is not None:
                body = indexed_in_pieces(zlib.decompress(text[0]).decode("utf-8"))
                db.execute(
                    "INSERT INTO document_words (document_words, rowid, body) VALUES ('delete', ?, ?)",
                    (*row, body),
                )
        for table in ("document", "document_text"):
            db.executemany(f"DELETE FROM {table} WHERE row = ?", rows)
