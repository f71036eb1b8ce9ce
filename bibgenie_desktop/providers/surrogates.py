"""Halves of characters in what servers send: no text in the database or on the wire can hold them.

A server may cut a text between the two halves of an emoji, so a half at the end waits for what follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from bibgenie_desktop.providers.base import (
    Event,
    ReasoningClosed,
    ReasoningDelta,
    TextDelta,
    ToolCalled,
    ToolCallStarted,
)

_ESCAPED = re.compile(r"\\u[dD][89a-fA-F]")


class HalfJoiner:
    """Makes the characters of one answer's events whole."""

    def __init__(self) -> None:
        self._half = ""
        self._seen = False

    def look_at(self, source: str) -> None:
        """The JSON that the next events come from: only escapes can bring halves."""
        self._seen = self._seen or _ESCAPED.search(source) is not None

    def whole(self, events: Iterable[Event]) -> Iterator[Event]:
        if not self._seen:
            yield from events
            return
        for event in events:
            match event:
                case TextDelta() | ReasoningDelta():
                    text, self._half = self._half + event.text, ""
                    if "\ud800" <= text[-1:] <= "\udbff":
                        text, self._half = text[:-1], text[-1]
                    if text:
                        yield replace(event, text=joined(text))
                case ToolCallStarted():
                    yield replace(event, name=joined(event.name))
                case ToolCalled():
                    yield ToolCalled(
                        event.index,
                        joined(event.name),
                        settled(event.input),
                        joined(event.malformed),
                        settled(event.opaque),
                    )
                case ReasoningClosed():
                    yield ReasoningClosed(settled(event.opaque))
                case _:
                    yield event


def joined(text: str) -> str:
    """Both halves side by side as the character they are, a lone one as U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def settled(value: Any) -> Any:
    """A JSON value with all its texts whole."""
    if isinstance(value, str):
        return joined(value)
    if isinstance(value, list):
        return [settled(one) for one in value]
    if isinstance(value, dict):
        return {joined(name): settled(one) for name, one in value.items()}
    return value
