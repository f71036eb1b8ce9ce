"""The tables of a snapshot by name: columns and tables that a version lacks read as empty.

What the rows mean is decided by `reader` and `children`; here is only how they are asked for.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any, TypeAlias

Row: TypeAlias = tuple[Any, ...]


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
        tail = f" ORDER BY {order}" if order else ""
        return self._connection.execute(f'SELECT {names} FROM "{table}"{tail}')

    def has(self, table: str, column: str) -> bool:
        return column in self._columns.get(table, set())

    def combined(self, table: str) -> str:
        """The table with the custom types and fields in it, where there is one with rows."""
        name = f"{table}Combined"
        if name not in self._columns:
            return table
        return name if self._connection.execute(f'SELECT 1 FROM "{name}" LIMIT 1').fetchone() else table


def text(value: object) -> str:
    """A value as text, whatever SQLite holds."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)
