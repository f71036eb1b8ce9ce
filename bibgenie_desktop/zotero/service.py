"""One Zotero library for the rest of the application: loading, refreshing, searching, reading, naming.

Everything that blocks runs in two threads of its own, one for snapshots and one for search and files, so that
a long wait for Zotero never holds up a search. Until something is loaded the library is empty, never half
full.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.domain.ids import Clock
from bibgenie_desktop.domain.locators import Locator, split_id
from bibgenie_desktop.zotero import links, quiet_gc
from bibgenie_desktop.zotero.attachments import Files
from bibgenie_desktop.zotero.counts import CollectionCount, Counts, TagCount
from bibgenie_desktop.zotero.documents import Documents
from bibgenie_desktop.zotero.fulltext import Coverage
from bibgenie_desktop.zotero.index_file import Brief
from bibgenie_desktop.zotero.index_terms import Mode
from bibgenie_desktop.zotero.indexed_search import IndexedSearch
from bibgenie_desktop.zotero.indexing import Indexing
from bibgenie_desktop.zotero.library import Attachment, Contents, Item, Library
from bibgenie_desktop.zotero.reading import ReadableLibrary
from bibgenie_desktop.zotero.search import Hits, MetadataIndex, Query
from bibgenie_desktop.zotero.source import LibrarySource, SourceKind, Taken, TakingCancelled
from bibgenie_desktop.zotero.text_search import TextHits, search_texts

PATIENCE_FOR_TEXTS_S = 6.0
"""How long a search waits for the texts of a library that is being indexed: a small one is then complete."""
BRIEF_PATIENCE_S = 2.0
"""How long a tool call waits for a newer state when it already has one."""
QUICK_S, REST = 0.25, 4.0
"""A load that takes longer is not repeated by tool calls until four times its length has passed."""
SMALL = 3_000
"""Items that are searched in memory faster than anyone notices; with more, the index searches."""
QUIET_S, BUSY_S, AFTER_STALE_S = 1.0, 5.0, 30.0
"""A watcher reads what has been quiet for 1 s, or after 5 s, and pauses 30 s after failing."""


@dataclass(frozen=True, slots=True)
class LibraryStatus:
    """What can be said of the library at a glance. Times are UTC milliseconds."""

    data_dir: Path
    loaded: bool
    items: int
    libraries: tuple[Library, ...]
    taken_at: int
    age_ms: int
    userdata_version: int
    stale: bool
    notice: str
    kind: SourceKind = "files"


@dataclass(frozen=True, slots=True)
class _Loaded:
    taken: Taken
    contents: Contents
    index: MetadataIndex


class ZoteroLibrary(ReadableLibrary):
    """Constructed without touching a file; the first `ensure_loaded` reads."""

    def __init__(
        self,
        source: LibrarySource,
        files: Files,
        documents: Documents,
        clock: Clock,
        private_dir: Path,
    ) -> None:
        super().__init__(files, documents)
        self._source = source
        self._indexing = Indexing(private_dir, self._files, documents.twin())
        self._clock = clock
        self._loaded: _Loaded | None = None
        self._empty = Contents((), {}, {}, ())
        self._counts: tuple[Contents, Counts] | None = None
        self._found: dict[str, Attachment] = {}
        self._refreshing = asyncio.Lock()
        self._closing = threading.Event()
        self._snapshots = ThreadPoolExecutor(1, thread_name_prefix="zotero-snapshot")
        self._rest_until = 0.0
        self._check: asyncio.Future[None] | None = None

    # -- state

    @property
    def contents(self) -> Contents:
        return self._loaded.contents if self._loaded else self._empty

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(self.contents.items.values())

    @property
    def status(self) -> LibraryStatus:
        taken = self._loaded.taken if self._loaded else None
        return LibraryStatus(
            data_dir=self._source.data_dir,
            loaded=taken is not None,
            items=len(self.contents.items),
            libraries=self.contents.libraries,
            taken_at=taken.taken_at if taken else 0,
            age_ms=max(0, self._clock() - taken.taken_at) if taken else 0,
            userdata_version=taken.version if taken else 0,
            stale=taken.stale if taken else False,
            notice=taken.notice if taken else "",
            kind=self._source.kind,
        )

    def item(self, full_id: str) -> Item | None:
        """The item of an id, its attachments not yet looked for on disk."""
        return self.contents.items.get(_plain(full_id))

    def attachment(self, full_id: str) -> Attachment | None:
        """The attachment of an id, with the place of its file: one look at the disk, remembered if there."""
        attachment = self.contents.attachments.get(_plain(full_id))
        if attachment is None:
            return None
        found = self._found.get(attachment.id)
        if found is None or found.stored != attachment.stored:
            found = self._files.locate(attachment)
            if found.status == "ok":
                self._found[attachment.id] = found
        return replace(attachment, path=found.path, status=found.status, reason=found.reason)

    # -- loading

    async def ensure_loaded(self) -> None:
        """Load if nothing is loaded; if Zotero has written since, try briefly to become current.

        Raises `LibraryUnavailable` only while nothing is loaded.
        """
        if self._loaded is not None and (self._refreshing.locked() or time.monotonic() < self._rest_until):
            return
        async with self._refreshing:
            if self._loaded is None:
                await self._become_current(None)
            elif await self._changed():
                await self._become_current(BRIEF_PATIENCE_S)

    async def refresh(self) -> None:
        """Become current, trying for about 20 s; then what is loaded stays, marked stale."""
        async with self._refreshing:
            await self._become_current(None)

    async def watch(self, refreshed: Callable[[LibraryStatus], None]) -> None:
        """Follow Zotero's writes until cancelled; `refreshed` is called after each new state."""
        while True:
            await asyncio.sleep(self._source.poll_s)
            if not await self._changed():
                continue
            await self._wait_for_quiet()
            with contextlib.suppress(LibraryUnavailable):
                await self.refresh()
            refreshed(self.status)
            if self.status.stale:
                await asyncio.sleep(AFTER_STALE_S)

    async def close(self) -> None:
        """Stop the threads and the reader of PDF files."""
        self._closing.set()
        await self._indexing.close()
        await self._documents.close()
        await asyncio.to_thread(self._snapshots.shutdown, True, cancel_futures=True)
        await asyncio.to_thread(self._worker.shutdown, True, cancel_futures=True)
        if self._check is not None:
            await asyncio.wait({self._check})
        await asyncio.to_thread(self._source.close)

    async def _become_current(self, patience: float | None) -> None:
        """To be called with the lock held."""
        before, started = self._loaded, time.monotonic()
        try:
            loaded = await self._in(self._snapshots, lambda: self._load(before, patience))
        except LibraryUnavailable as error:
            if before is None:
                raise
            loaded = replace(before, taken=replace(before.taken, stale=True, notice=error.title))
        self._loaded = loaded
        self._indexing.follow(loaded.contents)
        cost = time.monotonic() - started
        self._rest_until = time.monotonic() + REST * max(0.0, cost - QUICK_S)
        if not loaded.taken.verified and (self._check is None or self._check.done()):
            self._check = asyncio.ensure_future(self._verify(loaded.taken))

    def _load(self, before: _Loaded | None, patience: float | None) -> _Loaded:
        """In the thread: a state, its contents, their index."""
        taken = self._source.take(self._closing.is_set, patience)
        if before is not None and taken.lasting and taken.mark == before.taken.mark:
            return replace(before, taken=taken)
        with quiet_gc.loading():
            contents = self._source.read(taken, before.contents if before else None)
        return _Loaded(taken, contents, MetadataIndex(contents))

    async def _verify(self, taken: Taken) -> None:
        """The check of all pages that a large first copy was spared; it runs after the list is there."""
        try:
            verified = await self._in(self._snapshots, lambda: self._source.verify(taken))
        except LibraryUnavailable as error:
            verified = replace(taken, stale=True, notice=error.text)
        except TakingCancelled:
            return
        if self._loaded is not None and self._loaded.taken is taken:
            self._loaded = replace(self._loaded, taken=verified)

    async def _changed(self) -> bool:
        mark = await self._in(self._snapshots, self._source.mark)
        return self._loaded is None or mark != self._loaded.taken.mark

    async def _wait_for_quiet(self) -> None:
        last: str | None = None
        for _ in range(round(BUSY_S / QUIET_S)):
            mark = await self._in(self._snapshots, self._source.mark)
            if mark == last:
                return
            last = mark
            await asyncio.sleep(QUIET_S)

    # -- use

    async def search(self, query: Query) -> Hits:
        """Raises `filters.UnknownValue` for a filter that names nothing. The files of hits are looked for."""
        loaded = self._loaded
        if loaded is None:
            raise LibraryUnavailable("The Zotero library is not loaded yet.", "Try again in a moment.")

        index = loaded.index
        if len(loaded.contents.items) > SMALL and self._indexing.covers(loaded.contents):
            index = IndexedSearch(loaded.contents, self._indexing.file)

        def run() -> Hits:
            hits = index.search(query)
            return replace(hits, items=tuple(self._locate(i) for i in hits.items))

        return await self._in(self._worker, run)

    async def newest(self, limit: int = 100) -> tuple[Brief, ...]:
        """The items changed last as the index knows them: a list to show before the library is read."""
        return await self._in(self._worker, lambda: self._indexing.file.newest(limit))

    @property
    def coverage(self) -> Coverage:
        """How much of the files' texts can be searched."""
        return self._indexing.coverage

    async def index_texts(self, progress: Callable[[Coverage], None] = lambda _: None) -> None:
        """Bring the texts of all files, notes and annotations into the index; meant to run beside the window.

        What was done stays done when it is cancelled.
        """
        await self.ensure_loaded()
        await self._indexing.texts(self.contents, progress)

    async def search_texts(
        self, text: str, mode: Mode, accepts: Callable[[str], bool], limit: int, offset: int
    ) -> TextHits:
        """Search the texts that are indexed so far; indexing is begun if nobody has."""
        self._indexing.start_texts(self.contents)
        await self._indexing.wait_for_texts(PATIENCE_FOR_TEXTS_S)
        items = self.contents.items
        notes = self.contents.notes

        def run() -> TextHits:
            try:
                return search_texts(
                    self._indexing.file,
                    text,
                    mode,
                    lambda i: (i in items or i in notes) and accepts(i),
                    limit,
                    offset,
                )
            except sqlite3.Error:
                return TextHits((), ())

        return await self._in(self._worker, run)

    async def collection_counts(self) -> tuple[CollectionCount, ...]:
        """Every collection with its figures, outermost first."""
        counts = self._counts_now()
        return await self._in(self._worker, lambda: counts.collections)

    async def tag_counts(self) -> tuple[TagCount, ...]:
        """Every tag of every library, the most used first."""
        counts = self._counts_now()
        return await self._in(self._worker, lambda: counts.tags)

    def _counts_now(self) -> Counts:
        contents = self.contents
        if self._counts is None or self._counts[0] is not contents:
            self._counts = (contents, Counts(contents))
        return self._counts[1]

    async def located(self, items: Iterable[Item]) -> list[Item]:
        """The same items with the paths and states of their files as they are now."""
        wanted = list(items)
        return await self._in(self._worker, lambda: [self._locate(i) for i in wanted])

    def citation_label(self, locator: Locator) -> str:
        """`Hu et al. 2020, p. 218`; empty for a place the library does not show."""
        attachment = self.contents.attachments.get(locator.att_id) if locator.att else None
        item = self.item(attachment.item_id if attachment else locator.item_id)
        if item is None or (locator.att and attachment is None):
            return ""
        printed = ""
        labels = self._labels.get(attachment.id, ()) if attachment else ()
        if locator.page_index is not None and 0 <= locator.page_index < len(labels):
            printed = labels[locator.page_index]
        place = links.place_label(locator, printed)
        return f"{links.item_label(item)}, {place}" if place else links.item_label(item)

    def zotero_link(self, locator: Locator) -> str:
        """A link that opens Zotero there; empty for trash, feeds and unknown keys."""
        return links.zotero_link(locator, self.contents)

    # -- helpers

    def _locate(self, item: Item) -> Item:
        return replace(item, attachments=tuple(self._files.locate(a) for a in item.attachments))


def _plain(full_id: str) -> str:
    parts = split_id(full_id)
    return f"{parts[0]}-{parts[1]}" if parts else full_id
