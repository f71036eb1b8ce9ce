"""New, old, newer and foreign database files."""

from __future__ import annotations

import hashlib
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import NewerDatabase, StoreUnavailable
from bibgenie_desktop.domain.ids import SessionId
from bibgenie_desktop.domain.messages import Checkpoint
from bibgenie_desktop.storage.connection import Connection
from bibgenie_desktop.storage.migrate import KEPT_BACKUPS, back_up, check_version, prepare
from bibgenie_desktop.storage.migrations import MIGRATIONS, Execute, Migration
from bibgenie_desktop.storage.store import Store, open_reader
from tests.storage.helpers import (
    Counting,
    conversation,
    count,
    everything,
    opened,
    plain,
    rows,
    tree_rows,
    turn,
)

FIXTURES = Path(__file__).with_name("fixtures")
DESIGN = {
    "tree": "id created_at",
    "session": "id tree_id title leaf_id branch_revision model origin_session_id origin_message_id pinned "
    "trashed_at created_at updated_at",
    "message": "id tree_id parent_id kind status depth parts model usage created_at",
    "checkpoint": "message_id first_kept_id summary ledger ledger_projected trigger head_leaf_id "
    "head_revision tokens_before tokens_after imported",
    "pending_reply": "session_id message_id parent_id parts usage head_leaf_id head_revision updated_at",
    "draft": "session_id edits_message_id content updated_at",
    "blob": "sha256 mime bytes width height",
    "last_child": "parent_id child_id",
    "archived": "message_id",
    "label": "message_id",
    "pin": "session_id locator",
    "estimate": "message_id version tokens",
    "model_fact": "model name value",
    "write_permit": "message_id",
    "journal": "id call_id session_id message_id kind content created_at",
    "proposal": "call_id message_id content created_at",
    "follow_up": "id session_id content created_at",
    "undone": "session_id message_id branch_revision created_at",
    "migration": "name",
}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def add_column(execute: Execute) -> None:
    execute("ALTER TABLE session ADD COLUMN colour TEXT")


def fail_halfway(execute: Execute) -> None:
    execute("ALTER TABLE session ADD COLUMN colour TEXT")
    execute("CREATE TABLE tree (id)")


NEXT: tuple[Migration, ...] = (*MIGRATIONS, ("m9999_next", add_column))


