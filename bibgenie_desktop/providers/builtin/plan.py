"""What to look at next: search, find the pages that speak to the question, read them. Decided from what is
known.

There is no memory between requests: the question, the results so far and the tools offered say it all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Final

from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.domain.parts import ToolPart
from bibgenie_desktop.providers.builtin.question import Question
from bibgenie_desktop.providers.builtin.results import (
    Found,
    Page,
    data_of,
    found_in,
    hits_of,
    pages_of,
    places_in,
    rows_of,
)
from bibgenie_desktop.providers.builtin.words import fold, is_cjk, matched, pattern_of, plainer, stem

SEARCH: Final = "search_items"
TEXTS: Final = "search_fulltext"
FIND: Final = "find_in_document"
READ: Final = "read_document"

MOST_CALLS: Final = 6
MOST_SEARCHES: Final = 3
SMALL_WINDOW: Final = 8_192
"""Below this, one document is looked into, in short pieces."""
LITTLE_ROOM: Final = 5_000
"""Tokens left for results below which a step asks for less: the steps after it need room as well."""
_ENDED = frozenset({"denied", "cancelled", "interrupted"})


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the calls of this answer have brought."""

    searches: tuple[ToolPart, ...]
    documents: tuple[ToolPart, ...]
    """Calls that looked into a document, with their results."""
    rows: tuple[Found, ...]
    total: int
    hits: tuple[Page, ...]
    pages: tuple[Page, ...]
    asked_texts: bool
    in_texts: tuple[str, ...]
    """Documents that a search through all texts found, best first."""
    text_hits: tuple[Page, ...]
    """The places that this search showed, each on a certain page."""
    looked_into: frozenset[str]
    """Ids that a document tool was called with."""
    faults: tuple[str, ...]
    """What failed, in the tools' words."""
    ended: bool
    """A call was not run: it is time to answer."""
    calls: int


def knowledge_of(done: Sequence[ToolPart]) -> Knowledge:
    searches = tuple(part for part in done if part.name == SEARCH)
    documents = tuple(part for part in done if part.name in {FIND, READ})
    rows: dict[str, Found] = {}
    for part in searches:
        rows.update((row.id, row) for row in rows_of(data_of(part)) if row.id not in rows)
    totals = [total for part in searches if isinstance(total := data_of(part).get("total"), int)]
    return Knowledge(
        searches=searches,
        documents=documents,
        rows=tuple(rows.values()),
        total=max([*totals, len(rows)], default=0),
        hits=tuple(page for part in documents for page in hits_of(data_of(part))),
        pages=tuple(page for part in documents for page in pages_of(data_of(part))),
        asked_texts=any(part.name == TEXTS for part in done),
        in_texts=tuple(att for part in done if part.name == TEXTS for att in found_in(data_of(part))),
        text_hits=tuple(page for part in done if part.name == TEXTS for page in places_in(data_of(part))),
        looked_into=frozenset(str(part.input.get("attachment_id", "")) for part in documents),
        faults=tuple(part.sent.split("\n")[0] for part in done if part.state == "error" and part.sent),
        ended=any(part.state in _ENDED for part in done),
        calls=len(done),
    )


def next_calls(
    question: Question,
    known: Knowledge,
    tools: Mapping[str, ToolSpec],
    window: int,
    left: int | None = None,
) -> tuple[Call, ...]:
    """The calls of the next step; none: it is time to answer. `left`: tokens that results may still take."""
    tight = left is not None and left < LITTLE_ROOM
    calls_left = MOST_CALLS - known.calls
    if calls_left <= 0 or known.ended or not (question.words or question.ids or question.about_library):
        return ()
    if not question.ids:
        if SEARCH not in tools:
            return ()
        if question.about_library:
            return () if known.searches else (_call(tools, SEARCH, {"sort": "date_added", "limit": 10}),)
        query = _next_query(question, known)
        if query:
            return (_call(tools, SEARCH, {"query": query, "limit": 4 if tight else 10}),)
    small = window < SMALL_WINDOW
    named = [row for row in known.rows if row.pdf and question.names(row.title)]
    relaxed = any(data_of(part).get("relaxed") for part in known.searches)
    if relaxed and not small and not question.ids and not named and TEXTS in tools and not known.asked_texts:
        # No title or abstract has all the words: the documents themselves may.
        words = " ".join(plainer(word) for word in question.words)
        return (_call(tools, TEXTS, {"query": words, "limit": 2 if tight else 5}),)
    targets = question.ids or _readable(named)
    targets = targets or tuple(dict.fromkeys(_in_turn(known.in_texts, _readable(known.rows))))
    if not targets and any("\n[cut here:" in part.sent for part in known.searches):
        targets = tuple(
            row.id for row in known.rows[:1]
        )  # its PDF was cut off; the tools find it by the item
    if known.pages or READ not in tools or not targets:
        return ()
    fresh = [target for target in targets if target not in known.looked_into]
    wanted = _asked_of(question, named)
    if tight and not known.looked_into and (places := _places(known, fresh)):
        # Where the words stand is known: what room is left goes to the pages themselves.
        reads = _reads(question, replace(known, hits=places), small=True)
        return tuple(_read(tools, target, pages, small=True) for target, pages in reads[:2])
    if not known.looked_into and wanted and FIND in tools:
        return tuple(_find(tools, target, wanted, tight) for target in fresh[: 1 if small else 2])
    reads = _reads(question, known, small or tight)
    if not (small or tight) or not reads:
        # One more from its beginning, where a paper says what it found.
        reads += [(target, "1-2" if reads else "") for target in fresh[: 1 if reads else 2]]
    if not reads and not any(page.text for page in known.hits):
        # Nothing stood where it was looked for: the beginning of the first document says what it is about.
        reads = [(target, "") for target in targets[:1] if not known.faults]
    return tuple(_read(tools, target, pages, small or tight) for target, pages in reads[:calls_left])


