"""Lists of a library as values: where one looks, in which order, and the ids that gives.

Blocking: made for threads. What the library's index can answer is left to it.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from bibgenie_desktop.zotero.index import listing as index
from bibgenie_desktop.zotero.index.filters import Filters, UnknownValue, find_collections
from bibgenie_desktop.zotero.index.listing import count_of, fitting, ordered_ids
from bibgenie_desktop.zotero.index.overview import counted_tags, notes_of
from bibgenie_desktop.zotero.index.people import by_creator, ids_by_creator
from bibgenie_desktop.zotero.index.strips import Joined
from bibgenie_desktop.zotero.model.folding import key
from bibgenie_desktop.zotero.model.library import Contents, Item, Note

RECENT: Final = 200
"""How many items “Recently added” holds."""
MOST_TAGS: Final = 2_000

ScopeKind = Literal["all", "recent", "library", "collection", "unfiled"]
Order = Literal["added", "modified", "title", "creator", "year"]
_INDEXED: Final[dict[Order, index.Order]] = {
    "added": "date_added",
    "modified": "date_modified",
    "title": "title",
    "year": "year",
}


@dataclass(frozen=True, slots=True)
class Scope:
    """Where one looks. `library` is `u` or `g<id>`, `collection` a full key."""

    kind: ScopeKind = "all"
    library: str = ""
    collection: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """A list that can be shown. With `words` it is a search, best first unless an order is chosen."""

    scope: Scope = Scope()
    words: str = ""
    tags: tuple[str, ...] = ()
    order: Order | None = None


@dataclass(frozen=True, slots=True)
class TagRow:
    name: str
    count: int
    color: str = ""


def library_counts(contents: Contents) -> tuple[Counter[str], Counter[str]]:
    """By library: what is in it, and what of that lies in no collection."""
    items: Counter[str] = Counter()
    unfiled: Counter[str] = Counter()
    for library in contents.libraries:
        whole, apart = Scope("library", library.id), Scope("unfiled", library.id)
        items[library.id] = _count(contents, Listing(whole))
        unfiled[library.id] = _count(contents, Listing(apart))
    return items, unfiled


def _count(contents: Contents, listing: Listing) -> int:
    return count_of(contents, filters_of(listing)) + len(_notes(contents, listing))


def filters_of(listing: Listing) -> Filters:
    scope = listing.scope
    return Filters(
        library=scope.library,
        collection=scope.collection,
        tags=listing.tags,
        unfiled=scope.kind == "unfiled",
    )


def listed(contents: Contents, listing: Listing) -> Sequence[str]:
    """Items in their order, then notes that belong to none; what came last has both together.

    Empty where the place or a tag does not exist any more.
    """
    order = listing.order or "added"
    try:
        notes = _notes(contents, listing)
        if listing.scope.kind == "recent":
            return _recent(contents, listing, notes)
        indexed = _INDEXED.get(order)
        if indexed is not None:
            items = ordered_ids(contents, filters_of(listing), indexed)
        else:
            items = ids_by_creator(contents, filters_of(listing))
    except UnknownValue:
        return ()
    return Joined(items, [n.id for n in notes]) if notes else items


def _recent(contents: Contents, listing: Listing, notes: list[Note]) -> tuple[str, ...]:
    ids = ordered_ids(contents, filters_of(listing), "date_added", most=RECENT)
    entries: list[Item | Note] = [item for i in ids if (item := contents.items.get(i)) is not None]
    newest = heapq.nlargest(RECENT, [*entries, *notes], key=lambda e: (e.added, e.id))
    match listing.order:
        case "modified":
            newest.sort(key=lambda e: e.modified, reverse=True)
        case "title":
            newest.sort(key=lambda e: key(e.title))
        case "year":
            newest.sort(key=lambda e: e.sort_date if isinstance(e, Item) else "", reverse=True)
        case "creator":
            ordered = by_creator(e for e in newest if isinstance(e, Item))
            return (*ordered, *(e.id for e in newest if isinstance(e, Note)))
        case _:
            pass
    return tuple(e.id for e in newest)


def _notes(contents: Contents, listing: Listing) -> list[Note]:
    """Notes that stand alone and fit, the newest first."""
    scope, wanted = listing.scope, {key(t) for t in listing.tags}
    below: frozenset[str] | None = None
    if scope.collection:
        below = find_collections(scope.collection, contents)[0]
    found = [
        n
        for n in notes_of(contents, "")
        if (not scope.library or n.library.id == scope.library)
        and (below is None or any(c.id in below for c in n.collections))
        and not (scope.kind == "unfiled" and n.collections)
        and wanted <= {key(t.name) for t in n.tags}
    ]
    return sorted(found, key=lambda n: (n.added, n.id), reverse=True)


def tags_of(contents: Contents, listing: Listing) -> tuple[TagRow, ...]:
    """The tags of what is listed, whatever the words: coloured ones first, then the most used."""
    scope = listing.scope
    counts: Counter[str] = Counter()
    if scope.kind in ("all", "library") and not listing.tags:
        for tag in counted_tags(contents):
            if tag.items and (not scope.library or tag.library == scope.library):
                counts[tag.name] += tag.items
    elif scope.kind == "recent":
        for full_id in listed(contents, Listing(scope, tags=listing.tags)):
            if (item := contents.items.get(full_id)) is not None:
                counts.update({t.name for t in item.tags})
    else:
        for item in fitting(contents, filters_of(listing)):
            counts.update({t.name for t in item.tags})
    libraries = {scope.library} if scope.library else {lib.id for lib in contents.libraries}
    colors = {name: color for (library, name), color in contents.tag_colors.items() if library in libraries}
    found = [TagRow(name, counts[name], colors.get(name, "")) for name in {*counts, *colors}]
    found.sort(key=lambda t: (not t.color, -t.count, t.name.lower()))
    return tuple(found[:MOST_TAGS])
