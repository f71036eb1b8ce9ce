"""Comparing texts as people do: without case, accents, ligatures and punctuation.

Search, filters and the search inside documents fold their two sides through the same functions.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_CJK = re.compile(
    "[\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3100-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]"
)
CJK_RUN = re.compile(f"{_CJK.pattern}+")
_MARKS = re.compile("[\u0300-\u036f]")
_SEPARATORS = re.compile(r"[\W_]+")
_ASCII_SEPARATORS = {c: " " for c in range(128) if not chr(c).isalnum()}
LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ß": "ss", "’": "'"}
)


_STEP = 30_000


def is_cjk(text: str) -> bool:
    """Whether a text holds a Chinese, Japanese or Korean character."""
    return not text.isascii() and _CJK.search(text) is not None


def fold(text: str) -> str:
    """The words of a text in their plainest form, separated by blanks (perhaps several)."""
    if text.isascii():
        return text.lower().translate(_ASCII_SEPARATORS)
    text = unicodedata.normalize("NFKC", text).casefold().translate(LETTERS)
    text = _MARKS.sub("", unicodedata.normalize("NFD", text))
    return _SEPARATORS.sub(" ", unicodedata.normalize("NFC", text))


def words(text: str) -> tuple[str, ...]:
    """The folded words of a query; runs of Chinese, Japanese or Korean are words of their own."""
    return tuple(part for word in fold(text).split() for part in _split(word))


def _split(word: str) -> Iterator[str]:
    if not is_cjk(word):
        yield word
        return
    start = 0
    for run in re.finditer(_CJK.pattern + "+", word):
        if run.start() > start:
            yield word[start : run.start()]
        yield run[0]
        start = run.end()
    if start < len(word):
        yield word[start:]


def key(text: str) -> str:
    """A text as one comparable string: folded, single blanks."""
    return " ".join(fold(text).split())


class _SameLength(dict[int, str]):
    """Maps a character to one plain character, so that positions in the folded text stay the same."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        plain = unicodedata.normalize("NFKD", char)[:1].casefold() if not _CJK.match(char) else char
        result = plain if len(plain) == 1 else char
        self[code] = result
        return result


def fold_same_length(text: str) -> str:
    """Case and accents folded without moving a single position, in steps so that other threads get on."""
    if text.isascii():
        return text.lower()
    table = _SameLength()
    return "".join(text[i : i + _STEP].translate(table) for i in range(0, len(text), _STEP))
