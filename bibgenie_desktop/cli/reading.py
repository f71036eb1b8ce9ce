"""Opening the database for reading, and finding the session that a command means."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.messages import Session
from bibgenie_desktop.settings.paths import DataDir
from bibgenie_desktop.storage.store import Store, open_reader
from bibgenie_desktop.storage.values import SessionRow

SEE_IDS = "`bibgenie-desktop inspect sessions` lists them all."


@contextmanager
def reader(data: DataDir, private: Path) -> Iterator[Store]:
    """The database of a data directory, which may be in use. Nothing in the directory is made or changed.

    Raises `StoreUnavailable` and, where there is no such directory, `UserError`.
    """
    require_directory(data)
    store = open_reader(_readable(data.database, private))
    try:
        yield store
    finally:
        store.close()


def require_directory(data: DataDir) -> None:
    if not data.root.is_dir():
        raise UserError(
            f"There is no data directory {data.root}.",
            "Start BibGenie once, or name another with --data-dir.",
        )


def _readable(database: Path, private: Path) -> Path:
    """The file itself, or a private copy where SQLite would have to make a side file to read it.

    That is so for a write-ahead log without its index: a copied or restored directory, used by nobody.
    """
    log, index = (database.with_name(f"{database.name}-{end}") for end in ("wal", "shm"))
    if not log.exists() or index.exists():
        return database
    copy = private / database.name
    try:
        shutil.copyfile(database, copy)
        shutil.copyfile(log, copy.with_name(log.name))
    except OSError as error:
        raise UserError(
            f"BibGenie's database cannot be read: {error.strerror or error}.",
            f"Check that this file can be reached: {database}",
        ) from error
    return copy


def all_sessions(store: Store) -> tuple[SessionRow, ...]:
    """Every session, the most recently updated first; those in the trash as well."""
    rows = (*store.sessions(), *store.sessions(True))
    return tuple(sorted(rows, key=lambda row: (-row.updated, row.session.id)))


def find_session(store: Store, wanted: str) -> Session:
    """The session of an id or of the beginning of one; the most recently updated one where none is named."""
    rows = all_sessions(store)
    if not rows:
        raise UserError("There are no conversations in this data directory yet.", "Start BibGenie and ask.")
    if not wanted:
        alive = [row for row in rows if row.session.trashed_at is None]
        return (alive or rows)[0].session
    found = [row.session for row in rows if row.session.id.startswith(wanted.lower())]
    exact = [session for session in found if session.id == wanted.lower()]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        raise UserError(
            f"The id “{wanted}” is the beginning of {len(found)} sessions' ids.",
            f"Give more of it. {SEE_IDS}",
        )
    raise UserError(f"There is no session with the id “{wanted}”.", SEE_IDS)
