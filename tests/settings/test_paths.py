"""The data directory: its names, and that it belongs to one person."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.settings.paths import DataDir


def test_names_are_those_that_outside_callers_know(tmp_path: Path) -> None:
    data = DataDir(tmp_path)
    named = [data.database, data.config, data.lock, data.index, data.logs, data.backups]
    assert [path.relative_to(tmp_path).as_posix() for path in named] == [
        "bibgenie.sqlite", "config.toml", "owner.lock", "index", "logs", "backups",
    ]  # fmt: skip
    assert list(tmp_path.iterdir()) == []


def test_default_lies_in_the_home_of_the_person(home: Path) -> None:
    assert home in DataDir.default().root.parents
    assert not DataDir.default().root.exists()


def test_created_folders_are_private(tmp_path: Path) -> None:
    data = DataDir(tmp_path / "deep" / "data")
    data.root.mkdir(mode=0o755, parents=True)
    data.create()
    data.create()
    for folder in (data.root, data.index, data.logs, data.backups):
        assert folder.is_dir()
        if os.name == "posix":
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_place_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="cannot be made") as caught:
        DataDir(tmp_path / "file" / "data").create()
    assert "--data-dir" in caught.value.advice
