"""Copying a file without copying its bytes, where the file system shares blocks (Btrfs, XFS, APFS).

A clone is taken at one moment and costs no reading; the caller treats it like any other copy.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Final

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

FICLONE: Final = 0x40049409
"""Linux: share all blocks of another file."""


def clone(source: Path, target: Path) -> bool:
    """Make `target`, which must not exist, a clone of mode 0600; False where that is not offered.

    Raises `OSError` only for a source that cannot be read.
    """
    way = {"linux": _by_ioctl, "darwin": _by_clonefile}.get(sys.platform)
    return way is not None and way(source, target)


def _by_ioctl(source: Path, target: Path) -> bool:
    if fcntl is None:
        return False
    reader = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
    try:
        writer = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.ioctl(writer, FICLONE, reader)
        except OSError:
            os.unlink(target)
            return False
        finally:
            os.close(writer)
    finally:
        os.close(reader)
    return True


def _by_clonefile(source: Path, target: Path) -> bool:
    try:
        call = ctypes.CDLL(None, use_errno=True).clonefile
    except (OSError, AttributeError):
        return False
    call.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint32)
    call.restype = ctypes.c_int
    if call(os.fsencode(source), os.fsencode(target), 0) != 0:
        return False
    os.chmod(target, 0o600)
    return True
