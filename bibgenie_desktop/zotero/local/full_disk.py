"""A disk without room: how the failures look that it causes, and what a person is told to do about it."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path
from typing import Final

from bibgenie_desktop.domain.errors import LibraryUnavailable

SPARE: Final = 50 << 20
"""Bytes beyond what is written: the conversations are stored on the same disk."""
_ERRNOS: Final = frozenset({errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)})


def is_full(error: BaseException) -> bool:
    """Whether a failure to write says that there is no room left."""
    if isinstance(error, OSError):
        return error.errno in _ERRNOS
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL or "disk is full" in str(error)
    return False


def no_room(folder: Path, size: int) -> LibraryUnavailable:
    """What is said where the copy of a library of so many bytes, and its index, cannot be stored."""
    return LibraryUnavailable(
        "The disk that holds BibGenie's data is full.",
        f"Free about {megabytes(2 * size + SPARE)} there ({folder}), then read the library again.",
    )


def not_indexed(folder: Path, size: int, error: BaseException) -> str:
    """What is said where a library is readable but its index could not be stored."""
    if is_full(error):
        return (
            "The disk that holds BibGenie's data is full, so the library's index could not be stored and "
            f"searches take longer. Free about {megabytes(size + SPARE)} there ({folder})."
        )
    return (
        "The index of the library could not be stored, so searches take longer. Check the permissions of "
        f"{folder}."
    )


def megabytes(size: int) -> str:
    """A size rounded up, in the unit that file managers show."""
    return f"{max(1, -(-size // 1_000_000)):,} MB"
