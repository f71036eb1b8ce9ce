"""Keyword search through the index, for libraries where looking at every item takes too long.

The index finds and roughly orders the hits; the best of them are then scored as `search` does, so that a
small and a large library answer alike. Only items that are shown or scored are made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from bibgenie_desktop.zotero.index.conditions import Selection, select
from bibgenie_desktop.zotero.index.filters import Filters
from bibgenie_desktop.zotero.index.indexed_contents import IndexedItems
from bibgenie_desktop.zotero.index.schema import WEIGHTS
from bibgenie_desktop.zotero.index.search import COMMON, EXACT, Fields, Hits, Query, Sort, needle_of, score_of
from bibgenie_desktop.zotero.index.strips import Rows, rows_of, strip_of
from bibgenie_desktop.zotero.index.terms import expression
from bibgenie_desktop.zotero.model.fields import bare_doi
from bibgenie_desktop.zotero.model.folding import key, words
from bibgenie_desktop.zotero.model.library import Contents, Item

_RESCORED: Final = 200
_RESCORED_IN_MIDDLING: Final = 1_000
"""Hits that are scored word by word; those after them keep the order of the index. More where a library is
not much larger than one that is searched in memory: a few items more then change little."""
_MIDDLING: Final = 6_000
_ORDERS: Final[dict[Sort, str]] = {
    "relevance": "added DESC, id DESC",
    "date_added": "added DESC, id DESC",
    "year": "dated DESC, id DESC",
    "title": "name, id",
}


class IndexedSearch:
    """Belongs to one state of the library. Raises `sqlite3.Error` where the index cannot be read."""

    def __init__(self, contents: Contents) -> None:
        assert isinstance(contents.items, IndexedItems)
        self._contents = contents
        self._items = contents.items
        self._state = contents.items.state

    def search(self, query: Query) -> Hits:
        """Raises `filters.UnknownValue` for a filter that names nothing in the library."""
        selection = select(query.filters, self._contents)
        terms = tuple(dict.fromkeys(words(query.text)))
        if not terms:
            return self._listed(selection, query)
        rows, relaxed, needles, rarity, exact = self._match(selection, terms, query.text)
        unfiltered = 0
        if not rows and not query.filters.empty:
            unfiltered = len(self._match(select(Filters(), self._contents), terms, query.text)[0])
        first, last = query.offset, query.offset + query.limit
        if query.sort == "relevance":
            chosen = sorted((r for r in exact if r in rows), key=rows.index)
            scored = _RESCORED_IN_MIDDLING if len(self._items) <= _MIDDLING else _RESCORED
            best = chosen + [r for r in rows[:scored] if r not in exact]
            found = self._scored(best, needles, rarity, exact)[first:last] if first < len(best) else []
            after = _after(rows, chosen, scored, max(0, first - len(best)), max(0, last - len(best)))
            found += self._items.of(after)
        else:
            found = list(self._items.of(self._in_order(rows, query)))
        return Hits(tuple(found), len(rows), selection.scope, relaxed and len(rows) > 0, unfiltered)

    def _scored(
        self, rows: list[int], needles: list[str], rarity: dict[str, float], exact: frozenset[int]
    ) -> list[Item]:
        """The best first."""
        scored = [
            (score_of(Fields(item), needles, rarity) + EXACT * (row in exact), item)
            for row, item in zip(rows, self._items.of(rows), strict=True)
        ]
        scored.sort(key=lambda s: (-s[0], -(s[1].year or 0), s[1].id))
        return [item for _, item in scored]

    def _listed(self, selection: Selection, query: Query) -> Hits:
        """What fits the filters, without words."""
        where = f" WHERE {selection.where}" if selection.where else ""
        order = f" ORDER BY {_ORDERS[query.sort]}"
        if selection.test is None:
            counted = self._state.row(f"SELECT count(*) FROM item{where}", selection.values)
            page = f"SELECT row FROM item{where}{order} LIMIT ? OFFSET ?"
            rows = self._state.rows(page, (*selection.values, query.limit, query.offset))
            found = tuple(self._items.of([row for (row,) in rows]))
            return Hits(found, int(counted[0]) if counted else 0, selection.scope)
        ordered = rows_of(self._state, f"SELECT row AS x FROM item{where}{order}", selection.values)
        fitting = self._tested(ordered, selection)
        page_rows = fitting[query.offset : query.offset + query.limit]
        return Hits(tuple(self._items.of(page_rows)), len(fitting), selection.scope)

    def _match(
        self, selection: Selection, terms: tuple[str, ...], text: str
    ) -> tuple[Rows, bool, list[str], dict[str, float], frozenset[int]]:
        """(rows, best first; whether only some words had to fit; what they are scored with; exact names)."""
        needles = [needle_of(t) for t in terms]
        rarity = dict.fromkeys(needles, 1.0)
        exact = self._exactly(text)
        rows = self._ranked(expression(terms), selection)
        if not rows and exact:
            rows = self._fitting(sorted(exact), selection)
        relaxed = False
        if not rows and len(terms) > 1:
            relaxed = True
            size = max(1, len(self._items))
            counts = {t: self._count(t) for t in terms}
            telling = [t for t in terms if 0 < counts[t] <= size * COMMON] or [t for t in terms if counts[t]]
            rarity = {needle_of(t): math.log(1 + size / counts[t]) for t in telling}
            if telling:
                rows = self._ranked(expression(telling, every=False), selection)
        return rows, relaxed, needles, rarity, exact

    def _ranked(self, match: str, selection: Selection) -> Rows:
        weights = ", ".join(map(str, WEIGHTS))
        # The plus keeps SQLite from asking the word index anew for every row that the filters leave.
        inside = f" AND +rowid IN (SELECT row FROM item WHERE {selection.where})" if selection.where else ""
        rows = rows_of(
            self._state,
            f"SELECT rowid AS x FROM item_words WHERE item_words MATCH ?{inside}"
            f" ORDER BY bm25(item_words, {weights})",
            (match, *selection.values),
        )
        return self._tested(rows, selection)

    def _fitting(self, rows: Sequence[int], selection: Selection) -> Rows:
        marks = ", ".join("?" * len(rows))
        inside = f" AND {selection.where}" if selection.where else ""
        found = self._state.rows(
            f"SELECT row FROM item WHERE row IN ({marks}){inside}", (*rows, *selection.values)
        )
        return self._tested(strip_of([row for (row,) in found]), selection)

    def _tested(self, rows: Rows, selection: Selection) -> Rows:
        test = selection.test
        if test is None:
            return rows
        return strip_of([row for row, item in zip(rows, self._items.of(rows), strict=True) if test(item)])

    def _count(self, term: str) -> int:
        counted = self._state.row(
            "SELECT count(*) FROM item_words WHERE item_words MATCH ?", (expression([term]),)
        )
        return int(counted[0]) if counted else 0

    def _exactly(self, text: str) -> frozenset[int]:
        """The items of which a text is the whole title, the citation key or the DOI."""
        names = (key(text), text.strip().lstrip("@").lower(), bare_doi(text))
        found: set[int] = set()
        for column, name in zip(("name", "citekey", "doi"), names, strict=True):
            if name:
                question = f"SELECT row FROM item WHERE {column} = ? AND {column} <> ''"
                found |= {row for (row,) in self._state.rows(question, (name,))}
        return frozenset(found)

    def _in_order(self, rows: Rows, query: Query) -> list[int]:
        """Those of a page: only they are handed over."""
        page = self._state.rows(
            "SELECT row FROM item WHERE row IN (SELECT value FROM json_each(?))"
            f" ORDER BY {_ORDERS[query.sort]} LIMIT ? OFFSET ?",
            (rows.json, query.limit, query.offset),
        )
        return [row for (row,) in page]


def _after(rows: Rows, chosen: Sequence[int], scored: int, first: int, last: int) -> list[int]:
    """A piece of what follows the rows that are scored, without those that were chosen."""
    start = scored + first
    for place in sorted(p for r in chosen if (p := rows.index(r)) >= scored):
        start += place <= start
    some = rows[start : start + last - first + len(chosen)]
    return [r for r in some if r not in chosen][: last - first]
