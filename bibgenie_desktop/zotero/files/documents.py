"""Text of PDF pages for the rest of the application, from one worker process with a time limit.

The process is started when first needed, asked one question at a time, killed when it takes too long, and
started again for the next question. What a page says is decided in `pdf_worker`; this module knows how to ask
and what to tell the person when there is no answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bibgenie_desktop.domain.errors import DocumentUnreadable

TIME_LIMIT_S = 20.0
ANSWER_LIMIT = 64 << 20
"""Bytes of one answer: the worker's own limit, six bytes an escaped character, and room."""
KEPT_MEMORY = 16 << 20
"""Bytes the worker keeps between two pages, where the C library can be told so (glibc): given back and taken
again for every page, they cost a third of the time."""
CACHED_CHARS = 2_000_000
"""About five hundred pages: what a person and a model go back and forth in."""

NO_TEXT = "This document has no text, only pictures of its pages."
"""The title of the refusal of a scan, whose pages can still be looked at."""

_REASONS: Mapping[str, tuple[str, str]] = {
    "missing": ("The file is not on this computer.", "Open it once in Zotero, which downloads it."),
    "denied": ("The file may not be read.", "Check the permissions of Zotero's storage folder."),
    "encrypted": (
        "This document is protected by a password.",
        "Remove the protection in a PDF program, or attach an open copy in Zotero.",
    ),
    "corrupt": (
        "This document is damaged and cannot be opened.",
        "Download it again and replace it in Zotero.",
    ),
    "empty": ("This document file is empty.", "Download it again and replace it in Zotero."),
    "giant": (
        "This document is too large to be read here.",
        "Attach a smaller version in Zotero.",
    ),
    "memory": ("Reading this PDF takes more memory than is allowed.", "Attach a simpler version in Zotero."),
    "scanned": (
        NO_TEXT,
        "Run text recognition (OCR) on it and replace it in Zotero.",
    ),
    "range": ("This document has no such page or section.", "Ask for one between its first and its last."),
    "unsupported": (
        "This kind of file cannot be read here.",
        "PDF, EPUB, web pages, text, Markdown, DOCX and ODT can be read.",
    ),
    "slow": (
        "Reading this PDF took too long and was stopped.",
        "Other documents are not affected. The file may be damaged: try another copy.",
    ),
    "died": (
        "The reader of PDF files stopped on this file.",
        "Other documents are not affected. The file may be damaged: try another copy.",
    ),
}


@dataclass(frozen=True, slots=True)
class PageText:
    """A page: `index` counts from 0, `label` is the number printed on it (empty if the file does not say)."""

    index: int
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class PdfInfo:
    """What a file says of itself; `labels` is empty, or has one printed label a page."""

    pages: int
    labels: tuple[str, ...]


_FileKey = tuple[str, int, int]


def worker_command() -> tuple[str, ...]:
    """How this installation starts the worker: a frozen program starts itself with `--pdf-worker`."""
    if getattr(sys, "frozen", False):
        return (sys.executable, "--pdf-worker")
    return (sys.executable, "-m", "bibgenie_desktop.zotero.files.pdf_worker")


