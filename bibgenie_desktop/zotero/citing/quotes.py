"""Looking a quotation up in the text of its page, offline: verified, paraphrase or not found.

Typesetting may differ (line breaks, hyphens, ligatures, quotation marks, spaces), words and numbers may not.
What an ellipsis leaves out must not turn the sentence into its contrary; what says the contrary of the page
in nearly its words is not found there (`contraries`).
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from math import ceil
from typing import Literal, TypeAlias

from bibgenie_desktop.zotero.citing.contraries import contrary, denials, plain
from bibgenie_desktop.zotero.model.folding import CJK_RUN, is_cjk

Verdict: TypeAlias = Literal["verified", "paraphrase", "not found"]
_Finding: TypeAlias = Literal["verified", "paraphrase", "not found", "contrary"]
"""`contrary` is a kind of “not found”: nearly the words, with another meaning."""

PARAPHRASE = 0.6
"""Share of a quote's words that must stand close together for it to count as a paraphrase."""
RELATED = 0.4
"""The share from which a sentence of the page is what a sentence of the quote must not contradict."""

_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:…|\.\s?\.\s?\.)\s*\]|\(\s*(?:…|\.\.\.)\s*\)|…|\.\s?\.\s?\.)\s*")
_HYPHENS = "-\u00ad\u2010\u2011\u2012\u2013\u2014\u2212\ufffe\x02"
_KEPT = frozenset("%<>=±≤≥$€£+*/^")
_WORD = re.compile(r"[^\W_]+")
_SENTENCE_END = re.compile(
    r"(?<!\b[^\W\d_])(?<!\bal)(?<!\bvs)(?<!\bfig)(?<!\bcf)[.!?…][\"”’»)\]]*\s+|[。！？]|\n\s*\n"
)
_MARGIN_LINES = 2
"""Lines of a running head or foot that may stand between two halves of a sentence."""
_Unit: TypeAlias = tuple[str, int, int]
_NEAR_WORDS = 5
"""Words before the next part of a quote among which a negation turns its meaning."""
_MOST_STRETCHES = 40


def check_quote(quote: str, page_text: str) -> Verdict:
    """Whether the words of a quote stand on the page. Parts around an ellipsis must follow in order."""
    return _told(_check(quote, page_text, len(page_text)))


def check_across_pages(quote: str, first: str, second: str) -> Verdict:
    """The same for a quote that may run on to the next page, past a foot and a running head.

    What begins on the next page stands there and not on the first.
    """
    alone = _check(quote, first, len(first))
    if alone == "verified":
        return alone
    upper, lower = first.rstrip().split("\n"), second.lstrip().split("\n")
    found: list[_Finding] = []
    for foot in range(_MARGIN_LINES + 1):
        for top in range(_MARGIN_LINES + 1):
            above = "\n".join(upper[: len(upper) - foot])
            found.append(_check(quote, "\n".join([above, *lower[top:]]), len(above)))
            if found[-1] == "verified":
                return "verified"
    # Lines that are no margin may hold the word on which all depends, so the whole text has the say.
    if found[0] != "not found":
        return _told(found[0])
    return "paraphrase" if "paraphrase" in (alone, *found) else "not found"


def _told(found: _Finding) -> Verdict:
    return "not found" if found == "contrary" else found


def _check(quote: str, text: str, until: int) -> _Finding:
    """The verdict on a quote that must begin before `until`."""
    parts = [p for p in _ELLIPSIS.split(quote) if _letters(p)]
    if not parts:
        return "not found"
    page = _Compact(text)
    border = page.place_of(text[:until])
    ends: list[int] = []
    for number, part in enumerate(parts):
        places = page.places(_Compact(part).text)
        if number == 0:
            ends = [end for start, end in places if start < border]
            if not ends:
                return _likeness(quote, text, until)
            continue
        going_on = [(bisect_right(ends, start), start, end) for start, end in places]
        denied = [page.denied(ends[before - 1], start) for before, start, _ in going_on if before]
        ends_here = [
            end for before, start, end in going_on if before and not page.denied(ends[before - 1], start)
        ]
        if not ends_here:
            if not denied:
                return _likeness(quote, text, until)
            return "paraphrase" if "far" in denied else "contrary"
        ends = ends_here
    return "verified"


def _likeness(quote: str, text: str, until: int) -> _Finding:
    """What is not there word for word is near to the page, unless it says the contrary of it."""
    said, page = plain(quote), plain(text)
    there, border = _units(page), len(plain(text[:until]))
    if not _stretches(said, page, there, border):
        return "not found"
    whole = False
    for sentence in _SENTENCE_END.split(said):
        if not any(c.isalnum() for c in sentence):
            continue
        within = _stretches(sentence, page, there, border, sentence=True)
        within = within or _stretches(sentence, page, there, len(page), sentence=True)
        if not within:
            whole = True  # nothing to compare this sentence alone with
        elif all(contrary(sentence, page, *at) for at in within):
            return "contrary"
    if whole and all(contrary(said, page, *at) for at in _stretches(said, page, there, border)):
        return "contrary"
    return "paraphrase"


