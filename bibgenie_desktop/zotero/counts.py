"""How many items each collection and tag has: counted once for a state of the library, when first asked."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property

from bibgenie_desktop.zotero.library import Collection, Contents, Tag


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


class Counts:
    """The figures of one state of the library; trash is not counted."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents

    @cached_property
    def collections(self) -> tuple[CollectionCount, ...]:
        """Every collection that is not in the trash, outermost first, by name."""
        contents = self._contents
        live = [c for c in contents.collections if not c.trashed]
        direct: dict[str, set[str]] = defaultdict(set)
        for item in contents.items.values():
            for collection in item.collections:
                direct[collection.id].add(item.id)
        for note in contents.notes.values():
            for collection in note.collections:
                direct[collection.id].add(note.id)
        whole: dict[str, set[str]] = {c.id: set(direct[c.id]) for c in live}
        below: Counter[str] = Counter()
        for collection in sorted(live, key=lambda c: -len(c.path)):
            if collection.parent_id in whole:
                whole[collection.parent_id] |= whole[collection.id]
                below[collection.parent_id] += 1
        live.sort(key=lambda c: (c.library.group_id or 0, [name.lower() for name in c.path], c.id))
        return tuple(CollectionCount(c, len(direct[c.id]), len(whole[c.id]), below[c.id]) for c in live)

    @cached_property
    def tags(self) -> tuple[TagCount, ...]:
        """Every tag of every library, the most used first."""
        contents = self._contents
        items: Counter[tuple[str, str]] = Counter()
        elsewhere: Counter[tuple[str, str]] = Counter()
        manual: set[tuple[str, str]] = set()

        def count(of: Counter[tuple[str, str]], library: str, tags: tuple[Tag, ...]) -> None:
            for tag in tags:
                name = (library, tag.name)
                of[name] += 1
                if not tag.automatic:
                    manual.add(name)

        for item in contents.items.values():
            count(items, item.library.id, item.tags)
            if item.type != "attachment":
                for attachment in item.attachments:
                    count(elsewhere, item.library.id, attachment.tags)
        for note in contents.notes.values():
            if note.id not in contents.attachments:
                count(elsewhere, note.library.id, note.tags)
        for annotation in contents.annotations.values():
            count(elsewhere, annotation.id.partition("-")[0], annotation.tags)
        names = items.keys() | elsewhere.keys() | contents.tag_colors.keys()
        found = [
            TagCount(
                name,
                library,
                items[library, name],
                elsewhere[library, name],
                (library, name) not in manual,
                contents.tag_colors.get((library, name), ""),
            )
            for library, name in names
        ]
        return tuple(sorted(found, key=lambda t: (-t.items, -t.elsewhere, t.name.lower(), t.library)))