class Documents:
    """Asks the worker. Every method raises `DocumentUnreadable`, with a sentence for each cause."""

    def __init__(self, command: Sequence[str] | None = None, time_limit: float = TIME_LIMIT_S) -> None:
        self._command = tuple(command or worker_command())
        self._time_limit = time_limit
        self._turn = asyncio.Lock()
        self._thread: ThreadPoolExecutor | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._pages: OrderedDict[tuple[_FileKey, int], PageText] = OrderedDict()
        self._cached = 0
        self._infos: OrderedDict[_FileKey, PdfInfo] = OrderedDict()

    def twin(self) -> Documents:
        """Another one with the same settings and a process of its own."""
        return Documents(self._command, self._time_limit)

    async def page_count(self, path: Path) -> int:
        return (await self.info(path)).pages

    async def info(self, path: Path) -> PdfInfo:
        """Number of pages and printed labels."""
        async with self._turn:
            return await self._info(await self._key(path))

    async def pages_text(self, path: Path, first: int, last: int) -> list[PageText]:
        """The pages from `first` to `last` (both included, counted from 0), as far as the file goes.

        A document without any text is an error; single pages without text are not.
        """
        async with self._turn:
            key = await self._key(path)
            info = await self._info(key)
            first, last = max(0, first), min(last, info.pages - 1)
            if first > last:
                raise _unreadable("range")
            found: list[PageText] = []
            index = first
            while index <= last:
                if known := self._pages.get((key, index)):
                    self._pages.move_to_end((key, index))
                    found.append(known)
                    index += 1
                    continue
                until = index
                while until < last and (key, until + 1) not in self._pages:
                    until += 1
                fresh = await self._read(key, index, until)
                found.extend(fresh)
                index = found[-1].index + 1
            if not any(p.text.strip() for p in found):
                answer = await self._ask({"op": "scan", "path": key[0]})
                if not answer.get("has_text"):
                    raise _unreadable("scanned")
            return found

    async def ask(self, path: Path, request: Mapping[str, Any]) -> dict[str, Any]:
        """The worker's answer to any other question about a file."""
        async with self._turn:
            return await self._ask({**request, "path": str(path)}, path)

    async def close(self) -> None:
        """End the worker and its thread; a running question is answered with an error."""
        self._kill()
        thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.to_thread(thread.shutdown)
        self._kill()

    # -- one question

    async def _info(self, key: _FileKey) -> PdfInfo:
        if known := self._infos.get(key):
            return known
        answer = await self._ask({"op": "info", "path": key[0]})
        info = PdfInfo(int(answer["pages"]), tuple(str(label) for label in answer["labels"]))
        self._infos[key] = info
        while len(self._infos) > 50:
            self._infos.popitem(last=False)
        return info

    async def _read(self, key: _FileKey, first: int, last: int) -> list[PageText]:
        answer = await self._ask({"op": "text", "path": key[0], "first": first, "last": last})
        pages = [PageText(int(i), str(label), str(text)) for i, label, text in answer["texts"]]
        if not pages:
            raise _unreadable("corrupt")
        for page in pages:
            self._pages[key, page.index] = page
            self._cached += len(page.text) + 100
        while self._cached > CACHED_CHARS and len(self._pages) > len(pages):
            _, dropped = self._pages.popitem(last=False)
            self._cached -= len(dropped.text) + 100
        return pages

    async def _key(self, path: Path) -> _FileKey:
        """The identity of a file's present content."""
        return await asyncio.get_running_loop().run_in_executor(self._executor(), _look, path)

    async def _ask(self, request: Mapping[str, Any], path: Path | None = None) -> dict[str, Any]:
        """One visit to the thread: each takes as long as a tenth of a page. `path` is looked at before."""
        line = json.dumps(request).encode("ascii") + b"\n"
        loop = asyncio.get_running_loop()
        ends: list[asyncio.TimerHandle] = []

        def end() -> None:
            self._kill()
            ends.append(loop.call_later(0.2, end))  # until the thread has seen it

        def work() -> dict[str, Any]:
            if path is not None:
                _look(path)
            return self._exchange(line)

        ends.append(loop.call_later(self._time_limit, end))
        try:
            result = await loop.run_in_executor(self._executor(), work)
        except asyncio.CancelledError:
            self._kill()  # frees the thread at once; the next question starts a new process
            raise
        finally:
            ends[-1].cancel()
        if len(ends) > 1:
            raise _unreadable("slow")
        if error := result.get("error"):
            raise _unreadable(str(error))
        return result

    def _exchange(self, line: bytes) -> dict[str, Any]:
        """In the thread: one line out, one line in. A worker that is gone is an answer too."""
        process = self._process
        if process is not None and process.poll() is not None:
            _end(process)
            process = None
        if process is None:
            process = self._process = self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(line)
            process.stdin.flush()
            raw = process.stdout.readline(ANSWER_LIMIT)
        except (OSError, ValueError):
            raw = b""
        if not raw.endswith(b"\n"):
            self._process = None
            _end(process)
            return {"error": "died"}
        answer = json.loads(raw)
        return answer if isinstance(answer, dict) else {"error": "died"}

    def _start(self) -> subprocess.Popen[bytes]:
        environment = dict(os.environ)
        package_parent = str(Path(__file__).resolve().parents[2])
        known = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = f"{package_parent}{os.pathsep}{known}" if known else package_parent
        environment.setdefault("MALLOC_TOP_PAD_", str(KEPT_MEMORY))
        try:
            return subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:
            raise DocumentUnreadable(
                "The reader of PDF files cannot be started.", "Install BibGenie again if this goes on."
            ) from error

    def _kill(self) -> None:
        process = self._process
        if process is not None and process.poll() is None:
            with contextlib.suppress(OSError):
                process.kill()
        if self._thread is None and process is not None:
            self._process = None
            _end(process)

    def _executor(self) -> ThreadPoolExecutor:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="pdf")
        return self._thread


def _look(path: Path) -> _FileKey:
    try:
        stat = path.stat()
    except FileNotFoundError:
        raise _unreadable("missing") from None
    except OSError:
        raise _unreadable("denied") from None
    return str(path), stat.st_size, stat.st_mtime_ns


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    process.wait()


def _unreadable(reason: str) -> DocumentUnreadable:
    title, advice = _REASONS.get(reason, _REASONS["corrupt"])
    return DocumentUnreadable(title, advice)
