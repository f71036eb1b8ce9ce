"""What a synchronisation has fetched of a library whose new state is not complete yet, kept apart from it.

Objects wait as the server gave them until all of them are there; then they go into the tables in one
transaction, so that nobody ever sees a state that is half old and half new.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from bibgenie_desktop.domain.locators import KEY
from bibgenie_desktop.zotero.online.web_tables import Kind, Writer
from bibgenie_desktop.zotero.online.web_values import as_json, number, said

_SETTINGS: Final = "settings"
_AT_ONCE: Final = 500
"""Objects that are written before it is asked whether to go on."""


class Arriving:
    """Of one library (`row`), through a connection whose transaction is the caller's."""

    def __init__(self, connection: sqlite3.Connection, row: int) -> None:
        self._db = connection
        self._row = row

    def begin(self, version: int) -> None:
        """Keeps the items that came after a version, which the tables have; the rest comes again anyway."""
        sql = "DELETE FROM arriving WHERE libraryID = ? AND (kind != 'items' OR version <= ?)"
        self._db.execute(sql, (self._row, version))

    def put(self, kind: Kind, objects: Iterable[Mapping[str, Any]]) -> None:
        """Objects as the server gives them; one without a proper key is left out."""
        for entry in objects:
            key = said(entry.get("key"))
            if re.fullmatch(KEY, key):
                self._keep(kind, key, max(1, number(entry.get("version"))), entry)

    def put_setting(self, name: str, value: object) -> None:
        self._keep(_SETTINGS, said(name), 0, value)

    def versions(self, kind: Kind) -> dict[str, int]:
        sql = "SELECT key, version FROM arriving WHERE libraryID = ? AND kind = ?"
        return dict(self._db.execute(sql, (self._row, kind)))

    def settle(self, writer: Writer, kept: Mapping[Kind, Collection[str]], check: Callable[[], None]) -> None:
        """Writes what waits into the tables: of each kind the objects that are `kept`, and all settings."""
        for name, value in self._waiting(_SETTINGS):
            writer.put_setting(name, value)
        for kind, keys in kept.items():
            found = (entry for key, entry in self._waiting(kind) if key in keys)
            while some := list(islice(found, _AT_ONCE)):
                check()
                writer.put(kind, some)
        self._db.execute("DELETE FROM arriving WHERE libraryID = ?", (self._row,))

    def _waiting(self, kind: str) -> Iterator[tuple[str, Any]]:
        # In the order in which they came, oldest first; not by an index, which would sort all of them.
        sql = "SELECT key, object FROM arriving NOT INDEXED WHERE libraryID = ? AND kind = ? ORDER BY turn"
        for key, text in self._db.execute(sql, (self._row, kind)):
            yield key, json.loads(text)

    def _keep(self, kind: str, key: str, version: int, value: object) -> None:
        sql = "INSERT OR REPLACE INTO arriving VALUES (NULL, ?, ?, ?, ?, ?)"
        self._db.execute(sql, (self._row, kind, key, version, as_json(value)))
