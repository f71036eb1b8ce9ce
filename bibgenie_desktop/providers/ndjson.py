"""A reader of streams that are one JSON object a line, as Ollama sends them.

Works on bytes like the reader of server-sent events, and gives the same events without names.
"""

from __future__ import annotations

from bibgenie_desktop.domain.errors import BadAnswer
from bibgenie_desktop.providers.sse import MAX_EVENT_BYTES, SseEvent


class LineReader:
    """Feed it the body as it comes; it gives every line that is complete."""

    def __init__(self, max_line_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max = max_line_bytes
        self._begun: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[SseEvent]:
        *ended, rest = data.split(b"\n")
        events: list[SseEvent] = []
        for piece in ended:
            self._add(piece)
            events.extend(self._take())
        self._add(rest)
        return events

    def close(self) -> list[SseEvent]:
        """The last line, which may lack its end."""
        return self._take()

    def _add(self, piece: bytes) -> None:
        if piece:
            self._size += len(piece)
            if self._size > self._max:
                raise BadAnswer("The provider sent a line of more than 16 MB.")
            self._begun.append(piece)

    def _take(self) -> list[SseEvent]:
        line = b"".join(self._begun).decode("utf-8", "replace").strip(" \t\r\ufeff")
        self._begun.clear()
        self._size = 0
        return [SseEvent(line)] if line else []