class _Compact:
    """A text as letters, digits and telling signs only, with the places where words begin and end."""

    def __init__(self, text: str) -> None:
        text = unicodedata.normalize("NFKC", text).casefold()
        kept: list[str] = []
        self._source = text
        self._at: list[int] = []
        self._starts: set[int] = set()
        self._ends: set[int] = set()
        inside = False
        for index, char in enumerate(text):
            if not _counts(text, index):
                if inside:
                    self._ends.add(len(kept))
                inside = False
                continue
            if not inside or is_cjk(char):
                self._starts.add(len(kept))
                self._ends.add(len(kept))
            kept.append("-" if char in _HYPHENS else char)
            self._at.append(index)
            inside = True
            if is_cjk(char):
                self._ends.add(len(kept))
        self._ends.add(len(kept))
        self.text = "".join(kept)

    def places(self, wanted: str) -> list[tuple[int, int]]:
        """Where it stands from the beginning of a word to the end of one, in order."""
        found = []
        at = self.text.find(wanted)
        while at >= 0:
            if at in self._starts and at + len(wanted) in self._ends:
                found.append((at, at + len(wanted)))
            at = self.text.find(wanted, at + 1)
        return found

    def place_of(self, beginning: str) -> int:
        """Where the text goes on after one of its beginnings."""
        return bisect_left(self._at, len(unicodedata.normalize("NFKC", beginning).casefold()))

    def denied(self, end: int, start: int) -> Literal["", "near", "far"]:
        """Whether a negation lies between two places in the sentence of the second, and how near to it."""
        if end >= start:
            return ""
        between = self._source[self._at[end - 1] + 1 : self._at[start]]
        sentence = _SENTENCE_END.split(between)[-1]
        if not denials(sentence):
            return ""
        return "near" if denials(" ".join(sentence.split()[-_NEAR_WORDS:])) else "far"


def _counts(text: str, index: int) -> bool:
    """Whether a character must agree: decimal points and minus signs must, other signs need not."""
    char = text[index]
    if char.isalnum() or char in _KEPT or unicodedata.category(char) in ("Mc", "Mn"):
        return True
    before, after = text[index - 1 : index], text[index + 1 : index + 2]
    if not after.isdigit():
        return False
    if char in ".,":
        return before.isdigit()
    return char in _HYPHENS and before in ("", " ", "\n", "(", "=")


def _letters(text: str) -> bool:
    return any(c.isalnum() for c in text)


def _stretches(
    quote: str, page: str, there: Sequence[_Unit], border: int, *, sentence: bool = False
) -> list[tuple[int, int]]:
    """Where on a page most of the quote's words stand together: the shortest stretches, none longer than half
    as much again, that begin before `border`; none if it is less than a paraphrase has.

    With `sentence`, where in one sentence of the page the quote's nearest relative stands, if there is one.
    """
    wanted = [word for word, _, _ in _units(quote)]
    if not wanted or not there:
        return []
    need, span = Counter(wanted), max(4, len(wanted) * 3 // 2)
    window: Counter[str] = Counter()
    shared, left = 0, 0
    best, found = ceil((RELATED if sentence else PARAPHRASE) * len(wanted)), dict[int, int]()
    for index, (word, start, end) in enumerate(there):
        if sentence and index and _SENTENCE_END.search(page, there[index - 1][2], start):
            window, shared, left = Counter(), 0, index
        window[word] += 1
        useful = window[word] <= need[word]
        shared += useful
        while left <= index and (index - left >= span or window[there[left][0]] > need[there[left][0]]):
            gone = there[left][0]
            shared -= window[gone] <= need[gone]
            window[gone] -= 1
            left += 1
        if not useful or shared < best or there[left][1] >= border:
            continue
        if shared > best:
            best, found = shared, {}
        found[left] = end
    return [(there[at][1], end) for at, end in list(found.items())[:_MOST_STRETCHES]]


def _units(text: str) -> list[_Unit]:
    """The words of a plain text and where they stand; for scripts without blanks pairs of characters."""
    units: list[_Unit] = []
    for match in _WORD.finditer(text):
        word, at = match[0], match.start()
        if word.isascii() or not is_cjk(word):
            units.append((word, at, match.end()))
            continue
        done = 0
        for run in CJK_RUN.finditer(word):
            if run.start() > done:
                units.append((word[done : run.start()], at + done, at + run.start()))
            first, done = run.span()
            last = max(first + 1, done - 1)
            units.extend(
                (word[i : min(i + 2, done)], at + i, at + min(i + 2, done)) for i in range(first, last)
            )
        if done < len(word):
            units.append((word[done:], at + done, match.end()))
    return units
