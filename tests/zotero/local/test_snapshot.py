"""The private copy: what is taken, what is refused, and what is left behind."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.zotero.local import filesystem
from bibgenie_desktop.zotero.local.snapshot import Snapshot, SnapshotSource
from bibgenie_desktop.zotero.source import TakingCancelled
from tests.zotero.helpers import bare_database, contents_of, generated, hashes, now, sample_copy

posix = pytest.mark.skipif(os.name != "posix", reason="file modes are those of POSIX")


@pytest.fixture
def zotero(tmp_path: Path) -> Path:
    return sample_copy(tmp_path / "Zotero")


@pytest.fixture
def private(tmp_path: Path) -> Path:
    return tmp_path / "private"


def titles(snapshot: Snapshot) -> set[str]:
    with contextlib.closing(snapshot.connect()) as db:
        return {v for (v,) in db.execute("SELECT value FROM itemDataValues")}


def test_a_snapshot_says_what_it_is_and_cannot_be_written(zotero: Path, private: Path) -> None:
    snapshot = SnapshotSource(zotero, private, lambda: 1234).refresh()
    assert (snapshot.taken_at, snapshot.userdata_version, snapshot.stale) == (1234, 125, False)
    assert snapshot.verified
    with contextlib.closing(snapshot.connect()) as db, pytest.raises(sqlite3.OperationalError):
        db.execute("DELETE FROM items")


@posix
def test_the_copy_is_private(zotero: Path, private: Path) -> None:
    snapshot = SnapshotSource(zotero, private, now).refresh()
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert stat.S_IMODE(snapshot.path.stat().st_mode) == 0o600


@posix
def test_every_file_of_the_copy_is_private_whatever_the_umask_and_earlier_versions(
    zotero: Path, private: Path
) -> None:
    private.mkdir()
    (private / "last.json").write_text("{}")
    (private / "last.json").chmod(0o644)
    for folder in (private, private.with_name("fresh")):
        before = os.umask(0)
        try:
            SnapshotSource(zotero, folder, now).refresh()
        finally:
            os.umask(before)
        found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
        assert "last.json" in found
        assert {mode & 0o077 for mode in found.values()} == {0}, found


def test_nothing_is_created_or_changed_in_the_zotero_directory(zotero: Path, private: Path) -> None:
    before = hashes(zotero)
    source = SnapshotSource(zotero, private, now)
    source.refresh()
    source.changed()
    source.refresh()
    assert hashes(zotero) == before


def test_a_change_is_noticed_and_the_old_copy_removed(zotero: Path, private: Path) -> None:
    source = SnapshotSource(zotero, private, now)
    assert source.changed()
    first = source.refresh()
    assert not source.changed()
    with contextlib.closing(sqlite3.connect(zotero / "zotero.sqlite")) as db, db:
        db.execute("INSERT INTO itemDataValues VALUES (99999, 'added later')")
    assert source.changed()
    second = source.refresh()
    assert "added later" in titles(second)
    assert not first.path.exists()
    assert sorted(p.suffix for p in private.iterdir()) == [".json", ".sqlite"]


def test_what_is_only_in_the_log_is_read(tmp_path: Path, private: Path) -> None:
    zotero = generated(tmp_path / "z10", "--items", "37", "--schema-version", "129", "--leave-wal")
    before = hashes(zotero)
    contents = contents_of(zotero, private)
    assert contents.items["u-WALWAL22"].title.startswith("Only in the WAL")
    assert hashes(zotero) == before


def test_a_log_that_grows_is_noticed_although_the_main_file_stays(zotero: Path, private: Path) -> None:
    with contextlib.closing(sqlite3.connect(zotero / "zotero.sqlite", isolation_level=None)) as db:
        db.execute("PRAGMA locking_mode=EXCLUSIVE")
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA wal_autocheckpoint=0")
        db.execute("INSERT INTO itemDataValues VALUES (99998, 'one')")
        source = SnapshotSource(zotero, private, now)
        assert "one" in titles(source.refresh())
        main = (zotero / "zotero.sqlite").stat().st_mtime_ns
        db.execute("INSERT INTO itemDataValues VALUES (99999, 'two')")
        assert (zotero / "zotero.sqlite").stat().st_mtime_ns == main
        assert source.changed()
        assert "two" in titles(source.refresh())


@pytest.fixture
def crashed(zotero: Path) -> Path:
    """A library whose writer died in the middle of a transaction, with half of it in the main file."""
    script = textwrap.dedent(
        """
        import os, sqlite3, sys
        db = sqlite3.connect(sys.argv[1], isolation_level=None)
        db.execute("PRAGMA locking_mode=EXCLUSIVE")
        db.execute("PRAGMA cache_size=2")
        db.execute("BEGIN")
        db.execute("UPDATE itemDataValues SET value = 'half done ' || valueID")
        os.kill(os.getpid(), 9)
        """
    )
    subprocess.run([sys.executable, "-c", script, str(zotero / "zotero.sqlite")], check=False)
    assert any((zotero / "zotero.sqlite-journal").read_bytes()[:28])
    assert b"half done" in (zotero / "zotero.sqlite").read_bytes()
    return zotero


@posix
def test_a_crash_of_zotero_is_rolled_back_in_the_copy_only(crashed: Path, private: Path) -> None:
    before = hashes(crashed)
    source = SnapshotSource(crashed, private, now, crash_wait=0.2, patience=5, zotero_running=lambda: False)
    found = titles(source.refresh())
    assert "The memory function of sleep" in found
    assert not any(t.startswith("half done") for t in found)
    assert hashes(crashed) == before


@posix
def test_an_unfinished_transaction_of_a_running_zotero_is_waited_for(crashed: Path, private: Path) -> None:
    source = SnapshotSource(crashed, private, now, crash_wait=0.1, patience=0.5, zotero_running=lambda: True)
    with pytest.raises(LibraryUnavailable, match="in the middle of writing"):
        source.refresh()


def test_the_last_good_snapshot_of_an_earlier_run_serves_when_nothing_better_is_had(
    crashed: Path, private: Path, tmp_path: Path
) -> None:
    good = SnapshotSource(sample_copy(tmp_path / "good"), private, lambda: 77).refresh()
    record = json.loads((private / "last.json").read_text("utf-8"))
    (private / "last.json").write_text(json.dumps({**record, "data_dir": str(crashed.resolve())}), "utf-8")
    source = SnapshotSource(crashed, private, now, patience=0.2, zotero_running=lambda: True)
    snapshot = source.refresh()
    assert (snapshot.path, snapshot.taken_at, snapshot.stale) == (good.path, 77, True)
    assert snapshot.notice
    assert source.changed()


def test_where_times_tell_nothing_the_file_is_read_twice(
    zotero: Path, private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write that leaves no new mtime, as on a network drive, while the copy is made."""
    main = zotero / "zotero.sqlite"
    monkeypatch.setattr(filesystem, "mtime_is_fine", lambda path: False)
    copy, times = filesystem.copy, []

    def write_behind(source: Path, target: Path, check: object) -> None:
        copy(source, target, lambda: None)
        times.append(1)
        if len(times) == 1:
            before = main.stat()
            with contextlib.closing(sqlite3.connect(main)) as db, db:
                db.execute("UPDATE itemDataValues SET value = 'behind' WHERE valueID = 1")
            os.utime(main, ns=(before.st_atime_ns, before.st_mtime_ns))

    monkeypatch.setattr(filesystem, "copy", write_behind)
    assert "behind" in titles(SnapshotSource(zotero, private, now).refresh())
    assert len(times) == 2


