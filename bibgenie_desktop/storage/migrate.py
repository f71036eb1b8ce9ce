"""Brings a database file to the current version: a copy first, then one transaction for each migration.

A file with migrations this version does not know is refused before anything is opened for writing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path as FilePath

from bibgenie_desktop.domain.errors import NewerDatabase, StoreUnavailable
from bibgenie_desktop.domain.ids import Clock
from bibgenie_desktop.storage.connection import Connection, backups_help
from bibgenie_desktop.storage.migrations import MIGRATIONS, Migration

KEPT_BACKUPS = 5
BACKUP_NAME = re.compile(r"bibgenie-(\d{4})-(\d{8}T\d{9}Z)\.sqlite")


def applied(db: Connection) -> tuple[str, ...]:
    """Names of the migrations that the file has, oldest first; empty for an empty file."""
    tables = {name for (name,) in db.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "migration" not in tables:
        if tables:
            raise StoreUnavailable(
                "This file is a database of another program.",
                f"Move it away or choose another folder: {db.path}",
            )
        return ()
    return tuple(name for (name,) in db.rows("SELECT name FROM migration ORDER BY name"))


def check_version(path: FilePath, migrations: Sequence[Migration] = MIGRATIONS) -> tuple[str, ...]:
    """The migrations of an existing file, read without changing a byte of it.

    Raises `NewerDatabase` where one of them is unknown here.
    """
    db = Connection(path, readonly=True)
    try:
        names = applied(db)
    finally:
        db.close()
    known = [name for name, _ in migrations]
    if list(names) != known[: len(names)]:
        raise NewerDatabase(
            "This database was written by a newer version of BibGenie.",
            f"It was not changed. Install the newest version, or choose another data folder. ({path})",
        )
    return names


def _require_file(path: FilePath) -> None:
    """A database is a file, and one that held conversations is never empty."""
    if path.is_dir():
        raise StoreUnavailable("BibGenie's database is a folder, not a file.", f"Move it away: {path}")
    if not path.is_file() or path.stat().st_size:
        return
    backups = path.parent / "backups"
    log = path.with_name(f"{path.name}-wal")
    if (backups.is_dir() and any(backups.iterdir())) or (log.is_file() and log.stat().st_size):
        raise StoreUnavailable(
            "BibGenie's database is empty, although it held conversations.", backups_help(path)
        )


def require_current(path: FilePath) -> None:
    """For everyone but the owner, who alone migrates."""
    _require_file(path)
    if not path.is_file() or not path.stat().st_size:
        raise StoreUnavailable("There is no BibGenie database here yet.", f"Start BibGenie once. ({path})")
    if len(check_version(path)) < len(MIGRATIONS):
        raise StoreUnavailable(
            "This database is from an older version of BibGenie.", "Start BibGenie once to upgrade it."
        )


def prepare(path: FilePath, clock: Clock, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Creates or upgrades the file. The caller owns the data directory."""
    _require_file(path)
    existing = path.is_file() and path.stat().st_size > 0
    names = check_version(path, migrations) if existing else ()
    if not existing:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    path.chmod(0o600)
    missing = migrations[len(names) :]
    if not missing:
        return
    db = Connection(path)
    try:
        if names:
            back_up(db, names[-1], clock)
        for name, apply in missing:
            with db.writing(lasting=True):
                db.run(
                    "CREATE TABLE IF NOT EXISTS migration "
                    "(name TEXT PRIMARY KEY NOT NULL, applied_at INTEGER NOT NULL) WITHOUT ROWID"
                )
                apply(db.run)
                db.run("INSERT INTO migration (name, applied_at) VALUES (?, ?)", name, clock())
    finally:
        db.close()


def back_up(db: Connection, version: str, clock: Clock) -> FilePath:
    """A copy in `backups/`, named with the version it has and the time; the newest few are kept."""
    directory = db.path.parent / "backups"
    directory.mkdir(mode=0o700, exist_ok=True)
    now = clock()
    moment = datetime.fromtimestamp(now // 1000, UTC)
    stamp = f"{moment:%Y%m%dT%H%M%S}{now % 1000:03d}Z"
    target = directory / f"bibgenie-{version[1:5]}-{stamp}.sqlite"
    unfinished = target.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    os.close(os.open(unfinished, os.O_CREAT | os.O_RDWR, 0o600))
    db.copy_to(unfinished)
    unfinished.replace(target)
    copies = sorted(
        (p for p in directory.iterdir() if BACKUP_NAME.fullmatch(p.name)),
        key=lambda p: p.name.split("-")[2],
    )
    for old in copies[:-KEPT_BACKUPS]:
        old.unlink()
    return target
