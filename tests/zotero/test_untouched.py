"""A whole session leaves no trace in Zotero's directory: no file, no byte, no time of change."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bibgenie_desktop.domain.locators import Locator
from bibgenie_desktop.services.tools.registry import library_tools
from bibgenie_desktop.zotero.index.search import Query
from tests.zotero.helpers import opened_library, sample_copy, titled, writing

OF_THE_WRITER = ("zotero.sqlite", "zotero.sqlite-wal", "zotero.sqlite-journal", "zotero.sqlite-shm")


def state_of(folder: Path) -> dict[str, tuple[int, int, int, str]]:
    """Everything in a folder: kind and mode, size, time of change, content."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        stat = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        size = stat.st_size if path.is_file() else 0
        found[str(path.relative_to(folder))] = (stat.st_mode, size, stat.st_mtime_ns, content)
    return found


def closed(data_dir: Path) -> None:
    """As Zotero leaves it."""
    del data_dir


CRASH = """
import os, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA locking_mode=EXCLUSIVE")
db.execute("PRAGMA journal_mode=" + sys.argv[2])
db.execute("PRAGMA wal_autocheckpoint=0")
db.execute("PRAGMA cache_size=1")
db.execute("CREATE TABLE IF NOT EXISTS seen (x)")
db.execute("BEGIN")
for n in range(2000):
    db.execute("INSERT INTO seen VALUES (?)", ("x" * 500,))
if sys.argv[2] == "WAL":
    db.execute("COMMIT")
os._exit(9)
"""


def crashed(data_dir: Path, mode: str) -> None:
    command = [sys.executable, "-c", CRASH, str(data_dir / "zotero.sqlite"), mode]
    assert subprocess.run(command, check=False).returncode == 9


def with_log(data_dir: Path) -> None:
    """Zotero 10 ended hard: what was written last lies in the log beside the database."""
    crashed(data_dir, "WAL")
    assert (data_dir / "zotero.sqlite-wal").stat().st_size > 0


def with_hot_journal(data_dir: Path) -> None:
    """Zotero 9 ended hard in the middle of a transaction."""
    crashed(data_dir, "DELETE")
    assert (data_dir / "zotero.sqlite-journal").stat().st_size > 0


async def work(data_dir: Path, private: Path) -> None:
    """Load, refresh, search, read, index, cite, check a quote: all that a session does."""
    library = opened_library(data_dir, private)
    try:
        await library.ensure_loaded()
        assert library.status.items == 31
        assert (await library.search(Query("sleep"))).total > 5
        await library.index_texts()
        item = titled(library.contents, "Practice with Sleep")
        att = item.attachments[0]
        for tool in library_tools(library):
            arguments = {
                "query": "sleep",
                "attachment_id": att.id,
                "item_id": item.id,
                "ids": [item.id],
                "page": 1,
            }
            known = tool.spec.parameters["properties"]
            await tool.run({k: v for k, v in arguments.items() if k in known})
        await library.check_quote(Locator("u", "pdf", att=att.key, page_index=0, quote="sleep"))
        await library.extract(att)
        await library.refresh()
    finally:
        await library.close()


@pytest.mark.parametrize("left", [closed, with_log, with_hot_journal])
async def test_a_session_changes_nothing_in_the_directory(
    tmp_path: Path, left: Callable[[Path], None]
) -> None:
    data_dir = sample_copy(tmp_path / "Zotero")
    left(data_dir)
    before = state_of(data_dir)
    await work(data_dir, tmp_path / "private")
    if left is not with_hot_journal:  # a second time, as at the next start; there the wait is long
        await work(data_dir, tmp_path / "private")
    assert state_of(data_dir) == before


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="whoever may do anything is not refused")
async def test_a_directory_that_cannot_be_written_is_read_all_the_same(tmp_path: Path) -> None:
    data_dir = sample_copy(tmp_path / "Zotero")
    folders = [data_dir, *(p for p in data_dir.rglob("*") if p.is_dir())]
    for folder in folders:
        folder.chmod(0o500)
    try:
        await work(data_dir, tmp_path / "private")
    finally:
        for folder in folders:
            folder.chmod(0o700)


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
async def test_beside_a_running_zotero_a_session_changes_nothing_but_what_zotero_does(
    tmp_path: Path, mode: str
) -> None:
    data_dir = sample_copy(tmp_path / "Zotero")
    before = {name: state for name, state in state_of(data_dir).items() if name != "."}
    with writing(data_dir, mode, 0.05):
        library = opened_library(data_dir, tmp_path / "private")
        try:
            await library.ensure_loaded()
            item = titled(library.contents, "The memory function")
            await library.pages_text(item.attachments[0], 0, 0)
            await library.index_texts()
            await library.refresh()
        finally:
            await library.close()
        after = {name: state for name, state in state_of(data_dir).items() if name != "."}
    assert set(after) - set(before) <= set(OF_THE_WRITER)
    assert {n: s for n, s in after.items() if n not in OF_THE_WRITER} == {
        n: s for n, s in before.items() if n not in OF_THE_WRITER
    }


def test_the_hot_journal_of_these_tests_is_one(tmp_path: Path) -> None:
    """Else the proof above would prove nothing: SQLite itself would roll the file back."""
    data_dir = sample_copy(tmp_path / "Zotero")
    with_hot_journal(data_dir)
    uri = f"{(data_dir / 'zotero.sqlite').as_uri()}?mode=ro"
    with contextlib.closing(sqlite3.connect(uri, uri=True)) as db, pytest.raises(sqlite3.OperationalError):
        db.execute("SELECT * FROM items").fetchall()
