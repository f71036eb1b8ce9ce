"""The lock that makes one process the owner of a data directory; the system releases it when that dies."""

from __future__ import annotations

import os
import sys
from pathlib import Path as FilePath

from bibgenie_desktop.domain.errors import StoreUnavailable

LOCK_NAME = "owner.lock"


class OwnerLock:
    """Held from construction until `release`. Raises `StoreUnavailable` while another process holds it."""

    def __init__(self, directory: FilePath) -> None:
        path = directory / LOCK_NAME
        try:
            self._file: int | None = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreUnavailable(
                "BibGenie's data folder cannot be written.", f"Allow writing to {directory}"
            ) from error
        try:
            _lock(self._file)
        except OSError as error:
            self.release()
            raise StoreUnavailable(
                "BibGenie is already running with this data folder.",
                "Use its open window, or quit it first. Another folder can be named with --data-dir. "
                f"({directory})",
            ) from error

    def release(self) -> None:
        """The file stays: deleting it would let two processes lock two files of one name."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
