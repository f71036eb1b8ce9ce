"""Keyword search over the metadata of all items, in memory.

One `MetadataIndex` belongs to one state of the library; it answers a `Query` with `Hits`. What the words mean
and how hits are ranked is decided here; the caller decides how much of them it shows.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from bibgenie_desktop.zotero.index.filters import Filters, compile_filters
from bibgenie_desktop.zotero.model.fields import bare_doi
from bibgenie_desktop.zotero.model.folding import CJK_RUN, fold, is_cjk, key, words
from bibgenie_desktop.zotero.model.library import Contents, Item

Sort = Literal["relevance", "date_added", "year", "title"]

_WEIGHTS = {
    "title": 8.0,
    "creators": 5.0,
    "tags": 3.0,
    "citekey": 3.0,
    "year": 2.0,
    "venue": 1.0,
    "abstract": 1.0,
}
_APART = r" \g<0> "
_PREFIX_ONLY = 0.6
"""What the beginning of a word counts against the whole word."""
EXACT = 1e6
"""Above every sum of weights: an exact title, citation key or DOI comes first."""
COMMON = 0.5
"""A word in more than half of the items tells nothing when any word may match."""


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for. `text` is keywords; `filters` narrow the items whatever the words."""

    text: str = ""
    filters: Filters = field(default_factory=Filters)
    sort: Sort = "relevance"
    limit: int = 10
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Hits:
    """A page of `total` hits. `relaxed`: no item has all words, so these have some.

    `unfiltered` is how many items the words alone find, counted only where the filters left none.
    """

    items: tuple[Item, ...]
    total: int
    scope: str
    relaxed: bool = False
    unfiltered: int = 0


@dataclass(slots=True)
class _Entry:
    item: Item
    fields: tuple[str, ...]
    everything: str


class MetadataIndex:
    """The folded texts of all items; a search touches one string an item."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents

    @cached_property
    def _entries(self) -> list[_Entry]:
        return [entry_of(item) for item in self._contents.items.values()]

    @cached_property
    def _exact(self) -> dict[str, set[str]]:
        exact: dict[str, set[str]] = defaultdict(set)
        for item in self._contents.items.values():
            for name in (key(item.title), item.citekey.lower(), bare_doi(item.doi)):
                if name:
                    exact[name].add(item.id)
        return exact

    def search(self, query: Query) -> Hits:
        """Raises `filters.UnknownValue` for a filter that names nothing in the library."""
        accepts, scope = compile_filters(query.filters, self._contents)
        terms = tuple(dict.fromkeys(words(query.text)))
        found, relaxed = self._match(accepts, terms, query.text)
        unfiltered = 0
        if not found and accepts and terms:
            unfiltered = len(self._match(None, terms, query.text)[0])
        ordered = _ordered(found, query.sort if terms or query.sort != "relevance" else "date_added")
        page = ordered[query.offset : query.offset + query.limit]
        return Hits(tuple(page), len(ordered), scope, relaxed and bool(ordered), unfiltered)

    def _match(
        self, accepts: Callable[[Item], bool] | None, terms: tuple[str, ...], text: str
    ) -> tuple[list[tuple[float, Item]], bool]:
        """(score, item) of what fits, in any order; and whether only some of the words had to fit."""
        if not terms:
            items = self._contents.items.values()
            return [(0.0, i) for i in items if accepts is None or accepts(i)], False
        entries = [e for e in self._entries if accepts(e.item)] if accepts else self._entries
        needles = [needle_of(t) for t in terms]
        rarity = dict.fromkeys(needles, 1.0)
        hits = [e for e in entries if all(n in e.everything for n in needles)]
        exact = self._named(text)
        relaxed = False
        if not hits:
            hits = [e for e in entries if e.item.id in exact]
        if not hits and len(needles) > 1:
            relaxed = True
            hits, rarity = _any_word(entries, self._entries, needles)
        return [
            (score_of(e.fields, needles, rarity) + EXACT * (e.item.id in exact), e.item) for e in hits
        ], relaxed

    def _named(self, text: str) -> set[str]:
        """The items of which a text is the whole title, the citation key or the DOI."""
        names = {key(text), text.strip().lstrip("@").lower(), bare_doi(text)}
        return set().union(*(self._exact.get(n, set()) for n in names))


def _any_word(
    entries: Sequence[_Entry], library: Sequence[_Entry], needles: list[str]
) -> tuple[list[_Entry], dict[str, float]]:
    """Items with at least one telling word, and how telling each word is in the whole library."""
    counts = {n: sum(n in e.everything for e in library) for n in needles}
    size = max(1, len(library))
    telling = [n for n in needles if 0 < counts[n] <= size * COMMON] or [n for n in needles if counts[n]]
    rarity = {n: math.log(1 + size / counts[n]) for n in telling}
    return [e for e in entries if any(n in e.everything for n in telling)], rarity


def entry_of(item: Item) -> _Entry:
    fields = tuple(_plain(t) for t in _texts(item))
    return _Entry(item, fields, "".join(fields))


class Fields(Sequence[str]):
    """The folded texts of one item, each folded when it is first looked at."""

    def __init__(self, item: Item) -> None:
        self._texts = _texts(item)
        self._folded: list[str | None] = [None] * len(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, place: Any) -> Any:
        folded = self._folded[place]
        if folded is None:
            folded = self._folded[place] = _plain(self._texts[place])
        return folded


def _texts(item: Item) -> tuple[str, ...]:
    """In the order of the weights."""
    return (
        item.title,
        " ".join([c.name if not is_cjk(c.last) else f"{c.name} {c.last}" for c in item.creators]),
        " ".join([t.name for t in item.tags]),
        item.citekey,
        str(item.year or ""),
        item.venue,
        item.abstract,
    )


def _plain(text: str) -> str:
    """Folded, each word between blanks: also one that stands right beside Chinese, as the index takes it."""
    if not text:
        return ""
    folded = fold(text)
    return f" {CJK_RUN.sub(_APART, folded) if is_cjk(folded) else folded} "


def needle_of(term: str) -> str:
    """What is looked for in a folded text: Latin words from their beginning, Chinese anywhere."""
    return term if is_cjk(term) else f" {term}"


def score_of(fields: Sequence[str], needles: Iterable[str], rarity: dict[str, float]) -> float:
    """By the weightiest field that has a needle; the weights only fall, so what comes after counts less."""
    total = 0.0
    for needle in needles:
        worth = rarity.get(needle)
        if worth is None:
            continue
        best = 0.0
        for place, weight in enumerate(_WEIGHTS.values()):
            if weight <= best:
                break
            text = fields[place]
            if needle in text:
                whole = needle[0] != " " or f"{needle} " in text
                best = max(best, weight if whole else weight * _PREFIX_ONLY)
        total += best * worth
    return total


def _ordered(scored: list[tuple[float, Item]], sort: Sort) -> list[Item]:
    match sort:
        case "relevance":
            ranked = sorted(scored, key=lambda s: (-s[0], -(s[1].year or 0), s[1].id))
            return [item for _, item in ranked]
        case "date_added":
            return sorted((i for _, i in scored), key=lambda i: (i.added, i.id), reverse=True)
        case "year":
            return sorted((i for _, i in scored), key=lambda i: (i.sort_date, i.id), reverse=True)
        case "title":
            return sorted((i for _, i in scored), key=lambda i: (key(i.title), i.id))
