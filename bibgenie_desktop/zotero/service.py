"""One Zotero library for the rest of the application: loading, refreshing, searching, reading, naming.

`loading` decides which state is shown; here it is used. What blocks runs in threads of its own, one for
states and one for search and files, so that a long wait for Zotero never holds up a search. Until something
is loaded the library is empty, never half full.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.domain.ids import Clock
from bibgenie_desktop.domain.locators import Locator, split_id
from bibgenie_desktop.zotero.files.attachments import Files
from bibgenie_desktop.zotero.files.documents import Documents
from bibgenie_desktop.zotero.index.briefs import Brief
from bibgenie_desktop.zotero.index.fulltext import Coverage
from bibgenie_desktop.zotero.index.indexing import Indexing
from bibgenie_desktop.zotero.index.overview import counted_collections, counted_tags, known_ids
from bibgenie_desktop.zotero.index.search import Hits, Query
from bibgenie_desktop.zotero.index.terms import Mode
from bibgenie_desktop.zotero.index.text_search import TextHits, search_texts
from bibgenie_desktop.zotero.loading import Loading
from bibgenie_desktop.zotero.model import links
from bibgenie_desktop.zotero.model.counts import CollectionCount, TagCount
from bibgenie_desktop.zotero.model.library import Attachment, Contents, Item, Library
from bibgenie_desktop.zotero.reading import ReadableLibrary, T
from bibgenie_desktop.zotero.source import LibrarySource, SourceKind

log = logging.getLogger(__name__)

PATIENCE_FOR_TEXTS_S = 6.0
"""How long a search waits for the texts of a library that is being indexed: a small one is then complete."""


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
    reading: tuple[int, int] | None = None
    """(items read, of how many) while a large library is read from the beginning."""


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
        self._loading = Loading(source, private_dir, clock)
        self._indexing = Indexing(private_dir, self._files, documents.twin())
        self._clock = clock
        self._empty = Contents((), {}, {}, ())
        self._found: dict[str, Attachment] = {}

    # -- state

    @property
    def contents(self) -> Contents:
        loaded = self._loading.loaded
        return loaded.contents if loaded is not None else self._empty

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(self.contents.items.values())

    @property
    def status(self) -> LibraryStatus:
        loaded = self._loading.loaded
        taken = loaded.taken if loaded is not None else None
        return LibraryStatus(
            data_dir=self._source.data_dir,
            loaded=taken is not None,
            items=len(self.contents.items),
            libraries=self.contents.libraries,
            taken_at=taken.taken_at if taken else 0,
            age_ms=max(0, self._clock() - taken.taken_at) if taken else 0,
            userdata_version=taken.version if taken else 0,
            stale=taken.stale if taken else False,
            notice=self._loading.notice,
            kind=self._source.kind,
            reading=self._loading.progress,
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

        At a later start the state of the last run is there at once, and a newer one follows by itself. Raises
        `LibraryUnavailable` only while nothing is loaded.
        """
        await self._loading.ensure()

    async def refresh(self) -> None:
        """Become current, trying for about 20 s; then what is loaded stays, marked stale."""
        await self._loading.refresh()

    async def watch(self, refreshed: Callable[[LibraryStatus], None]) -> None:
        """Follow Zotero's writes until cancelled; `refreshed` is called after each new state."""
        await self._loading.watch(lambda: refreshed(self.status))

    async def newest(self, limit: int = 100) -> tuple[Brief, ...]:
        """The items changed last: a list to show before anything is read of Zotero."""
        return await self._loading.newest(limit)

    async def close(self) -> None:
        """Stop the threads and the reader of PDF files."""
        await self._loading.close()
        await self._indexing.close()
        await self._documents.close()
        await asyncio.to_thread(self._worker.shutdown, True, cancel_futures=True)

    # -- use

    async def search(self, query: Query) -> Hits:
        """Raises `filters.UnknownValue` for a filter that names nothing. The files of hits are looked for."""
        loaded = self._loading.loaded
        if loaded is None:
            raise LibraryUnavailable("The Zotero library is not loaded yet.", "Try again in a moment.")

        def run() -> Hits:
            hits = loaded.index.search(query)
            return replace(hits, items=tuple(self._locate(i) for i in hits.items))

        return await self._in(self._worker, run)

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
        contents = self.contents

        def run() -> TextHits:
            known = known_ids(contents)
            try:
                return search_texts(
                    self._indexing.file, text, mode, lambda i: i in known and accepts(i), limit, offset
                )
            except sqlite3.Error:
                return TextHits((), ())

        return await self._in(self._worker, run)

    async def collection_counts(self) -> tuple[CollectionCount, ...]:
        """Every collection with its figures, outermost first."""
        contents = self.contents
        return await self._in(self._worker, lambda: counted_collections(contents))

    async def tag_counts(self) -> tuple[TagCount, ...]:
        """Every tag of every library, the most used first."""
        contents = self.contents
        return await self._in(self._worker, lambda: counted_tags(contents))

    async def apart(self, work: Callable[[], T]) -> T:
        """Do something that looks at a whole library where it holds up nobody."""
        return await self._in(self._worker, work)

    async def located(self, items: Iterable[Item]) -> list[Item]:
        """The same items with the paths and states of their files as they are now.

        What `items` takes from the library is taken in the thread too.
        """
        return await self._in(self._worker, lambda: [self._locate(i) for i in items])

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
