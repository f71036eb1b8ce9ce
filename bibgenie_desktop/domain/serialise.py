"""A span as text for the summariser: role-marked, complete in what people said, short in what tools returned.

Reasoning is left out. Zotero data appear as locators, so that a summary can name its sources.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import regex

from bibgenie_desktop.domain.locators import Locator, Resource
from bibgenie_desktop.domain.messages import AssistantMessage, UserMessage
from bibgenie_desktop.domain.parts import ImagePart, Part, ReasoningPart, ResourcePart, TextPart, ToolPart
from bibgenie_desktop.domain.tokens import as_json

RESULT_HEAD: Final = 3_000  # characters of a long tool result: the first hits or the start of the page
RESULT_TAIL: Final = 1_000  # and its end, where totals and "next" stand
_GRAPHEME: Final = regex.compile(r"\X")
_NEAR: Final = 64  # the longest grapheme looked for at a cut


def serialise(messages: Iterable[UserMessage | AssistantMessage]) -> str:
    """All messages of a span or tail, in order, one block each."""
    return "\n\n".join(serialise_message(m) for m in messages)


def serialise_message(message: UserMessage | AssistantMessage) -> str:
    role = "user" if isinstance(message, UserMessage) else "assistant"
    lines = [f"[{role}]"]
    lines += [text for part in message.parts if (text := _part(part))]
    if isinstance(message, AssistantMessage) and message.status != "complete":
        lines.append(f"[answer {message.status}{': ' + message.error if message.error else ''}]")
    return "\n".join(lines)


def _part(part: Part) -> str:
    match part:
        case TextPart():
            return part.text
        case ReasoningPart():
            return ""
        case ImagePart():
            return f"[image {part.name}, {part.mime}]"
        case ResourcePart():
            place = describe(Resource(part.locator, part.title))
            return f"[attached {place}]\n{cut(part.sent, RESULT_HEAD, RESULT_TAIL)}"
        case ToolPart():
            call = f"[tool {part.name}] {as_json(dict(part.input))}"
            result = cut(part.sent or part.result, RESULT_HEAD, RESULT_TAIL)
            places = "".join(f"\n- {describe(r)}" for r in part.resources)
            pictures = "".join(f"\n{_part(image)}" for image in part.images)
            return f"{call}\n[tool result: {part.state}]\n{result}{pictures}{places}"


def describe(resource: Resource) -> str:
    """A Zotero place in words that hold its full key."""
    at, title = resource.locator, resource.title
    return f"{at.kind} {at.id} “{title}”{_within(at)}"


def _within(at: Locator) -> str:
    words = []
    if at.page_index is not None:
        label = f" (printed {at.page_label})" if at.page_label else ""
        words.append(f"page {at.page_index + 1}{label}")
    if at.section is not None:
        words.append(f"section {at.section}")
    words += [f"{name} {value}" for name, value in (("href", at.href), ("cfi", at.cfi)) if value]
    if at.att and at.annotation:
        words.append(f"in {at.att_id}")
    if at.item and (at.att or at.annotation):
        words.append(f"of {at.item_id}")
    return f", {', '.join(words)}" if words else ""


def cut(text: str, head: int, tail: int) -> str:
    """A long text as its head and tail, at grapheme borders, saying how much is left out."""
    if len(text) <= head + tail + 200:  # cutting less than its own notice is no gain
        return text
    first = text[: grapheme_border(text, head)]
    start = grapheme_border(text, len(text) - tail) if tail else len(text)
    last = text[start:]
    left_out = len(text) - len(first) - len(last)
    return f"{first}\n[… {left_out:,} characters left out …]\n{last}".rstrip("\n")


def grapheme_border(text: str, at: int) -> int:
    """The last grapheme border at or before an index."""
    if at <= 0 or at >= len(text):
        return max(0, min(at, len(text)))
    start = max(0, at - _NEAR)
    border = start
    for match in _GRAPHEME.finditer(text, start):
        if match.end() > at:
            return max(border, int(match.start()))
        border = int(match.end())
    return border
