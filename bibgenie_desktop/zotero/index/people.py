"""The order of a library by its people: the first author of each item, then its title.

For indexed contents SQLite sorts, by what the index keeps of each item; no item is made for it.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Sequence
from typing import Final

from bibgenie_desktop.zotero.index.conditions import rows_of, select
from bibgenie_desktop.zotero.index.filters import Filters
from bibgenie_desktop.zotero.index.indexed_contents import IndexedItems
from bibgenie_desktop.zotero.index.listing import fitting
from bibgenie_desktop.zotero.index.strips import ids_of
from bibgenie_desktop.zotero.model.folding import key
from bibgenie_desktop.zotero.model.library import Contents, Item
from bibgenie_desktop.zotero.model.ordering import first_name

_RUN: Final = 5_000
"""Items that are sorted at once: one long sort would hold up every other thread."""
_ORDER: Final = " ORDER BY person || ' ' || name, id"


def ids_by_creator(contents: Contents, filters: Filters) -> Sequence[str]:
    """The ids of the items that fit, those without a creator last. Raises `UnknownValue`."""
    items = contents.items
    if not isinstance(items, IndexedItems):
        return by_creator(fitting(contents, filters))
    selection = select(filters, contents)
    where, values = selection.where, selection.values
    if selection.test is not None:
        rows = json.dumps(list(rows_of(selection, items)))
        where, values = "row IN (SELECT value FROM json_each(?))", (rows,)
    where = f" WHERE {where}" if where else ""
    return ids_of(items.state, f"SELECT id AS x FROM item{where}{_ORDER}", values)


def by_creator(items: Iterable[Item]) -> list[str]:
    """The same order of items that are at hand."""
    runs: list[list[tuple[str, str]]] = []
    run: list[tuple[str, str]] = []
    for item in items:
        run.append((f"{first_name(item)} {key(item.title)}", item.id))
        if len(run) == _RUN:
            runs.append(sorted(run))
            run = []
    runs.append(sorted(run))
    return [full_id for _, full_id in heapq.merge(*runs)]
