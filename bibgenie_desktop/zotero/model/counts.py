"""How many items each collection and tag has: counted in memory, or kept in the index by differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from bibgenie_desktop.zotero.model.library import Collection, Contents


@dataclass(frozen=True, slots=True)
class CollectionCount:
    """`items` lie in the collection itself, `all_items` there or below, each counted once."""

    collection: Collection
    items: int
    all_items: int
    subcollections: int


@dataclass(frozen=True, slots=True)
class TagCount:
    """A tag of a library. `elsewhere` are notes, annotations and attachments that carry it."""

    name: str
    library: str
    items: int
    elsewhere: int
    automatic: bool
    """Nobody set it by hand."""
    color: str


TagName: TypeAlias = tuple[str, str]
"""A tag by library id and name."""


class Tally:
    """Counts what is added, and with `sign=-1` what is taken away again. Trash is never passed in."""

    def __init__(self, collections: Iterable[Collection]) -> None:
        self._above = _ancestries(collections)
        self._known: dict[tuple[str, ...], tuple[frozenset[str], frozenset[str]]] = {}
        self.direct: Counter[str] = Counter()
        self.whole: Counter[str] = Counter()
        self.items: Counter[TagName] = Counter()
        self.elsewhere: Counter[TagName] = Counter()
        self.manual: Counter[TagName] = Counter()

    def add(self, contents: Contents, sign: int = 1) -> None:
        items, notes = contents.items.values(), contents.notes.values()
        for collections in (*(i.collections for i in items), *(n.collections for n in notes)):
            if collections:
                self.place(tuple([c.id for c in collections]), sign)
        on_items = [(i.library.id, t) for i in items for t in i.tags]
        elsewhere = [
            *(
                (i.library.id, t)
                for i in items
                if i.type != "attachment"
                for a in i.attachments
                for t in a.tags
            ),
            *((n.library.id, t) for n in notes if n.id not in contents.attachments for t in n.tags),
            *((a.id.partition("-")[0], t) for a in contents.annotations.values() for t in a.tags),
        ]
        count = Counter.update if sign > 0 else Counter.subtract
        count(self.items, [(library, t.name) for library, t in on_items])
        count(self.elsewhere, [(library, t.name) for library, t in elsewhere])
        by_hand = [(library, t.name) for library, t in (*on_items, *elsewhere) if not t.automatic]
        count(self.manual, by_hand)

    @property
    def parts(self) -> tuple[Counter[Any], ...]:
        return self.direct, self.whole, self.items, self.elsewhere, self.manual

    def merge(self, parts: Sequence[Mapping[Any, int]]) -> None:
        """What another tally counted."""
        for own, other in zip(self.parts, parts, strict=True):
            own.update(other)

    def place(self, collections: tuple[str, ...], sign: int = 1) -> None:
        """Something that lies in these collections, and so in all above them, once in each."""
        own, whole = self._within(collections)
        for collection in own:
            self.direct[collection] += sign
        for collection in whole:
            self.whole[collection] += sign

    def _within(self, collections: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
        """Those of them that are not in the trash, and the same with all above; many things lie together."""
        if collections not in self._known:
            own = frozenset(c for c in collections if c in self._above)
            self._known[collections] = own, frozenset[str]().union(*(self._above[c] for c in own))
        return self._known[collections]


class Counts:
    """The figures of one state of the library that is held in memory."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents

    @cached_property
    def _tally(self) -> Tally:
        tally = Tally(self._contents.collections)
        tally.add(self._contents)
        return tally

    @property
    def collections(self) -> tuple[CollectionCount, ...]:
        return collection_counts(self._contents.collections, self._tally.direct, self._tally.whole)

    @property
    def tags(self) -> tuple[TagCount, ...]:
        tally = self._tally
        return tag_counts(tally.items, tally.elsewhere, tally.manual, self._contents.tag_colors)


def collection_counts(
    collections: Iterable[Collection], direct: Mapping[str, int], whole: Mapping[str, int]
) -> tuple[CollectionCount, ...]:
    """Every collection that is not in the trash, outermost first, by name."""
    live = [c for c in collections if not c.trashed]
    below = Counter(c.parent_id for c in live)
    live.sort(key=lambda c: (c.library.group_id or 0, [name.lower() for name in c.path], c.id))
    return tuple(CollectionCount(c, direct.get(c.id, 0), whole.get(c.id, 0), below[c.id]) for c in live)


def tag_counts(
    items: Mapping[TagName, int],
    elsewhere: Mapping[TagName, int],
    manual: Mapping[TagName, int],
    colors: Mapping[TagName, str],
) -> tuple[TagCount, ...]:
    """Every tag of every library, the most used first."""
    used = {n for of in (items, elsewhere) for n, count in of.items() if count > 0}
    found = [
        TagCount(
            name,
            library,
            items.get((library, name), 0),
            elsewhere.get((library, name), 0),
            manual.get((library, name), 0) <= 0,
            colors.get((library, name), ""),
        )
        for library, name in used | colors.keys()
    ]
    return tuple(sorted(found, key=lambda t: (-t.items, -t.elsewhere, t.name.lower(), t.library, t.name)))


def _ancestries(collections: Iterable[Collection]) -> dict[str, frozenset[str]]:
    """Of each collection that is not in the trash its own id and those above it."""
    live = {c.id: c for c in collections if not c.trashed}
    found: dict[str, frozenset[str]] = {}
    for collection in sorted(live.values(), key=lambda c: len(c.path)):
        above = {collection.id}
        at = collection.parent_id
        while at in live and at not in above:
            above.add(at)
            at = live[at].parent_id
        found[collection.id] = frozenset(above)
    return found