def _places(known: Knowledge, targets: Sequence[str]) -> tuple[Page, ...]:
    """What the search through all texts showed of the documents that may be read."""
    return tuple(page for page in known.text_hits if page.att in targets)


def _in_turn(in_texts: Sequence[str], in_metadata: Sequence[str]) -> list[str]:
    """The best of both searches by turns: what a paper says and what it is about tell different things."""
    pairs = zip_longest(in_texts, in_metadata)
    return [target for pair in pairs for target in pair if target is not None]


def _readable(rows: Sequence[Found]) -> tuple[str, ...]:
    """PDFs in the order of the search; the same work in a second library is not read again."""
    works: dict[tuple[str, str], str] = {}
    for row in rows:
        work = (fold(row.title), row.year)
        if row.pdf and (work not in works or (row.pdf.startswith("u-") and works[work].startswith("g"))):
            works[work] = row.pdf  # in the place of the first, from the person's own library if it is there
    return tuple(works.values())


def _next_query(question: Question, known: Knowledge) -> str:
    """The first query has all words; without any hit, fewer and shorter ones follow."""
    if known.rows or len(known.searches) >= MOST_SEARCHES:
        return ""
    if any(part.state == "error" for part in known.searches):
        return ""
    asked = {str(part.input.get("query", "")) for part in known.searches}
    telling = sorted(question.words, key=lambda word: -(len(word) * (3 if is_cjk(word) else 1)))
    queries = [
        " ".join(question.words),
        " ".join(plainer(word) for word in telling[:2]),
        *(_halves(telling[0]) if is_cjk(telling[0]) else [plainer(telling[0])]),
        *(plainer(word) for word in telling[1:2]),
    ]
    return next((query for query in queries if query and query not in asked), "")


def _halves(word: str) -> list[str]:
    return [word[:2], word[-2:]] if len(word) > 2 else [word]


def _asked_of(question: Question, named: Sequence[Found]) -> tuple[str, ...]:
    """The words to look for in a document; none: a work is asked for as a whole, by its title."""
    return question.beyond(" ".join(row.title for row in named)) if named else question.words


def _find(tools: Mapping[str, ToolSpec], target: str, words: Sequence[str], tight: bool) -> Call:
    """Any of the words as a pattern; where the tool takes plain words only, the longest."""
    stems = [stem(word) for word in words]
    if "regex" not in _properties(tools[FIND]):
        return Call(FIND, {"attachment_id": target, "query": max(stems, key=len)})
    most, around = (8, 40) if tight else (40, 80)
    wanted = {"attachment_id": target, "query": pattern_of(stems), "regex": True}
    wanted |= {"limit": most, "context": around}
    return _call(tools, FIND, wanted)


def _reads(question: Question, known: Knowledge, small: bool) -> list[tuple[str, str]]:
    """(document, pages) where most of the words stand, best document first."""
    stems = tuple(stem(word) for word in question.words)
    scores: dict[str, dict[int, float]] = {}
    for hit in known.hits:
        pages = scores.setdefault(hit.att, {})
        pages.setdefault(hit.number, 0.0)
        pages[hit.number] += 0.1
    for att, pages in scores.items():
        for number in pages:
            text = " ".join(h.text for h in known.hits if h.att == att and h.number == number)
            pages[number] = len(matched(stems, text)) + min(pages[number], 0.9)
    order = {row.pdf: place for place, row in enumerate(known.rows)}
    best = sorted(scores, key=lambda att: (-int(max(scores[att].values())), order.get(att, 99)))
    chosen = []
    for att in best:
        ranked = sorted(scores[att], key=lambda number: (-scores[att][number], number))
        near = [n for n in ranked[: 1 if small else 2] if scores[att][n] >= 0.6 * scores[att][ranked[0]]]
        chosen.append((att, ",".join(str(number) for number in sorted(near))))
    return chosen


def _read(tools: Mapping[str, ToolSpec], target: str, pages: str, small: bool) -> Call:
    wanted: dict[str, Any] = {"attachment_id": target}
    if pages:
        wanted["pages"] = pages
    return _call(tools, READ, {**wanted, "max_chars": 1_500 if small else 8_000})


def _call(tools: Mapping[str, ToolSpec], name: str, wanted: Mapping[str, Any]) -> Call:
    """Only what the tool was described with: slim descriptions know fewer arguments."""
    known = _properties(tools[name])
    return Call(name, {key: value for key, value in wanted.items() if key in known})


def _properties(spec: ToolSpec) -> Mapping[str, Any]:
    found = spec.parameters.get("properties")
    return found if isinstance(found, Mapping) else {}
