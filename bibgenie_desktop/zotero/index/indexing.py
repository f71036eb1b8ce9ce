"""Keeping the texts of a library searchable beside everything else: when it runs, how far it is, how it ends.

It is never waited for long, and whatever goes wrong with its file costs the search in texts, nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bibgenie_desktop.zotero.files.attachments import Files
from bibgenie_desktop.zotero.files.documents import Documents
from bibgenie_desktop.zotero.index.fulltext import Coverage, FullText
from bibgenie_desktop.zotero.index.texts_file import TextsFile
from bibgenie_desktop.zotero.model.library import Contents

log = logging.getLogger(__name__)


class Indexing:
    """Belongs to one library. Constructed without touching a file."""

    def __init__(self, folder: Path, files: Files, documents: Documents) -> None:
        self.file = TextsFile(folder)
        self._files = files
        self._documents = documents
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="zotero-index")
        self._closing = threading.Event()
        self._texts: asyncio.Task[None] | None = None
        self._texts_of: Contents | None = None
        self._coverage = Coverage(0, 0, 0, running=False)
        self._listeners: list[Callable[[Coverage], None]] = []

    @property
    def coverage(self) -> Coverage:
        return self._coverage

    def start_texts(self, contents: Contents) -> None:
        """Begin to index the texts of these contents, unless that is under way or done."""
        if self._closing.is_set() or self._texts_of is contents:
            return
        before = self._texts
        self._texts_of = contents
        known = self._coverage
        total = known.attachments or len(contents.attachments)  # until they have been counted
        self._coverage = Coverage(total, known.indexed, known.unreadable, running=True)
        self._texts = asyncio.ensure_future(self._read_texts(contents, before))

    async def texts(self, contents: Contents, progress: Callable[[Coverage], None]) -> None:
        """Index the texts and report; cancelling stops the work after the file in hand."""
        self._listeners.append(progress)
        self.start_texts(contents)
        task = self._texts
        try:
            if task is not None:
                await asyncio.shield(task) if task.done() else await task
        finally:
            self._listeners.remove(progress)

    async def wait_for_texts(self, seconds: float) -> None:
        """Give a run under way some time to end; a small library is then complete."""
        if (task := self._texts) is not None and not task.done():
            await asyncio.wait({task}, timeout=seconds)

    async def close(self) -> None:
        self._closing.set()
        if (task := self._texts) is not None and not task.done():
            task.cancel()
            await asyncio.wait({task})
        await self._documents.close()
        await asyncio.to_thread(self._shut)

    def _shut(self) -> None:
        with contextlib.suppress(RuntimeError):
            self._executor.submit(self.file.close)
        self._executor.shutdown(wait=True)

    async def _read_texts(self, contents: Contents, before: asyncio.Task[None] | None) -> None:
        if before is not None and not before.done():
            before.cancel()
            await asyncio.wait({before})
        try:
            await FullText(self.file, self._files, self._documents, self._executor).run(
                contents, self._report
            )
        except asyncio.CancelledError:
            self._texts_of = None
            raise
        except (sqlite3.Error, OSError) as error:
            self._texts_of = None
            log.warning("the texts cannot be indexed: %s", type(error).__name__)
        finally:
            done = self._coverage
            self._coverage = Coverage(done.attachments, done.indexed, done.unreadable, running=False)

    def _report(self, coverage: Coverage) -> None:
        self._coverage = coverage
        for listener in tuple(self._listeners):
            listener(coverage)
