"""What many items of a snapshot have in common, by row: libraries, collections, types, fields, people, tags.

It is read once for all pieces of a library; `reader` joins it to the items.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

from bibgenie_desktop.zotero.local.tables import Tables, text
from bibgenie_desktop.zotero.model.library import Collection, Creator, Library, Tag

T = TypeVar("T")


class _Made(dict[tuple[int, int], T]):
    """Values by two rows, each made when it is first asked for; a known one costs no call."""

    def __init__(self, make: Callable[[int, int], T]) -> None:
        self._make = make

    def __missing__(self, rows: tuple[int, int]) -> T:
        value = self[rows] = self._make(*rows)
        return value


class Shared:
    """Reads a table when it is asked for; equal people and tags are one value each."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self._rows = tables.rows
        self.creators = _Made(self._creator)
        """People by row and role; None where the table has no such row."""
        self.tags = _Made(self._tag)
        """Tags by row and kind; None where the table has no such row."""

    @cached_property
    def libraries(self) -> dict[int, Library]:
        rows = self._rows("groups", "groupID", "libraryID", "name")
        groups = {row: (group, name) for group, row, name in rows}
        found = {}
        for row, kind in self._rows("libraries", "libraryID", "type", order="libraryID"):
            if kind == "user":
                found[row] = Library("u", "My Library")
            elif kind == "group" and row in groups:
                group, name = groups[row]
                found[row] = Library(f"g{group}", text(name) or f"Group {group}", int(group))
        return found

    @cached_property
    def types(self) -> dict[int, str]:
        return dict(self._rows(self.tables.combined("itemTypes"), "itemTypeID", "typeName"))

    @cached_property
    def fields(self) -> defaultdict[int, dict[int, str]]:
        """Names of fields by type of item: what the types call differently has its base name."""
        names: dict[int, str] = dict(self._rows(self.tables.combined("fields"), "fieldID", "fieldName"))
        mapped: defaultdict[int, dict[int, str]] = defaultdict(lambda: dict(names))
        columns = ("itemTypeID", "baseFieldID", "fieldID")
        for type_id, base, field in self._rows(self.tables.combined("baseFieldMappings"), *columns):
            if base in names:
                mapped[type_id][field] = names[base]
        return mapped

    @cached_property
    def collections(self) -> dict[int, Collection]:
        columns = ("collectionID", "collectionName", "parentCollectionID", "libraryID", "key")
        rows = {row[0]: row for row in self._rows("collections", *columns)}
        deleted = {row for (row,) in self._rows("deletedCollections", "collectionID")}
        found = {}
        for row, (_, _, _, library_id, key) in rows.items():
            library = self.libraries.get(library_id)
            if library is None:
                continue
            path: list[str] = []
            seen: set[int] = set()
            at: int | None = row
            while at is not None and at in rows and at not in seen:
                seen.add(at)
                path.insert(0, text(rows[at][1]))
                at = rows[at][2]
            above = rows.get(rows[row][2])
            parent_id = f"{library.id}-{above[4]}" if above else ""
            binned = bool(seen & deleted)
            found[row] = Collection(f"{library.id}-{key}", library, tuple(path), binned, parent_id)
        return found

    def _creator(self, row: int, role: int) -> Creator | None:
        person = self._people.get(row)
        name = self._roles.get(role, "author")
        return Creator(name, *person, role in self._primary) if person is not None else None

    def _tag(self, row: int, kind: int) -> Tag | None:
        return Tag(text(self._tag_names[row]), kind == 1) if row in self._tag_names else None

    @cached_property
    def users(self) -> dict[int, str]:
        return {row: text(name) for row, name in self._rows("users", "userID", "name")}

    @cached_property
    def _people(self) -> dict[int, tuple[str, str]]:
        rows = self._rows("creators", "creatorID", "firstName", "lastName", "fieldMode")
        return {row: ("" if mode == 1 else text(first), text(last)) for row, first, last, mode in rows}

    @cached_property
    def _roles(self) -> dict[int, str]:
        return dict(self._rows("creatorTypes", "creatorTypeID", "creatorType"))

    @cached_property
    def _primary(self) -> set[int]:
        rows = self._rows("itemTypeCreatorTypes", "itemTypeID", "creatorTypeID", "primaryField")
        return {role for _, role, first in rows if first}

    @cached_property
    def _tag_names(self) -> dict[int, Any]:
        return dict(self._rows("tags", "tagID", "name"))
