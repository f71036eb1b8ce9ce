"""Reading a snapshot into values: one query a table, joined here by name.

Ids of types and fields differ between databases, columns come and go between versions, so nothing is taken by
position or number. Trash, feeds and embedded note images are left out here, once and for all.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections import defaultdict
from collections.abc import Collection as Some
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.zotero.files.attachments import EMBEDDED_IMAGE
from bibgenie_desktop.zotero.local.children import Children, Owner, relations_of
from bibgenie_desktop.zotero.local.tables import SomeItems, Tables
from bibgenie_desktop.zotero.local.tables import text as _text
from bibgenie_desktop.zotero.model.fields import citation_key, split_date, strip_markup
from bibgenie_desktop.zotero.model.library import (
    Attachment,
    AttachmentKind,
    Collection,
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
        tables = Tables(connection) if only is None else SomeItems(connection, only)
        return _Reader(tables, legacy_keys or {}, relations=only is None, trash=only is None).contents()

    with readable_tables():
        try:
            return read()
        except sqlite3.OperationalError as error:
            if "decode" not in str(error).lower():
                raise
        # one bad text must not hide the rest
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        return read()


def read_frame(connection: sqlite3.Connection) -> Contents:
    """Libraries, collections, colours, saved searches and the trash: all but items and what hangs below."""
    with readable_tables():
        binned = [row for (row,) in Tables(connection).rows("deletedItems", "itemID")]
        return _Reader(SomeItems(connection, binned), {}, relations=False, trash=True).contents()


def rows_just_read(connection: sqlite3.Connection) -> dict[str, int]:
    """The rows of what `read_contents` was last asked for by rows, by id."""
    reader = _Reader(Tables(connection), {}, relations=False, trash=False)
    libraries = reader.libraries()
    chosen = connection.execute(
        "SELECT itemID, libraryID, key FROM items WHERE itemID IN temp.chosen"
    ).fetchall()
    return {f"{libraries[lib].id}-{key}": row for row, lib, key in chosen if lib in libraries}


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
    def __init__(self, tables: Tables, legacy_keys: LegacyKeys, *, relations: bool, trash: bool) -> None:
        self._tables = tables
        self._rows = self._tables.rows
        self._combined = self._tables.combined
        self._legacy_keys = legacy_keys
        self._relations = relations
        self._trash = trash

    def contents(self) -> Contents:
        libraries = self.libraries()
        types: dict[int, str] = dict(self._rows(self._combined("itemTypes"), "itemTypeID", "typeName"))
        trashed = {item for (item,) in self._rows("deletedItems", "itemID")}
        collections, members = self._collections(libraries)

        parents: dict[int, Owner] = {}
        others: dict[str, dict[int, Owner]] = {kind: {} for kind in _CHILD_TYPES}
        binned: dict[int, str] = {}
        columns = ("itemID", "itemTypeID", "libraryID", "key", "dateAdded", "dateModified")
        for item, type_id, library_id, key, added, modified in self._rows("items", *columns):
            library = libraries.get(library_id)
            type_name = types.get(type_id)
            if library is None or type_name is None:
                continue
            if item in trashed:
                binned[item] = f"{library.id}-{key}"
                continue
            owner = (library, key, type_id, added or "", modified or "")
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
                collections=tuple(collections[c] for c in members.get(row, ()) if c in collections),
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

    def libraries(self) -> dict[int, Library]:
        rows = self._rows("groups", "groupID", "libraryID", "name")
        groups = {row: (group, name) for group, row, name in rows}
        found = {}
        for row, kind in self._rows("libraries", "libraryID", "type", order="libraryID"):
            if kind == "user":
                found[row] = Library("u", "My Library")
            elif kind == "group" and row in groups:
                group, name = groups[row]
                found[row] = Library(f"g{group}", _text(name) or f"Group {group}", int(group))
        return found

    def _collections(
        self, libraries: dict[int, Library]
    ) -> tuple[dict[int, Collection], dict[int, list[int]]]:
        columns = ("collectionID", "collectionName", "parentCollectionID", "libraryID", "key")
        rows = {row[0]: row for row in self._rows("collections", *columns)}
        deleted = {row for (row,) in self._rows("deletedCollections", "collectionID")}
        found = {}
        for row, (_, _, _, library_id, key) in rows.items():
            library = libraries.get(library_id)
            if library is None:
                continue
            path: list[str] = []
            seen: set[int] = set()
            at: int | None = row
            while at is not None and at in rows and at not in seen:
                seen.add(at)
                path.insert(0, _text(rows[at][1]))
                at = rows[at][2]
            above = rows.get(rows[row][2])
            parent_id = f"{library.id}-{above[4]}" if above else ""
            binned = bool(seen & deleted)
            found[row] = Collection(f"{library.id}-{key}", library, tuple(path), binned, parent_id)
        members: dict[int, list[int]] = defaultdict(list)
        rows_of_members = self._rows(
            "collectionItems", "itemID", "collectionID", order="collectionID, itemID"
        )
        for item, collection in rows_of_members:
            if collection in found and not found[collection].trashed:
                members[item].append(collection)
        return found, members

    def _fields(self, parents: dict[int, Owner], files: dict[int, Owner]) -> dict[int, dict[str, str]]:
        names: dict[int, str] = dict(self._rows(self._combined("fields"), "fieldID", "fieldName"))
        mapped: dict[int, dict[int, str]] = defaultdict(lambda: dict(names))
        columns = ("itemTypeID", "baseFieldID", "fieldID")
        for type_id, base, field in self._rows(self._combined("baseFieldMappings"), *columns):
            if base in names:
                mapped[type_id][field] = names[base]
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
            if field in named:
                own[named[field]] = value if value.__class__ is str else _text(value)
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
        roles: dict[int, str] = dict(self._rows("creatorTypes", "creatorTypeID", "creatorType"))
        rows = self._rows("itemTypeCreatorTypes", "itemTypeID", "creatorTypeID", "primaryField")
        primary = {role for _, role, first in rows if first}
        rows = self._rows("creators", "creatorID", "firstName", "lastName", "fieldMode")
        people = {row: ("" if mode == 1 else _text(first), _text(last)) for row, first, last, mode in rows}
        made: dict[tuple[int, int], Creator] = {}
        found: dict[int, list[Creator]] = defaultdict(list)
        columns = ("itemID", "creatorID", "creatorTypeID")
        for item, row, role in self._rows("itemCreators", *columns, order="itemID, orderIndex"):
            creator = made.get((row, role))
            if creator is None:
                if row not in people:
                    continue
                first, last = people[row]
                creator = made[row, role] = Creator(roles.get(role, "author"), first, last, role in primary)
            found[item].append(creator)
        return found

    def _tags(self) -> dict[int, list[Tag]]:
        names: dict[int, Any] = dict(self._rows("tags", "tagID", "name"))
        made: dict[tuple[int, int], Tag] = {}
        found: dict[int, list[Tag]] = defaultdict(list)
        for item, row, kind in self._rows("itemTags", "itemID", "tagID", "type"):
            tag = made.get((row, kind))
            if tag is None:
                if row not in names:
                    continue
                tag = made[row, kind] = Tag(_text(names[row]), kind == 1)
            found[item].append(tag)
        return found


def _file_name(stored: str) -> str:
    bare = stored.removeprefix("storage:").removeprefix("attachments:")
    return PurePosixPath(bare.replace("\\", "/")).name


def _suffix(stored: str) -> str:
    return PurePosixPath(_file_name(stored)).suffix.lower()
