"""`inspect library`, on the sample library."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from bibgenie_desktop.compose.libraries import chosen_library, index_folder, open_library
from bibgenie_desktop.compose.options import Options
from bibgenie_desktop.settings.config_file import ConfigFile
from tests.cli.helpers import SAMPLE, command, state


def test_the_sample_library_is_counted_and_not_touched(tmp_path: Path) -> None:
    zotero = tmp_path / "Zotero"
    shutil.copytree(SAMPLE, zotero)
    before = state(zotero)
    found = command("inspect", "library", "--zotero-dir", zotero).json
    assert found["data_dir"] == str(zotero)
    assert found["schema_version"] >= 121
    assert 0 <= found["snapshot_age_ms"] < 600_000
    assert (found["stale"], found["notice"], found["chosen"]) == (False, "", True)
    own = next(one for one in found["libraries"] if one["id"] == "u")
    assert own["items"] >= 30
    assert own["pdfs"] >= 25
    total = sum(one["items"] for one in found["libraries"])
    assert total >= 31
    assert (found["index"]["kind"], found["index"]["items"]) == ("none yet", 0)
    assert state(zotero) == before


def test_the_library_of_the_settings_is_meant_and_needs_no_database(data: Path) -> None:
    with (data / "config.toml").open("a") as config:
        config.write('[zotero]\ndata_dir = "sample"\n')
    found = command("--data-dir", data, "inspect", "library").json
    assert found["data_dir"] == str(SAMPLE)
    assert sorted(p.name for p in data.iterdir()) == ["config.toml"]


async def test_the_index_of_the_application_is_reported_while_it_is_in_use(data: Path) -> None:
    with (data / "config.toml").open("a") as config:
        config.write('[zotero]\ndata_dir = "sample"\n')
    options = Options(data)
    candidate = chosen_library(options, ConfigFile(options.data.config).load())
    assert candidate is not None
    library = open_library(candidate, index_folder(options, candidate))
    try:
        await library.index_texts()
        before = state(options.data.index)
        index = (await asyncio.to_thread(command, "--data-dir", data, "inspect", "library")).json["index"]
        assert (index["kind"], index["items"]) == ("file", library.status.items)
        assert index["texts"] == library.coverage.indexed > 20
        assert index["without_text"] == library.coverage.unreadable
        assert 0 < index["age_ms"] < 600_000
        assert index["bytes"] > 100_000
        assert state(options.data.index) == before
    finally:
        await library.close()


def test_the_demo_is_the_sample_library(data: Path) -> None:
    assert command("--demo", "inspect", "library").json["data_dir"] == str(SAMPLE)


def test_without_a_choice_the_library_that_is_found_is_shown(home: Path) -> None:
    shutil.copytree(SAMPLE, home / "Zotero", ignore=shutil.ignore_patterns("storage"))
    found = command("inspect", "library").json
    assert (found["data_dir"], found["chosen"]) == (str(home / "Zotero"), False)


def test_no_library_at_all_is_a_sentence(home: Path) -> None:
    said = command("inspect", "library")
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "No Zotero library has been chosen, and none was found on this computer. "
        "Name its data directory with --zotero-dir.\n"
    )
    assert list(home.rglob("*.sqlite")) == []


@pytest.mark.parametrize("content", [None, b"this is no database" * 1000])
def test_a_folder_without_a_readable_library_is_a_sentence(tmp_path: Path, content: bytes | None) -> None:
    zotero = tmp_path / "Zotero"
    zotero.mkdir()
    if content is not None:
        (zotero / "zotero.sqlite").write_bytes(content)
    said = command("inspect", "library", "--zotero-dir", zotero)
    assert (said.code, said.out) == (2, "")
    assert said.err.count("\n") == 1
    assert "Traceback" not in said.err


def test_a_missing_data_directory_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    said = command("inspect", "library", "--data-dir", tmp_path / "typo")
    assert said.code == 2
    assert said.err.startswith("There is no data directory")


def test_wrong_settings_are_a_sentence_with_the_place(data: Path) -> None:
    (data / "config.toml").write_text("[zotero\n")
    said = command("inspect", "library", "--data-dir", data)
    assert (said.code, said.out) == (2, "")
    assert "config.toml has a mistake in line 1" in said.err
