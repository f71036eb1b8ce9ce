"""Which items of a library fit: all of them, in order, without making those that nobody looks at.

For contents in memory each item is looked at; for indexed ones the index decides, and says the same.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Final, Literal

from bibgenie_desktop.zotero.index.conditions import rows_of, select
from bibgenie_desktop.zotero.index.filters import Filters, compile_filters
from bibgenie_desktop.zotero.index.indexed_contents import IndexedItems
from bibgenie_desktop.zotero.index.schema import SEPARATOR
from bibgenie_desktop.zotero.index.strips import ids_of
from bibgenie_desktop.zotero.index.terms import expression
from bibgenie_desktop.zotero.model.folding import key, words
from bibgenie_desktop.zotero.model.library import Contents, Item

Order = Literal["title", "year", "date_added", "date_modified"]
Common = Literal["same_collection", "shared_tags", "same_author"]

_KEYS: Final[dict[Order, Callable[[Item], tuple[str, str]]]] = {
    "title": lambda i: (key(i.title), i.id),
    "year": lambda i: (i.sort_date, i.id),
    "date_added": lambda i: (i.added, i.id),
    "date_modified": lambda i: (i.modified, i.id),
}
_COLUMNS: Final[dict[Order, str]] = {
    "title": "name",
    "year": "dated",
    "date_added": "added",
    "date_modified": "modified",
}


def fitting(contents: Contents, filters: Filters) -> Iterable[Item]:
    """Raises `UnknownValue`."""
    items = contents.items
    if isinstance(items, IndexedItems):
        return items.of(rows_of(select(filters, contents), items))
    accepts = compile_filters(filters, contents)[0]
    return (i for i in items.values() if accepts is None or accepts(i))


def fitting_ids(contents: Contents, filters: Filters) -> Container[str] | None:
    """The ids of the items that fit, None for all. Raises `UnknownValue`."""
    items = contents.items
    if not isinstance(items, IndexedItems):
        accepts = compile_filters(filters, contents)[0]
        return None if accepts is None else {i.id for i in items.values() if accepts(i)}
    selection = select(filters, contents)
    if not selection.where and selection.test is None:
        return None
    if selection.test is not None:
        return {i.id for i in fitting(contents, filters)}
    return {*items.state.column(f"SELECT id AS x FROM item WHERE {selection.where}", selection.values)}


def count_of(contents: Contents, filters: Filters) -> int:
    """How many items fit. Raises `UnknownValue`."""
    items = contents.items
    if not isinstance(items, IndexedItems):
        return sum(1 for _ in fitting(contents, filters))
    selection = select(filters, contents)
    if selection.test is not None:
        return len(rows_of(selection, items))
    where = f" WHERE {selection.where}" if selection.where else ""
    counted = items.state.row(f"SELECT count(*) FROM item{where}", selection.values)
    return int(counted[0]) if counted else 0


def ordered_ids(
    contents: Contents,
    filters: Filters,
    order: Order,
    *,
    only: frozenset[str] | None = None,
    unfiled: bool = False,
    most: int | None = None,
) -> Sequence[str]:
    """The ids of the items that fit, or the first of them; `only` those right in these collections.

    Raises `UnknownValue`.
    """
    down = order != "title"
    items = contents.items
    if not isinstance(items, IndexedItems):
        found = [
            i
            for i in fitting(contents, filters)
            if (only is None or any(c.id in only for c in i.collections)) and not (unfiled and i.collections)
        ]
        found.sort(key=_KEYS[order], reverse=down)
        return [i.id for i in found[:most]]
    selection = select(filters, contents)
    conditions, values = [selection.where] if selection.where else [], list(selection.values)
    if only is not None:
        marks = ", ".join("?" * len(only))
        conditions.append(f"row IN (SELECT item FROM member WHERE collection IN ({marks}))")
        values += sorted(only)
    if unfiled:
        conditions.append("collections = ''")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    way = "DESC" if down else "ASC"
    question = f"SELECT id AS x FROM item{where} ORDER BY {_COLUMNS[order]} {way}, id {way} LIMIT ?"
    return ids_of(items.state, question, (*values, -1 if most is None else most))


def candidates(contents: Contents, item: Item, common: Common) -> Iterable[Item]:
    """At least all other items that have something in common with one."""
    items = contents.items
    if not isinstance(items, IndexedItems):
        return items.values()
    conditions: list[str] = []
    values: list[str] = []
    match common:
        case "same_collection":
            values = [c.id for c in item.collections]
            if values:
                marks = ", ".join("?" * len(values))
                conditions = [f"row IN (SELECT item FROM member WHERE collection IN ({marks}))"]
        case "shared_tags":
            values = [f"{SEPARATOR}{key(t.name)}{SEPARATOR}" for t in item.tags]
            conditions = ["instr(tags, ?)"] * len(values)
        case "same_author":
            for creator in item.creators:
                if not (terms := words(creator.sort_name)):
                    return items.values()
                conditions.append("row IN (SELECT rowid FROM item_words WHERE item_words MATCH ?)")
                values.append(f"{{creators}} : ({expression(terms)})")
    if not conditions:
        return ()
    rows = items.state.rows(f"SELECT row FROM item WHERE {' OR '.join(conditions)}", tuple(values))
    return items.of([row for (row,) in rows])
