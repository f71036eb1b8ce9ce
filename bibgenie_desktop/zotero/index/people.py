"""The order of a library by its people: the first author of each item, then its title.

For indexed contents only people and titles are looked at, piece by piece; no item is made for it.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

from bibgenie_desktop.zotero.index.conditions import rows_of, select
from bibgenie_desktop.zotero.index.filters import Filters
from bibgenie_desktop.zotero.index.indexed_contents import IndexedItems
from bibgenie_desktop.zotero.index.listing import fitting
from bibgenie_desktop.zotero.index.schema import SEPARATOR
from bibgenie_desktop.zotero.model.folding import key
from bibgenie_desktop.zotero.model.library import Contents, Creator, Item

_RUN: Final = 5_000
"""Items that are sorted at once: one long sort would hold up every other thread."""
_NAMES: Final = 20_000
"""People that are remembered while one list is made."""
_NOBODY: Final = chr(0x10FFFF)
"""Comes after every name."""
_PEOPLE: Final = "$[4]"
"""Where the codec writes the creators of an item: role, first name, last name, whether in the main role."""
_LINE: Final = f"""
SELECT id || char({ord(SEPARATOR)}) || name || char({ord(SEPARATOR)}) || CASE
    WHEN json_extract(body, '{_PEOPLE}[0][3]') THEN '[' || json_extract(body, '{_PEOPLE}[0]') || ']'
    ELSE json_extract(body, '{_PEOPLE}') END AS x
FROM item JOIN item_body USING (row) WHERE row IN (SELECT value FROM json_each(?))
"""
"""Mostly the first one is an author, and then the others are not handed over."""

_Line = tuple[str, str]


def ids_by_creator(contents: Contents, filters: Filters) -> list[str]:
    """The ids of the items that fit, those without a creator last. Raises `UnknownValue`."""
    items = contents.items
    if not isinstance(items, IndexedItems):
        return by_creator(fitting(contents, filters))
    rows = rows_of(select(filters, contents), items)
    name_of = lru_cache(_NAMES)(_named)
    return _merged(_indexed(items, rows[at : at + _RUN], name_of) for at in range(0, len(rows), _RUN))


def by_creator(items: Iterable[Item]) -> list[str]:
    """The same order of items that are at hand."""

    def runs() -> Iterator[list[_Line]]:
        run: list[_Line] = []
        for item in items:
            who = key(item.authors[0].sort_name) if item.authors else _NOBODY
            run.append((f"{who} {key(item.title)}", item.id))
            if len(run) == _RUN:
                yield run
                run = []
        yield run

    return _merged(runs())


def _indexed(items: IndexedItems, rows: Sequence[int], name_of: Callable[[str], str]) -> list[_Line]:
    """JSON and folded titles hold no character that separates lines or their parts."""
    run: list[_Line] = []
    for line in items.state.column(_LINE, (json.dumps(list(rows)),)):
        full_id, title, packed = line.split(SEPARATOR, 2)
        run.append((f"{name_of(packed)} {title}", full_id))
    return run


def _named(packed: str) -> str:
    creators: list[Any] = json.loads(packed)
    first = next((c for c in creators if c[3]), creators[0] if creators else None)
    return _NOBODY if first is None else key(Creator(*first).sort_name)


def _merged(runs: Iterable[list[_Line]]) -> list[str]:
    return [full_id for _, full_id in heapq.merge(*(sorted(run) for run in runs))]
