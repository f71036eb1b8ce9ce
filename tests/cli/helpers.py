"""A data directory on disk, and the command line as a person would use it."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bibgenie_desktop.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "resources" / "sample-library"

CONFIG = """\
[[provider]]
id = "local"
kind = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
models = [{ id = "model:1b", context_window = 100000 }, { id = "large", context_window = 400000 }]
"""


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert (self.code, self.err) == (0, "")
        return json.loads(self.out)


class _Pipe(io.TextIOWrapper):
    def __init__(self) -> None:
        super().__init__(io.BytesIO(), "ascii")

    @property
    def bytes(self) -> bytes:
        self.flush()
        return self.buffer.getvalue()  # type: ignore[attr-defined,no-any-return]


def command(*words: str | Path) -> Said:
    """Runs `main` here, with pipes that only know ASCII, like a bare system's."""
    out, err = _Pipe(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(word) for word in words])
        except SystemExit as end:
            code = int(end.code or 0)
    return Said(code, out.bytes.decode("utf-8"), err.getvalue())


def state(folder: Path) -> dict[str, str]:
    """Every file of a folder with its hash. The log's index is memory that SQLite's readers share."""
    return {
        path.relative_to(folder).as_posix(): (
            "shared" if path.name.endswith("-shm") else hashlib.sha256(path.read_bytes()).hexdigest()
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    } | {f"{path.relative_to(folder)}/": "" for path in sorted(folder.rglob("*")) if path.is_dir()}
