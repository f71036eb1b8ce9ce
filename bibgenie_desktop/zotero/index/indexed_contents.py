"""The contents of a library as the index holds them: nothing is in memory until it is asked for.

The mappings behave as those that are filled at once; what a person or a model looks at again is remembered
for a while. Questions about the whole library have answers of their own in `overview`.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence, ValuesView
from typing import Any, Final, TypeVar

from bibgenie_desktop.zotero.index.codec import (
    Unpacker,
    collections_of,
    libraries_of,
    searches_of,
    unpack_annotation,
)
from bibgenie_desktop.zotero.index.state import PIECE, IndexState
from bibgenie_desktop.zotero.index.strips import ids_of
from bibgenie_desktop.zotero.model.annotations import Annotation
from bibgenie_desktop.zotero.model.library import Attachment, Contents, Item, Note

REMEMBERED: Final = 3_000
"""Values of each kind that are kept: all of a small library, 10 MB of a large one."""
V = TypeVar("V")


class Indexed(Mapping[str, V]):
    """Values by id. `state` may be asked for more than single ones."""

    def __init__(self, state: IndexState, table: str) -> None:
        self.state = state
        self._table = table
        self._kept: OrderedDict[str, V] = OrderedDict()
        self._size: int | None = None
        self._ids: frozenset[str] | None = None

    def __len__(self) -> int:
        if self._size is None:
            found = self.state.row(f"SELECT count(*) FROM {self._table}")
            self._size = int(found[0]) if found else 0
        return self._size

    def __contains__(self, key: object) -> bool:
        if key in self._kept:
            return True
        return self.state.row(f"SELECT 1 FROM {self._table} WHERE id = ?", (key,)) is not None

    def __getitem__(self, key: str) -> V:
        kept = self._kept
        if (known := kept.get(key)) is not None:
            return known
        value = self._found(key)
        kept[key] = value
        if len(kept) > REMEMBERED:
            for _ in range(PIECE):
                try:
                    kept.popitem(last=False)
                except KeyError:  # another thread was here
                    break
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(ids_of(self.state, f"SELECT id AS x FROM {self._table}", table=self._table))

    def ids(self) -> frozenset[str]:
        """All ids at once, to look many of them up."""
        if self._ids is None:
            self._ids = frozenset(self)
        return self._ids

    def values(self) -> ValuesView[V]:
        return _Values(self)

    def pairs(self) -> Iterator[tuple[str, V]]:
        """All ids and values, each made as it is reached."""
        raise NotImplementedError

    def _found(self, key: str) -> V:
        raise NotImplementedError

    def _remember(self, key: str, value: V) -> V:
        """The value, and the same one the next time while the library is small enough to be held whole."""
        if len(self) > REMEMBERED:
            return value
        return self._kept.setdefault(key, value)


class _Values(ValuesView[V]):
    def __init__(self, mapping: Indexed[V]) -> None:
        super().__init__(mapping)
        self._of = mapping

    def __iter__(self) -> Iterator[V]:
        return (value for _, value in self._of.pairs())


_WITH_BODY: Final = "item JOIN item_body USING (row)"


class IndexedItems(Indexed[Item]):
    def __init__(self, state: IndexState, unpack: Unpacker) -> None:
        super().__init__(state, "item")
        self.unpack = unpack

    def _found(self, key: str) -> Item:
        found = self.state.row(f"SELECT body FROM {_WITH_BODY} WHERE id = ?", (key,))
        if found is None:
            raise KeyError(key)
        return self.unpack.item(found[0])

    def pairs(self) -> Iterator[tuple[str, Item]]:
        for piece in self.state.pieces("id, body", _WITH_BODY):
            for _, key, body in piece:
                yield key, self._kept.get(key) or self._remember(key, self.unpack.item(body))

    def of(self, rows: Sequence[int]) -> Iterator[Item]:
        """The items of some rows, in their order."""
        for start in range(0, len(rows), PIECE):
            some = rows[start : start + PIECE]
            marks = ", ".join("?" * len(some))
            found = self.state.rows(f"SELECT row, id, body FROM {_WITH_BODY} WHERE row IN ({marks})", some)
            bodies = {row: (key, body) for row, key, body in found}
            for row in some:
                if row in bodies:
                    key, body = bodies[row]
                    yield self._kept.get(key) or self._remember(key, self.unpack.item(body))


class IndexedAttachments(Indexed[Attachment]):
    def __init__(self, state: IndexState, items: IndexedItems) -> None:
        super().__init__(state, "attachment")
        self._items = items

    def _found(self, key: str) -> Attachment:
        found = self.state.row(
            "SELECT i.id FROM attachment a JOIN item i ON i.row = a.item WHERE a.id = ?", (key,)
        )
        item = self._items[found[0]] if found is not None else None
        attachment = next((a for a in item.attachments if a.id == key), None) if item is not None else None
        if attachment is None:
            raise KeyError(key)
        return attachment

    def pairs(self) -> Iterator[tuple[str, Attachment]]:
        for _, item in self._items.pairs():
            for attachment in item.attachments:
                yield attachment.id, attachment


class IndexedNotes(Indexed[Note]):
    def __init__(self, state: IndexState, unpack: Unpacker) -> None:
        super().__init__(state, "note")
        self._unpack = unpack

    def _found(self, key: str) -> Note:
        found = self.state.row("SELECT body FROM note WHERE id = ?", (key,))
        if found is None:
            raise KeyError(key)
        return self._unpack.note(key, found[0])

    def pairs(self) -> Iterator[tuple[str, Note]]:
        for piece in self.state.pieces("id, body", "note"):
            for _, key, body in piece:
                yield key, self._kept.get(key) or self._remember(key, self._unpack.note(key, body))

    def of_item(self, item_id: str) -> list[Note]:
        rows = self.state.rows("SELECT id, body FROM note WHERE owner = ? ORDER BY row", (item_id,))
        return [self._unpack.note(key, body) for key, body in rows]


class IndexedAnnotations(Indexed[Annotation]):
    def __init__(self, state: IndexState) -> None:
        super().__init__(state, "annotation")

    def _found(self, key: str) -> Annotation:
        found = self.state.row("SELECT body FROM annotation WHERE id = ?", (key,))
        if found is None:
            raise KeyError(key)
        return unpack_annotation(found[0])

    def pairs(self) -> Iterator[tuple[str, Annotation]]:
        """In the order in which documents are read."""
        last: tuple[Any, ...] = (-1, "", -1)
        while found := self.state.rows(
            "SELECT parent, place, source, id, body FROM annotation WHERE (parent, place, source) > (?, ?, ?)"
            f" ORDER BY parent, place, source LIMIT {PIECE}",
            last,
        ):
            for _, _, _, key, body in found:
                yield key, self._kept.get(key) or self._remember(key, unpack_annotation(body))
            last = found[-1][:3]

    def of(self, column: str, full_id: str) -> list[Annotation]:
        """Those of an `item` or an `attachment`."""
        condition = "item = ?" if column == "item" else "attachment = ?"
        rows = self.state.rows(
            f"SELECT body FROM annotation WHERE {condition} ORDER BY parent, place, source", (full_id,)
        )
        return [unpack_annotation(body) for (body,) in rows]


def indexed_contents(state: IndexState) -> Contents:
    """Raises `sqlite3.Error`, `ValueError` or `KeyError` for a damaged index."""
    facts = state.facts
    libraries = libraries_of(json.loads(facts["libraries"]))
    known = {lib.id: lib for lib in libraries}
    collections = collections_of(json.loads(facts["collections"]), known)
    unpack = Unpacker(known, {c.id: c for c in collections})
    items = IndexedItems(state, unpack)
    return Contents(
        libraries=libraries,
        items=items,
        attachments=IndexedAttachments(state, items),
        collections=collections,
        notes=IndexedNotes(state, unpack),
        annotations=IndexedAnnotations(state),
        related={k: tuple(v) for k, v in json.loads(facts["related"]).items()},
        copies={k: tuple(v) for k, v in json.loads(facts["copies"]).items()},
        tag_colors={(lib, name): color for lib, name, color in json.loads(facts["tag_colors"])},
        saved_searches=searches_of(json.loads(facts["saved_searches"]), known),
        trashed=frozenset(json.loads(facts["trashed"])),
        account=json.loads(facts["account"]) if "account" in facts else "",
    )


def damaged(contents: Contents | None) -> bool:
    """Whether a question found the index damaged."""
    return contents is not None and isinstance(contents.items, IndexedItems) and contents.items.state.damaged
