"""Searching the texts of the index: which items speak of it, and the places where they do."""

from __future__ import annotations

import re
import zlib
from collections import deque
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
MOST_TEXTS: Final = 3
"""Of one work: its files, notes and marked places."""
_LOOKED_AT: Final = 400
"""Places in one text that are compared for the best snippets."""
_STEP: Final = 200_000
_OVERLAP: Final = 2_000
"""Longer than any phrase that is looked for."""
_HEAD: Final = 8_192
"""Bytes of a text that are looked at first; mostly the words that were asked for stand there side by side."""
_RANKED: Final = """
SELECT group_concat(row), group_concat(item, char(10)) FROM (
    SELECT d.row, d.item FROM document_words JOIN document d ON d.row = document_words.rowid
    WHERE document_words MATCH ? ORDER BY bm25(document_words))
"""
"""All at once: row by row it would trade the interpreter's lock with the event loop for each. Numbers and ids
only, since writing a score as text takes SQLite as long as computing it."""
_SHOWN: Final = """
SELECT d.id, d.kind, d.source, d.parts, t.text
FROM document d JOIN document_text t USING (row) WHERE d.row = ?
"""


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
        rows, owners = db.execute(_RANKED, (match,)).fetchone()
        if rows is None:
            return TextHits((), ())
        owners = owners.split("\n")
        items = [item for item in dict.fromkeys(owners) if accepts(item)]
        places: dict[str, list[str]] = {item: [] for item in items[offset : offset + limit]}
        for row, item in zip(rows.split(","), owners, strict=True):
            if item in places and len(places[item]) < MOST_TEXTS:
                places[item].append(row)
        finder = _finder(text, mode)
        hits = []
        for item, its_rows in places.items():
            for row in its_rows:
                full_id, kind, source, parts, blob = db.execute(_SHOWN, (row,)).fetchone()
                found = tuple(_snippets(blob, finder, kind))
                hits.append(TextHit(full_id.partition(":")[0], item, kind, source, parts, found))
    return TextHits(tuple(items), tuple(hits))


Finder: TypeAlias = Callable[[str], Iterator[tuple[int, int, str]]]
"""Finds the places of what was asked for in a folded text: start, end, word."""


@dataclass(frozen=True, slots=True)
class _Finder:
    """`different` is how many words a place can have at most, None where that is not known beforehand."""

    places: Finder
    different: int | None
    longest: int


def _finder(text: str, mode: Mode) -> _Finder:
    """The words where they begin; runs of Chinese anywhere. A phrase as it stands."""
    found = tuple(dict.fromkeys(words(text)))
    longest = max(map(len, found), default=0)
    if mode == "phrase":
        pattern = re.compile(r"[\W_]+".join(re.escape(w) for w in found) or r"(?!)")
        return _Finder(lambda folded: _matches(folded, pattern), None, longest)
    return _Finder(
        lambda folded: _apart(merge(*(_beginnings(folded, w) for w in found))), len(found), longest
    )


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


def _snippets(blob: bytes, finder: _Finder, kind: str) -> list[Snippet]:
    """The stretches with the most different words, in the order of the text.

    Nothing later in a text is better than stretches with all words, so it is unpacked and looked through only
    as far as these.
    """
    unpack = zlib.decompressobj()
    known, more = unpack.decompress(blob, _HEAD if finder.different else 0), _HEAD
    while unpack.unconsumed_tail:
        text = known.decode("utf-8", "ignore")  # the last character may be cut
        end = len(text) - finder.longest - 2 * SNIPPET
        chosen = _chosen(text, finder, end)
        if len(chosen) == MOST_SNIPPETS:
            return [_snippet(text, *place, kind) for place in chosen]
        more *= 4
        known += unpack.decompress(unpack.unconsumed_tail, more)
    text = known.decode("utf-8", "replace")
    return [_snippet(text, *place, kind) for place in _chosen(text, finder, None)]


def _chosen(text: str, finder: _Finder, known_to: int | None) -> list[tuple[int, int]]:
    """Start and end of the best stretches; of an incomplete text those that nothing can be better than."""
    places = islice(finder.places(fold_same_length(text)), _LOOKED_AT)
    near: deque[tuple[int, int, str]] = deque()
    ranked: list[tuple[int, int, int]] = []
    whole: list[tuple[int, int]] = []
    ahead = next(places, None)
    while near or ahead is not None:
        if not near and ahead is not None:
            near.append(ahead)
            ahead = next(places, None)
        start = near[0][0]
        if known_to is not None and start > known_to:
            break
        while ahead is not None and ahead[1] - start <= SNIPPET - 40:
            near.append(ahead)
            ahead = next(places, None)
        different = len({word for _, _, word in near})
        if different == finder.different:
            _take(whole, start, near[-1][1])
            if len(whole) == MOST_SNIPPETS:
                return whole
        ranked.append((-different, start, near[-1][1]))
        near.popleft()
    if known_to is not None:
        return whole
    chosen: list[tuple[int, int]] = []
    for _, start, end in sorted(ranked):
        _take(chosen, start, end)
        if len(chosen) == MOST_SNIPPETS:
            break
    return sorted(chosen)


def _take(chosen: list[tuple[int, int]], start: int, end: int) -> None:
    """Unless it is too near to one that was taken."""
    if all(abs(start - s) > SNIPPET for s, _ in chosen):
        chosen.append((start, end))


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
