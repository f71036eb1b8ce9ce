"""The objects zotero.org would give for a library that lies on this computer, made from its tables.

Written from the documentation of the interface, without the application's own reader, so that both can be
compared.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

USER = 4711
MODES = ("imported_file", "imported_url", "linked_file", "linked_url", "embedded_image")
MARKS = {1: "highlight", 2: "note", 3: "image", 4: "ink", 5: "underline", 6: "text"}


@dataclass
class WebLibrary:
    """One library as the server has it. Everything has the version in which it last changed."""

    name: str
    version: int = 1
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    collections: dict[str, dict[str, Any]] = field(default_factory=dict)
    searches: dict[str, dict[str, Any]] = field(default_factory=dict)
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    deleted: list[tuple[int, str, str]] = field(default_factory=list)
    """(version, kind, key) of what is gone."""
    files: dict[str, bytes] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    packed: set[str] = field(default_factory=set)
    """Keys of files that come in an archive."""

    def put(self, kind: str, key: str, data: dict[str, Any], meta: dict[str, Any] | None = None) -> None:
        self.version += 1
        entry = {
            "key": key,
            "version": self.version,
            "library": {},
            "links": {},
            "meta": meta or {},
            "data": {"key": key, "version": self.version, **data},
        }
        getattr(self, kind)[key] = entry

    def change(self, key: str, **data: Any) -> None:
        entry = self.items[key]
        kept = {k: v for k, v in entry["data"].items() if k not in ("key", "version")}
        self.put("items", key, {**kept, **data}, entry["meta"])

    def delete(self, kind: str, key: str) -> None:
        self.version += 1
        del getattr(self, kind)[key]
        self.deleted.append((self.version, kind, key))


def web_libraries(data_dir: Path) -> dict[str, WebLibrary]:
    """By `u` and `g<groupID>`."""
    uri = f"{(data_dir / 'zotero.sqlite').as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as db:
        return _libraries(db, data_dir)


def _libraries(db: sqlite3.Connection, data_dir: Path) -> dict[str, WebLibrary]:
    rows = db.execute("SELECT libraryID, groupID, name FROM libraries LEFT JOIN groups USING (libraryID)")
    ids = {row: ("u", "") if group is None else (f"g{group}", name) for row, group, name in rows}
    kinds = dict(db.execute("SELECT libraryID, type FROM libraries"))
    ids = {row: found for row, found in ids.items() if kinds[row] in ("user", "group")}
    libraries = {id: WebLibrary(name) for id, name in ids.values()}
    keys = dict(db.execute("SELECT itemID, key FROM items"))
    names = dict(db.execute("SELECT collectionID, key FROM collections"))
    binned = {row for (row,) in db.execute("SELECT collectionID FROM deletedCollections")}
    columns = "collectionID, libraryID, key, collectionName, parentCollectionID"
    for row, library, key, name, above in db.execute(f"SELECT {columns} FROM collections"):
        if library in ids:
            data: dict[str, Any] = {"name": name, "parentCollection": names.get(above) or False}
            if row in binned:
                data["deleted"] = True
            libraries[ids[library][0]].put("collections", key, data)
    for library, key, name in db.execute("SELECT libraryID, key, savedSearchName FROM savedSearches"):
        if library in ids:
            libraries[ids[library][0]].put("searches", key, {"name": name, "conditions": []})
    for name, library, value in db.execute("SELECT setting, libraryID, value FROM syncedSettings"):
        if library in ids:
            where = libraries[ids[library][0]]
            where.settings[name] = {"value": json.loads(value), "version": where.version}
    parts = _Parts(db, keys, names)
    trash = {row for (row,) in db.execute("SELECT itemID FROM deletedItems")}
    types = dict(db.execute("SELECT itemTypeID, typeName FROM itemTypes"))
    columns = "itemID, itemTypeID, libraryID, key, dateAdded, dateModified"
    for row, kind, library, key, added, changed in db.execute(f"SELECT {columns} FROM items ORDER BY itemID"):
        if library not in ids:
            continue
        where = libraries[ids[library][0]]
        data = {
            "itemType": types[kind],
            "dateAdded": added.replace(" ", "T") + "Z",
            "dateModified": changed.replace(" ", "T") + "Z",
            "tags": parts.tags.get(row, []),
            "relations": parts.relations.get(row, {}),
            **parts.special(row, types[kind]),
        }
        meta: dict[str, Any] = {}
        for name, value in parts.fields.get(row, []):
            text = str(value)
            if name in ("date", "dateDecided", "dateEnacted", "issueDate"):
                if match := re.fullmatch(r"(\d{4}-\d\d-\d\d) (.*)", text):
                    known, text = match[1].replace("-00", ""), match[2]
                else:
                    known = text[:10]
                if known != "0000":
                    meta["parsedDate"] = known
            elif name == "accessDate" and " " in text:
                text = text.replace(" ", "T") + "Z"
            data[name] = text
        if types[kind] not in ("attachment", "note", "annotation"):
            data["creators"] = parts.creators.get(row, [])
        if "parentItem" not in data and types[kind] != "annotation":
            data["collections"] = parts.collections.get(row, [])
        if row in trash:
            data["deleted"] = 1
        path = data_dir / "storage" / key / str(data.get("filename", ""))
        if data.get("filename") and path.is_file():
            where.files[key] = path.read_bytes()
            data["md5"] = hashlib.md5(where.files[key]).hexdigest()
        where.put("items", key, data, meta)
    return libraries


class _Parts:
    """What belongs to items, by their rows."""

    def __init__(self, db: sqlite3.Connection, keys: dict[int, str], collections: dict[int, str]) -> None:
        self._db, self._keys = db, keys
        self.fields: dict[int, list[tuple[str, Any]]] = defaultdict(list)
        sql = (
            "SELECT itemID, fieldName, value FROM itemData JOIN fields USING (fieldID)"
            " JOIN itemDataValues USING (valueID)"
        )
        for row, name, value in db.execute(sql):
            self.fields[row].append((name, value))
        self.creators: dict[int, list[dict[str, str]]] = defaultdict(list)
        sql = (
            "SELECT itemID, creatorType, firstName, lastName, fieldMode FROM itemCreators"
            " JOIN creators USING (creatorID) JOIN creatorTypes USING (creatorTypeID)"
            " ORDER BY itemID, orderIndex"
        )
        for row, role, first, last, mode in db.execute(sql):
            name = {"name": last} if mode == 1 else {"firstName": first, "lastName": last}
            self.creators[row].append({"creatorType": role, **name})
        self.tags: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for row, name, kind in db.execute("SELECT itemID, name, type FROM itemTags JOIN tags USING (tagID)"):
            self.tags[row].append({"tag": name, "type": 1} if kind else {"tag": name})
        self.relations: dict[int, dict[str, Any]] = defaultdict(dict)
        sql = (
            "SELECT itemID, predicate, object FROM itemRelations JOIN relationPredicates USING (predicateID)"
        )
        for row, predicate, target in db.execute(sql):
            known = self.relations[row].get(predicate)
            uri = target.replace("/users/local/sAmPlE01/", f"/users/{USER}/")
            if known is None:
                self.relations[row][predicate] = uri
            else:
                self.relations[row][predicate] = [*([known] if isinstance(known, str) else known), uri]
        self.collections: dict[int, list[str]] = defaultdict(list)
        for row, collection in db.execute("SELECT itemID, collectionID FROM collectionItems"):
            self.collections[row].append(collections[collection])

    def special(self, row: int, kind: str) -> dict[str, Any]:
        if kind == "note":
            parent, html = self._db.execute(
                "SELECT parentItemID, note FROM itemNotes WHERE itemID = ?", (row,)
            ).fetchone()
            return {"note": html, **self._below(parent)}
        if kind == "attachment":
            sql = "SELECT parentItemID, linkMode, contentType, path FROM itemAttachments WHERE itemID = ?"
            parent, mode, mime, path = self._db.execute(sql, (row,)).fetchone()
            data = {"linkMode": MODES[mode], "contentType": mime or "", "charset": "", **self._below(parent)}
            if MODES[mode] == "linked_file":
                data["path"] = path
            elif path:
                data["filename"] = path.removeprefix("storage:")
            return data
        if kind == "annotation":
            columns = "parentItemID, type, authorName, text, comment, color, pageLabel, sortIndex, position"
            sql = f"SELECT {columns} FROM itemAnnotations WHERE itemID = ?"
            parent, number, *rest = self._db.execute(sql, (row,)).fetchone()
            names = ("AuthorName", "Text", "Comment", "Color", "PageLabel", "SortIndex", "Position")
            values = {f"annotation{n}": v or "" for n, v in zip(names, rest, strict=True)}
            return {"annotationType": MARKS[number], **values, **self._below(parent)}
        return {}

    def _below(self, parent: int | None) -> dict[str, str]:
        return {} if parent is None else {"parentItem": self._keys[parent]}
