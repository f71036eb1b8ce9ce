"""The filters of a search as conditions that the index decides itself, with the same meaning as in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bibgenie_desktop.zotero.index import strips
from bibgenie_desktop.zotero.index.filters import (
    Filters,
    ItemTest,
    compile_filters,
    find_collections,
    find_library,
    find_type,
)
from bibgenie_desktop.zotero.index.indexed_contents import IndexedItems
from bibgenie_desktop.zotero.index.schema import SEPARATOR
from bibgenie_desktop.zotero.index.terms import expression
from bibgenie_desktop.zotero.model.fields import bare_doi
from bibgenie_desktop.zotero.model.folding import key, words
from bibgenie_desktop.zotero.model.library import Contents


@dataclass(frozen=True, slots=True)
class Selection:
    """`where` is empty for all items. `test` must then be passed as well: words in one column only."""

    where: str
    values: tuple[object, ...]
    test: ItemTest | None
    scope: str


def select(filters: Filters, contents: Contents) -> Selection:
    """Raises `UnknownValue` for a filter that names nothing in the library."""
    _, scope = compile_filters(filters, contents)
    parts: list[str] = []
    values: list[object] = []

    def condition(text: str, *of: object) -> None:
        parts.append(text)
        values.extend(of)

    if filters.library:
        condition("library = ?", find_library(filters.library, contents))
    if filters.collection:
        chosen = sorted(find_collections(filters.collection, contents)[0])
        marks = ", ".join("?" * len(chosen))
        condition(f"row IN (SELECT item FROM member WHERE collection IN ({marks}))", *chosen)
    if filters.item_type:
        condition("type = ?", find_type(filters.item_type, contents))
    if filters.tags:
        joint = " OR " if filters.tags_mode == "any" else " AND "
        found = [f"{SEPARATOR}{key(t)}{SEPARATOR}" for t in filters.tags]
        condition(f"({joint.join(['instr(tags, ?)'] * len(found))})", *found)
    if filters.year_from is not None or filters.year_to is not None:
        high = filters.year_to if filters.year_to is not None else 9999
        condition("year BETWEEN ? AND ?", filters.year_from or 0, high)
    if filters.has_pdf is not None:
        condition("(pdfs > 0) = ?", int(filters.has_pdf))
    if filters.unfiled:
        condition("collections = ''")
    if citekey := filters.citekey.strip().lstrip("@").lower():
        condition("citekey = ? AND citekey <> ''", citekey)
    elif filters.citekey:
        condition("citekey = ''")
    if doi := bare_doi(filters.doi):
        condition("doi = ? AND doi <> ''", doi)
    elif filters.doi:
        condition("doi = ''")
    for column, text in (("creators", filters.author), ("title", filters.title)):
        if terms := words(text):
            match = f"{{{column}}} : ({expression(terms)})"
            condition("row IN (SELECT rowid FROM item_words WHERE item_words MATCH ?)", match)
    in_columns = Filters(author=filters.author, title=filters.title)
    test = compile_filters(in_columns, contents)[0] if filters.author or filters.title else None
    return Selection(" AND ".join(parts), tuple(values), test, scope)


def rows_of(selection: Selection, items: IndexedItems) -> Sequence[int]:
    where = f" WHERE {selection.where}" if selection.where else ""
    rows = strips.rows_of(items.state, f"SELECT row AS x FROM item{where}", selection.values)
    if selection.test is None:
        return rows
    found = zip(rows, items.of(rows), strict=True)
    return [row for row, item in found if selection.test(item)]
