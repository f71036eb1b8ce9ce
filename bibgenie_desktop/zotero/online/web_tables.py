"""Keeping zotero.org's objects in tables that have the shape of Zotero's own database.

So `reader` makes the library of both by one set of rules. Here is only how an object is written down and
taken out again; what is asked for, and when, is decided in `web_sync`.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from bibgenie_desktop.domain.locators import KEY
from bibgenie_desktop.zotero.online.web_schema import (
    BASE_FIELDS,
    FIRST_ROLES,
    LINK_MODES,
    MARK_TYPES,
    NO_FIELDS,
)
from bibgenie_desktop.zotero.online.web_values import (
    as_json,
    entries,
    multipart,
    note_title,
    number,
    part,
    relations,
    said,
    stored_path,
    stored_time,
)

Kind = Literal["items", "collections", "searches"]

LAYOUT: Final = 2
"""Another number: the tables are of another version and the library is fetched anew."""

TABLES: Final = """
CREATE TABLE version (schema TEXT PRIMARY KEY, version INT NOT NULL);
CREATE TABLE account (userID INTEGER PRIMARY KEY, name TEXT NOT NULL, synced INT NOT NULL DEFAULT 0);
CREATE TABLE libraries (libraryID INTEGER PRIMARY KEY, type TEXT NOT NULL, id TEXT NOT NULL UNIQUE,
    version INT NOT NULL DEFAULT 0, complete INT NOT NULL DEFAULT 0);
CREATE TABLE arriving (turn INTEGER PRIMARY KEY, libraryID INT NOT NULL
    REFERENCES libraries ON DELETE CASCADE, kind TEXT NOT NULL, key TEXT NOT NULL, version INT NOT NULL,
    object TEXT NOT NULL, UNIQUE (libraryID, kind, key));
CREATE TABLE groups (groupID INTEGER PRIMARY KEY, libraryID INT NOT NULL UNIQUE
    REFERENCES libraries ON DELETE CASCADE, name TEXT NOT NULL);
