"""How texts and questions become the terms of the index: the same function for both sides.

Chinese, Japanese and Korean have no blanks, so their runs become overlapping pairs plus the last character:
one character is then the beginning of a pair, two and more are a phrase of pairs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final, Literal

from bibgenie_desktop.zotero.model.folding import CJK_RUN, LETTERS, fold, is_cjk, words

VERSION: Final = 2
"""Changes with the terms: an index of another version is built again."""
Mode = Literal["all_words", "phrase", "any"]
_WORD = re.compile(r"[^\W_]+")
_SPACE = re.compile(r"\s")
_PIECE: Final = 30_000
"""Characters that are normalised in about a millisecond."""


def indexed(text: str) -> str:
    """A text as the index takes it. Plain case and accents are left to the index itself."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text).casefold().translate(LETTERS)
    return CJK_RUN.sub(_pairs, text) if is_cjk(text) else text


def indexed_in_pieces(text: str) -> str:
    """The same for a long text, in steps that leave other threads their turn."""
    if len(text) <= _PIECE or text.isascii():
        return indexed(text)
    return "".join(map(indexed, pieces_of(text)))


def pieces_of(text: str) -> Iterator[str]:
    """The text in pieces that end where a word does."""
    start = 0
    while start < len(text):
        end = start + _PIECE
        if end < len(text):
            space = _SPACE.search(text, end, end + _PIECE)
            end = space.end() if space else end + _PIECE
        yield text[start:end]
        start = end


def folded(text: str) -> str:
    """A short text of an item as the index takes it: the same words that a search in memory sees."""
    return text if text.isascii() else indexed(fold(text))


def expression(terms: Iterable[str], *, every: bool = True) -> str:
    """The question for terms that are single words or runs, each taken from its beginning."""
    return (" AND " if every else " OR ").join(_term(t) for t in terms)


def question(text: str, mode: Mode) -> str:
    """The question for a text as typed; empty where it has no words. Quoted words stand together."""
    text = unicodedata.normalize("NFKC", text)
    if mode == "phrase":
        return _phrase(text)
    asked = []
    for quoted, loose in re.findall(r'"([^"]*)"|([^"]+)', text):
        if phrase := _phrase(quoted):
            asked.append(phrase)
        asked.extend(_term(word) for word in dict.fromkeys(_words(loose)))
    return (" OR " if mode == "any" else " AND ").join(asked)


def _words(text: str) -> list[str]:
    return [part for word in words(text) for part in _WORD.findall(word)]


def _term(word: str) -> str:
    if not is_cjk(word):
        return f'"{word}"*'
    return f'"{word}"*' if len(word) == 1 else f'"{" ".join(_overlapping(word))}"'


def _phrase(text: str) -> str:
    tokens: list[str] = []
    parts = _words(text)
    for place, part in enumerate(parts):
        if not is_cjk(part) or len(part) == 1:
            tokens.append(part)
        else:
            tokens += _overlapping(part)
            if place + 1 < len(parts):
                tokens.append(part[-1])
    return f'"{" ".join(tokens)}"' if tokens else ""


def _overlapping(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


def _pairs(match: re.Match[str]) -> str:
    run = match[0]
    return " " + " ".join([*_overlapping(run), run[-1]]) + " "
