"""Where the file of an attachment lies on this computer, and why there is none.

Imported files are looked for in `storage/KEY` and nowhere else, whatever the database says; linked files
where they were linked. Every look may block on a slow volume.
"""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path

from bibgenie_desktop.zotero.model.library import Attachment, AttachmentStatus

IMPORTED_FILE, IMPORTED_URL, LINKED_FILE, LINKED_URL, EMBEDDED_IMAGE = range(5)
NOT_DOWNLOADED = "Its file is not on this computer; Zotero may still have to download it."
NO_BASE = (
    "It is linked below Zotero's base directory for attachments, which is not set here. Set it in Zotero's "
    "settings (Advanced, Files and Folders), then read the library again."
)
NO_FILE = "In place of its file there is a folder or something else that is no file."
_WINDOWS = re.compile(r"^(?:[A-Za-z]:[\\/]|\\\\)")


@dataclass(frozen=True, slots=True)
class Files:
    """The directories of one library: Zotero's data, and the base of relative links where one is set."""

    data_dir: Path
    base: Path | None = None
    windows: bool = os.name == "nt"

    @property
    def storage(self) -> Path:
        return self.data_dir / "storage"

    def folder_name(self, attachment: Attachment) -> str:
        """The folder below `storage` that an attachment has for itself."""
        return attachment.key

    def folder_names(self) -> frozenset[str]:
        """The names of all that are there. Raises `OSError`."""
        return frozenset(os.listdir(self.storage))

    def locate(self, attachment: Attachment) -> Attachment:
        """The same attachment with its path, status and reason as they are now."""
        path, status, reason = self._find(attachment)
        return replace(attachment, path=path, status=status, reason=reason)

    def _find(self, attachment: Attachment) -> tuple[Path | None, AttachmentStatus, str]:
        if attachment.link_mode == LINKED_URL:
            return None, "linked URL", "It is a link to a web page, not a file."
        stored = attachment.stored
        if not stored:
            return None, "missing", "Zotero has no file for it."
        if attachment.link_mode == LINKED_FILE:
            return self._linked(stored)
        return self._imported(self.storage / self.folder_name(attachment), stored)

    def _imported(self, folder: Path, stored: str) -> tuple[Path | None, AttachmentStatus, str]:
        name = stored.removeprefix("storage:")
        if not name or name.startswith(".zotero") or name in {".", ".."} or re.search(r"[/\\\x00]", name):
            return None, "missing", "Its stored file name is not valid."
        found = _existing(folder, name) or _only(folder, Path(name).suffix)
        if found is None:
            return None, "missing", NO_FILE if _is_no_file(folder / name) else NOT_DOWNLOADED
        try:
            inside = found.resolve().is_relative_to(folder.resolve())
        except OSError:
            inside = False
        if not inside:
            return None, "missing", "Its file lies outside its own folder."
        return found, "ok", ""

    def _linked(self, stored: str) -> tuple[Path | None, AttachmentStatus, str]:
        if stored.startswith("attachments:"):
            parts = [p for p in stored.removeprefix("attachments:").split("/") if p]
            if not parts or ".." in parts or (self.windows and re.search(r"[\\:]", "".join(parts))):
                return None, "missing", "Its stored path is not valid."
            if self.base is None:
                return None, "missing", NO_BASE
            folder, name = self.base.joinpath(*parts[:-1]), parts[-1]
        elif bool(_WINDOWS.match(stored)) != self.windows and (
            _WINDOWS.match(stored) or stored.startswith("/")
        ):
            return None, "not on this computer", "It is linked to a place on another computer."
        elif not Path(stored).is_absolute():
            return None, "missing", "Its stored path cannot be read (an old link of another system)."
        else:
            folder, name = Path(stored).parent, Path(stored).name
        found = _existing(folder, name)
        if found is None:
            why = NO_FILE if _is_no_file(folder / name) else "Its linked file is not where it was linked."
            return None, "missing", why
        return found, "ok", ""


def _is_no_file(path: Path) -> bool:
    """Whether something is there that cannot be read as a file: a folder, a pipe, a device."""
    try:
        return path.exists() and not path.is_file()
    except (OSError, ValueError):
        return False


def _existing(folder: Path, name: str) -> Path | None:
    """The file of this name, also where the disk spells its accents in another Unicode form."""
    try:
        for form in (name, unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)):
            if (folder / form).is_file():
                return folder / form
        if name.isascii():
            return None
        wanted = unicodedata.normalize("NFC", name)
        alike = (p for p in folder.iterdir() if unicodedata.normalize("NFC", p.name) == wanted)
        return next((p for p in alike if p.is_file()), None)
    except (OSError, ValueError):
        return None


def _only(folder: Path, suffix: str) -> Path | None:
    """The file of a folder that has one of this kind only: it was renamed outside Zotero, and is meant."""
    try:
        visible = [p for p in folder.iterdir() if not p.name.startswith(".")]
        alike = [p for p in visible if suffix and p.suffix.casefold() == suffix.casefold() and p.is_file()]
    except OSError:
        return None
    return alike[0] if len(alike) == 1 else None
