"""The tables of a snapshot by name: columns and tables that a version lacks read as empty.

What the rows mean is decided by `reader` and `children`; here is only how they are asked for. `SomeItems`
shows them a database of some items only.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AnySet
from typing import Any, TypeAlias

Row: TypeAlias = tuple[Any, ...]
Columns: TypeAlias = Mapping[str, AnySet[str]]

_OF_ITEMS = frozenset(
    (
        *("items", "itemData", "itemCreators", "itemTags", "collectionItems", "retractedItems"),
        *("itemAttachments", "itemNotes", "itemAnnotations", "fulltextItems", "groupItems"),
    )
)
_NAMED_BY = {
    "creators": ("creatorID", "itemCreators"),
    "tags": ("tagID", "itemTags"),
}


class Tables:
    """Reads one connection. Columns come and go between versions, so none is taken by position."""

    def __init__(self, connection: sqlite3.Connection, columns: Columns | None = None) -> None:
        self._connection = connection
        self._columns = _columns(connection) if columns is None else columns

    def only(self, items: Iterable[int]) -> SomeItems:
        """The same database, with these top-level items alone; the one asked for before is then void."""
        return SomeItems(self._connection, self._columns, items)

    def rows(self, table: str, *columns: str, order: str = "") -> Iterator[Row]:
        """The named columns of a table; without the table or its first column, nothing."""
        present = self._columns.get(table, set())
        if not columns or columns[0] not in present:
            return iter(())
        names = ", ".join(f'"{c}"' if c in present else "NULL" for c in columns)
        order = order or self._order(table)
        tail = f" ORDER BY {order}" if order else ""
        return self._connection.execute(f'SELECT {names} FROM "{table}"{self._where(table)}{tail}')

    def _where(self, table: str) -> str:
        return ""

    def _order(self, table: str) -> str:
        return ""

    def values(self) -> Iterator[Row]:
        """(item, field, value) of everything that was filled in."""
        texts: dict[int, Any] = dict(self.rows("itemDataValues", "valueID", "value"))
        for item, field, value in self.rows("itemData", "itemID", "fieldID", "valueID"):
            if (found := texts.get(value)) is not None:
                yield item, field, found

    def has(self, table: str, column: str) -> bool:
        return column in self._columns.get(table, set())

    def combined(self, table: str) -> str:
        """The table with the custom types and fields in it, where there is one with rows."""
        name = f"{table}Combined"
        if name not in self._columns:
            return table
        return name if self._connection.execute(f'SELECT 1 FROM "{name}" LIMIT 1').fetchone() else table


class SomeItems(Tables):
    """Only the rows that concern some top-level items and what hangs below them; small tables stay whole."""

    def __init__(self, connection: sqlite3.Connection, columns: Columns, items: Iterable[int]) -> None:
        super().__init__(connection, columns)
        connection.execute("CREATE TEMP TABLE IF NOT EXISTS chosen (itemID INTEGER PRIMARY KEY)")
        connection.execute("DELETE FROM temp.chosen")
        connection.execute(
            "INSERT OR IGNORE INTO temp.chosen SELECT value FROM json_each(?)", (json.dumps(list(items)),)
        )
        for table in ("itemAttachments", "itemNotes", "itemAnnotations"):  # each may hang below those before
            if self.has(table, "parentItemID"):
                connection.execute(
                    f"INSERT OR IGNORE INTO temp.chosen SELECT itemID FROM {table}"
                    " WHERE parentItemID IN temp.chosen"
                )

    def values(self) -> Iterator[Row]:
        if not self.has("itemData", "itemID") or not self.has("itemDataValues", "value"):
            return iter(())
        return self._connection.execute(
            "SELECT d.itemID, d.fieldID, v.value FROM temp.chosen c"
            " CROSS JOIN itemData d ON d.itemID = c.itemID"
            " CROSS JOIN itemDataValues v ON v.valueID = d.valueID WHERE v.value IS NOT NULL"
        )

    def _where(self, table: str) -> str:
        if table in _OF_ITEMS:
            return " WHERE itemID IN temp.chosen"
        if table in _NAMED_BY:
            column, using = _NAMED_BY[table]
            return f" WHERE {column} IN (SELECT {column} FROM {using} WHERE itemID IN temp.chosen)"
        return ""

    def _order(self, table: str) -> str:
        """As the whole table is read: in the order in which rows were made."""
        return "rowid" if table == "itemTags" else ""


def _columns(connection: sqlite3.Connection) -> Columns:
    names = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
    return {
        table: {column[1] for column in connection.execute(f'PRAGMA table_info("{table}")')}
        for (table,) in names.fetchall()
    }


def text(value: object) -> str:
    """A value as text, whatever SQLite holds."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)
