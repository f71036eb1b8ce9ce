"""What the command line said, and the clock and ids of the real world."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bibgenie_desktop.domain.ids import IdMaker, uuid7
from bibgenie_desktop.settings.paths import DataDir

ZOTERO_DIR: Final = "BIBGENIE_ZOTERO_DIR"
"""The variable of the environment that names Zotero's data directory; `--zotero-dir` beats it."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line and the environment said."""

    data_dir: Path | None = None
    zotero_dir: Path | None = None
    home: Path = field(default_factory=Path.home)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    platform: str = sys.platform
    zotero_org: str = ""
    """Another address than that of zotero.org, for tests."""

    @property
    def named_library(self) -> Path | None:
        """The Zotero directory that was named for this run: it beats what the preferences say."""
        named = self.environment.get(ZOTERO_DIR, "").strip()
        return self.zotero_dir or (Path(named).expanduser() if named else None)

    @property
    def data(self) -> DataDir:
        return DataDir(self.data_dir) if self.data_dir is not None else DataDir.default()


def now_ms() -> int:
    """UTC milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def id_maker(clock: Callable[[], int] = now_ms) -> IdMaker:
    """UUIDv7s whose time never goes back, so that later ids sort after earlier ones."""
    last = 0

    def make() -> str:
        nonlocal last
        last = max(last + 1, clock())
        return uuid7(last, os.urandom(10))

    return make
