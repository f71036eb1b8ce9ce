"""Where answers go: UTF-8 on standard output, sentences on standard error, or a file for this person only."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from bibgenie_desktop.domain.errors import UserError

NOT_OURS: Final = {"zotero.sqlite": "Zotero", "bibgenie.sqlite": "BibGenie"}


def emit_json(value: Any) -> None:
    # What a damaged row holds may be no JSON value; it is shown as words then.
    emit(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")


def emit(text: str) -> None:
    """UTF-8 whatever the system's encoding is. Half characters of damaged rows come out as JSON escapes."""
    sys.stdout.flush()
    left = memoryview(text.encode("utf-8", "backslashreplace"))
    while left:
        # Without Python's buffer (PYTHONUNBUFFERED) a pipe may take a part only.
        taken = sys.stdout.buffer.write(left)
        left = left[taken:]
    sys.stdout.buffer.flush()


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr)


def save(text: str, target: Path) -> None:
    """Writes a file in one step. Raises `UserError`; the folders of Zotero and BibGenie are refused."""
    target = target.expanduser()
    try:
        _refuse_foreign(target)
        _replace(target, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UserError(
            f"The file {target} cannot be written: {error.strerror or error}.",
            "Name another place with --output.",
        ) from error


def _refuse_foreign(target: Path) -> None:
    if target.is_dir():
        raise UserError(f"{target} is a folder.", "Name a file with --output.")
    for folder in target.resolve().parents:
        for name, owner in NOT_OURS.items():
            if (folder / name).exists():
                raise UserError(
                    f"The folder {folder} belongs to {owner}; nothing is written there.",
                    "Name another place with --output.",
                )


def _replace(target: Path, content: bytes) -> None:
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