def test_giving_up_replaces_nothing(zotero: Path, private: Path) -> None:
    source = SnapshotSource(zotero, private, now)
    first = source.refresh()
    with pytest.raises(TakingCancelled):
        source.refresh(cancelled=lambda: True)
    assert first.path.exists()
    assert [p.name for p in private.glob("library-*")] == [first.path.name]


@pytest.mark.parametrize(("version", "words"), [(76, "Zotero 4 or older"), (60, "Zotero 4 or older")])
def test_a_library_of_zotero_4_is_refused(tmp_path: Path, private: Path, version: int, words: str) -> None:
    bare_database(tmp_path / "zotero.sqlite", version)
    with pytest.raises(LibraryUnavailable, match=words):
        SnapshotSource(tmp_path, private, now).refresh()
    assert list(private.glob("library-*")) == []


def test_a_newer_library_is_read_with_a_notice(tmp_path: Path, private: Path) -> None:
    bare_database(tmp_path / "zotero.sqlite", 140)
    snapshot = SnapshotSource(tmp_path, private, now).refresh()
    assert snapshot.userdata_version == 140
    assert "newer Zotero" in snapshot.notice


def test_a_table_that_every_version_has_is_missed(zotero: Path, private: Path) -> None:
    with contextlib.closing(sqlite3.connect(zotero / "zotero.sqlite")) as db, db:
        db.execute("DROP TABLE itemTags")
    snapshot = SnapshotSource(zotero, private, now).refresh()
    assert "lost a part of itself (itemTags)" in snapshot.notice


@pytest.mark.parametrize("content", [b"", b"not a database at all\n" * 400])
def test_a_file_that_is_no_database_is_said_to_be_none(tmp_path: Path, private: Path, content: bytes) -> None:
    (tmp_path / "zotero.sqlite").write_bytes(content)
    with pytest.raises(LibraryUnavailable, match="is not a database"):
        SnapshotSource(tmp_path, private, now).refresh()


def test_another_programs_database_is_not_taken_for_zoteros(tmp_path: Path, private: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "zotero.sqlite")) as db, db:
        db.execute("CREATE TABLE notes (x)")
    with pytest.raises(LibraryUnavailable, match="not a Zotero database"):
        SnapshotSource(tmp_path, private, now).refresh()


def test_a_damaged_database_is_called_damaged_without_a_long_wait(zotero: Path, private: Path) -> None:
    path = zotero / "zotero.sqlite"
    raw = bytearray(path.read_bytes())
    raw[8192 : 8192 + 200_000] = b"\x07" * 200_000
    path.write_bytes(raw)
    with pytest.raises(LibraryUnavailable, match="damaged"):
        SnapshotSource(zotero, private, now).refresh()


def test_a_library_that_vanishes_leaves_the_last_good_snapshot(zotero: Path, private: Path) -> None:
    source = SnapshotSource(zotero, private, now, patience=0.2)
    first = source.refresh()
    (zotero / "zotero.sqlite").rename(zotero / "away")
    snapshot = source.refresh()
    assert snapshot.stale
    assert snapshot.path == first.path
    assert "not there any more" in snapshot.notice


def test_a_directory_without_a_database_is_refused_at_once(tmp_path: Path, private: Path) -> None:
    with pytest.raises(LibraryUnavailable, match="holds no Zotero library"):
        SnapshotSource(tmp_path, private, now).refresh()
