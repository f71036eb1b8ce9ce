"""A store that owns a fresh data directory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bibgenie_desktop.storage.store import Store
from tests.storage.helpers import database, opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return database(tmp_path)


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with opened(path) as opened_store:
        yield opened_store
