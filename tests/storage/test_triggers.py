"""The database itself keeps the tree append-only, also against connections with default settings."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from bibgenie_desktop.storage.store import Store
from tests.storage.helpers import compacted, conversation, count, plain, tree_rows

INSERT = (
    "INTO message (id, tree_id, parent_id, kind, status, depth, model, created_at, parts) "
    "SELECT id, tree_id, parent_id, kind, status, depth, 'other', created_at, '[]' FROM message "
    "WHERE depth = 0"
)


@pytest.fixture
def filled(store: Store, path: Path) -> Path:
    session, asked, answers = conversation(store, 2)
    compacted(store, session, answers[-1], asked[-1].id)
    return path


@pytest.mark.parametrize("foreign_keys", [0, 1])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE message SET parts = '[]'",
        "UPDATE message SET id = 'other' WHERE depth = 0",
        "UPDATE OR REPLACE message SET id = (SELECT max(id) FROM message) WHERE depth = 0",
        "UPDATE OR IGNORE message SET parent_id = NULL WHERE depth = 1",
        "DELETE FROM message",
        "DELETE FROM message WHERE kind = 'checkpoint'",
        f"INSERT {INSERT}",
        f"INSERT OR REPLACE {INSERT}",
        f"REPLACE {INSERT}",
        f"INSERT OR IGNORE {INSERT}",
        f"INSERT {INSERT} ON CONFLICT (id) DO UPDATE SET parts = '[]'",
        f"INSERT {INSERT} ON CONFLICT (id) DO NOTHING",
        "UPDATE checkpoint SET summary = 'shorter'",
        "UPDATE OR REPLACE checkpoint SET first_kept_id = NULL",
        "DELETE FROM checkpoint",
        "INSERT OR REPLACE INTO checkpoint SELECT * FROM checkpoint",
        "INSERT INTO checkpoint SELECT * FROM checkpoint WHERE 1 "
        "ON CONFLICT (message_id) DO UPDATE SET summary = ''",
        "UPDATE tree SET created_at = 0",
        "DELETE FROM tree",
        "INSERT OR REPLACE INTO tree SELECT * FROM tree",
    ],
)
def test_a_written_row_cannot_be_changed(filled: Path, statement: str, foreign_keys: int) -> None:
    before = tree_rows(filled)
    with plain(filled) as connection:
        connection.execute(f"PRAGMA foreign_keys = {foreign_keys}")
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(statement)
    assert tree_rows(filled) == before


def test_a_delete_cascading_from_another_table_is_refused(filled: Path) -> None:
    before = tree_rows(filled)
    with plain(filled) as connection:
        connection.execute("PRAGMA foreign_keys = 1")
        connection.execute("CREATE TABLE owner (id TEXT PRIMARY KEY)")
        connection.execute("INSERT INTO owner SELECT id FROM message")
        sql = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'checkpoint'").fetchone()[0]
        connection.execute("PRAGMA writable_schema = 1")
        cascading = sql.replace("REFERENCES message (id)", "REFERENCES owner (id) ON DELETE CASCADE")
        assert cascading != sql
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'checkpoint'", (cascading,))
        connection.execute("PRAGMA writable_schema = RESET")
    with plain(filled) as connection:
        connection.execute("PRAGMA foreign_keys = 1")
        with pytest.raises(sqlite3.IntegrityError, match="never deleted"):
            connection.execute("DELETE FROM owner")
    assert tree_rows(filled) == before


def message(connection: sqlite3.Connection, **changes: object) -> None:
    leaf = connection.execute("SELECT id, tree_id, depth FROM message ORDER BY depth DESC").fetchone()
    values: dict[str, object] = {
        "id": "new",
        "tree_id": leaf[1],
        "parent_id": leaf[0],
        "kind": "user",
        "status": "complete",
        "depth": leaf[2] + 1,
        "created_at": 1,
    } | changes
    names, marks = ", ".join(values), ", ".join("?" * len(values))
    connection.execute(f"INSERT INTO message ({names}) VALUES ({marks})", tuple(values.values()))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"kind": "assistant"}, "parent"),
        ({"kind": "checkpoint"}, "permit"),
        ({"kind": "system"}, "unknown kind"),
        ({"status": "failed"}, "unknown kind or status"),
        ({"parent_id": "nowhere"}, "parent"),
        ({"parent_id": "new"}, "parent"),
        ({"depth": 1}, "parent"),
        ({"parent_id": None}, "depth 0"),
        ({"parent_id": None, "depth": 0, "kind": "assistant"}, "first message"),
        ({"parent_id": None, "depth": 0, "tree_id": "nowhere"}, "known tree"),
        ({"tree_id": "nowhere"}, "parent"),
    ],
)
def test_a_node_in_a_wrong_place_is_refused(filled: Path, changes: dict[str, object], sentence: str) -> None:
    with plain(filled) as connection, pytest.raises(sqlite3.IntegrityError, match=sentence):
        message(connection, **changes)


def test_a_node_in_a_right_place_is_taken(filled: Path) -> None:
    before = count(filled, "message")
    with plain(filled) as connection:
        message(connection)
    assert count(filled, "message") == before + 1


def test_a_permit_needs_enforced_foreign_keys(filled: Path) -> None:
    with plain(filled) as connection:
        for sql in (
            "INSERT INTO write_permit (message_id) VALUES ('new')",
            "INSERT OR IGNORE INTO write_permit (message_id) VALUES ('new')",
            "INSERT INTO purge_permit (tree_id) VALUES ('new')",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="foreign keys"):
                connection.execute(sql)


def test_no_permit_survives_commit(filled: Path) -> None:
    with plain(filled) as connection:
        connection.execute("PRAGMA foreign_keys = 1")
        connection.execute("BEGIN")
        connection.execute("INSERT INTO write_permit (message_id) VALUES ('new')")
        with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
            connection.execute("COMMIT")
        connection.execute("ROLLBACK")
    assert count(filled, "write_permit") == 0


def test_the_place_a_permit_points_to_cannot_be_filled(filled: Path) -> None:
    with plain(filled) as connection, pytest.raises(sqlite3.IntegrityError, match="stays empty"):
        connection.execute("INSERT INTO never VALUES (1)")


def test_a_checkpoint_message_without_its_record_cannot_be_committed(filled: Path) -> None:
    before = tree_rows(filled)
    with plain(filled) as connection:
        connection.execute("PRAGMA foreign_keys = 1")
        connection.execute("BEGIN")
        connection.execute("INSERT INTO write_permit (message_id) VALUES ('new')")
        message(connection, kind="checkpoint")
        with pytest.raises(sqlite3.IntegrityError, match="not complete"):
            connection.execute("DELETE FROM write_permit")
        with pytest.raises(sqlite3.IntegrityError, match="never changes"):
            connection.execute("UPDATE write_permit SET message_id = 'other'")
        with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
            connection.execute("COMMIT")
        connection.execute("ROLLBACK")
    assert tree_rows(filled) == before


def test_a_permit_serves_only_the_id_it_names(filled: Path) -> None:
    with plain(filled) as connection:
        connection.execute("PRAGMA foreign_keys = 1")
        connection.execute("BEGIN")
        connection.execute("INSERT INTO write_permit (message_id) VALUES ('another')")
        with pytest.raises(sqlite3.IntegrityError, match="permit"):
            message(connection, kind="checkpoint")
        connection.execute("ROLLBACK")


CHECKPOINT = (
    "INSERT INTO checkpoint (message_id, first_kept_id, trigger, head_leaf_id, head_revision, tokens_before, "
    "tokens_after, summary, ledger_projected, ledger) VALUES (?, ?, 'manual', '', 0, 1, 1, 's', '', '[]')"
)


@pytest.mark.parametrize(
    ("boundary", "fits"),
    [
        ("SELECT id FROM message WHERE depth = 0", True),
        ("SELECT NULL", True),
        ("SELECT id FROM message WHERE depth = 1", False),
        ("SELECT 'nowhere'", False),
        ("SELECT 'new'", False),
        ("SELECT 'beside'", False),
    ],
)
def test_the_database_checks_a_boundary(filled: Path, boundary: str, fits: bool) -> None:
    with plain(filled) as connection:
        connection.execute("PRAGMA foreign_keys = 1")
        answer = connection.execute("SELECT id FROM message WHERE depth = 1").fetchone()[0]
        message(connection, id="beside", parent_id=answer, depth=2)
        connection.execute("BEGIN")
        connection.execute("INSERT INTO write_permit (message_id) VALUES ('new')")
        leaf, depth = connection.execute("SELECT id, depth FROM message WHERE kind = 'checkpoint'").fetchone()
        message(connection, kind="checkpoint", parent_id=leaf, depth=depth + 1)
        kept = connection.execute(boundary).fetchone()[0]
        if fits:
            connection.execute(CHECKPOINT, ("new", kept))
            connection.execute("COMMIT")
        else:
            with pytest.raises(sqlite3.IntegrityError, match="boundary"):
                connection.execute(CHECKPOINT, ("new", kept))
            connection.execute("ROLLBACK")
    assert count(filled, "checkpoint") == 1 + fits
    assert count(filled, "write_permit") == 0


def test_a_checkpoint_record_for_an_answer_is_refused(filled: Path) -> None:
    with plain(filled) as connection:
        answer = connection.execute("SELECT id FROM message WHERE kind = 'assistant'").fetchone()[0]
        with pytest.raises(sqlite3.IntegrityError, match="permit"):
            connection.execute(CHECKPOINT, (answer, None))


def test_a_tree_with_a_session_cannot_be_purged(filled: Path) -> None:
    with plain(filled) as connection:
        connection.execute("PRAGMA foreign_keys = 1")
        with pytest.raises(sqlite3.IntegrityError, match="without sessions"):
            connection.execute("INSERT INTO purge_permit (tree_id) SELECT id FROM tree")


def test_a_tree_cannot_be_purged_by_halves(filled: Path) -> None:
    before = tree_rows(filled)
    with plain(filled) as connection:
        connection.execute("PRAGMA foreign_keys = 1")
        connection.execute("BEGIN")
        connection.execute("DELETE FROM session")
        connection.execute("INSERT INTO purge_permit (tree_id) SELECT id FROM tree")
        connection.execute("DELETE FROM checkpoint")
        connection.execute("DELETE FROM message WHERE kind = 'checkpoint'")
        with pytest.raises(sqlite3.IntegrityError, match="still there"):
            connection.execute("DELETE FROM purge_permit")
        with pytest.raises(sqlite3.IntegrityError, match="still has messages"):
            connection.execute("DELETE FROM tree")
        with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
            connection.execute("COMMIT")
        connection.execute("ROLLBACK")
    assert tree_rows(filled) == before
