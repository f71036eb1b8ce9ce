"""Keeping the index of a library current beside everything else: when it runs, how far it is, how it ends.

The index serves; it is never waited for. Until it is current, searches look at the items themselves, and
whatever goes wrong with its file costs speed, not answers.
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

from bibgenie_desktop.zotero.attachments import Files
from bibgenie_desktop.zotero.documents import Documents
from bibgenie_desktop.zotero.fulltext import Coverage, FullText
from bibgenie_desktop.zotero.index_file import IndexFile
from bibgenie_desktop.zotero.library import Contents

log = logging.getLogger(__name__)


class Indexing:
    """Belongs to one library. Constructed without touching a file."""

    def __init__(self, folder: Path, files: Files, documents: Documents) -> None:
        self.file = IndexFile(folder)
        self._files = files
        self._documents = documents
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="zotero-index")
        self._closing = threading.Event()
        self._current: Contents | None = None
        self._items: asyncio.Task[None] | None = None
        self._texts: asyncio.Task[None] | None = None
        self._texts_of: Contents | None = None
        self._coverage = Coverage(0, 0, 0, running=False)
        self._listeners: list[Callable[[Coverage], None]] = []

    @property
    def coverage(self) -> Coverage:
        return self._coverage

    def covers(self, contents: Contents) -> bool:
        """Whether the items of the index are those of this state."""
        return self._current is contents

    def follow(self, contents: Contents) -> None:
        """Begin to bring the items up to a new state; an older beginning is given up for it."""
        if self._closing.is_set() or self._current is contents:
            return
        before = self._items
        self._items = asyncio.ensure_future(self._update(contents, before))

    async def settled(self) -> None:
        """Wait for the items of the index; for those who measure and test."""
        while (task := self._items) is not None and not task.done():
            await asyncio.wait({task})

    def start_texts(self, contents: Contents) -> None:
        """Begin to index the texts of these contents, unless that is under way or done."""
        if self._closing.is_set() or self._texts_of is contents:
            return
        before = self._texts
        self._texts_of = contents
        self._coverage = Coverage(len(contents.attachments), 0, 0, running=True)
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
        for task in (self._texts, self._items):
            if task is not None and not task.done():
                task.cancel()
                await asyncio.wait({task})
        await self._documents.close()
        await asyncio.to_thread(self._shut)

    def _shut(self) -> None:
        with contextlib.suppress(RuntimeError):
            self._executor.submit(self.file.close)
        self._executor.shutdown(wait=True)

    async def _update(self, contents: Contents, before: asyncio.Task[None] | None) -> None:
        if before is not None and not before.done():
            before.cancel()
            await asyncio.wait({before})
        gave_up = threading.Event()
        work = asyncio.get_running_loop().run_in_executor(
            self._executor,
            self.file.update_items,
            contents,
            lambda: self._closing.is_set() or gave_up.is_set(),
        )
        try:
            changed = await asyncio.shield(work)
        except asyncio.CancelledError:
            gave_up.set()
            with contextlib.suppress(sqlite3.Error, OSError):
                await work
            raise
        except (sqlite3.Error, OSError) as error:
            log.warning("the search index cannot be written: %s", type(error).__name__)
            return
        if changed >= 0:
            self._current = contents

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
