"""Bytes and times of files: reading heads, copying, and when a modification time can be believed.

Nothing here opens a file for writing but the private copy, and nothing knows what a database is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from bibgenie_desktop.zotero.local.cloning import clone

Signature: TypeAlias = tuple[int, int, int] | None
"""(inode, size, mtime in ns) of a file, None where there is none."""

CHUNK = 1 << 20
"""Fits the processor's cache: larger pieces are slower."""
_UNTRUSTED = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "vfat", "msdos", "exfat", "fuseblk", "afs", "davfs")
)


def signature(path: Path) -> Signature:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def head(path: Path, length: int) -> bytes:
    """The first bytes of a file, none where there is no file."""
    try:
        with path.open("rb") as file:
            return file.read(length)
    except FileNotFoundError:
        return b""


def copy(source: Path, target: Path, check: Callable[[], None]) -> None:
    """Copy into a file of mode 0600 that does not exist: by sharing its blocks, else byte by byte.

    `check` is called between chunks and may raise to stop.
    """
    if clone(source, target):
        check()
        return
    buffer = memoryview(bytearray(CHUNK))
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
    with source.open("rb", buffering=0) as reader, os.fdopen(descriptor, "wb", buffering=0) as writer:
        while count := reader.readinto(buffer):
            piece = buffer[:count]
            while piece:
                piece = piece[writer.write(piece) :]
            check()


def same_bytes(one: Path, other: Path, check: Callable[[], None]) -> bool:
    with one.open("rb", buffering=0) as left, other.open("rb", buffering=0) as right:
        while True:
            a, b = left.read(CHUNK), right.read(CHUNK)
            if a != b:
                return False
            if not a:
                return True
            check()


def mtime_is_fine(path: Path) -> bool:
    """Whether the file system stamps each write with a local, fine-grained time.

    Network volumes keep times of another clock, FAT counts in two seconds: there a write may leave no trace.
    """
    try:
        stat = path.stat()
    except OSError:
        return False
    if stat.st_mtime_ns % 1_000_000_000 == 0:
        return False
    text = str(path)
    if sys.platform == "win32":
        return not text.startswith(("\\\\", "//"))
    if sys.platform == "darwin":
        return not text.startswith("/Volumes/")
    kind = _linux_file_system(path)
    return kind not in _UNTRUSTED and not kind.startswith("fuse.")


def _linux_file_system(path: Path) -> str:
    try:
        wanted = os.fspath(path.resolve())
        lines = Path("/proc/self/mountinfo").read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    best, kind = -1, ""
    for line in lines:
        left, _, right = line.partition(" - ")
        fields = left.split()
        if len(fields) < 5 or not right:
            continue
        point = fields[4].replace("\\040", " ")
        inside = point == "/" or wanted == point or wanted.startswith(point + "/")
        if inside and len(point) >= best:
            best, kind = len(point), right.split()[0]
    return kind
