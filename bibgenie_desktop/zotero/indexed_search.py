"""Keyword search through the index file, for libraries where looking at every item takes too long.

The index finds and roughly orders the hits; the best of them are then scored as `search` does, so that a
small and a large library answer alike.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Sequence

from bibgenie_desktop.zotero.fields import bare_doi
from bibgenie_desktop.zotero.folding import key
from bibgenie_desktop.zotero.index_file import WEIGHTS, IndexFile
from bibgenie_desktop.zotero.index_terms import expression
from bibgenie_desktop.zotero.library import Contents, Item
from bibgenie_desktop.zotero.search import COMMON, EXACT, MetadataIndex, entry_of, needle_of, score_of

_RESCORED = 200
"""Hits that are scored word by word; those after them keep the order of the index."""


class IndexedSearch(MetadataIndex):
    """Belongs to a state of the library that the index file has been brought up to."""

    def __init__(self, contents: Contents, index: IndexFile) -> None:
        super().__init__(contents)
        self._index = index

    def _match(
        self, accepts: Callable[[Item], bool] | None, terms: tuple[str, ...], text: str
    ) -> tuple[list[tuple[float, Item]], bool]:
        if not terms:
            return super()._match(accepts, terms, text)
        try:
            with self._index.reading() as db:
                return self._find(db, accepts, terms, text)
        except sqlite3.Error:  # an index that was thrown away; it is being made again
            return super()._match(accepts, terms, text)

    def _find(
        self,
        db: sqlite3.Connection,
        accepts: Callable[[Item], bool] | None,
        terms: tuple[str, ...],
        text: str,
    ) -> tuple[list[tuple[float, Item]], bool]:
        needles = [needle_of(t) for t in terms]
        rarity = dict.fromkeys(needles, 1.0)
        exact = set(self._exactly(db, text))
        items = self._items(self._ranked(db, expression(terms)), accepts)
        relaxed = False
        if not items:
            items = self._items(sorted(exact), accepts)
        if not items and len(terms) > 1:
            relaxed = True
            size = max(1, len(self._contents.items))
            counts = {t: self._count(db, t) for t in terms}
            telling = [t for t in terms if 0 < counts[t] <= size * COMMON] or [t for t in terms if counts[t]]
            rarity = {needle_of(t): math.log(1 + size / counts[t]) for t in telling}
            if telling:
                items = self._items(self._ranked(db, expression(telling, every=False)), accepts)
        first = [i for i in items if i.id in exact]
        best = first + [i for i in items[:_RESCORED] if i.id not in exact]
        scored = [(score_of(entry_of(i), needles, rarity) + EXACT * (i.id in exact), i) for i in best]
        lowest = min((s for s, _ in scored), default=0.0)
        rest = [i for i in items[_RESCORED:] if i.id not in exact]
        scored += [(lowest - 1 - place, item) for place, item in enumerate(rest)]
        return scored, relaxed

    def _ranked(self, db: sqlite3.Connection, match: str) -> list[str]:
        weights = ", ".join(map(str, WEIGHTS))
        rows = db.execute(
            "SELECT item.id FROM item_words JOIN item ON item.row = item_words.rowid"
            f" WHERE item_words MATCH ? ORDER BY bm25(item_words, {weights})",
            (match,),
        )
        return [full_id for (full_id,) in rows]

    def _count(self, db: sqlite3.Connection, term: str) -> int:
        match = expression([term])
        return int(
            db.execute("SELECT count(*) FROM item_words WHERE item_words MATCH ?", (match,)).fetchone()[0]
        )

    def _exactly(self, db: sqlite3.Connection, text: str) -> list[str]:
        """The items of which a text is the whole title, the citation key or the DOI."""
        names = (key(text), text.strip().lstrip("@").lower(), bare_doi(text))
        found: list[str] = []
        for column, name in zip(("name", "citekey", "doi"), names, strict=True):
            if name:
                rows = db.execute(f"SELECT id FROM item WHERE {column} = ?", (name,))
                found += [full_id for (full_id,) in rows]
        return found

    def _items(self, ids: Sequence[str], accepts: Callable[[Item], bool] | None) -> list[Item]:
        items = self._contents.items
        return [i for full_id in ids if (i := items.get(full_id)) and (accepts is None or accepts(i))]
