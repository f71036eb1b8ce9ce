"""The tables of a snapshot by name: columns and tables that a version lacks read as empty.

What the rows mean is decided by `reader` and `children`; here is only how they are asked for. `SomeItems`
shows them a database of some items only.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

Row: TypeAlias = tuple[Any, ...]

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

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        names = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        self._columns = {
            table: {column[1] for column in connection.execute(f'PRAGMA table_info("{table}")')}
            for (table,) in names.fetchall()
        }

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

    def __init__(self, connection: sqlite3.Connection, items: Iterable[int]) -> None:
        super().__init__(connection)
        connection.execute("CREATE TEMP TABLE IF NOT EXISTS chosen (itemID INTEGER PRIMARY KEY)")
        connection.execute("DELETE FROM temp.chosen")
        connection.executemany("INSERT OR IGNORE INTO temp.chosen VALUES (?)", ((i,) for i in items))
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


def text(value: object) -> str:
    """A value as text, whatever SQLite holds."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)
