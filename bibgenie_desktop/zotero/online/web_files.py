"""The files of a web library: fetched one at a time when a document is opened, kept up to a size.

A fetched file lies in `storage/LIBRARY/KEY/name` below the cache's folder, since keys are those of one
library, and the text that Zotero extracted beside it. What is linked lies on another computer: its path is
never looked for here. The methods of `FileStore` block; those of `WebFiles` only look.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bibgenie_desktop.domain.errors import DocumentUnreadable, UserError
from bibgenie_desktop.zotero.files.attachments import LINKED_FILE, Files
from bibgenie_desktop.zotero.index.fulltext import CACHE
from bibgenie_desktop.zotero.model.library import Attachment, AttachmentStatus
from bibgenie_desktop.zotero.online.errors import ZoteroRefused

MOST_BYTES: Final = 2 << 30
"""What the files may take together before those not used for longest go."""
NO_COPY: Final = "It is linked to a place on another computer; zotero.org has no copy of it."
LARGEST_FILE: Final = 300 << 20
_FETCHING: Final = ".fetching-"
_LEFT_S: Final = 7_200.0
"""What is being fetched for longer is not fetched by anybody any more."""
_SUM: Final = ".bibgenie-md5"
"""Beside a fetched file: the sum it had, so that a newer one on the server is noticed."""
ON_DEMAND: Final = "Its file is on zotero.org; it is fetched when it is opened."


@dataclass(frozen=True, slots=True)
class WebFiles(Files):
    """Where the fetched files lie. `data_dir` is the cache's folder."""

    def folder_name(self, attachment: Attachment) -> str:
        return f"{attachment.library.id}{os.sep}{attachment.key}"

    def folder_names(self) -> frozenset[str]:
        libraries = [entry.name for entry in os.scandir(self.storage) if entry.is_dir(follow_symlinks=False)]
        return frozenset(
            f"{each}{os.sep}{key}" for each in libraries for key in os.listdir(self.storage / each)
        )

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
    """Puts files into the cache and takes old ones out. May be used from several threads."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self._files = WebFiles(folder)
        self._storage = self._files.storage
        self._most = most_bytes
        self._turn = threading.Lock()

    def has(self, attachment: Attachment, md5: str) -> bool:
        """Whether the file is here as the server has it. It is among the last to go then."""
        folder = self._folder(attachment)
        with self._turn:
            try:
                kept = (folder / _SUM).read_text("ascii")
                here = (folder / _name(attachment)).is_file()
            except (OSError, ValueError):
                return False
            if not here or (md5 and kept != md5.lower()):
                return False
            _used(folder)
            return True

    def fetch(self, attachment: Attachment, md5: str, get: Callable[[str, Path], None]) -> None:
        """Fetches a stored file; `get` takes its name and where to write it. Raises `UserError`."""
        name = _name(attachment)
        if not _proper(name):
            raise DocumentUnreadable("Its stored file name is not valid.", "Rename the file in Zotero.")
        with self._writing() as path:
            get(name, path)
            found = _sum_of(path)
            if md5 and found != md5.lower():
                raise DocumentUnreadable(
                    "The file that zotero.org sent is not the one that was stored.",
                    "Synchronise Zotero where the file is, refresh the library, and try again.",
                )
            self._put(attachment, {name: path, _SUM: found})

    def keep_text(self, attachment: Attachment, text: str) -> None:
        """The text that Zotero extracted, where readers of such texts look for it."""
        if text.strip():
            with self._writing() as path:
                path.write_bytes(text.encode("utf-8", "replace"))
                self._put(attachment, {CACHE: path})

    def size(self) -> int:
        """What all files take."""
        return sum(size for _, size, _ in self._folders())

    def clear(self) -> None:
        shutil.rmtree(self._storage, ignore_errors=True)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Path]:
        """A file of its own that is gone afterwards, unless it was put where it belongs."""
        path: Path | None = None
        try:
            self._storage.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._storage, prefix=_FETCHING)
            os.close(handle)
            path = Path(name)
            yield path
        except OSError as error:
            raise UserError(
                f"The fetched file cannot be kept: {error.strerror or error}.", "Check the free space."
            ) from error
        finally:
            if path is not None:
                with contextlib.suppress(OSError):
                    path.unlink(missing_ok=True)

    def _put(self, attachment: Attachment, contents: Mapping[str, Path | str]) -> None:
        """Files that were written, and short texts, by name into the folder of an attachment."""
        folder = self._folder(attachment)
        with self._turn:
            for each in (folder.parent, folder):
                each.mkdir(mode=0o700, exist_ok=True)
            for name, content in contents.items():
                if isinstance(content, Path):
                    content.replace(folder / name)
                else:
                    (folder / name).write_text(content, "ascii")
            _used(folder)
            self._make_room(folder)

    def _make_room(self, newest: Path) -> None:
        folders = sorted(self._folders())
        total = sum(size for _, size, _ in folders)
        for _, size, folder in folders:
            if total <= self._most:
                break
            if folder != newest:
                shutil.rmtree(folder, ignore_errors=True)
                total -= size
        for path in self._storage.glob(f"{_FETCHING}*"):  # of a run that was ended from outside
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < time.time() - _LEFT_S:
                    path.unlink()

    def _folder(self, attachment: Attachment) -> Path:
        return self._storage / self._files.folder_name(attachment)

    def _folders(self) -> list[tuple[int, int, Path]]:
        """(when last used, bytes, folder) of each attachment."""
        found = []
        for folder in self._storage.glob("*/*"):
            with contextlib.suppress(OSError):
                if folder.is_dir() and not folder.is_symlink():
                    stats = [p.stat() for p in folder.iterdir() if p.is_file()]
                    found.append((folder.stat().st_mtime_ns, sum(s.st_size for s in stats), folder))
        return found


def unpack(path: Path, name: str) -> None:
    """In place of an archive the file of this name in it, else its first. Raises `ZoteroRefused`."""
    unpacked = path.with_name(f"{path.name}.unpacked")
    try:
        with zipfile.ZipFile(path) as archive, unpacked.open("wb") as to:
            inside = [info for info in archive.infolist() if not info.is_dir()]
            wanted = next((info for info in inside if info.filename == name), inside[0])
            with archive.open(wanted) as file:
                left = LARGEST_FILE
                while data := file.read(1 << 20):
                    left -= len(data)
                    if left < 0:
                        raise too_large()
                    to.write(data)
        unpacked.replace(path)
    except (zipfile.BadZipFile, zlib.error, IndexError, RuntimeError, EOFError, ValueError) as error:
        raise ZoteroRefused("The file that zotero.org sent is damaged.", "Try again later.") from error
    finally:
        unpacked.unlink(missing_ok=True)


def too_large() -> ZoteroRefused:
    return ZoteroRefused(
        "The file on zotero.org is too large to be read here.", "Attach a smaller version in Zotero."
    )


def _sum_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _used(folder: Path) -> None:
    with contextlib.suppress(OSError):
        os.utime(folder)


def _name(attachment: Attachment) -> str:
    return attachment.stored.removeprefix("storage:")


def _proper(name: str) -> bool:
    hidden = name.startswith((".zotero", _SUM)) or name in {"", ".", ".."}
    return not hidden and re.search(r"[/\\\x00]", name) is None and len(name.encode()) <= 255
