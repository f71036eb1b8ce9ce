"""A disk without room: Zotero is not blamed, a person is told what to free, nothing is called damage."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.zotero.index import build as index_build
from bibgenie_desktop.zotero.local import copycheck, filesystem
from bibgenie_desktop.zotero.local.full_disk import is_full, megabytes
from bibgenie_desktop.zotero.local.snapshot import SnapshotSource
from tests.zotero.helpers import SAMPLE, now, opened_library, sample_copy

pytestmark = pytest.mark.skipif(not SAMPLE.is_dir(), reason="the sample library is not here")
FULL = "The disk that holds BibGenie's data is full"


def no_space(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_first_copy_without_room_says_what_to_free_and_does_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filesystem, "copy", no_space)
    with pytest.raises(LibraryUnavailable) as refused:
        SnapshotSource(sample_copy(tmp_path / "z"), tmp_path / "private", now, patience=10_000).refresh()
    assert refused.value.title.startswith(FULL)
    assert "Free about" in refused.value.advice
    assert "MB" in refused.value.advice
    assert "Zotero" not in refused.value.title


def test_a_later_copy_without_room_keeps_the_last_one_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = SnapshotSource(sample_copy(tmp_path / "z"), tmp_path / "private", now)
    first = source.refresh()
    monkeypatch.setattr(filesystem, "copy", no_space)
    later = source.refresh()
    assert later.stale
    assert later.path == first.path
    assert later.notice.startswith(FULL)
    assert "Free about" in later.notice


def test_a_full_disk_met_by_sqlite_is_not_called_damage(tmp_path: Path) -> None:
    """SQLite's own limit of pages fails as a full disk does."""
    with sqlite3.connect(tmp_path / "small.sqlite") as db:
        db.execute("PRAGMA max_page_count=2")
        with pytest.raises(sqlite3.Error) as failed:
            db.executescript("CREATE TABLE a(x); CREATE TABLE b(x); CREATE TABLE c(x);")
    db.close()
    assert is_full(failed.value)
    assert not is_full(sqlite3.DatabaseError("database disk image is malformed"))
    assert not is_full(PermissionError(errno.EACCES, "denied"))


def test_a_copy_that_sqlite_cannot_make_ready_for_want_of_room_is_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: sqlite3.Connection) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(copycheck, "_check", full)
    with pytest.raises(LibraryUnavailable, match=FULL):
        SnapshotSource(sample_copy(tmp_path / "z"), tmp_path / "private", now).refresh()


async def test_an_index_that_could_not_be_stored_is_told_and_the_library_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_build, "build", no_space)
    library = opened_library(sample_copy(tmp_path / "z"), tmp_path / "private")
    try:
        await library.ensure_loaded()
        assert library.status.items > 0
        assert library.status.notice.startswith(FULL)
        assert "index" in library.status.notice
    finally:
        await library.close()


def test_sizes_are_rounded_up() -> None:
    assert megabytes(1) == "1 MB"
    assert megabytes(2_000_001) == "3 MB"
