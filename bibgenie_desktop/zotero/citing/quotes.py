"""Looking a quotation up in the text of its page, offline: verified, paraphrase or not found.

Typesetting may differ (line breaks, hyphens, ligatures, quotation marks, spaces), words and numbers may not.
What an ellipsis leaves out must not turn the sentence into its contrary.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from typing import Literal, TypeAlias

from bibgenie_desktop.zotero.model.folding import is_cjk, words

Verdict: TypeAlias = Literal["verified", "paraphrase", "not found"]

PARAPHRASE = 0.6
"""Share of a quote's words that must stand close together for it to count as a paraphrase."""

_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:…|\.\s?\.\s?\.)\s*\]|\(\s*(?:…|\.\.\.)\s*\)|…|\.\s?\.\s?\.)\s*")
_HYPHENS = "-\u00ad\u2010\u2011\u2012\u2013\u2014\u2212\ufffe\x02"
_KEPT = frozenset("%<>=±≤≥$€£+*/^")
_NEGATION = re.compile(
    r"\b(?:not|no|never|neither|nor|none|cannot|nicht|kein\w*|nie|niemals|weder|ne|pas|aucune?|jamais)\b"
    r"|n['’]t\b|[不没沒未非無无]"
)
_SENTENCE_END = re.compile(r"(?<!\b[^\W\d_])[.!?…][\"”’»)\]]*\s+|[。！？]|\n\s*\n")
_MARGIN_LINES = 2
"""Lines of a running head or foot that may stand between two halves of a sentence."""


def check_quote(quote: str, page_text: str) -> Verdict:
    """Whether the words of a quote stand on the page. Parts around an ellipsis must follow in order."""
    parts = [p for p in _ELLIPSIS.split(quote) if _letters(p)]
    if not parts:
        return "not found"
    page = _Compact(page_text)
    ends: list[int] = []
    for number, part in enumerate(parts):
        places = page.places(_Compact(part).text)
        first = ends[0] if ends else 0
        ends = [end for start, end in places if number == 0 or _follows(page, ends, start)]
        if not ends:
            denied = number > 0 and any(start >= first for start, _ in places)
            return "paraphrase" if denied or _overlap(quote, page_text) >= PARAPHRASE else "not found"
    return "verified"


def _follows(page: _Compact, ends: list[int], start: int) -> bool:
    """Whether a part may go on here after one that ended before, the nearest being the kindest."""
    before = bisect_right(ends, start)
    return before > 0 and not page.denies(ends[before - 1], start)


def check_across_pages(quote: str, first: str, second: str) -> Verdict:
    """The same for a quote that may run on to the next page, past a foot and a running head."""
    best = check_quote(quote, first)
    if best == "verified":
        return best
    upper, lower = first.rstrip().split("\n"), second.lstrip().split("\n")
    for foot in range(_MARGIN_LINES + 1):
        for top in range(_MARGIN_LINES + 1):
            joined = "\n".join([*upper[: len(upper) - foot], *lower[top:]])
            verdict = check_quote(quote, joined)
            if verdict == "verified":
                return verdict
            if verdict == "paraphrase":
                best = verdict
    return best


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

    def denies(self, end: int, start: int) -> bool:
        """Whether a negation lies between two places, in the sentence of the second."""
        if end >= start:
            return False
        between = self._source[self._at[end - 1] + 1 : self._at[start]]
        return _NEGATION.search(_SENTENCE_END.split(between)[-1]) is not None


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


def _overlap(quote: str, page: str) -> float:
    """The largest share of the quote's words that stand together in a stretch of page half again as long."""
    wanted, there = _units(quote), _units(page)
    if not wanted or not there:
        return 0.0
    need, span = Counter(wanted), max(4, len(wanted) * 3 // 2)
    window: Counter[str] = Counter()
    best = shared = 0
    for index, word in enumerate(there):
        window[word] += 1
        if window[word] <= need[word]:
            shared += 1
        if index >= span:
            gone = there[index - span]
            if window[gone] <= need[gone]:
                shared -= 1
            window[gone] -= 1
        best = max(best, shared)
    return best / len(wanted)


def _units(text: str) -> list[str]:
    """Words; for scripts without blanks pairs of characters."""
    text = re.sub(rf"[{_HYPHENS}]\s*\n\s*", "", text)
    units: list[str] = []
    for word in words(text):
        if is_cjk(word) and len(word) > 1:
            units.extend(word[i : i + 2] for i in range(len(word) - 1))
        else:
            units.append(word)
    return units
