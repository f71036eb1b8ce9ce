"""What was asked: the newest question of a projection, its topic, and what was said before it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bibgenie_desktop.domain.checkpoint import sections_of
from bibgenie_desktop.domain.citations import citations_in
from bibgenie_desktop.domain.locators import FULL_KEY
from bibgenie_desktop.domain.parts import ResourcePart, TextPart, ToolPart, text_of
from bibgenie_desktop.domain.projection import Projection
from bibgenie_desktop.providers.builtin.words import (
    Language,
    asks_about_library,
    content_words,
    fold,
    language_of,
    stem,
    tokens,
)

MOST_WORDS = 6
_SHORTEST_TITLE = 3
"""Words: what is shorter, like “Sleep”, is a topic as well."""
_SUBTITLE = re.compile(r"[:?!.–—]\s|\s\(")
_FOLLOW_UP = re.compile(
    r"^(and|what about|how about|why|more|tell me more|go on|continue|und|wie steht|warum|mehr|weiter"
    r"|et|pourquoi|plus)\b"
)
_QUANTITY = re.compile(
    r"\bhow (?:large|big|much|many|long|strong|high|often|great)\b"
    r"|\bwhat (?:share|percentage|proportion|fraction|rate)\b"
    r"|\bwie (?:viele?|gross|stark|hoch|lange|oft)\b|\bwelcher anteil\b|\bwieviel"
    r"|\bcombien\b|\bquel(?:le)? (?:part|proportion|pourcentage|taux)\b"
)
_POINTING = frozenset(
    {
        "it",
        "they",
        "them",
        "that",
        "this",
        "these",
        "those",
        "es",
        "dies",
        "davon",
        "dazu",
        "il",
        "ils",
        "cela",
    }
)


@dataclass(frozen=True, slots=True)
class Question:
    """`words` carry the topic; `carried`: some come from earlier questions; `ids` were named or attached.

    `quoted_before`: what a question that goes on from an earlier one should not get again. One that stands
    for itself gets the best there is, however often it is asked.
    """

    text: str
    words: tuple[str, ...]
    language: Language
    carried: bool
    ids: tuple[str, ...]
    about_library: bool
    quoted_before: frozenset[str]
    quantity: bool = False
    """It asks how much of something there is: an answer has figures."""

    def names(self, title: str) -> bool:
        """Whether it gives a work's title, with or without the subtitle."""
        asked = f" {_plain(self.text)} "
        parts = (_plain(part) for part in (title, _SUBTITLE.split(title)[0]))
        return any(f" {part} " in asked for part in parts if part.count(" ") >= _SHORTEST_TITLE - 1)

    def beyond(self, title: str) -> tuple[str, ...]:
        """What it asks of a work that it names: its words that the title does not have."""
        stems = {stem(token) for token in tokens(title)}
        return tuple(word for word in self.words if stem(word) not in stems)


def question_of(projection: Projection) -> Question:
    """The newest question, read in the light of the earlier ones."""
    asked = [message for message in projection.messages if message.kind == "user"]
    newest = asked[-1] if asked else None
    text = text_of(newest.parts) if newest else ""
    earlier = [text_of(message.parts) for message in asked[:-1]]
    if (checkpoint := projection.checkpoint) is not None:
        earlier.insert(0, _goal(text_of(checkpoint.parts)))
    named = FULL_KEY.sub(" ", text)
    words, carried = _topic(named, earlier)
    attached = [part.locator.id for part in newest.parts if isinstance(part, ResourcePart)] if newest else []
    ids = dict.fromkeys([*attached, *(match[0] for match in FULL_KEY.finditer(text))])
    return Question(
        text=text,
        words=tuple({stem(word): word for word in reversed(words)}.values())[::-1][:MOST_WORDS],
        language=language_of(text if len(tokens(text)) > 2 else " ".join([*earlier[-1:], text])),
        carried=carried,
        ids=tuple(ids),
        about_library=not words and asks_about_library(text),
        quoted_before=_quoted(projection) if carried else frozenset(),
        quantity=_QUANTITY.search(fold(text)) is not None,
    )


def results_of(projection: Projection) -> tuple[ToolPart, ...]:
    """The calls of the answer under way that have their results, in order."""
    last = projection.messages[-1] if projection.messages else None
    if last is None or last.kind != "assistant" or last.status != "pending":
        return ()
    return tuple(part for part in last.parts if isinstance(part, ToolPart) and part.state != "pending")


def _topic(text: str, earlier: list[str]) -> tuple[tuple[str, ...], bool]:
    """The words of the question; a follow-up takes the topic of what was asked before along."""
    own = content_words(text)
    words = {fold(token) for token in tokens(text)}
    goes_on = bool(_FOLLOW_UP.match(fold(text).strip())) and len(own) < 3
    points_back = bool(words & _POINTING) and len(own) < 2
    if not (goes_on or points_back) or asks_about_library(text):
        return own, False
    for before in reversed(earlier):
        if topic := content_words(before):
            return tuple(dict.fromkeys([*own, *topic[:4]])), True
    return own, False


def _plain(text: str) -> str:
    return " ".join(fold(token) for token in tokens(text))


def _goal(checkpoint: str) -> str:
    sections = dict(sections_of(checkpoint))
    return re.sub(r"\[(user|tool|inference)\]|^[-*]\s", " ", sections.get("Research Goal", ""), flags=re.M)


def _quoted(projection: Projection) -> frozenset[str]:
    """Quotes that earlier answers gave already."""
    texts = (
        part.text
        for message in projection.messages
        if message.kind == "assistant" and message.status != "pending"
        for part in message.parts
        if isinstance(part, TextPart)
    )
    return frozenset(citation.quote for text in texts for citation in citations_in(text) if citation.quote)