def schema(path: Path) -> list[tuple[object, ...]]:
    return rows(path, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name")


def test_an_empty_directory_gets_the_tables_of_the_design(store: Store, path: Path) -> None:
    for table, columns in DESIGN.items():
        found = {name for (name,) in rows(path, "SELECT name FROM pragma_table_info(?)", table)}
        assert set(columns.split()) <= found, table
    assert rows(path, "SELECT name FROM migration ORDER BY name") == [(name,) for name, _ in MIGRATIONS]
    assert rows(path, "PRAGMA journal_mode") == [("wal",)]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_files_are_for_their_owner_only(store: Store, path: Path) -> None:
    conversation(store, 1)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    for file in path.parent.iterdir():
        assert file.stat().st_mode & 0o777 == 0o600, file.name


@pytest.mark.parametrize("fixture", sorted(FIXTURES.glob("*.sql")), ids=lambda p: p.stem)
def test_every_earlier_version_arrives_at_the_present_schema_with_its_data(
    fixture: Path, path: Path, tmp_path: Path
) -> None:
    path.parent.mkdir(mode=0o700)
    with plain(path) as old:
        old.executescript(fixture.read_text(encoding="utf-8"))
    before = tree_rows(path)
    assert before
    with opened(tmp_path / "fresh" / "bibgenie.sqlite"):
        pass
    with opened(path, start=10_000) as store:
        assert tree_rows(path) == before
        assert schema(path) == schema(tmp_path / "fresh" / "bibgenie.sqlite")
        for row in store.sessions():
            found = store.open_branch(row.session.id)
            assert isinstance(found.path, tuple)
            assert len(found.path) >= 5
            assert any(isinstance(message, Checkpoint) for message in found.path)
            turn(store, row.session)


def test_what_waits_leaves_the_journal_and_serves_on(path: Path) -> None:
    """m0003: follow-ups become the draft, a checkpoint taken back stays so; the journal begins empty."""
    path.parent.mkdir(mode=0o700)
    with plain(path) as old:
        old.executescript((FIXTURES / "m0002_estimates.sql").read_text(encoding="utf-8"))
        ((session, revision),) = old.execute(
            "SELECT id, branch_revision FROM session WHERE branch_revision > 0 ORDER BY id LIMIT 1"
        ).fetchall()
        entry = "INSERT INTO journal (id, session_id, message_id, kind, content, created_at) VALUES "
        old.execute(f"{entry} ('j1', ?, NULL, 'follow-up', '{{\"text\":\"And then?\"}}', 1)", (session,))
        old.execute(f"{entry} ('j2', ?, 'm', 'undone', '0', 1)", (session,))
        old.execute(f"{entry} ('j3', ?, 'm', 'undone', ?, 2)", (session, str(revision)))
        old.execute(f"{entry} ('j4', 'gone', NULL, 'follow-up', 'x', 3)")
    with opened(path, start=10_000) as store:
        assert store.journal() == ()
        assert store.checkpoint_undone(SessionId(session))
        store.reclaim_queue(SessionId(session))
        assert store.draft(SessionId(session)).text.startswith("And then?")
    assert count(path, "follow_up") == 0
    assert count(path, "undone") == 1


def test_there_is_a_fixture_of_every_earlier_version() -> None:
    """`python -m tests.storage.make_fixture`, run before a migration is added, writes the one that is due."""
    names = [name for name, _ in MIGRATIONS]
    assert {*names[:-1]} <= {p.stem for p in FIXTURES.glob("*.sql")} <= {*names}


def test_an_upgrade_copies_the_file_first(path: Path) -> None:
    with opened(path) as store:
        conversation(store, 2)
    before, old_schema = tree_rows(path), schema(path)
    prepare(path, Counting().clock, NEXT)
    (backup,) = (path.parent / "backups").iterdir()
    assert backup.name == f"bibgenie-{MIGRATIONS[-1][0][1:5]}-20231114T221320001Z.sqlite"
    assert (tree_rows(backup), schema(backup)) == (before, old_schema)
    assert tree_rows(path) == before
    assert "colour" in {name for (name,) in rows(path, "SELECT name FROM pragma_table_info('session')")}
    if sys.platform != "win32":
        assert backup.parent.stat().st_mode & 0o777 == 0o700
        assert backup.stat().st_mode & 0o777 == 0o600


def test_a_new_file_needs_no_copy(store: Store, path: Path) -> None:
    assert not (path.parent / "backups").exists()


def test_only_the_newest_copies_are_kept_and_nothing_else_is_removed(store: Store, path: Path) -> None:
    (path.parent / "backups").mkdir()
    mine = path.parent / "backups" / "my own copy.sqlite"
    mine.write_bytes(b"mine")
    connection = Connection(path)
    source = Counting()
    try:
        made = [back_up(connection, "m0001_initial", source.clock) for _ in range(KEPT_BACKUPS + 2)]
    finally:
        connection.close()
    assert set(mine.parent.iterdir()) == {mine, *made[-KEPT_BACKUPS:]}


def test_a_migration_that_fails_leaves_the_file_as_it_was(path: Path) -> None:
    with opened(path) as store:
        conversation(store, 1)
    before = everything(path), schema(path)
    with pytest.raises(Exception, match="tree"):
        prepare(path, Counting().clock, (*MIGRATIONS, ("m9999_bad", fail_halfway)))
    assert (everything(path), schema(path)) == before


def test_a_newer_file_is_refused_and_not_touched(path: Path) -> None:
    with opened(path) as store:
        conversation(store, 1)
    prepare(path, Counting().clock, NEXT)
    before, names = digest(path), sorted(p.name for p in path.parent.iterdir())
    for attempt in (
        lambda: Store(path, Counting().clock, Counting().ids, owner=True),
        lambda: Store(path, Counting().clock, Counting().ids),
        lambda: open_reader(path),
    ):
        with pytest.raises(NewerDatabase, match="newer version"):
            attempt()
    assert digest(path) == before
    assert sorted(p.name for p in path.parent.iterdir()) == names


def test_a_newer_file_with_a_live_log_is_refused_and_not_touched(path: Path) -> None:
    with opened(path) as store:
        conversation(store, 1)
        with plain(path) as newer:
            newer.execute("INSERT INTO migration VALUES ('m9999_next', 1)")
        before = digest(path), digest(path.with_name("bibgenie.sqlite-wal"))
        with pytest.raises(NewerDatabase):
            open_reader(path)
        assert (digest(path), digest(path.with_name("bibgenie.sqlite-wal"))) == before


def test_an_older_file_waits_for_the_owner(path: Path) -> None:
    with opened(path):
        pass
    with plain(path) as older:
        older.execute("DELETE FROM migration")
    with pytest.raises(StoreUnavailable, match="older version"):
        open_reader(path)


def test_garbage_is_refused_and_not_touched(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"These are not the bytes of a database. " * 200)
    before = digest(path)
    with pytest.raises(StoreUnavailable, match="damaged or is no database"), opened(path):
        pass
    assert digest(path) == before
    assert sorted(p.name for p in path.parent.iterdir()) == ["bibgenie.sqlite", "owner.lock"]


def test_a_database_of_another_program_is_refused_and_not_touched(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE recipes (id)")
    before = digest(path)
    with pytest.raises(StoreUnavailable, match="another program"), opened(path):
        pass
    assert digest(path) == before


def test_a_torn_file_is_refused_with_a_sentence(path: Path) -> None:
    with opened(path) as store:
        conversation(store, 30)
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * 8192 + content[12288:])
    before = digest(path)
    with pytest.raises(StoreUnavailable, match="damaged"), opened(path) as store:
        [store.open_branch(row.session.id) for row in store.sessions()]
    assert digest(path) == before


def test_an_empty_file_becomes_a_database(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    with opened(path) as store:
        conversation(store, 1)
    assert count(path, "message") == 2


def test_opening_again_changes_nothing(path: Path) -> None:
    with opened(path) as store:
        conversation(store, 2)
    before = digest(path)
    assert check_version(path) == tuple(name for name, _ in MIGRATIONS)
    with opened(path) as store:
        store.sessions()
    assert digest(path) == before
