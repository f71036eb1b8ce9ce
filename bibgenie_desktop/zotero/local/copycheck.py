"""Making a copied database ready to read, and judging it: whole, Zotero's, and of a version we know."""

from __future__ import annotations

import contextlib
import errno
import sqlite3
from pathlib import Path

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.zotero.local import full_disk
from bibgenie_desktop.zotero.local.filesystem import head

MAGIC = b"SQLite format 3\x00"
OLDEST = 77
"""Userdata version 76 is the last of Zotero 4, whose tables are others."""
NEWEST_KNOWN = 129
_ALWAYS_THERE = frozenset(
    (
        *("items", "itemData", "itemDataValues", "itemAttachments", "itemNotes", "itemCreators", "itemTags"),
        *("creators", "tags", "collections", "collectionItems", "libraries", "deletedItems"),
    )
)
"""Tables of every version since 5.0: one that is missing means a damaged file, not another version."""


class Torn(Exception):
    """The copy is no well-formed database: taken in the middle of a write, or the original is damaged."""


def make_ready(path: Path, *, full: bool) -> int:
    """Work the copied log or journal into the copy and return its userdata version.

    The one time the copy is opened for writing. Raises `Torn`, or `LibraryUnavailable` for a file that is no
    Zotero database at all, or `OSError` where there is no room. `full` adds the check of all pages.
    """
    if head(path, len(MAGIC)) != MAGIC:
        raise LibraryUnavailable(
            "zotero.sqlite in this folder is not a database.",
            "It may be damaged or belong to another program. Choose the folder that Zotero itself uses.",
        )
    try:
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            connection.execute("PRAGMA journal_mode=DELETE").fetchall()
            if full:
                _check(connection)
            return _userdata_version(connection)
    except sqlite3.Error as error:
        if full_disk.is_full(error):
            raise OSError(errno.ENOSPC, "no space left", str(path)) from error
        raise Torn(str(error)) from error


def quick_check(path: Path) -> None:
    """Look at all pages of a copy that is ready; raises `Torn`."""
    try:
        uri = f"{path.as_uri()}?mode=ro&immutable=1"
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
            _check(connection)
    except sqlite3.Error as error:
        raise Torn(str(error)) from error


def judge_version(version: int) -> str:
    """A notice for the person, empty for a known version. Raises `LibraryUnavailable` for one too old."""
    if version < OLDEST:
        raise LibraryUnavailable(
            f"This library was last used with Zotero 4 or older (database version {version}).",
            "Open it once with a current Zotero, which converts it, then try again.",
        )
    if version > NEWEST_KNOWN:
        return (
            f"This library comes from a newer Zotero (database version {version}, known to {NEWEST_KNOWN}). "
            "It is read as well as possible."
        )
    return ""


def judge_tables(path: Path) -> str:
    """A notice for the person about tables that a copy that is ready has lost; empty where all are there."""
    with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")}
    lost = sorted(_ALWAYS_THERE - names)
    if not lost:
        return ""
    return (
        f"Zotero's database has lost a part of itself ({', '.join(lost)}); what stood there is missing here. "
        "Start Zotero, which checks and repairs its database."
    )


def _check(connection: sqlite3.Connection) -> None:
    (result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if result != "ok":
        raise Torn(str(result))


def _userdata_version(connection: sqlite3.Connection) -> int:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")}
    row = None
    if {"version", "items"} <= tables:
        row = connection.execute("SELECT version FROM version WHERE schema='userdata'").fetchone()
    if row is None:
        raise LibraryUnavailable(
            "zotero.sqlite in this folder is not a Zotero database.",
            "Its tables are not those of Zotero. Choose the folder that Zotero itself uses.",
        )
    return int(row[0])
