"""Which state of a library is shown: recalled at a start, followed while Zotero writes, kept if it must be.

One thread asks the source and writes the index, one step at a time; whoever looks at the library takes what
is shown at that moment and is never waited for.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.domain.ids import Clock
from bibgenie_desktop.zotero import quiet_gc
from bibgenie_desktop.zotero.index.briefs import Brief, newest_in_database, newest_of
from bibgenie_desktop.zotero.index.indexed_contents import IndexedItems, damaged
from bibgenie_desktop.zotero.index.indexed_search import IndexedSearch
from bibgenie_desktop.zotero.index.library_index import LibraryIndex
from bibgenie_desktop.zotero.index.search import MetadataIndex
from bibgenie_desktop.zotero.local import full_disk
from bibgenie_desktop.zotero.model.library import Contents
from bibgenie_desktop.zotero.reading import T
from bibgenie_desktop.zotero.source import LibrarySource, Taken, TakingCancelled

log = logging.getLogger(__name__)

BRIEF_PATIENCE_S = 2.0
"""How long a tool call waits for a newer state when it already has one."""
QUICK_S, REST = 0.25, 4.0
"""A load that takes longer is not repeated by tool calls until four times its length has passed."""
SMALL = 3_000
"""Items that are searched in memory faster than anyone notices; with more, the index searches."""
PREVIEWED = 100
"""Items that are listed from the first copy, while all of them are being read."""
QUIET_S, BUSY_S, AFTER_STALE_S = 1.0, 5.0, 30.0
"""A watcher reads what has been quiet for 1 s, or after 5 s, and pauses 30 s after failing."""


@dataclass(frozen=True, slots=True)
class Loaded:
    taken: Taken
    contents: Contents
    index: MetadataIndex | IndexedSearch


class Loading:
    """`loaded` is None until something can be shown."""

    def __init__(self, source: LibrarySource, private_dir: Path, clock: Clock) -> None:
        self._source = source
        self._index = LibraryIndex(private_dir, clock)
        self._private = private_dir
        self._unstored = ""
        self.loaded: Loaded | None = None
        self.progress: tuple[int, int] | None = None
        """(items read, of how many) while a large library is read from the beginning."""
        self._preview: tuple[Brief, ...] = ()
        self._previewed = asyncio.Event()
        self._recalled = False
        self._following: asyncio.Task[None] | None = None
        self._refreshing = asyncio.Lock()
        self._closing = threading.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="zotero-state")
        self._rest_until = 0.0
        self._check: asyncio.Future[None] | None = None

    @property
    def notice(self) -> str:
        """Something for the person about what is shown."""
        return (self.loaded.taken.notice if self.loaded else "") or self._unstored or self._index.notice

    async def ensure(self) -> None:
        """Load if nothing is loaded; if Zotero has written since, try briefly to become current.

        At a later start the state of the last run is there at once, and a newer one follows by itself. Raises
        `LibraryUnavailable` only while nothing is loaded.
        """
        resting = time.monotonic() < self._rest_until
        if self.loaded is not None and (resting or self._refreshing.locked()):
            if (task := self._following) is not None and not task.done():
                await asyncio.wait({task}, timeout=QUICK_S)
            return
        async with self._refreshing:
            if self.loaded is None and not await self._recall():
                await self._become_current(None)
                return
            if not await self._changed():
                return
            following = self._follow()
        await asyncio.wait({following}, timeout=QUICK_S if self._recalled else BRIEF_PATIENCE_S)
        if following.done() and not following.cancelled():
            following.result()

    def _follow(self) -> asyncio.Task[None]:
        """Begin to become current, unless that is under way."""
        if self._following is None or self._following.done():
            self._following = asyncio.ensure_future(self._become_current_apart())
        return self._following

    async def _become_current_apart(self) -> None:
        async with self._refreshing:
            with contextlib.suppress(TakingCancelled):
                await self._become_current(BRIEF_PATIENCE_S)

    async def _recall(self) -> bool:
        """The state of an earlier run."""
        found = await self._in(lambda: self._index.recall(self._source))
        if found is None:
            return False
        taken, contents = found
        self.loaded = Loaded(taken, contents, _search_of(contents))
        self._recalled = True
        self._previewed.set()
        return True

    async def refresh(self) -> None:
        """Become current, trying for about 20 s; then what is loaded stays, marked stale."""
        async with self._refreshing:
            await self._become_current(None)

    async def watch(self, refreshed: Callable[[], None]) -> None:
        """Follow Zotero's writes until cancelled; `refreshed` is called after each new state."""
        while True:
            await asyncio.sleep(self._source.poll_s)
            if not await self._changed():
                continue
            await self._wait_for_quiet()
            with contextlib.suppress(LibraryUnavailable):
                await self.refresh()
            refreshed()
            if self.loaded is not None and self.loaded.taken.stale:
                await asyncio.sleep(AFTER_STALE_S)

    async def newest(self, limit: int = 100) -> tuple[Brief, ...]:
        """The items changed last: a list to show before anything is read of Zotero.

        At a later start it comes from the index; at the first one it is there as soon as the database has
        been copied, if that is under way.
        """
        if self.loaded is None:
            if rows := await asyncio.to_thread(self._index.glance, self._source, limit):
                return rows
            if self._refreshing.locked():
                await self._previewed.wait()
        if self.loaded is None:
            return self._preview[:limit]
        contents = self.loaded.contents
        return await asyncio.to_thread(newest_of, contents, limit)

    async def close(self) -> None:
        """Give up what is under way, and end the thread."""
        self._closing.set()
        if self._following is not None:
            await asyncio.wait({self._following})
        await asyncio.to_thread(self._thread.shutdown, True, cancel_futures=True)
        if self._check is not None:
            await asyncio.wait({self._check})
        await asyncio.to_thread(self._source.close)

    async def _become_current(self, patience: float | None) -> None:
        """To be called with the lock held."""
        before, started = self.loaded, time.monotonic()
        self._previewed.clear()
        loop = asyncio.get_running_loop()

        def previewed() -> None:
            loop.call_soon_threadsafe(self._previewed.set)

        try:
            loaded = await self._in(lambda: self._load(before, patience, previewed))
        except LibraryUnavailable as error:
            if before is None:
                raise
            loaded = replace(before, taken=replace(before.taken, stale=True, notice=error.title))
        finally:
            self.progress = None
            self._previewed.set()
        self.loaded, self._recalled, self._preview = loaded, False, ()
        cost = time.monotonic() - started
        self._rest_until = time.monotonic() + REST * max(0.0, cost - QUICK_S)
        if not loaded.taken.verified and (self._check is None or self._check.done()):
            self._check = asyncio.ensure_future(self._verify(loaded.taken))

    def _load(self, before: Loaded | None, patience: float | None, previewed: Callable[[], None]) -> Loaded:
        """In the thread: a state and its contents, through the index."""
        taken = self._source.take(self._closing.is_set, patience)
        if before is not None and not damaged(before.contents):
            if taken.stale:
                return replace(before, taken=replace(before.taken, stale=True, notice=taken.notice))
            if taken.lasting and taken.mark == before.taken.mark:
                self._index.restate(taken)
                return replace(before, taken=taken)
        if before is None:
            self._preview = newest_in_database(taken.database, PREVIEWED)
            previewed()
        shown = before.contents if before else None
        try:
            contents = self._index.bring_up(self._source, taken, shown, self._report, self._closing.is_set)
            self._unstored = ""
        except (sqlite3.Error, OSError) as error:
            self._unstored = full_disk.not_indexed(self._private, _size(taken.database), error)
            log.warning("the library is held in memory, for it cannot be indexed: %s", type(error).__name__)
            with quiet_gc.loading():
                contents = self._source.read(taken, shown)
        return Loaded(taken, contents, _search_of(contents))

    def _report(self, done: int, total: int) -> None:
        self.progress = (done, total)

    async def _verify(self, taken: Taken) -> None:
        """The check of all pages that a large first copy was spared; it runs after the list is there."""
        try:
            verified = await self._in(lambda: self._source.verify(taken))
        except LibraryUnavailable as error:
            verified = replace(taken, stale=True, notice=error.text)
        except TakingCancelled:
            return
        if self.loaded is not None and self.loaded.taken is taken:
            self.loaded = replace(self.loaded, taken=verified)

    async def _changed(self) -> bool:
        mark = await self._in(self._source.mark)
        loaded = self.loaded
        return loaded is None or mark != loaded.taken.mark or damaged(loaded.contents)

    async def _wait_for_quiet(self) -> None:
        last: str | None = None
        for _ in range(round(BUSY_S / QUIET_S)):
            mark = await self._in(self._source.mark)
            if mark == last:
                return
            last = mark
            await asyncio.sleep(QUIET_S)

    async def _in(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _size(database: Path | None) -> int:
    try:
        return database.stat().st_size if database is not None else 0
    except OSError:
        return 0


def _search_of(contents: Contents) -> MetadataIndex | IndexedSearch:
    """A small library is searched in memory, a large one through its index."""
    if isinstance(contents.items, IndexedItems) and len(contents.items) > SMALL:
        return IndexedSearch(contents)
    return MetadataIndex(contents)
