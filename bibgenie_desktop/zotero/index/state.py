"""One state of a library as the index holds it: connections that see nothing of later changes.

Three threads may ask at once, so that a short question of the window need not wait for a search and for texts
that are being indexed; whoever walks through everything asks in pieces. A state is let go of when nobody uses
it any more.
"""

from __future__ import annotations

import queue
import sqlite3
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.zotero.index import schema as index_schema

PIECE: Final = 256
AT_ONCE: Final = 3


class IndexState:
    """Raises `sqlite3.Error` for a file that is no complete index of this version.

    Nobody writes while it is made, so that its connections see the same.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged = False
        self._free: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue()
        opened = [_pinned(path)]
        self._close = weakref.finalize(self, _close, opened)
        self.facts = index_schema.facts(opened[0])
        if self.facts.get("version") != index_schema.VERSION or self.facts.get("complete") != "yes":
            self._close()
            raise sqlite3.DatabaseError("the index is of another version or was not finished")
        opened += [_pinned(path) for _ in range(AT_ONCE - 1)]
        for connection in opened:
            self._free.put(connection)

    def rows(self, question: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Raises `LibraryUnavailable` for a damaged file, and remembers it."""
        connection = self._free.get()
        try:
            return connection.execute(question, values).fetchall()
        except sqlite3.DatabaseError as error:
            self.damaged = True
            raise LibraryUnavailable(
                "The index of the library is damaged.", "It is being made anew: try again in a moment."
            ) from error
        finally:
            self._free.put(connection)

    def column(self, question: str, values: Sequence[object] = ()) -> list[str]:
        """The one column of a question, called `x` there, in its order.

        SQLite hands all of it over at once: a long answer taken row by row would trade the interpreter's lock
        with the event loop for every row.
        """
        found = self.row(f"SELECT group_concat(x, char(10)) FROM ({question})", values)
        return found[0].split("\n") if found is not None and found[0] else []

    def row(self, question: str, values: Sequence[object] = ()) -> tuple[Any, ...] | None:
        found = self.rows(question, values)
        return found[0] if found else None

    def pieces(self, columns: str, table: str, row: str = "row") -> Iterator[list[tuple[Any, ...]]]:
        """All rows of a table in its own order, the first column being where they stand in it."""
        last = -1
        question = f"SELECT {row}, {columns} FROM {table} WHERE {row} > ? ORDER BY {row} LIMIT {PIECE}"
        while found := self.rows(question, (last,)):
            yield found
            last = found[-1][0]


def _pinned(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA query_only=1")
        connection.execute("PRAGMA cache_size=-16384")
        connection.execute("BEGIN")  # from the first question on it sees this state, and no later one
        connection.execute("SELECT count(*) FROM fact").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def _close(connections: list[sqlite3.Connection]) -> None:
    for connection in connections:
        connection.close()
