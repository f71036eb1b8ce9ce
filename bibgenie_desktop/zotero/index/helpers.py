"""Further processes that read pieces of a library for the one that writes its index.

They talk in lines of numbers and in marshalled rows, between processes of one program alone; one that fails
is an error of the whole work, which is then done without any.
"""

from __future__ import annotations

import contextlib
import json
import marshal
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from bibgenie_desktop.zotero.index import build as index_build
from bibgenie_desktop.zotero.index.build import Piece, PieceReader
from bibgenie_desktop.zotero.index.writer import Rows
from bibgenie_desktop.zotero.local.better_bibtex import BetterBibtex
from bibgenie_desktop.zotero.local.reader import read_frame

_LENGTH: Final = 8


class HelperFailed(OSError):
    """A helper ended before its work was done."""


class ReadingProcess:
    """A started helper; what it answers is received by a thread, so that it never waits."""

    def __init__(self, command: Sequence[str], job: dict[str, Any]) -> None:
        self._process = subprocess.Popen(
            [*command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._answers: queue.Queue[bytes] = queue.Queue()
        self.asked = 0
        self._send(json.dumps(job))
        self._receiving = threading.Thread(target=self._receive, daemon=True)
        self._receiving.start()

    def ask(self, start: int) -> None:
        self.asked += 1
        self._send(str(start))

    def has_answer(self) -> bool:
        return not self._answers.empty()

    def answer(self) -> Piece:
        raw = self._answers.get()
        if not raw:
            raise HelperFailed("a reading process ended early")
        self.asked -= 1
        lists, counts = marshal.loads(raw)
        return Rows(*lists), counts

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()
        self._receiving.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _send(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode("ascii") + b"\n")
        self._process.stdin.flush()

    def _receive(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            while length := self._process.stdout.read(_LENGTH):
                raw = self._process.stdout.read(int.from_bytes(length, "big"))
                self._answers.put(raw)
        self._answers.put(b"")


@contextlib.contextmanager
def helping(
    command: Sequence[str], count: int, database: Path, keys_in: str, items: Sequence[int]
) -> Iterator[Sequence[ReadingProcess]]:
    """So many helpers, where there is work for them."""
    piece = index_build.PIECE
    job = {"helper": True, "database": str(database), "keys_in": keys_in, "piece": piece}
    started: list[ReadingProcess] = []
    try:
        for _ in range(min(count, len(items) // (2 * piece))):
            started.append(ReadingProcess(command, job))
        yield started
    finally:
        for helper in started:
            helper.close()


def help_reading(job: dict[str, Any]) -> None:
    """The work of such a process: it ends with its input."""
    database = Path(job["database"])
    with contextlib.closing(index_build.opened(database)) as zotero:
        keys = BetterBibtex(Path(job["keys_in"]), database.parent).keys() if job["keys_in"] else {}
        items = index_build.top_level(zotero)
        reader = PieceReader(zotero, keys, read_frame(zotero).collections)
        for line in sys.stdin.buffer:
            start = int(line)
            rows, counts = reader.read(items[start : start + job["piece"]], start + 1)
            raw = marshal.dumps(([getattr(rows, f.name) for f in fields(rows)], [dict(c) for c in counts]))
            sys.stdout.buffer.write(len(raw).to_bytes(_LENGTH, "big") + raw)
            sys.stdout.buffer.flush()
