"""`export`: to standard output and to files."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from bibgenie_desktop.storage.store import Store
from tests.cli.helpers import SAMPLE, command, state
from tests.storage.helpers import MODEL, conversation, turn


def test_every_format_comes_out_in_utf_8(data: Path, store: Store) -> None:
    session, _, _ = turn(store, store.create_session("Größe", MODEL), "漢字?", "😀")
    for name, start in (("md", "# Größe\n"), ("html", "<!doctype html>"), ("json", "{\n")):
        said = command("export", "--session", session.id, "--format", name, "--data-dir", data)
        assert (said.code, said.err) == (0, "")
        assert said.out.startswith(start)
        assert "漢字" in said.out
        assert "😀" in said.out


def test_a_file_is_written_for_this_person_only(tmp_path: Path, data: Path, store: Store) -> None:
    session, _, _ = conversation(store, 1)
    target = tmp_path / "out.json"
    target.write_text("an older export")
    words = ("export", "--session", session.id, "--format", "json", "--output", target)
    said = command("--data-dir", data, *words)
    assert (said.code, said.out, said.err) == (0, "", "")
    assert json.loads(target.read_text("utf-8"))["session"]["id"] == session.id
    if os.name == "posix":
        assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_nothing_is_written_into_the_folders_of_bibgenie_and_zotero(data: Path, store: Store) -> None:
    session, _, _ = conversation(store, 1)
    before = state(data)
    for target in (data / "bibgenie.sqlite", data / "new" / "export.md", SAMPLE / "export.md"):
        said = command(
            "--data-dir", data, "export", "--session", session.id, "--format", "md", "--output", target
        )
        assert said.code == 2
        assert "nothing is written there. Name another place with --output." in said.err
    assert state(data) == before
    assert not (SAMPLE / "export.md").exists()


@pytest.mark.parametrize("place", ["", "missing/export.md"])
def test_a_place_that_cannot_be_written_is_a_sentence(
    tmp_path: Path, data: Path, store: Store, place: str
) -> None:
    session, _, _ = conversation(store, 1)
    folder = tmp_path / "exports"
    folder.mkdir()
    words = ("export", "--session", session.id, "--format", "md", "--output", folder / place)
    said = command("--data-dir", data, *words)
    assert (said.code, said.out) == (2, "")
    assert said.err.count("\n") == 1
    assert said.err.endswith("with --output.\n")
    assert list(folder.iterdir()) == []
