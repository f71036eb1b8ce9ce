"""Searching the texts of the index: which items speak of it, and the places where they do."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from typing import Final, TypeAlias

from bibgenie_desktop.zotero.index.terms import Mode, question
from bibgenie_desktop.zotero.index.texts_file import TextsFile
from bibgenie_desktop.zotero.model.folding import fold_same_length, is_cjk, words

SNIPPET: Final = 240
MOST_SNIPPETS: Final = 3
_LOOKED_AT: Final = 400
"""Places in one text that are compared for the best snippets."""
_STEP: Final = 200_000
_OVERLAP: Final = 2_000
"""Longer than any phrase that is looked for."""
_RANKED: Final = """
SELECT group_concat(x, char(10)) FROM (
    SELECT d.row || char(31) || d.id || char(31) || d.item || char(31) || d.kind || char(31) || d.source
        || char(31) || bm25(document_words) AS x
    FROM document_words JOIN document d ON d.row = document_words.rowid
    WHERE document_words MATCH ? ORDER BY bm25(document_words))
"""
"""All at once: row by row it would trade the interpreter's lock with the event loop for each."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A stretch of text. `part` is its page (from 0) or annotation; `core` are the words at the hit."""

    text: str
    part: int
    offset: int
    core: str
    mark: str = ""
    """The id of the annotation it is from."""


@dataclass(frozen=True, slots=True)
class TextHit:
    """A text with hits. `parts` is how many pages its text has; 1 where pages are not known."""

    id: str
    """Of the attachment or note."""
    item_id: str
    kind: str
    source: str
    score: float
    parts: int
    snippets: tuple[Snippet, ...]


@dataclass(frozen=True, slots=True)
class TextHits:
    """`items` are the ids of all items with hits, best first; `hits` those of the page asked for."""

    items: tuple[str, ...]
    hits: tuple[TextHit, ...]


def search_texts(
    index: TextsFile,
    text: str,
    mode: Mode,
    accepts: Callable[[str], bool],
    limit: int,
    offset: int,
) -> TextHits:
    """Raises `sqlite3.Error` where there is no usable index. `accepts` is asked with the ids of items."""
    match = question(text, mode)
    if not match:
        return TextHits((), ())
    with index.reading() as db:
        (found,) = db.execute(_RANKED, (match,)).fetchone()
        rows = [line.split("\x1f") for line in found.split("\n")] if found else []
        by_item: dict[str, list[tuple[int, str, str, str, float]]] = {}
        for row, full_id, item, kind, source, score in rows:
            if item in by_item or accepts(item):
                by_item.setdefault(item, []).append((int(row), full_id, kind, source, float(score)))
        finder = _finder(text, mode)
        hits = []
        for item in list(by_item)[offset : offset + limit]:
            for row, full_id, kind, source, score in by_item[item][:3]:
                (blob,) = db.execute("SELECT text FROM document_text WHERE row = ?", (row,)).fetchone()
                whole = zlib.decompress(blob).decode("utf-8", "replace")
                bare = full_id.partition(":")[0]
                found = tuple(_snippets(whole, finder, kind))
                hits.append(TextHit(bare, item, kind, source, -score, whole.count("\f") + 1, found))
    return TextHits(tuple(by_item), tuple(hits))


Finder: TypeAlias = Callable[[str], Iterator[tuple[int, int, str]]]
"""Finds the places of what was asked for in a folded text: start, end, word."""


def _finder(text: str, mode: Mode) -> Finder:
    """The words where they begin; runs of Chinese anywhere. A phrase as it stands."""
    found = tuple(dict.fromkeys(words(text)))
    if mode == "phrase":
        pattern = re.compile(r"[\W_]+".join(re.escape(w) for w in found) or r"(?!)")
        return lambda folded: _matches(folded, pattern)
    return lambda folded: _apart(merge(*(_beginnings(folded, w) for w in found)))


def _beginnings(folded: str, word: str) -> Iterator[tuple[int, int, str]]:
    """Where a word begins, by its place and the longer one first."""
    inside, length = is_cjk(word), len(word)
    start = folded.find(word)
    while start >= 0:
        before = folded[start - 1] if start else " "
        if inside or not (before.isalnum() or before == "_"):
            yield start, -length, word
        start = folded.find(word, start + 1)


def _apart(places: Iterable[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Those that do not begin within the one before."""
    last = 0
    for start, length, word in places:
        if start >= last:
            last = start - length
            yield start, last, word


def _snippets(text: str, finder: Finder, kind: str) -> list[Snippet]:
    """The stretches with the most different words, in the order of the text."""
    places = list(islice(finder(fold_same_length(text)), _LOOKED_AT))
    ranked: list[tuple[int, int, int]] = []
    last = 0
    for first, (start, _, _) in enumerate(places):
        last = max(last, first)
        while last + 1 < len(places) and places[last + 1][1] - start <= SNIPPET - 40:
            last += 1
        distinct = len({p[2] for p in places[first : last + 1]})
        ranked.append((-distinct, start, places[last][1]))
    chosen: list[tuple[int, int]] = []
    for _, start, end in sorted(ranked):
        if all(abs(start - s) > SNIPPET for s, _ in chosen):
            chosen.append((start, end))
        if len(chosen) == MOST_SNIPPETS:
            break
    return [_snippet(text, start, end, kind) for start, end in sorted(chosen)]


def _matches(folded: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int, str]]:
    """Where a phrase stands, looked for in steps that leave other threads their turn."""
    start = 0
    while start < len(folded):
        end = start + _STEP
        match = pattern.search(folded, start, end + _OVERLAP)
        if match is None or match.start() >= end:
            start = end
            continue
        yield match.start(), match.end(), match[0]
        start = match.end()


def _snippet(text: str, start: int, end: int, kind: str) -> Snippet:
    room = max(0, SNIPPET - (end - start)) // 2
    begin = text.rfind("\f", 0, start) + 1
    stop = text.find("\f", start)
    stop = len(text) if stop < 0 else stop
    low, high = max(begin, start - room), min(stop, max(end, start + 1) + room)
    while low > begin and low < start and not text[low - 1].isspace() and not is_cjk(text[low]):
        low += 1
    while high < stop and high > end and not text[high - 1].isspace() and not is_cjk(text[high - 1]):
        high -= 1
    shown = " ".join(text[low:high].split())
    mark = ""
    if kind == "annotations":
        mark = text[begin : begin + 40].split(" ", 1)[0]
        shown = " ".join(text[max(low, begin + len(mark)) : high].split())
    body = f"{'…' if low > begin else ''}{shown}{'…' if high < stop else ''}"
    core = " ".join(text[max(low, start - 30) : min(high, end + 30)].split()[1:-1])
    return Snippet(body, text.count("\f", 0, start), start - begin, core, mark)
