"""Lists of a library as values: where one looks, in which order, and the ids that gives.

Pure and blocking: made for threads. Sorting goes in runs, so that no other thread waits long.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from bibgenie_desktop.zotero.folding import key
from bibgenie_desktop.zotero.library import Collection, Contents, Item, Note

RECENT: Final = 200
"""How many items “Recently added” holds."""
MOST_TAGS: Final = 2_000
_RUN: Final = 5_000

ScopeKind = Literal["all", "recent", "library", "collection", "unfiled"]
Order = Literal["added", "modified", "title", "creator", "year"]
Entry: TypeAlias = Item | Note


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
    for entry in _entries(contents):
        items[entry.library.id] += 1
        unfiled[entry.library.id] += not entry.collections
    return items, unfiled


def _entries(contents: Contents) -> Iterator[Entry]:
    """What lists show: items, and notes that belong to none."""
    yield from contents.items.values()
    yield from (n for n in contents.notes.values() if not n.item_id)


def listed(contents: Contents, listing: Listing) -> tuple[str, ...]:
    scope, wanted = listing.scope, {key(t) for t in listing.tags}
    tests: list[Callable[[Entry], bool]] = []
    if scope.library:
        tests.append(lambda e: e.library.id == scope.library)
    if scope.kind == "collection":
        below = _below(contents.collections, scope.collection)
        tests.append(lambda e: any(c.id in below for c in e.collections))
    if scope.kind == "unfiled":
        tests.append(lambda e: not e.collections)
    if wanted:
        tests.append(lambda e: wanted <= {key(t.name) for t in e.tags})
    found: Iterator[Entry] = (e for e in _entries(contents) if all(test(e) for test in tests))
    if scope.kind == "recent":
        newest = heapq.nlargest(RECENT, found, key=lambda e: (e.added, e.id))
        if listing.order in (None, "added"):
            return tuple(e.id for e in newest)
        found = iter(newest)
    return _ordered(found, listing.order or "added")


def _below(collections: Iterable[Collection], top: str) -> frozenset[str]:
    """A collection and all in it."""
    children: dict[str, list[str]] = {}
    for each in collections:
        if not each.trashed:
            children.setdefault(each.parent_id, []).append(each.id)
    found, waiting = {top}, [top]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return frozenset(found)


def _ordered(entries: Iterable[Entry], order: Order) -> tuple[str, ...]:
    """Sorted in runs: one long sort would hold up every other thread."""
    newest_first = order in ("added", "modified", "year")
    of = _KEYS[order]
    runs: list[list[tuple[str, str]]] = []
    run: list[tuple[str, str]] = []
    for entry in entries:
        run.append((of(entry), entry.id))
        if len(run) == _RUN:
            runs.append(sorted(run, reverse=newest_first))
            run = []
    runs.append(sorted(run, reverse=newest_first))
    return tuple(full_id for _, full_id in heapq.merge(*runs, reverse=newest_first))


def _creator(entry: Entry) -> str:
    authors = entry.authors if isinstance(entry, Item) else ()
    return f"{key(authors[0].sort_name) if authors else chr(0x10FFFF)} {key(entry.title)}"


_KEYS: Final[dict[Order, Callable[[Entry], str]]] = {
    "added": lambda e: e.added,
    "modified": lambda e: e.modified,
    "title": lambda e: key(e.title),
    "creator": _creator,
    "year": lambda e: e.sort_date if isinstance(e, Item) else "",
}


def tags_of(contents: Contents, ids: Iterable[str]) -> tuple[TagRow, ...]:
    counts: Counter[str] = Counter()
    libraries: set[str] = set()
    for full_id in ids:
        entry: Entry | None = contents.items.get(full_id) or contents.notes.get(full_id)
        if entry is not None:
            libraries.add(entry.library.id)
            counts.update({t.name for t in entry.tags})
    colors = {name: color for (library, name), color in contents.tag_colors.items() if library in libraries}
    found = [TagRow(name, counts[name], colors.get(name, "")) for name in {*counts, *colors}]
    found.sort(key=lambda t: (not t.color, -t.count, t.name.lower()))
    return tuple(found[:MOST_TAGS])
