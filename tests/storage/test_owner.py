"""One process owns a data directory; others read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import NotAllowed, StoreUnavailable
from bibgenie_desktop.domain.parts import TextPart
from bibgenie_desktop.storage.owner import OwnerLock
from bibgenie_desktop.storage.store import Store, open_reader
from tests.storage.helpers import MODEL, conversation, opened, reply_id, turn

HOLD = """
import sys
from pathlib import Path
from bibgenie_desktop.storage.owner import OwnerLock
lock = OwnerLock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_owner_is_told_what_to_do(store: Store, path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"already running.*--data-dir"), opened(path):
        pass
    conversation(store, 1)


def test_the_lock_goes_with_the_process_that_held_it(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StoreUnavailable, match="already running"):
            OwnerLock(tmp_path)
        holder.kill()
        holder.wait()
    OwnerLock(tmp_path).release()


def test_a_failed_start_gives_the_lock_back(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"not a database, but long enough to be taken for one" * 40)
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="no database"), opened(path):
            pass


def test_a_reader_reads_while_the_owner_writes(store: Store, path: Path) -> None:
    session, *_ = conversation(store, 1)
    reader = open_reader(path)
    try:
        assert len(reader.open_branch(session.id).path) == 2
        session, *_ = turn(store, session, "and then?")
        assert len(reader.open_branch(session.id).path) == 4
        assert reader.outline(session.tree_id)[-2].words == "and then?"
    finally:
        reader.close()


def test_a_reader_writes_nothing(store: Store, path: Path) -> None:
    session, _, answers = conversation(store, 1)
    reader = open_reader(path)
    try:
        for attempt in (
            lambda: reader.create_session("x", MODEL),
            lambda: reader.send(session.id, session.head, (TextPart("x"),), reply_id(store), MODEL),
            lambda: reader.fork(session.id, answers[0].id, "x"),
            lambda: reader.rename(session.id, "x"),
            lambda: reader.empty_trash(),
        ):
            with pytest.raises(StoreUnavailable, match="reading only"):
                attempt()
        with pytest.raises(NotAllowed, match="running application"):
            reader.recover()
    finally:
        reader.close()
    assert store.session(session.id) == session


def test_a_reader_leaves_a_closed_database_as_it_is(path: Path) -> None:
    with opened(path) as store:
        session, *_ = conversation(store, 2)
    before = {p.name: p.read_bytes() for p in path.parent.iterdir()}
    reader = open_reader(path)
    try:
        assert len(reader.open_branch(session.id).path) == 4
        assert reader.check_session(session.id) is None
    finally:
        reader.close()
    assert {p.name: p.read_bytes() for p in path.parent.iterdir()} == before


def test_a_reader_creates_nothing(path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="Start BibGenie once"):
        open_reader(path)
    assert not path.parent.exists()


def test_only_the_owner_recovers(store: Store, path: Path) -> None:
    with opened(path, owner=False) as other, pytest.raises(NotAllowed):
        other.recover()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_a_directory_that_cannot_be_written_is_named(path: Path) -> None:
    import os

    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    path.parent.mkdir()
    path.parent.chmod(0o500)
    try:
        with pytest.raises(StoreUnavailable, match="cannot be written"), opened(path):
            pass
    finally:
        path.parent.chmod(0o700)
