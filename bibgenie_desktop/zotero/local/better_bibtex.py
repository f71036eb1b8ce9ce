"""Citation keys that an older Better BibTeX keeps in a file of its own, beside Zotero's database.

They count only for items without a key in Zotero itself. The file is copied and the copy is opened; whatever
is wrong with it, the library is read without its keys.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from pathlib import Path

from bibgenie_desktop.zotero.local.filesystem import Signature, signature
from bibgenie_desktop.zotero.local.reader import LegacyKeys

FILE = "better-bibtex.sqlite"
_LARGEST = 512 << 20


class BetterBibtex:
    """The keys of one data directory, read again when the file has changed. Blocks."""

    def __init__(self, data_dir: Path, private_dir: Path) -> None:
        self._file = data_dir / FILE
        self._private = private_dir
        self._seen: Signature = None
        self._keys: LegacyKeys = {}

    def signature(self) -> Signature:
        """The state of the file; None where there is none."""
        try:
            return signature(self._file)
        except OSError:
            return None

    def keys(self) -> LegacyKeys:
        seen = self.signature()
        if seen != self._seen:
            self._seen = seen
            self._keys = self._read() if seen is not None and seen[1] <= _LARGEST else {}
        return self._keys

    def _read(self) -> LegacyKeys:
        try:
            with tempfile.TemporaryDirectory(dir=self._private, ignore_cleanup_errors=True) as folder:
                copy = Path(folder) / FILE
                for suffix in ("", "-wal", "-journal"):
                    with contextlib.suppress(FileNotFoundError):
                        shutil.copyfile(f"{self._file}{suffix}", f"{copy}{suffix}")
                with contextlib.closing(sqlite3.connect(copy)) as connection:
                    rows = connection.execute("SELECT libraryID, itemKey, citationKey FROM citationkey")
                    return {(int(lib), str(key)): str(name) for lib, key, name in rows if name}
        except (OSError, sqlite3.Error, TypeError, ValueError):
            return {}
