"""Questions about a whole library, answered without looking at every item where an index holds it.

Each has one answer, from whichever of the two it comes.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from bibgenie_desktop.zotero.files.attachments import LINKED_URL
from bibgenie_desktop.zotero.index.indexed_contents import (
    Indexed,
    IndexedAnnotations,
    IndexedItems,
    IndexedNotes,
)
from bibgenie_desktop.zotero.index.strips import rows_of
from bibgenie_desktop.zotero.model.counts import (
    CollectionCount,
    Counts,
    TagCount,
    collection_counts,
    tag_counts,
)
from bibgenie_desktop.zotero.model.folding import key
from bibgenie_desktop.zotero.model.library import Contents

if TYPE_CHECKING:
    from bibgenie_desktop.zotero.model.annotations import Annotation
    from bibgenie_desktop.zotero.model.library import Attachment, Note

_READABLE: Final = frozenset({"pdf", "epub", "html", "text"})


def item_types(contents: Contents) -> set[str]:
    if isinstance(contents.items, IndexedItems):
        return {kind for (kind,) in contents.items.state.rows("SELECT DISTINCT type FROM item")}
    return {item.type for item in contents.items.values()}


def item_tags(contents: Contents) -> dict[str, str]:
    """The names of tags that items carry, by their folded form; of several spellings the first."""
    if isinstance(contents.items, IndexedItems):
        rows = contents.items.state.rows("SELECT DISTINCT name FROM tag_tally WHERE items > 0")
        names: Iterable[str] = (name for (name,) in rows)
    else:
        names = {tag.name for item in contents.items.values() for tag in item.tags}
    known: dict[str, str] = {}
    for name in sorted(names):
        known.setdefault(key(name), name)
    return known


def is_readable(attachment: Attachment) -> bool:
    """Whether a file of this kind can have a text."""
    return attachment.kind in _READABLE and attachment.link_mode != LINKED_URL


def readable_count(contents: Contents) -> int:
    if isinstance(contents.items, IndexedItems):
        found = contents.items.state.row("SELECT count(*) FROM attachment WHERE readable")
        return int(found[0]) if found else 0
    return sum(map(is_readable, contents.attachments.values()))


def readable_attachments(contents: Contents) -> Iterator[Attachment]:
    """Those whose files can have a text, each made as it is reached; nothing is asked before the first is."""
    items = contents.items
    if not isinstance(items, IndexedItems):
        yield from filter(is_readable, contents.attachments.values())
        return
    rows = rows_of(items.state, "SELECT DISTINCT item AS x FROM attachment WHERE readable ORDER BY item")
    for item in items.of(rows):
        yield from filter(is_readable, item.attachments)


class _Ids:
    def __init__(self, items: Container[str], notes: Container[str]) -> None:
        self._items = items
        self._notes = notes

    def __contains__(self, key: object) -> bool:
        return key in self._items or key in self._notes


def known_ids(contents: Contents) -> Container[str]:
    """The ids of items and notes, for those who look up many."""
    both = (contents.items, contents.notes)
    return _Ids(*(some.ids() if isinstance(some, Indexed) else some for some in both))


def notes_of(contents: Contents, item_id: str) -> list[Note]:
    if isinstance(contents.notes, IndexedNotes):
        return contents.notes.of_item(item_id)
    return [n for n in contents.notes.values() if n.item_id == item_id]


def marks_in(contents: Contents, attachment_id: str) -> list[Annotation]:
    """The annotations of one attachment, in reading order."""
    if isinstance(contents.annotations, IndexedAnnotations):
        return contents.annotations.of("attachment", attachment_id)
    return [a for a in contents.annotations.values() if a.attachment_id == attachment_id]


def marks_of(contents: Contents, item_id: str) -> list[Annotation]:
    """The annotations of all attachments of an item."""
    if isinstance(contents.annotations, IndexedAnnotations):
        return contents.annotations.of("item", item_id)
    return [a for a in contents.annotations.values() if a.item_id == item_id]


def at_rows(contents: Contents, rows: Sequence[int]) -> list[str]:
    """The ids of what stands in these rows of Zotero's tables, in their order, as far as an index knows."""
    if not isinstance(contents.items, IndexedItems) or not rows:
        return []
    marks = ", ".join("?" * len(rows))
    found: dict[int, str] = {}
    for table in ("annotation", "attachment", "note", "item"):
        known = contents.items.state.rows(f"SELECT source, id FROM {table} WHERE source IN ({marks})", rows)
        found |= dict(known)
    return [found[row] for row in dict.fromkeys(rows) if row in found]


def counted_collections(contents: Contents) -> tuple[CollectionCount, ...]:
    if not isinstance(contents.items, IndexedItems):
        return Counts(contents).collections
    rows = contents.items.state.rows("SELECT id, direct, whole FROM collection_tally")
    direct, whole = {r[0]: r[1] for r in rows}, {r[0]: r[2] for r in rows}
    return collection_counts(contents.collections, direct, whole)


def counted_tags(contents: Contents) -> tuple[TagCount, ...]:
    if not isinstance(contents.items, IndexedItems):
        return Counts(contents).tags
    rows = contents.items.state.rows("SELECT library, name, items, elsewhere, manual FROM tag_tally")
    items, elsewhere, manual = ({r[:2]: r[n] for r in rows} for n in (2, 3, 4))
    return tag_counts(items, elsewhere, manual, contents.tag_colors)
