"""Sentences of a page, and which of them speak to a question. They stay word for word what the page says."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bibgenie_desktop.domain.citations import MOST_QUOTED
from bibgenie_desktop.providers.builtin.results import Page
from bibgenie_desktop.providers.builtin.words import is_cjk, matched

_SHORTEST, _SHORTEST_CJK = 30, 10
_END = re.compile(r"[.!?…][\"”’»)\]]*(?=\s+[\"“„«‘(]?[^\W_a-zß-öø-ÿ])|[。！？][”’」』）]*")
_ABBREVIATION = re.compile(
    r"(?:\b(?:al|e\.g|i\.e|cf|vs|fig|figs|eq|eqs|ref|refs|no|nos|vol|pp|p|dr|prof|st|ca|approx|resp|bzw|usw|vgl"
    r"|z\.\s?b|d\.\s?h|u\.\s?a|s|abb|tab|chap|sec|ed|eds|[A-Za-z]))\.$",
    re.IGNORECASE,
)
_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010\ufffe]\n(?=[^\W\d_A-Z])")
_FINISHED = re.compile(r"[.!?…。！？][\"”’»)\]」』）]*$")
_REFERENCE = re.compile(
    r"\bdoi\b|https?://|www\.|\b(19|20)\d\d[a-z]?\)?[.,;]\s.*\b\d+\s?[-–]\s?\d+", re.IGNORECASE
)
_NUMBER = re.compile(r"\d")
_SHARE = re.compile(r"\d\s?(?:%|percent|per cent|Prozent|pour cent|points?\b)|\d[.,]\d", re.IGNORECASE)
_FIGURES_ASKED = 1.8
"""What a figure is worth where one is asked for: as much as another rare word of the question."""
_OF_THE_TOPIC = 0.1
"""What each word of the question in a title adds: its sentences speak of the topic without naming it."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` is one line and at most as long as a quote may be."""

    page: Page
    text: str
    score: float
    stems: frozenset[str]


def sentences_of(text: str) -> list[str]:
    """The whole sentences of a page's text, headings, references and tables left out."""
    return [s for block in _blocks(text) for s in _split(block) if _quotable(s)]


def statements(pages: Sequence[Page]) -> list[tuple[Page, str]]:
    """All sentences of some pages, without titles and without what stands at the foot of every page."""
    found = [(page, text) for page in pages for text in sentences_of(page.text)]
    pages_with = Counter({(text, page.att, page.number) for page, text in found})
    within = Counter((text, att) for text, att, _ in pages_with)
    documents = Counter(text for text, _ in within)
    return [
        (page, text)
        for page, text in found
        if within[text, page.att] == 1 and documents[text] < 3 and not page.source.endswith(f": {text}")
    ]


def rank(pages: Sequence[Page], stems: tuple[str, ...], *, quantity: bool = False) -> list[Sentence]:
    """Sentences that hold words of the question, best first; rarer words count more.

    `quantity`: the question asks how much, so figures are worth more.
    """
    found = [(page, text, matched(stems, text)) for page, text in statements(pages)]
    spread = Counter(stem for _, _, hit in found for stem in hit)
    size = max(1, len(found))
    worth = {stem: math.log(1.5 + size / count) for stem, count in spread.items()}
    titles = {page.source: matched(stems, page.source) for page, _, _ in found}
    ranked = [
        Sentence(
            page, _fitting(text, hit), _worth(hit, titles[page.source], worth) * _manner(text, quantity), hit
        )
        for page, text, hit in found
        if hit
    ]
    return sorted(ranked, key=lambda s: -s.score)


def with_figure(text: str) -> bool:
    """Whether a sentence gives a share, a rate or a measure."""
    return _SHARE.search(text) is not None


def figure_of(pages: Sequence[Page]) -> Sentence | None:
    """The first sentence that gives a share or a rate."""
    for page, text in statements(pages):
        if _SHARE.search(text) and len(text) <= MOST_QUOTED:
            return Sentence(page, text, 0.0, frozenset())
    return None


def _worth(hit: frozenset[str], title: frozenset[str], worth: Mapping[str, float]) -> float:
    """Words that stand together in one sentence count more than apart, and more where the title has them."""
    topical = 1 + _OF_THE_TOPIC * len(title)
    return sum(worth[s] for s in hit) * (1 + 0.3 * (len(hit) - 1)) * topical


def _manner(text: str, quantity: bool) -> float:
    """A statement with figures tells more; a very long or very short one is harder to use."""
    figures = 1.0
    if _NUMBER.search(text):
        figures = _FIGURES_ASKED if quantity and with_figure(text) else 1.1
    question = 0.6 if text.rstrip('"”’»)').endswith(("?", "？")) else 1.0
    return figures * question * (0.8 if len(text) > MOST_QUOTED or len(text) < 50 else 1.0)


def _blocks(text: str) -> list[str]:
    """Paragraphs on one line each; a short line before a new beginning is a heading of its own."""
    lines = [
        line.strip()
        for line in _BROKEN_WORD.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    ]
    lengths = [len(line) for line in lines if line]
    usual = statistics.median(lengths) if lengths else 0
    blocks: list[list[str]] = [[]]
    for index, line in enumerate(lines):
        if not line:
            blocks.append([])
            continue
        blocks[-1].append(line)
        after = lines[index + 1] if index + 1 < len(lines) else ""
        if (
            len(line) < 0.6 * usual
            and not re.search(r"[,;:\-–]$", line)
            and re.match(r"[^\W_a-zß-öø-ÿ]", after)
        ):
            blocks.append([])
    return [" ".join(" ".join(block).split()) for block in blocks if block]


def _split(block: str) -> list[str]:
    pieces, start = [], 0
    for end in _END.finditer(block):
        before = block[start : end.end()]
        if block[end.start()] == "." and _ABBREVIATION.search(before.rstrip('"”’»)]')):
            continue
        pieces.append(before.strip())
        start = end.end()
    return [*pieces, block[start:].strip()]


def _quotable(text: str) -> bool:
    letters = sum(char.isalpha() for char in text)
    return (
        len(text) >= (_SHORTEST_CJK if is_cjk(text) else _SHORTEST)
        and _FINISHED.search(text) is not None
        and letters > 0.55 * len(text)
        and "[[" not in text
        and "]]" not in text
        and not _REFERENCE.search(text)
    )


def _fitting(text: str, stems: frozenset[str]) -> str:
    """At most as long as a quote may be: the part around the words that count, whole words, no sign added."""
    if len(text) <= MOST_QUOTED:
        return text
    pieces = re.split(r"(?<=[,;:–—])\s|(?<=[，；：])", text)
    best, most = "", -1.0
    for first in range(len(pieces)):
        for last in range(first + 1, len(pieces) + 1):
            part = " ".join(pieces[first:last]) if not is_cjk(text) else "".join(pieces[first:last])
            if len(part) > MOST_QUOTED or part not in text:
                break
            value = len(matched(tuple(stems), part)) + len(part) / 1000
            if value > most:
                best, most = part, value
    if best and most >= 1:
        return best.strip()
    cut = text[:MOST_QUOTED]
    return cut if is_cjk(text) else cut.rpartition(" ")[0]
