"""The one connection to the database file: opening, pragmas, transactions, SQLite's errors in plain words.

What is stored, and in which tables, is decided elsewhere. A connection belongs to the thread that opened it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path as FilePath
from typing import Any

import peewee

from bibgenie_desktop.domain.errors import StoreUnavailable
from bibgenie_desktop.storage.values import Cancelled

Row = tuple[Any, ...]
BUSY_TIMEOUT_MS = 5_000


def backups_help(path: FilePath) -> str:
    """Where a sound copy of the database may be; no folder is named that is not there."""
    folder = path.parent / "backups"
    try:
        kept = any(folder.glob("*.sqlite"))
    except OSError:
        kept = False
    if kept:
        return f"{path} Copies made before each upgrade are in the folder “backups” beside it."
    return f"{path} No copy of it was made by an upgrade yet: take it from a backup of your own."


class Connection:
    """`readonly` can neither write nor create anything; it works while another process writes."""

    def __init__(self, path: FilePath, *, readonly: bool = False) -> None:
        self.path = path
        self.readonly = readonly
        self.rows_read = 0
        """How many rows queries have returned: the measure of what opening a session costs."""
        self._depth = 0
        with translated(path):
            self._db: Any = self._open_reading() if readonly else self._open_writing()

    def _open_writing(self) -> Any:
        db = peewee.SqliteDatabase(
            str(self.path),
            pragmas=[
                ("busy_timeout", BUSY_TIMEOUT_MS),
                ("foreign_keys", 1),
                ("recursive_triggers", 1),
                ("journal_mode", "wal"),
                ("synchronous", "normal"),
                # On macOS only this makes FULL reach the disk; elsewhere it means nothing.
                ("fullfsync", 1),
            ],
            autoconnect=False,
        )
        return _connected(db)

    def _open_reading(self) -> Any:
        uri = self.path.absolute().as_uri() + "?mode=ro"
        # Without a write-ahead log nobody has the file open: reading it needs no side file.
        real = self.path.resolve()
        if not real.with_name(real.name + "-wal").exists():
            uri += "&immutable=1"
        pragmas = [("busy_timeout", BUSY_TIMEOUT_MS), ("query_only", 1)]
        return _connected(peewee.SqliteDatabase(uri, pragmas=pragmas, autoconnect=False, uri=True))

    def close(self) -> None:
        with translated(self.path):
            self._db.close()

    # Statements

    def run(self, sql: str, *values: object) -> int:
        """Runs a statement that returns no rows; how many rows it changed."""
        with translated(self.path):
            return int(self._db.execute_sql(sql, values).rowcount)

    def rows(self, sql: str, *values: object) -> list[Row]:
        with translated(self.path):
            found: list[Row] = self._db.execute_sql(sql, values).fetchall()
        self.rows_read += len(found)
        return found

    def row(self, sql: str, *values: object) -> Row | None:
        return next(iter(self.rows(sql, *values)), None)

    def value(self, sql: str, *values: object) -> Any:
        """The first column of the first row, None without one."""
        found = self.row(sql, *values)
        return None if found is None else found[0]

    # Transactions

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One view of the database for several queries, also while another process writes."""
        if self._depth:
            yield
            return
        with translated(self.path), self._transaction("BEGIN"):
            yield

    @contextmanager
    def writing(
        self, *, lasting: bool = False, cancelled: Callable[[], bool] | None = None
    ) -> Iterator[None]:
        """One transaction: all of it or nothing.

        `lasting` waits until the disk has it, so that it survives a power cut. `cancelled` is asked last
        before COMMIT; True raises `Cancelled` and nothing is written.
        """
        if self.readonly:
            raise StoreUnavailable("The database is open for reading only.", "Nothing was changed.")
        if self._depth:
            raise RuntimeError("transactions do not nest")
        with translated(self.path):
            # SQLite ignores this setting inside a transaction.
            self._db.execute_sql(f"PRAGMA synchronous = {'FULL' if lasting else 'NORMAL'}")
            with self._transaction("BEGIN IMMEDIATE"):
                yield
                if cancelled is not None and cancelled():
                    raise Cancelled

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        self._db.execute_sql(begin)
        self._depth += 1
        try:
            yield
            self._db.execute_sql("COMMIT")
        except BaseException:
            # SQLite ends the transaction by itself after some errors, a full disk among them; then a ROLLBACK
            # would fail and hide what happened.
            if self._db.connection().in_transaction:
                self._db.execute_sql("ROLLBACK")
            raise
        finally:
            self._depth -= 1

    def copy_to(self, target: FilePath) -> None:
        """A copy of the whole database, page by page, as one consistent state."""
        with translated(self.path):
            copy = sqlite3.connect(target)
            try:
                self._db.connection().backup(copy)
            finally:
                copy.close()


def _connected(db: Any) -> Any:
    try:
        db.connect()
        # Bytes that are no UTF-8 become lone surrogates, which decoding reports as damage of one message.
        db.connection().text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
        db.execute_sql("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        with suppress(peewee.PeeweeException, sqlite3.Error):
            db.close()
        raise
    return db


@contextmanager
def translated(path: FilePath) -> Iterator[None]:
    """Errors of disk and file as `StoreUnavailable`; broken rules of the schema are faults and pass."""
    try:
        yield
    except (peewee.DatabaseError, sqlite3.DatabaseError) as error:
        sentence = _in_words(error, path)
        if sentence is None:
            raise
        raise StoreUnavailable(*sentence) from error


def _in_words(error: BaseException, path: FilePath) -> Sequence[str] | None:
    code = _code(error) & 0xFF
    match code:
        case sqlite3.SQLITE_FULL:
            return "The disk is full.", "Nothing was lost; free some space and try again."
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return "Another program is using BibGenie's database.", f"Close it and try again: {path}"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return (
                "BibGenie's database cannot be written.",
                f"Allow writing to this file and its folder: {path}",
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return "BibGenie's database file is damaged or is no database.", backups_help(path)
        case sqlite3.SQLITE_CANTOPEN:
            return "BibGenie's database cannot be opened.", f"Check that this file can be reached: {path}"
        case sqlite3.SQLITE_IOERR:
            return "Reading or writing the disk failed.", f"Check the disk that holds {path}"
        case sqlite3.SQLITE_ERROR if "no such table" in str(error) or "no such column" in str(error):
            return "BibGenie's database is damaged: a part of it is missing.", backups_help(path)
        case _:
            return None


def _code(error: BaseException | None) -> int:
    """The SQLite result code; peewee wraps the original exception."""
    seen = 0
    while error is not None and seen < 5:
        if isinstance(error, sqlite3.Error) and hasattr(error, "sqlite_errorcode"):
            return int(error.sqlite_errorcode)
        first = error.args[0] if error.args else None
        error = first if isinstance(first, BaseException) else error.__cause__ or error.__context__
        seen += 1
    return 0
