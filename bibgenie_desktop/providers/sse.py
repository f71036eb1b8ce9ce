"""A reader of server-sent events that works on bytes.

Text is decoded a whole line at a time, so that neither a read that ends inside a character nor a line
separator of Unicode inside a JSON string (PDF text has them) can break an event.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bibgenie_desktop.domain.errors import BadAnswer

MAX_EVENT_BYTES = 16 * 1024 * 1024
"""No provider sends events near this size; without a bound a broken server could fill the memory."""

_LINE_END = re.compile(rb"\r\n?|\n")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SseEvent:
    data: str
    event: str = ""


class SseReader:
    """Feed it the body as it comes; it gives every event that is complete."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max = max_event_bytes
        self._line: list[bytes] = []
        self._data: list[str] = []
        self._event = ""
        self._size = 0
        self._after_cr = False
        self._first = True

    def feed(self, data: bytes) -> list[SseEvent]:
        if not data:
            return []
        start = 1 if self._after_cr and data.startswith(b"\n") else 0
        self._after_cr = data.endswith(b"\r")
        events: list[SseEvent] = []
        for end in _LINE_END.finditer(data, start):
            self._count(end.start() - start)
            self._line.append(data[start : end.start()])
            start = end.end()
            if (event := self._take_line()) is not None:
                events.append(event)
        if start < len(data):
            self._count(len(data) - start)
            self._line.append(data[start:])
        return events

    def close(self) -> list[SseEvent]:
        """The event that the body ended in, if it lacks only its blank line."""
        last = self._take_line() if self._line else None
        event = last or self._dispatch()
        return [] if event is None else [event]

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > self._max:
            raise BadAnswer("The provider sent an event of more than 16 MB.")

    def _take_line(self) -> SseEvent | None:
        raw = b"".join(self._line)
        self._line.clear()
        if self._first:
            self._first = False
            raw = raw.removeprefix(_BOM)
        if not raw:
            return self._dispatch()
        name, _, value = raw.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value.strip()
        elif not name:
            self._size -= len(raw)  # a comment; pings must not add up
        return None

    def _dispatch(self) -> SseEvent | None:
        event = SseEvent("\n".join(self._data), self._event) if self._data else None
        self._data.clear()
        self._event = ""
        self._size = 0
        return event
