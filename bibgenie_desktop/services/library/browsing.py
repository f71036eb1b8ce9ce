"""What the window may ask of a Zotero library: its tree, its lists page by page, its tags, a search.

Lists are ids in order, made in a thread and remembered for the state of the library they belong to; a page
of rows is all that is ever made at a time. What one item holds is `item_details`' subject.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.services.library.listings import (
    RECENT,
    Listing,
    Order,
    Scope,
    ScopeKind,
    TagRow,
    filters_of,
    library_counts,
    listed,
    tags_of,
)
from bibgenie_desktop.zotero.index.filters import UnknownValue
from bibgenie_desktop.zotero.index.search import Query, Sort
from bibgenie_desktop.zotero.model.library import Contents
from bibgenie_desktop.zotero.model.links import item_label
from bibgenie_desktop.zotero.service import ZoteroLibrary

__all__ = ["Browsing", "ItemRow", "Listing", "Order", "Page", "Place", "Scope", "ScopeKind", "TagRow"]

PAGE: Final = 100
_KEPT: Final = 8

_BOOKS: Final = frozenset({"book", "bookSection", "encyclopediaArticle", "dictionaryEntry", "thesis"})
_SITES: Final = frozenset({"webpage", "blogPost", "forumPost"})
_SORTS: Final[dict[Order, Sort]] = {"added": "date_added", "year": "year", "title": "title"}


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item or a note that stands alone, as a line. `icon` is a name of the icon set."""

    id: str
    title: str
    byline: str
    icon: str = "article"
    pdf: bool = False
    notes: int = 0
    annotations: int = 0
    retracted: bool = False
    label: str = ""
    """As a text names it: `Hu et al. 2020`."""


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list. `relaxed`: nothing has all words, these have some."""

    total: int
    offset: int
    rows: tuple[ItemRow, ...]
    relaxed: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the tree; `parent` is the scope it lies in, None at the top."""

    scope: Scope
    name: str
    count: int
    depth: int
    parent: Scope | None
    children: bool = False


class Browsing:
    """Belongs to one library. Everything but `state` may take a moment and is awaited."""

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library
        self._of: Contents | None = None
        self._lists: OrderedDict[Listing, Sequence[str]] = OrderedDict()

    @property
    def state(self) -> object:
        """Another object as soon as the library is another one; None before it is read."""
        return self._library.contents if self._library.status.loaded else None

    async def tree(self) -> tuple[Place, ...]:
        """Recently added, then each library with its collections and what is unfiled."""
        contents = self._library.contents
        counts = await self._library.collection_counts()
        items, unfiled = await self._library.apart(lambda: library_counts(contents))
        found = [Place(Scope("recent"), "", min(RECENT, sum(items.values())), 0, None)]
        if len(contents.libraries) > 1:
            found.append(Place(Scope("all"), "", sum(items.values()), 0, None))
        for library in contents.libraries:
            mine = [c for c in counts if c.collection.library.id == library.id]
            top = Scope("library", library.id)
            found.append(Place(top, library.name, items[library.id], 0, None, True))
            for c in mine:
                parent = c.collection.parent_id
                above = Scope("collection", library.id, parent) if parent else top
                scope = Scope("collection", library.id, c.collection.id)
                depth = len(c.collection.path)
                found.append(Place(scope, c.collection.name, c.all_items, depth, above, c.subcollections > 0))
            found.append(Place(Scope("unfiled", library.id), "", unfiled[library.id], 1, top))
        return tuple(found)

    async def page(self, listing: Listing, offset: int, limit: int = PAGE) -> Page:
        """Rows from `offset` on. Raises `LibraryUnavailable` before the library is read."""
        if listing.words.strip():
            return await self._search(listing, offset, limit)
        contents = self._contents()
        ids = await self._ids(listing)
        rows = await self._library.apart(lambda: _rows(ids[offset : offset + limit], contents))
        return Page(len(ids), offset, rows)

    async def first(self) -> tuple[ItemRow, ...]:
        """What was changed last, as far as it is known before the library is read."""
        briefs = await self._library.newest(PAGE)
        return tuple(
            ItemRow(
                b.id,
                b.title,
                " · ".join(t for t in (b.creators.replace("; ", ", "), str(b.year or "")) if t),
                icon_of(b.type),
            )
            for b in briefs
        )

    async def find(self, words: str, most: int) -> tuple[ItemRow, ...]:
        """The best few items for words that are still being typed; without words the newest."""
        listing = Listing(Scope("all"), words) if words.strip() else Listing(Scope("recent"))
        page = await self.page(listing, 0, most)
        return () if page.relaxed else page.rows

    async def row(self, full_id: str) -> ItemRow | None:
        return await self._library.apart(lambda: row_of(full_id, self._library.contents))

    async def tags(self, listing: Listing) -> tuple[TagRow, ...]:
        """The tags of what is listed without its words, coloured ones first, then the most used."""
        contents = self._contents()
        try:
            return await self._library.apart(lambda: tags_of(contents, listing))
        except UnknownValue:
            return ()

    # -- lists

    def _contents(self) -> Contents:
        if not self._library.status.loaded:
            raise LibraryUnavailable("The Zotero library is being read.", "Its items are here in a moment.")
        contents = self._library.contents
        if contents is not self._of:
            self._of = contents
            self._lists.clear()
        return contents

    async def _ids(self, listing: Listing) -> Sequence[str]:
        contents = self._contents()
        known = self._lists.get(listing)
        if known is None:
            known = await self._library.apart(lambda: listed(contents, listing))
            if contents is self._of:
                self._lists[listing] = known
                while len(self._lists) > _KEPT:
                    self._lists.popitem(last=False)
        return known

    async def _search(self, listing: Listing, offset: int, limit: int) -> Page:
        contents = self._contents()
        sort: Sort = "relevance" if listing.order is None else _SORTS.get(listing.order, "relevance")
        try:
            hits = await self._library.search(Query(listing.words, filters_of(listing), sort, limit, offset))
        except UnknownValue:  # the collection or the tag is gone since the list was asked for
            return Page(0, 0, ())
        rows = await self._library.apart(lambda: _rows([i.id for i in hits.items], contents))
        return Page(hits.total, offset, rows, hits.relaxed)


def _rows(ids: Sequence[str], contents: Contents) -> tuple[ItemRow, ...]:
    return tuple(row for i in ids if (row := row_of(i, contents)) is not None)


def row_of(full_id: str, contents: Contents) -> ItemRow | None:
    """The line of an item or note; None where there is none of this id any more."""
    item = contents.items.get(full_id)
    if item is not None:
        label = item_label(item)
        who = label.removesuffix(f" {item.year or 'n.d.'}") if item.authors else ""
        return ItemRow(
            item.id,
            item.title,
            " · ".join(t for t in (who, str(item.year or ""), item.venue) if t),
            icon_of(item.type),
            any(True for _ in item.pdfs),
            item.notes,
            item.annotations,
            bool(item.retraction),
            label,
        )
    note = contents.notes.get(full_id)
    return None if note is None else ItemRow(note.id, note.title, "", "note", label=note.title)


def icon_of(kind: str) -> str:
    if kind in _BOOKS:
        return "book"
    if kind in _SITES:
        return "globe"
    return {"attachment": "page", "note": "note"}.get(kind, "article")
