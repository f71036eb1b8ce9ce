"""Libraries for tests: the bundled sample, generated ones of every schema, hand-made ones, a writer."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.zotero.files.attachments import Files
from bibgenie_desktop.zotero.files.documents import Documents
from bibgenie_desktop.zotero.local.discovery import Candidate, check_directory
from bibgenie_desktop.zotero.local.local_source import LocalSource
from bibgenie_desktop.zotero.local.reader import read_contents
from bibgenie_desktop.zotero.local.snapshot import SnapshotSource
from bibgenie_desktop.zotero.model.library import Contents, Item
from bibgenie_desktop.zotero.service import ZoteroLibrary

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "resources" / "sample-library"
FIXTURES = ROOT.parent / "shared" / "fixtures"
NOW = 1_800_000_000_000


def now() -> int:
    return int(time.time() * 1000)


def sample_copy(folder: Path) -> Path:
    """A copy of the sample library that a test may write to."""
    shutil.copytree(SAMPLE, folder)
    return folder


def generated(folder: Path, *options: str) -> Path:
    """A library made by the shared generator; skips where that is not at hand."""
    script = FIXTURES / "make_zotero_library.py"
    if not script.exists():
        pytest.skip("the shared fixtures are not here")
    subprocess.run(
        [sys.executable, str(script), "--out", str(folder), *options], check=True, capture_output=True
    )
    return folder / "Zotero"


def retitle(data_dir: Path, beginning: str, title: str) -> None:
    """Give an item another title as Zotero does: a new value, and a row of the item that says so."""
    with contextlib.closing(sqlite3.connect(data_dir / "zotero.sqlite")) as db, db:
        item, field = db.execute(
            "SELECT d.itemID, d.fieldID FROM itemData d JOIN itemDataValues v ON v.valueID = d.valueID"
            " WHERE v.value LIKE ? || '%'",
            (beginning,),
        ).fetchone()
        db.execute("INSERT INTO itemDataValues (value) VALUES (?)", (title,))
        value = db.execute("SELECT last_insert_rowid()").fetchone()[0]
        db.execute("UPDATE itemData SET valueID = ? WHERE itemID = ? AND fieldID = ?", (value, item, field))
        db.execute("UPDATE items SET clientDateModified = ?, synced = 0 WHERE itemID = ?", (str(now()), item))


def manifest(data_dir: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((data_dir.parent / "manifest.json").read_text("utf-8"))
    return loaded


def contents_of(data_dir: Path, private: Path) -> Contents:
    snapshot = SnapshotSource(data_dir, private, now).refresh()
    with contextlib.closing(snapshot.connect()) as connection:
        return read_contents(connection)


def titled(contents: Contents, beginning: str) -> Item:
    return next(i for i in contents.items.values() if i.title.startswith(beginning))


def opened_library(
    data_dir: Path, private: Path, snapshots: SnapshotSource | None = None, **options: Any
) -> ZoteroLibrary:
    return library_of(check_directory(data_dir), private, snapshots, **options)


def library_of(
    candidate: Candidate, private: Path, snapshots: SnapshotSource | None = None, **options: Any
) -> ZoteroLibrary:
    source = LocalSource(candidate.data_dir, private, now, snapshots)
    files = Files(candidate.data_dir, candidate.base_attachment_path)
    return ZoteroLibrary(source, files, Documents(**options), now, private)


def hashes(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def bare_database(path: Path, userdata: int) -> None:
    """A file with just enough tables to be taken for Zotero's."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript(
            "CREATE TABLE version (schema TEXT PRIMARY KEY, version INT NOT NULL);"
            "CREATE TABLE items (itemID INTEGER PRIMARY KEY);"
            f"INSERT INTO version VALUES ('userdata', {userdata});"
        )


@contextlib.contextmanager
def writing(data_dir: Path, mode: str, pause: float, vfs: str = "") -> Iterator[Writer]:
    """Another process that holds the database as Zotero does and commits all the time."""
    progress = data_dir.parent / "progress"
    script = Path(__file__).with_name("zotero_writer.py")
    command = [
        sys.executable,
        str(script),
        str(data_dir / "zotero.sqlite"),
        mode,
        str(pause),
        str(progress),
        vfs,
    ]
    process = subprocess.Popen(command, stdin=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 20
        while not progress.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert progress.exists(), "the writer did not start"
        yield Writer(process, progress)
    finally:
        process.kill()
        process.wait()
        if process.stdin:
            process.stdin.close()


class Writer:
    def __init__(self, process: subprocess.Popen[bytes], progress: Path) -> None:
        self._process = process
        self._progress = progress

    @property
    def committed(self) -> int:
        """The number of the last transaction that is certainly committed."""
        return int(self._progress.read_text("ascii"))

    def stop(self) -> None:
        """Let it close its connection, as Zotero does when it quits."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)
