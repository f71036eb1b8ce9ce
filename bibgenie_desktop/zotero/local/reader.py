"""Reading a snapshot into values: one query a table, joined here by name.

Ids of types and fields differ between databases, columns come and go between versions, so nothing is taken by
position or number. Trash, feeds and embedded note images are left out here, once and for all.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Collection as Some
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TypeVar

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.zotero.files.attachments import EMBEDDED_IMAGE
from bibgenie_desktop.zotero.local.children import Children, Owner, relations_of
from bibgenie_desktop.zotero.local.shared import Shared
from bibgenie_desktop.zotero.local.tables import Tables
from bibgenie_desktop.zotero.local.tables import text as _text
from bibgenie_desktop.zotero.model.fields import citation_key, split_date, strip_markup
from bibgenie_desktop.zotero.model.library import (
    Attachment,
    AttachmentKind,
    Contents,
    Creator,
    Item,
    Library,
    Tag,
)

_CHILD_TYPES = frozenset({"attachment", "note", "annotation"})
_KINDS: dict[str, AttachmentKind] = {
    "application/pdf": "pdf",
    "application/epub+zip": "epub",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/plain": "text",
    "text/markdown": "text",
    "text/x-markdown": "text",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "text",
    "application/vnd.oasis.opendocument.text": "text",
}
_SUFFIXES: dict[str, AttachmentKind] = {
    ".pdf": "pdf",
    ".epub": "epub",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".txt": "text",
    ".md": "text",
    ".markdown": "text",
    ".docx": "text",
    ".odt": "text",
}


T = TypeVar("T")
LegacyKeys = Mapping[tuple[int, str], str]
"""Citation keys by the library's row and the item's key, where they are kept outside Zotero's tables."""


def read_contents(
    connection: sqlite3.Connection,
    legacy_keys: LegacyKeys | None = None,
    only: Some[int] | None = None,
) -> Contents:
    """Everything of a snapshot that may be shown. Raises `LibraryUnavailable` for senseless tables.

    `only`: of these rows of top-level items and notes, and of what hangs below them; relations and the trash
    are then left out. The connection must be one that can hold temporary tables.
    """

    def read() -> Contents:
        tables = Tables(connection) if only is None else Tables(connection).only(only)
        whole = only is None
        return _Reader(tables, Shared(tables), legacy_keys or {}, relations=whole, trash=whole).contents()

    return _decoded(connection, read)


def read_some(
    connection: sqlite3.Connection, legacy_keys: LegacyKeys, rows: Some[int], shared: Shared | None = None
) -> tuple[Contents, dict[str, int]]:
    """The same of some rows, and for each id its row in Zotero's tables. `shared` is that of other pieces."""

    def read() -> tuple[Contents, dict[str, int]]:
        tables = (shared.tables if shared else Tables(connection)).only(rows)
        reader = _Reader(tables, shared or Shared(tables), legacy_keys, relations=False, trash=False)
        return reader.contents(), reader.rows

    return _decoded(connection, read)


def _decoded(connection: sqlite3.Connection, read: Callable[[], T]) -> T:
    """One bad text must not hide the rest."""
    with readable_tables():
        try:
            return read()
        except sqlite3.OperationalError as error:
            if "decode" not in str(error).lower():
                raise
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        return read()


def read_frame(connection: sqlite3.Connection) -> Contents:
    """Libraries, collections, colours, saved searches and the trash: all but items and what hangs below."""

    def read() -> Contents:
        binned = [row for (row,) in Tables(connection).rows("deletedItems", "itemID")]
        tables = Tables(connection).only(binned)
        return _Reader(tables, Shared(tables), {}, relations=False, trash=True).contents()

    return _decoded(connection, read)


@contextlib.contextmanager
def readable_tables() -> Iterator[None]:
    """Says in words for the person that a snapshot's tables make no sense."""
    try:
        yield
    except sqlite3.Error as error:
        raise LibraryUnavailable(
            "The tables of this Zotero library cannot be read.",
            "Start Zotero once, which checks its database, then read the library again.",
        ) from error


