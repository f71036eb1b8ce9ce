"""The tables of the index of a library, and how its files are opened.

A file holds one state of the library, complete or not at all; changes are written into it in one transaction
each. `texts_file` holds the texts of documents, which outlive it.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Final

from bibgenie_desktop.zotero.index import codec as index_codec
from bibgenie_desktop.zotero.index import terms as index_terms

_SCHEMA: Final = 8
VERSION: Final = f"{_SCHEMA}.{index_terms.VERSION}.{index_codec.VERSION}"
TOKENIZER: Final = "unicode61 remove_diacritics 2"
COLUMNS: Final = ("title", "creators", "tags", "citekey", "year", "venue", "abstract")
WEIGHTS: Final = (8.0, 5.0, 3.0, 3.0, 2.0, 1.0, 1.0)
SEPARATOR: Final = "\x1f"
"""Stands around each of several values in one column."""

ITEM: Final = (
    *("row", "id", "source", "library", "type", "title", "creators", "year", "modified", "added"),
    *("dated", "name", "person", "citekey", "doi", "pdfs", "tags", "collections"),
)
BODY: Final = ("row", "body")
NOTE: Final = ("row", "id", "source", "owner", "modified", "collections", "body")
ANNOTATION: Final = ("id", "source", "item", "attachment", "parent", "place", "body")
MEMBER: Final = ("collection", "item")
ATTACHMENT: Final = ("id", "source", "item", "readable")

TABLES: Final = f"""
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE item (row INTEGER PRIMARY KEY, id TEXT, source INTEGER, library TEXT, type TEXT, title TEXT,
    creators TEXT, year INTEGER, modified TEXT, added TEXT, dated TEXT, name TEXT, person TEXT, citekey TEXT,
    doi TEXT, pdfs INTEGER, tags TEXT, collections TEXT);
CREATE TABLE item_body (row INTEGER PRIMARY KEY, body BLOB);
CREATE VIRTUAL TABLE item_words USING fts5 ({", ".join(COLUMNS)}, content='', tokenize='{TOKENIZER}');
CREATE TABLE attachment (id TEXT PRIMARY KEY, source INTEGER, item INTEGER, readable INTEGER) WITHOUT ROWID;
CREATE TABLE member (collection TEXT, item INTEGER, PRIMARY KEY (collection, item)) WITHOUT ROWID;
CREATE TABLE note (row INTEGER PRIMARY KEY, id TEXT, source INTEGER, owner TEXT, modified TEXT,
    collections TEXT, body BLOB);
CREATE TABLE annotation (id TEXT PRIMARY KEY, source INTEGER, item TEXT, attachment TEXT, parent INTEGER,
    place TEXT, body BLOB);
CREATE TABLE collection_tally (id TEXT PRIMARY KEY, direct INTEGER, whole INTEGER) WITHOUT ROWID;
CREATE TABLE tag_tally (library TEXT, name TEXT, items INTEGER, elsewhere INTEGER, manual INTEGER,
    PRIMARY KEY (library, name)) WITHOUT ROWID;
"""
INDEXES: Final = """
CREATE UNIQUE INDEX item_id ON item (id);
CREATE INDEX item_source ON item (source);
CREATE INDEX item_modified ON item (modified DESC, row);
CREATE INDEX item_added ON item (added DESC, id DESC);
CREATE INDEX item_name ON item (name);
CREATE INDEX item_type ON item (type);
CREATE INDEX item_citekey ON item (citekey) WHERE citekey <> '';
CREATE INDEX item_doi ON item (doi) WHERE doi <> '';
CREATE INDEX member_item ON member (item);
CREATE INDEX attachment_item ON attachment (item);
CREATE INDEX attachment_source ON attachment (source);
CREATE UNIQUE INDEX note_id ON note (id);
CREATE INDEX note_source ON note (source);
CREATE INDEX note_owner ON note (owner);
CREATE INDEX annotation_source ON annotation (source);
CREATE INDEX annotation_item ON annotation (item);
CREATE INDEX annotation_order ON annotation (parent, place, source);
"""


def connect(path: Path) -> sqlite3.Connection:
    """A connection for one who knows to use it from one thread at a time. The file need not exist."""
    connection = sqlite3.connect(
        path.absolute().as_uri(), uri=True, isolation_level=None, timeout=10, check_same_thread=False
    )
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA temp_store=MEMORY")
    return connection


def facts(connection: sqlite3.Connection, *names: str) -> dict[str, str]:
    """All facts, or those of some names."""
    marks = f" WHERE name IN ({', '.join('?' * len(names))})" if names else ""
    return dict(connection.execute(f"SELECT name, value FROM fact{marks}", names))


def set_facts(connection: sqlite3.Connection, values: dict[str, str]) -> None:
    connection.executemany("INSERT OR REPLACE INTO fact VALUES (?, ?)", values.items())


def unfinished(path: Path) -> Path:
    """The name of a file while it is being made."""
    return path.with_suffix(".part")


def remove(path: Path) -> None:
    """The file with what SQLite keeps beside it; one that is open somewhere stays until the next time."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(OSError):
            Path(f"{path}{suffix}").unlink()
