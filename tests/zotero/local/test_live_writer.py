"""Reading while a process holds the database exclusively and writes, as a running Zotero does."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from pathlib import Path

import pytest

from bibgenie_desktop.zotero.local.snapshot import Snapshot, SnapshotSource
from tests.harness import Soak
from tests.zotero.helpers import hashes, now, sample_copy, writing

ALLOWED = {"zotero.sqlite", "zotero.sqlite-wal", "zotero.sqlite-journal", "storage"}


def state_of(snapshot: Snapshot) -> int:
    """The transaction a snapshot shows; fails if its halves do not fit."""
    with contextlib.closing(snapshot.connect()) as db:
        rows = db.execute(
            "SELECT count(*), min(v.value), max(v.value) FROM itemData d JOIN itemDataValues v"
            " USING (valueID) JOIN fields f USING (fieldID)"
            " WHERE f.fieldName = 'title' AND v.value LIKE 'state %'"
        )
        count, low, high = rows.fetchone()
        assert (count, low) == (2, high)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return int(low.removeprefix("state "))


def grow(path: Path) -> None:
    """Make the file large enough that a copy of it overlaps with writes."""
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE filler (x)")
        db.execute(
            "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)"
            " INSERT INTO filler SELECT zeroblob(8000) FROM n"
        )


def assert_locked(path: Path) -> None:
    """The writer is like Zotero: SQLite itself gets nowhere."""
    with (
        contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=0)) as db,
        pytest.raises(sqlite3.OperationalError, match="locked"),
    ):
        db.execute("SELECT * FROM items")


# Pause in seconds; how many snapshots have to be accepted here and in `make soak`; how long one may take.
RHYTHMS = [
    pytest.param(0.05, 5, 60, 20.0, id="every 50 ms"),
    pytest.param(1.0, 2, 30, 20.0, id="every second"),
    pytest.param(0.0, 0, 30, 1.0, id="without a pause"),
]
VFS = [
    "",
    pytest.param("unix-excl", marks=pytest.mark.skipif(os.name != "posix", reason="a file system of POSIX")),
]


@pytest.mark.parametrize("vfs", VFS)
@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
@pytest.mark.parametrize(("pause", "here", "full", "patience"), RHYTHMS)
def test_every_snapshot_taken_under_a_writer_is_a_state_that_was_committed(
    tmp_path: Path, vfs: str, mode: str, pause: float, here: int, full: int, patience: float, soak: Soak
) -> None:
    """Without any pause a snapshot may be given up, which is said; none that is accepted may be wrong."""
    zotero = sample_copy(tmp_path / "Zotero")
    grow(zotero / "zotero.sqlite")
    source = SnapshotSource(zotero, tmp_path / "private", now, patience=patience)
    source.refresh()
    accepted = given_up = 0
    with writing(zotero, mode, pause, vfs) as writer:
        assert_locked(zotero / "zotero.sqlite")
        for turn in range(soak.count(here or 2, full)):
            time.sleep(turn * 7 % 50 / 1000)  # at another moment of the writer's rhythm each time
            committed = writer.committed
            snapshot = source.refresh()
            if snapshot.stale:
                given_up += 1
                assert snapshot.notice
            else:
                accepted += 1
                assert state_of(snapshot) >= committed
            assert {p.name for p in zotero.iterdir()} <= ALLOWED
        assert given_up == 0 or pause == 0
        assert accepted + given_up >= here
        writer.stop()
        before = hashes(zotero)
        assert source.changed()
        assert state_of(source.refresh()) == writer.committed
        assert hashes(zotero) == before
    print(f"{accepted} accepted, {given_up} given up")  # noqa: T201 - the figure of a long proof


def test_pause_free_writing_leaves_the_last_good_snapshot_with_its_age(tmp_path: Path) -> None:
    zotero = sample_copy(tmp_path / "Zotero")
    source = SnapshotSource(zotero, tmp_path / "private", now, patience=1.0)
    good = source.refresh()
    with writing(zotero, "DELETE", 0) as writer:
        snapshot = source.refresh()
        assert snapshot.stale
        assert (snapshot.path, snapshot.taken_at) == (good.path, good.taken_at)
        assert "without a pause" in snapshot.notice
        assert {p.name for p in zotero.iterdir()} <= ALLOWED
        writer.stop()
        time.sleep(0.05)
        fresh = source.refresh()
        assert not fresh.stale
        assert state_of(fresh) == writer.committed


def test_pause_free_writing_in_wal_mode_shows_only_whole_states(tmp_path: Path) -> None:
    zotero = sample_copy(tmp_path / "Zotero")
    source = SnapshotSource(zotero, tmp_path / "private", now, patience=3.0)
    source.refresh()
    seen = []
    with writing(zotero, "WAL", 0):
        for _ in range(8):
            snapshot = source.refresh()
            if not snapshot.stale:
                seen.append(state_of(snapshot))
    assert seen == sorted(seen)
    assert seen
