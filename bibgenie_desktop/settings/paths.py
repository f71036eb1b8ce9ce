"""Where the application keeps its own files. Zotero's directory is another one and is never written to."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from bibgenie_desktop.domain.errors import UserError

APP_NAME = "BibGenie"


@dataclass(frozen=True, slots=True)
class DataDir:
    """The names in the data directory. Making the value touches nothing."""

    root: Path

    @classmethod
    def default(cls) -> DataDir:
        """The place the system has for data of applications."""
        return cls(Path(platformdirs.user_data_dir(APP_NAME, appauthor=False)))

    @property
    def database(self) -> Path:
        return self.root / "bibgenie.sqlite"

    @property
    def config(self) -> Path:
        return self.root / "config.toml"

    @property
    def lock(self) -> Path:
        return self.root / "owner.lock"

    @property
    def index(self) -> Path:
        return self.root / "index"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def backups(self) -> Path:
        return self.root / "backups"

    def create(self) -> None:
        """Make the directory and its folders, for this person only."""
        if self.root.exists() and not self.root.is_dir():
            raise UserError(f"{self.root} is not a folder.", "Choose another one with --data-dir.")
        if self.root.is_dir() and not _writable(self.root):
            raise UserError(
                f"The data directory {self.root} cannot be written to.", "Choose another one with --data-dir."
            )
        try:
            for folder in (self.root, self.index, self.logs, self.backups):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                with contextlib.suppress(PermissionError):  # somebody else's, but usable
                    folder.chmod(0o700)
        except OSError as error:
            raise UserError(
                f"The data directory {self.root} cannot be made: {error.strerror or error}.",
                "Choose another one with --data-dir.",
            ) from error


def _writable(folder: Path) -> bool:
    """Also for root, whom permissions do not stop but a read-only disk does."""
    try:
        writing = os.access(folder, os.W_OK | os.X_OK)
        return writing and not (hasattr(os, "statvfs") and os.statvfs(folder).f_flag & os.ST_RDONLY)
    except OSError:
        return False
