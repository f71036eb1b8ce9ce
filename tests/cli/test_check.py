"""`check`: sound databases, damaged sessions, and everything a person can get wrong."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from bibgenie_desktop.domain.parts import Draft, TextPart
from bibgenie_desktop.storage.store import Store
from tests.cli.helpers import command, state
from tests.storage.helpers import MODEL, conversation, damaged, opened, plain, reply_id

ALL = (
    ("check",),
    ("inspect", "sessions"),
    ("inspect", "tree"),
    ("inspect", "checkpoints"),
    ("inspect", "projection"),
    ("export", "--session", "0", "--format", "md"),
)


def test_a_sound_database_is_said_to_be_sound(data: Path, store: Store) -> None:
    session, _, _ = conversation(store, 2)
    assert command("--data-dir", data, "check").json == {
        "ok": True,
        "database": {"ok": True, "reason": ""},
        "sessions": [{"id": session.id, "title": "A conversation", "ok": True, "bad_id": None, "reason": ""}],
    }


def test_damage_is_named_and_ends_with_1(data: Path, path: Path) -> None:
    with opened(path) as store:
        bad, asked, _ = conversation(store, 3)
        good, _, _ = conversation(store, 1)
        store.trash(bad.id)
    damaged(path, ("DELETE FROM message WHERE id = ?", (asked[0].id,)))
    before = state(data)
    said = command("--data-dir", data, "check")
    assert said.code == 1
    found = json.loads(said.out)
    assert not found["ok"]
    assert {row["id"]: row["ok"] for row in found["sessions"]} == {bad.id: False, good.id: True}
    row = next(row for row in found["sessions"] if not row["ok"])
    assert row["bad_id"] == asked[0].id
    assert row["reason"] == "A message of this conversation is missing from the database."
    assert state(data) == before


def test_a_draft_that_is_no_draft_is_reported_and_still_shown(data: Path, path: Path) -> None:
    with opened(path) as store:
        session, _, _ = conversation(store, 1)
        store.save_draft(session.id, None, Draft("half a thought"))
    assert command("--data-dir", data, "check").code == 0
    damaged(path, ("UPDATE draft SET content = ? WHERE session_id = ?", ("half a thought", session.id)))
    said = command("--data-dir", data, "check")
    assert said.code == 1
    (row,) = json.loads(said.out)["sessions"]
    assert (row["bad_id"], row["reason"]) == (
        None,
        "What was being written in this conversation is not stored as a draft.",
    )
    with opened(path) as store:
        assert store.draft(session.id).text == "half a thought"


def test_a_damaged_answer_under_way_is_damage_too(data: Path, path: Path) -> None:
    with opened(path) as store:
        session = store.create_session("", MODEL)
        store.send(session.id, session.head, (TextPart("q"),), reply_id(store), MODEL)
    with plain(path) as connection:
        connection.execute("UPDATE pending_reply SET parts = '{'")
    said = command("--data-dir", data, "check")
    assert said.code == 1
    assert "The answer under way cannot be read." in said.out


def test_a_damaged_file_is_damage(data: Path, path: Path) -> None:
    with opened(path) as store:
        conversation(store, 40)
    with plain(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'message_parent'"
        ).fetchone()
    content = bytearray(path.read_bytes())
    content[(root - 1) * size : root * size] = b"\xff" * size
    path.write_bytes(content)
    said = command("--data-dir", data, "check")
    assert said.code == 1
    assert not json.loads(said.out)["database"]["ok"]


@pytest.mark.parametrize("words", ALL)
def test_a_data_directory_that_is_not_there_is_not_made(tmp_path: Path, words: tuple[str, ...]) -> None:
    missing = tmp_path / "nowhere"
    said = command("--data-dir", missing, *words)
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        f"There is no data directory {missing}. Start BibGenie once, or name another with --data-dir.\n"
    )
    assert not missing.exists()


@pytest.mark.parametrize("words", ALL)
def test_a_directory_without_a_database_stays_without_one(tmp_path: Path, words: tuple[str, ...]) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    said = command(*words, "--data-dir", empty)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("There is no BibGenie database here yet. Start BibGenie once.")
    assert list(empty.iterdir()) == []


@pytest.mark.parametrize("words", ALL)
def test_a_file_that_is_no_database_is_said_to_be_none(
    data: Path, path: Path, words: tuple[str, ...]
) -> None:
    path.write_bytes(b"not a database, but long enough to look at it" * 100)
    said = command("--data-dir", data, *words)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("BibGenie's database file is damaged or is no database.")
    assert said.err.count("\n") == 1


def test_a_database_of_a_newer_version_is_refused(data: Path, path: Path) -> None:
    with opened(path) as store:
        conversation(store, 1)
    with plain(path) as connection:
        connection.execute("INSERT INTO migration (name, applied_at) VALUES ('m9999_later', 0)")
    before = state(data)
    said = command("--data-dir", data, "check")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("This database was written by a newer version of BibGenie.")
    assert state(data) == before


def test_an_unknown_session_says_where_ids_are_listed(data: Path, store: Store) -> None:
    conversation(store, 1)
    for words in (("inspect", "tree"), ("inspect", "projection"), ("export", "--format", "json")):
        said = command("--data-dir", data, *words, "--session", "nope")
        assert (said.code, said.out) == (2, "")
        assert said.err == (
            "There is no session with the id “nope”. `bibgenie-desktop inspect sessions` lists them all.\n"
        )


def test_a_database_without_sessions_has_nothing_to_inspect(data: Path, store: Store) -> None:
    said = command("--data-dir", data, "inspect", "tree")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("There are no conversations in this data directory yet.")
    assert command("--data-dir", data, "check").json["ok"]


def test_no_command_changes_anything_while_the_window_is_open(data: Path, store: Store) -> None:
    conversation(store, 3)
    before = state(data)
    assert "bibgenie.sqlite-wal" in before
    for words in (*ALL, ("inspect", "library")):
        command("--data-dir", data, *words)
        assert state(data) == before, words


def test_no_command_changes_anything_when_nobody_has_it_open(data: Path, path: Path) -> None:
    with opened(path) as store:
        conversation(store, 3)
    before = state(data)
    assert "bibgenie.sqlite-wal" not in before
    for words in (*ALL, ("inspect", "library")):
        command("--data-dir", data, *words)
        assert state(data) == before, words


def test_a_copied_directory_is_read_with_its_log_and_stays_as_it_is(
    tmp_path: Path, data: Path, store: Store
) -> None:
    """A log without its index: reading it in place would make a file."""
    session, _, _ = conversation(store, 2)
    copy = tmp_path / "copy"
    shutil.copytree(data, copy, ignore=shutil.ignore_patterns("*-shm"))
    before = state(copy)
    assert "bibgenie.sqlite-wal" in before
    assert command("--data-dir", copy, "check").json["sessions"][0]["id"] == session.id
    assert state(copy) == before
