"""Searching the texts of the index: which items speak of it, and the places where they do."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
_MOST_HEAD: Final = 131_072
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
        hits, head = [], _HEAD
        for item, its_rows in places.items():
            for row in its_rows:
                full_id, kind, source, parts, blob = db.execute(_SHOWN, (row,)).fetchone()
                found, needed = _snippets(blob, finder, kind, head)
                head = min(max(_HEAD, needed + needed // 4), _MOST_HEAD)  # the next one is like this one
                hits.append(TextHit(full_id.partition(":")[0], item, kind, source, parts, tuple(found)))
    return TextHits(tuple(items), tuple(hits))


Place: TypeAlias = tuple[int, int, str]
"""Start, end, word."""


@dataclass(frozen=True, slots=True)
class _Finder:
    """`places` finds what was asked for in a folded text; `different` is how many words a stretch can have at
    most, None where that is not known beforehand."""

    places: Callable[[str], list[Place]]
    different: int | None
    longest: int


def _finder(text: str, mode: Mode) -> _Finder:
    """The words where they begin; runs of Chinese anywhere. A phrase as it stands."""
    found = tuple(dict.fromkeys(words(text)))
    longest = max(map(len, found), default=0)
    if mode == "phrase":
        pattern = re.compile(r"[\W_]+".join(re.escape(w) for w in found) or r"(?!)")
        return _Finder(lambda folded: list(islice(_matches(folded, pattern), _LOOKED_AT)), None, longest)
    return _Finder(lambda folded: _places(folded, found), len(found), longest)


def _places(folded: str, asked: Sequence[str]) -> list[Place]:
    """The first places that do not begin within the one before, of two at one place the longer."""
    found = [place for word in asked for place in _beginnings(folded, word)]
    found.sort()
    apart: list[Place] = []
    last = 0
    for start, length, word in found:
        if start >= last:
            last = start - length
            apart.append((start, last, word))
            if len(apart) == _LOOKED_AT:
                break
    return apart


def _beginnings(folded: str, word: str) -> list[Place]:
    """Where a word begins, its length negative; as many as are needed, since Chinese words can overlap."""
    inside, length, find = is_cjk(word), -len(word), folded.find
    most = _LOOKED_AT * len(word) if inside else _LOOKED_AT
    found: list[Place] = []
    start = find(word)
    while start >= 0:
        before = folded[start - 1] if start else " "
        if before == " " or inside or not (before.isalnum() or before == "_"):
            found.append((start, length, word))
            if len(found) == most:
                break
        start = find(word, start + 1)
    return found


def _snippets(blob: bytes, finder: _Finder, kind: str, head: int) -> tuple[list[Snippet], int]:
    """The stretches with the most different words, in the order of the text; and how many bytes these took.

    Nothing later in a text is better than stretches with all words, so it is unpacked and looked through only
    as far as these: `head` bytes first, then more.
    """
    unpack = zlib.decompressobj()
    known = unpack.decompress(blob, head if finder.different else 0)
    while unpack.unconsumed_tail:
        text = known.decode("utf-8", "ignore")  # the last character may be cut
        chosen = _chosen(text, finder, len(text) - finder.longest - 2 * SNIPPET)
        if len(chosen) == MOST_SNIPPETS:
            needed = len(known) * (chosen[-1][1] + 4 * SNIPPET) // len(text)
            return [_snippet(text, *place, kind) for place in chosen], needed
        known += unpack.decompress(unpack.unconsumed_tail, 4 * len(known))
    text = known.decode("utf-8", "replace")
    return [_snippet(text, *place, kind) for place in _chosen(text, finder, None)], len(known)


def _chosen(text: str, finder: _Finder, known_to: int | None) -> list[tuple[int, int]]:
    """Start and end of the best stretches; of an incomplete text those that nothing can be better than."""
    places = finder.places(fold_same_length(text))
    ranked: list[tuple[int, int, int]] = []
    whole: list[tuple[int, int]] = []
    near: dict[str, int] = {}
    after, count, every, end = 0, len(places), finder.different, 0
    for first, (start, _, leaving) in enumerate(places):
        if known_to is not None and start > known_to:
            break
        while after < count:
            _, until, word = places[after]
            if until - start > SNIPPET - 40 and after > first:
                break
            near[word] = near.get(word, 0) + 1
            end = until
            after += 1
        different = len(near)
        ranked.append((-different, start, end))
        if different == every:
            _take(whole, start, end)
            if len(whole) == MOST_SNIPPETS:
                return whole
        near[leaving] -= 1
        if not near[leaving]:
            del near[leaving]
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


def _matches(folded: str, pattern: re.Pattern[str]) -> Iterator[Place]:
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
