"""The files of a web library: fetched one at a time when a document is opened, kept up to a size.

A fetched file lies where Zotero would have it, `storage/KEY/name` below the cache's folder, and the text that
Zotero extracted beside it. What is linked lies on another computer: its path is never looked for here. The
methods of `FileStore` block; those of `WebFiles` only look.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bibgenie_desktop.domain.errors import DocumentUnreadable, UserError
from bibgenie_desktop.zotero.files.attachments import LINKED_FILE, Files
from bibgenie_desktop.zotero.index.fulltext import CACHE
from bibgenie_desktop.zotero.model.library import Attachment, AttachmentStatus
from bibgenie_desktop.zotero.online.web_cache import FILES

MOST_BYTES: Final = 2 << 30
"""What the files may take together before those not used for longest go."""
NO_COPY: Final = "It is linked to a place on another computer; zotero.org has no copy of it."
_SUM: Final = ".bibgenie-md5"
"""Beside a fetched file: the sum it had, so that a newer one on the server is noticed."""
ON_DEMAND: Final = "Its file is on zotero.org; it is fetched when it is opened."


@dataclass(frozen=True, slots=True)
class WebFiles(Files):
    """Where the fetched files lie. `data_dir` is the cache's folder."""

    def locate(self, attachment: Attachment) -> Attachment:
        if attachment.link_mode == LINKED_FILE:
            return _told(attachment, "not on this computer", NO_COPY)
        found = Files.locate(self, attachment)
        if found.status == "missing" and attachment.stored:
            return _told(attachment, "online", ON_DEMAND)
        return found


def _told(attachment: Attachment, status: AttachmentStatus, reason: str) -> Attachment:
    return replace(attachment, path=None, status=status, reason=reason)


class FileStore:
    """Puts files into the cache and takes old ones out. One thread at a time."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self._storage = folder / FILES
        self._most = most_bytes

    def has(self, attachment: Attachment, md5: str) -> bool:
        """Whether the file is here as the server has it. It is among the last to go then."""
        folder = self._storage / attachment.key
        try:
            kept = (folder / _SUM).read_text("ascii")
            here = (folder / _name(attachment)).is_file()
        except (OSError, ValueError):
            return False
        if not here or (md5 and kept != md5.lower()):
            return False
        self._used(attachment.key)
        return True

    def fetch(self, attachment: Attachment, md5: str, get: Callable[[str], bytes]) -> None:
        """Fetches a stored file; `get` takes its name. Raises `UserError`."""
        name = _name(attachment)
        if not _proper(name):
            raise DocumentUnreadable("Its stored file name is not valid.", "Rename the file in Zotero.")
        content = get(name)
        found = hashlib.md5(content, usedforsecurity=False).hexdigest()
        if md5 and found != md5.lower():
            raise DocumentUnreadable(
                "The file that zotero.org sent is not the one that was stored.",
                "Synchronise Zotero where the file is, refresh the library, and try again.",
            )
        self._put(attachment.key, name, content)
        self._put(attachment.key, _SUM, found.encode("ascii"))
        self._make_room(attachment.key)

    def keep_text(self, attachment: Attachment, text: str) -> None:
        """The text that Zotero extracted, where readers of such texts look for it."""
        if text.strip():
            self._put(attachment.key, CACHE, text.encode("utf-8", "replace"))

    def size(self) -> int:
        """What all files take."""
        return sum(size for _, size, _ in self._folders())

    def clear(self) -> None:
        shutil.rmtree(self._storage, ignore_errors=True)

    def _put(self, key: str, name: str, content: bytes) -> None:
        folder = self._storage / key
        temporary: Path | None = None
        try:
            for each in (self._storage, folder):
                each.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, path = tempfile.mkstemp(dir=self._storage, prefix=".fetching-")
            temporary = Path(path)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            temporary.replace(folder / name)
        except OSError as error:
            if temporary is not None:
                temporary.unlink(missing_ok=True)
            raise UserError(
                f"The fetched file cannot be kept: {error.strerror or error}.", "Check the free space."
            ) from error

    def _make_room(self, newest: str) -> None:
        self._used(newest)
        folders = sorted(self._folders())
        total = sum(size for _, size, _ in folders)
        for _, size, folder in folders:
            if total <= self._most:
                break
            if folder.name != newest:
                shutil.rmtree(folder, ignore_errors=True)
                total -= size

    def _used(self, key: str) -> None:
        with contextlib.suppress(OSError):
            os.utime(self._storage / key)

    def _folders(self) -> list[tuple[int, int, Path]]:
        """(when last used, bytes, folder) of each attachment."""
        found = []
        with contextlib.suppress(OSError):
            for folder in self._storage.iterdir():
                if folder.is_dir() and not folder.is_symlink():
                    stats = [p.stat() for p in folder.iterdir() if p.is_file()]
                    found.append((folder.stat().st_mtime_ns, sum(s.st_size for s in stats), folder))
        return found


def _name(attachment: Attachment) -> str:
    return attachment.stored.removeprefix("storage:")


def _proper(name: str) -> bool:
    hidden = name.startswith((".zotero", _SUM)) or name in {"", ".", ".."}
    return not hidden and re.search(r"[/\\\x00]", name) is None and len(name.encode()) <= 255