CREATE TABLE users (userID INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE itemTypes (itemTypeID INTEGER PRIMARY KEY, typeName TEXT NOT NULL UNIQUE);
CREATE TABLE fields (fieldID INTEGER PRIMARY KEY, fieldName TEXT NOT NULL UNIQUE);
CREATE TABLE creatorTypes (creatorTypeID INTEGER PRIMARY KEY, creatorType TEXT NOT NULL UNIQUE);
CREATE TABLE itemTypeCreatorTypes (itemTypeID INT, creatorTypeID INT, primaryField INT);
CREATE TABLE relationPredicates (predicateID INTEGER PRIMARY KEY, predicate TEXT NOT NULL UNIQUE);
CREATE TABLE tags (tagID INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE creators (creatorID INTEGER PRIMARY KEY, firstName TEXT NOT NULL, lastName TEXT NOT NULL,
    fieldMode INT NOT NULL, UNIQUE (lastName, firstName, fieldMode));
CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value TEXT NOT NULL UNIQUE);
CREATE TABLE items (itemID INTEGER PRIMARY KEY, itemTypeID INT, dateAdded TEXT, dateModified TEXT,
    libraryID INT NOT NULL REFERENCES libraries ON DELETE CASCADE, key TEXT NOT NULL,
    version INT NOT NULL DEFAULT 0, deleted INT NOT NULL DEFAULT 0, UNIQUE (libraryID, key));
CREATE TABLE itemData (itemID INT NOT NULL REFERENCES items ON DELETE CASCADE, fieldID INT NOT NULL,
    valueID INT NOT NULL, PRIMARY KEY (itemID, fieldID));
CREATE TABLE itemNotes (itemID INTEGER PRIMARY KEY REFERENCES items ON DELETE CASCADE, parentItemID INT,
    note TEXT, title TEXT);
CREATE TABLE itemAttachments (itemID INTEGER PRIMARY KEY REFERENCES items ON DELETE CASCADE,
    parentItemID INT, linkMode INT, contentType TEXT, path TEXT, storageHash TEXT, fileSize INT);
CREATE TABLE itemAnnotations (itemID INTEGER PRIMARY KEY REFERENCES items ON DELETE CASCADE,
    parentItemID INT, type INT, authorName TEXT, text TEXT, comment TEXT, color TEXT, pageLabel TEXT,
    sortIndex TEXT, position TEXT, isExternal INT);
CREATE TABLE itemCreators (itemID INT NOT NULL REFERENCES items ON DELETE CASCADE, creatorID INT NOT NULL,
    creatorTypeID INT NOT NULL, orderIndex INT NOT NULL, PRIMARY KEY (itemID, orderIndex));
CREATE TABLE itemTags (itemID INT NOT NULL REFERENCES items ON DELETE CASCADE, tagID INT NOT NULL,
    type INT NOT NULL, PRIMARY KEY (itemID, tagID));
CREATE TABLE itemRelations (itemID INT NOT NULL REFERENCES items ON DELETE CASCADE, predicateID INT NOT NULL,
    object TEXT NOT NULL, PRIMARY KEY (itemID, predicateID, object));
CREATE TABLE groupItems (itemID INTEGER PRIMARY KEY REFERENCES items ON DELETE CASCADE, createdByUserID INT);
CREATE TABLE memberships (itemID INT NOT NULL REFERENCES items ON DELETE CASCADE, libraryID INT NOT NULL,
    collectionKey TEXT NOT NULL, PRIMARY KEY (itemID, collectionKey));
CREATE TABLE fetchedCollections (collectionID INTEGER PRIMARY KEY, libraryID INT NOT NULL
    REFERENCES libraries ON DELETE CASCADE, key TEXT NOT NULL, version INT NOT NULL, name TEXT NOT NULL,
    parentKey TEXT, deleted INT NOT NULL, UNIQUE (libraryID, key));
CREATE TABLE savedSearches (savedSearchID INTEGER PRIMARY KEY, savedSearchName TEXT NOT NULL,
    libraryID INT NOT NULL REFERENCES libraries ON DELETE CASCADE, key TEXT NOT NULL, version INT NOT NULL,
    deleted INT NOT NULL, UNIQUE (libraryID, key));
CREATE TABLE syncedSettings (setting TEXT NOT NULL, libraryID INT NOT NULL
    REFERENCES libraries ON DELETE CASCADE, value TEXT NOT NULL, PRIMARY KEY (setting, libraryID));
CREATE VIEW collections AS SELECT c.collectionID, c.name AS collectionName,
    p.collectionID AS parentCollectionID, c.libraryID, c.key FROM fetchedCollections c
    LEFT JOIN fetchedCollections p ON p.libraryID = c.libraryID AND p.key = c.parentKey;
CREATE VIEW collectionItems AS SELECT m.itemID, c.collectionID FROM memberships m
    JOIN fetchedCollections c ON c.libraryID = m.libraryID AND c.key = m.collectionKey;
CREATE VIEW deletedItems AS SELECT itemID FROM items WHERE deleted;
CREATE VIEW deletedCollections AS SELECT collectionID FROM fetchedCollections WHERE deleted;
CREATE VIEW deletedSearches AS SELECT savedSearchID FROM savedSearches WHERE deleted;
"""

_OBJECTS: Final[Mapping[Kind, str]] = {
    "items": "items",
    "collections": "fetchedCollections",
    "searches": "savedSearches",
}
_PARTS: Final = (
    *("itemData", "itemNotes", "itemAttachments", "itemAnnotations", "itemCreators", "itemTags"),
    *("itemRelations", "memberships", "groupItems"),
)


def create(connection: sqlite3.Connection) -> None:
    connection.executescript(TABLES)
    connection.execute("INSERT INTO version VALUES ('bibgenie-web', ?)", (LAYOUT,))
    connection.executemany("INSERT INTO creatorTypes (creatorType) VALUES (?)", [(r,) for r in FIRST_ROLES])
    connection.execute("INSERT INTO itemTypeCreatorTypes SELECT 0, creatorTypeID, 1 FROM creatorTypes")


class Writer:
    """Writes objects of one library (`row`) through a connection whose transaction is the caller's."""

    def __init__(self, connection: sqlite3.Connection, row: int) -> None:
        self._db = connection
        self._row = row
        self._known: dict[tuple[str, object], int] = {}

    def versions(self, kind: Kind) -> dict[str, int]:
        """By key; a parent that is named but was not fetched yet has none."""
        sql = f"SELECT key, version FROM {_OBJECTS[kind]} WHERE libraryID = ? AND version > 0"
        return dict(self._db.execute(sql, (self._row,)))

    def put(self, kind: Kind, objects: Iterable[Mapping[str, Any]]) -> None:
        """Objects as the server gives them; one without a proper key is left out."""
        write = {"items": self._put_item, "collections": self._put_collection, "searches": self._put_search}
        for entry in objects:
            key = said(entry.get("key"))
            if re.fullmatch(KEY, key):
                write[kind](key, number(entry.get("version")), part(entry, "data"), entry)

    def drop(self, kind: Kind, keys: Iterable[str]) -> None:
        sql = f"DELETE FROM {_OBJECTS[kind]} WHERE libraryID = ? AND key = ?"
        self._db.executemany(sql, [(self._row, key) for key in keys])

    def put_setting(self, name: str, value: object) -> None:
        sql = "INSERT OR REPLACE INTO syncedSettings VALUES (?, ?, ?)"
        self._db.execute(sql, (said(name), self._row, as_json(value)))

    def drop_setting(self, name: str) -> None:
        sql = "DELETE FROM syncedSettings WHERE setting = ? AND libraryID = ?"
        self._db.execute(sql, (said(name), self._row))

    def setting_names(self) -> set[str]:
        sql = "SELECT setting FROM syncedSettings WHERE libraryID = ?"
        return {name for (name,) in self._db.execute(sql, (self._row,))}

    # -- objects

    def _put_collection(self, key: str, version: int, data: dict[str, Any], _: Mapping[str, Any]) -> None:
        sql = (
            "INSERT INTO fetchedCollections (libraryID, key, version, name, parentKey, deleted)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (libraryID, key)"
            " DO UPDATE SET version = excluded.version, name = excluded.name,"
            " parentKey = excluded.parentKey, deleted = excluded.deleted"
        )
        above = said(data.get("parentCollection")) or None
        values = (self._row, key, version, said(data.get("name")), above, bool(data.get("deleted")))
        self._db.execute(sql, values)

    def _put_search(self, key: str, version: int, data: dict[str, Any], _: Mapping[str, Any]) -> None:
        sql = (
            "INSERT INTO savedSearches (savedSearchName, libraryID, key, version, deleted)"
            " VALUES (?, ?, ?, ?, ?) ON CONFLICT (libraryID, key) DO UPDATE SET version = excluded.version,"
            " savedSearchName = excluded.savedSearchName, deleted = excluded.deleted"
        )
        self._db.execute(sql, (said(data.get("name")), self._row, key, version, bool(data.get("deleted"))))

    def _put_item(self, key: str, version: int, data: dict[str, Any], entry: Mapping[str, Any]) -> None:
        meta, links = part(entry, "meta"), part(entry, "links")
        kind = said(data.get("itemType"))
        row = self._item_row(key)
        for table in _PARTS:
            self._db.execute(f"DELETE FROM {table} WHERE itemID = ?", (row,))
        self._db.execute(
            "UPDATE items SET itemTypeID = ?, dateAdded = ?, dateModified = ?, version = ?, deleted = ?"
            " WHERE itemID = ?",
            (
                self._id("itemTypes", "itemTypeID", "typeName", kind),
                stored_time(said(data.get("dateAdded"))),
                stored_time(said(data.get("dateModified"))),
                max(1, version),
                bool(data.get("deleted")),
                row,
            ),
        )
        above = said(data.get("parentItem"))
        parent = self._item_row(above) if above else None
        if kind == "attachment":
            self._put_attachment(row, parent, data, number(part(links, "enclosure").get("length")))
        elif kind == "note":
            self._put_note(row, parent, data)
        elif kind == "annotation":
            self._put_annotation(row, parent, data)
        self._put_fields(row, data, said(meta.get("parsedDate")))
        self._put_creators(row, data)
        self._put_links(row, data, meta)

    def _put_fields(self, row: int, data: dict[str, Any], parsed: str) -> None:
        for name, value in data.items():
            text = said(value)
            if name in NO_FIELDS or name.startswith("annotation") or not text:
                continue
            base = BASE_FIELDS.get(name, said(name))
            if base == "date":
                text = multipart(text, parsed)
            elif name == "accessDate":
                text = stored_time(text)
            self._db.execute(
                "INSERT OR REPLACE INTO itemData VALUES (?, ?, ?)",
                (
                    row,
                    self._id("fields", "fieldID", "fieldName", base),
                    self._id("itemDataValues", "valueID", "value", text, keep=False),
                ),
            )

    def _put_attachment(self, row: int, parent: int | None, data: dict[str, Any], size: int) -> None:
        self._db.execute(
            "INSERT INTO itemAttachments VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                row,
                parent,
                LINK_MODES.get(said(data.get("linkMode")), 0),
                said(data.get("contentType")),
                stored_path(data),
                said(data.get("md5")),
                size,
            ),
        )
        if said(data.get("note")).strip():
            self._put_note(row, parent, data)

    def _put_note(self, row: int, parent: int | None, data: dict[str, Any]) -> None:
        html = said(data.get("note"))
        self._db.execute("INSERT INTO itemNotes VALUES (?, ?, ?, ?)", (row, parent, html, note_title(html)))

    def _put_annotation(self, row: int, parent: int | None, data: dict[str, Any]) -> None:
        names = ("AuthorName", "Text", "Comment", "Color", "PageLabel", "SortIndex", "Position")
        values = [said(data.get(f"annotation{name}")) for name in names]
        kind = MARK_TYPES.get(said(data.get("annotationType")), 0)
        self._db.execute(
            f"INSERT INTO itemAnnotations VALUES (?, ?, ?, {', '.join('?' * 7)}, ?)",
            (row, parent, kind, *values, bool(data.get("annotationIsExternal"))),
        )

    def _put_creators(self, row: int, data: dict[str, Any]) -> None:
        for order, entry in enumerate(entries(data, "creators")):
            whole = said(entry.get("name"))
            name = ("", whole, 1) if whole else (said(entry.get("firstName")), said(entry.get("lastName")), 0)
            role = said(entry.get("creatorType")) or "author"
            self._db.execute(
                "INSERT INTO itemCreators VALUES (?, ?, ?, ?)",
                (
                    row,
                    self._creator(name),
                    self._id("creatorTypes", "creatorTypeID", "creatorType", role),
                    order,
                ),
            )

    def _put_links(self, row: int, data: dict[str, Any], meta: dict[str, Any]) -> None:
        """Tags, relations, collections, and who made it."""
        for entry in entries(data, "tags"):
            tag = self._id("tags", "tagID", "name", said(entry.get("tag")))
            sql = "INSERT OR IGNORE INTO itemTags VALUES (?, ?, ?)"
            self._db.execute(sql, (row, tag, number(entry.get("type"))))
        for predicate, target in relations(data):
            of = self._id("relationPredicates", "predicateID", "predicate", predicate)
            self._db.execute("INSERT OR IGNORE INTO itemRelations VALUES (?, ?, ?)", (row, of, target))
        member_of = data.get("collections")
        for key in member_of if isinstance(member_of, list) else ():
            sql = "INSERT OR IGNORE INTO memberships VALUES (?, ?, ?)"
            self._db.execute(sql, (row, self._row, said(key)))
        maker = part(meta, "createdByUser")
        if user := number(maker.get("id")):
            name = said(maker.get("name")) or said(maker.get("username"))
            self._db.execute("INSERT OR REPLACE INTO users VALUES (?, ?)", (user, name))
            self._db.execute("INSERT INTO groupItems VALUES (?, ?)", (row, user))

    # -- rows

    def _item_row(self, key: str) -> int:
        """The row of an item; one without a type, which nothing shows, until it is fetched."""
        self._db.execute("INSERT OR IGNORE INTO items (libraryID, key) VALUES (?, ?)", (self._row, key))
        sql = "SELECT itemID FROM items WHERE libraryID = ? AND key = ?"
        return int(self._db.execute(sql, (self._row, key)).fetchone()[0])

    def _id(self, table: str, id_name: str, column: str, value: str, *, keep: bool = True) -> int:
        if (found := self._known.get((table, value))) is not None:
            return found
        self._db.execute(f"INSERT OR IGNORE INTO {table} ({column}) VALUES (?)", (value,))
        row = int(
            self._db.execute(f"SELECT {id_name} FROM {table} WHERE {column} = ?", (value,)).fetchone()[0]
        )
        if keep:
            self._known[table, value] = row
        return row

    def _creator(self, name: tuple[str, str, int]) -> int:
        if (found := self._known.get(("creators", name))) is not None:
            return found
        sql = "INSERT OR IGNORE INTO creators (firstName, lastName, fieldMode) VALUES (?, ?, ?)"
        self._db.execute(sql, name)
        sql = "SELECT creatorID FROM creators WHERE firstName = ? AND lastName = ? AND fieldMode = ?"
        row = int(self._db.execute(sql, name).fetchone()[0])
        self._known["creators", name] = row
        return row