class _Reader:
    """One reading. `rows` are those of everything that was read, by id."""

    def __init__(
        self, tables: Tables, shared: Shared, legacy_keys: LegacyKeys, *, relations: bool, trash: bool
    ) -> None:
        self.rows: dict[str, int] = {}
        self._tables = tables
        self._rows = self._tables.rows
        self._shared = shared
        self._legacy_keys = legacy_keys
        self._relations = relations
        self._trash = trash

    def contents(self) -> Contents:
        libraries, types, collections = self._shared.libraries, self._shared.types, self._shared.collections
        trashed = {item for (item,) in self._rows("deletedItems", "itemID")}
        members = self._members()

        parents: dict[int, Owner] = {}
        others: dict[str, dict[int, Owner]] = {kind: {} for kind in _CHILD_TYPES}
        binned: dict[int, str] = {}
        columns = ("itemID", "itemTypeID", "libraryID", "key", "dateAdded", "dateModified")
        for item, type_id, library_id, key, added, modified in self._rows("items", *columns):
            library = libraries.get(library_id)
            type_name = types.get(type_id)
            if library is None or type_name is None:
                continue
            full_id = f"{library.id}-{key}"
            if item in trashed:
                binned[item] = full_id
                continue
            self.rows[full_id] = item
            owner = (library, key, type_id, _text(added), _text(modified))
            others.get(type_name, parents)[item] = owner

        files = others["attachment"]
        fields = self._fields(parents, files)
        creators, tags = self._creators(), self._tags()
        children = Children(self._tables, trashed, tags, members, collections)
        marks = children.mark_counts()
        attached, alone, rows = self._attachments(parents, files, fields, marks, tags)
        notes = children.notes(others["note"], parents, rows)
        annotations = children.annotations(others["annotation"], rows)
        retractions = children.retractions()
        nothing: dict[str, str] = {}
        items: dict[str, Item] = {}
        by_id: dict[str, Attachment] = {}
        by_row: dict[int, str] = {row: note.id for row, note in notes.items()}
        for row, (library, key, type_id, added, modified) in (*parents.items(), *alone.items()):
            own = fields.get(row, nothing)
            attachments = tuple(attached.get(row, ()))
            year, typed, sort_date = split_date(own.get("date", ""))
            title = strip_markup(own.get("title", "")) or (attachments[0].title if row in alone else "")
            item = Item(
                id=f"{library.id}-{key}",
                key=key,
                library=library,
                type=types[type_id],
                title=title,
                creators=tuple(creators.get(row, ())),
                year=year,
                date=typed,
                sort_date=sort_date,
                citekey=citation_key(own.get("citationKey", ""), own.get("extra", "")),
                fields=own,
                tags=tuple(tags.get(row, ())),
                collections=tuple([collections[c] for c in members.get(row, ())]),
                attachments=attachments,
                notes=children.note_count(row),
                added=added,
                modified=modified,
                retraction=retractions.get(row, ""),
            )
            items[item.id] = item
            by_row[row] = item.id
            by_id.update((a.id, a) for a in attachments)
        if self._legacy_keys:
            self._fill_keys(items, libraries)
        related: dict[str, tuple[str, ...]] = {}
        copies: dict[str, tuple[str, ...]] = {}
        gone: frozenset[str] = frozenset()
        if self._relations:
            known = items.keys() | {n.id for n in notes.values()}
            related, copies = relations_of(self._tables, by_row, known)
        if self._trash:
            gone = frozenset(binned.values()) | children.binned_ids(others, binned)
        return Contents(
            libraries=tuple(libraries.values()),
            items=items,
            attachments=by_id,
            collections=tuple(collections.values()),
            notes={note.id: note for note in notes.values()},
            annotations=annotations,
            related=related,
            copies=copies,
            tag_colors=children.tag_colors(libraries),
            saved_searches=children.saved_searches(libraries),
            trashed=gone,
            account=children.account(),
        )

    def _fill_keys(self, items: dict[str, Item], libraries: dict[int, Library]) -> None:
        """Keys of an older Better BibTeX, for items that have none of their own."""
        rows = {library.id: row for row, library in libraries.items()}
        for item in items.values():
            if not item.citekey and (key := self._legacy_keys.get((rows[item.library.id], item.key))):
                items[item.id] = replace(item, citekey=key)

    # -- tables

    def _members(self) -> dict[int, list[int]]:
        """The collections of each item and note that are not in the trash."""
        live = {row for row, collection in self._shared.collections.items() if not collection.trashed}
        members: dict[int, list[int]] = defaultdict(list)
        rows_of_members = self._rows(
            "collectionItems", "itemID", "collectionID", order="collectionID, itemID"
        )
        for item, collection in rows_of_members:
            if collection in live:
                members[item].append(collection)
        return members

    def _fields(self, parents: dict[int, Owner], files: dict[int, Owner]) -> dict[int, dict[str, str]]:
        mapped = self._shared.fields
        found: dict[int, dict[str, str]] = {}
        nowhere: dict[int, str] = {}
        last: int | None = None
        own: dict[str, str] = {}
        named = nowhere
        for item, field, value in self._tables.values():
            if item != last:  # the fields of an item mostly stand together
                last = item
                owner = parents.get(item) or files.get(item)
                named = mapped[owner[2]] if owner is not None else nowhere
                if owner is not None:
                    own = found.setdefault(item, {})
            if (name := named.get(field)) is not None:
                own[name] = value if value.__class__ is str else _text(value)
        return found

    def _attachments(
        self,
        parents: dict[int, Owner],
        files: dict[int, Owner],
        fields: dict[int, dict[str, str]],
        marks: Mapping[int, int],
        tags: Mapping[int, list[Tag]],
    ) -> tuple[dict[int, list[Attachment]], dict[int, Owner], dict[int, Attachment]]:
        """Attachments by the row of their item, oldest first; the rows of those alone; all by their own."""
        pages: dict[int, int | None] = dict(self._rows("fulltextItems", "itemID", "totalPages"))
        children: dict[int, list[Attachment]] = defaultdict(list)
        alone: dict[int, Owner] = {}
        by_row: dict[int, Attachment] = {}
        columns = ("itemID", "parentItemID", "linkMode", "contentType", "path")
        for row, parent, mode, content_type, path in self._rows("itemAttachments", *columns):
            owner = files.get(row)
            if owner is None or mode == EMBEDDED_IMAGE:
                continue
            if parent is None:
                alone[row] = owner
            elif parent not in parents:
                continue  # its item is in the trash, or it hangs below a note
            library, key = owner[0], owner[1]
            own = fields.get(row, {})
            stored, content_type = _text(path), _text(content_type).lower()
            item_key = key if parent is None else parents[parent][1]
            by_row[row] = Attachment(
                id=f"{library.id}-{key}",
                key=key,
                library=library,
                item_id=f"{library.id}-{item_key}",
                title=strip_markup(own.get("title", "")) or _file_name(stored) or own.get("url", ""),
                kind=_KINDS.get(content_type) or _SUFFIXES.get(_suffix(stored), "other"),
                content_type=content_type,
                link_mode=int(mode or 0),
                stored=stored,
                url=own.get("url", ""),
                pages=pages.get(row) or None,
                annotations=marks.get(row, 0),
                tags=tuple(tags.get(row, ())),
            )
            children[row if parent is None else parent].append(by_row[row])
        return children, alone, by_row

    def _creators(self) -> dict[int, list[Creator]]:
        creators = self._shared.creators
        found: dict[int, list[Creator]] = defaultdict(list)
        columns = ("itemID", "creatorID", "creatorTypeID")
        for item, row, role in self._rows("itemCreators", *columns, order="itemID, orderIndex"):
            if (creator := creators[row, role]) is not None:
                found[item].append(creator)
        return found

    def _tags(self) -> dict[int, list[Tag]]:
        tags = self._shared.tags
        found: dict[int, list[Tag]] = defaultdict(list)
        for item, row, kind in self._rows("itemTags", "itemID", "tagID", "type"):
            if (tag := tags[row, kind]) is not None:
                found[item].append(tag)
        return found


def _file_name(stored: str) -> str:
    bare = stored.removeprefix("storage:").removeprefix("attachments:")
    return PurePosixPath(bare.replace("\\", "/")).name


def _suffix(stored: str) -> str:
    return PurePosixPath(_file_name(stored)).suffix.lower()
