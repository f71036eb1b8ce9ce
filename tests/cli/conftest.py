"""A data directory whose store is open, as while the window is open."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bibgenie_desktop.storage.store import Store
from tests.cli.helpers import CONFIG
from tests.storage.helpers import database, opened


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = database(tmp_path).parent
    folder.mkdir()
    (folder / "config.toml").write_text(CONFIG, "utf-8")
    return folder


@pytest.fixture
def path(data: Path) -> Path:
    return data / "bibgenie.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with opened(path) as owner:
        yield owner


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where temporary folders go; after each test nothing may be left in it."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []
