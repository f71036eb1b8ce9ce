"""Tool calls while their pieces arrive, and the reading of their arguments. Shared by the dialects that
send pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bibgenie_desktop.domain.errors import BadAnswer
from bibgenie_desktop.providers.base import ToolCalled
from bibgenie_desktop.providers.surrogates import settled

MOST_CALLS = 128
"""In one answer. More is a server in a loop."""
MOST_WRITTEN = 8 * 1024 * 1024
"""Characters of one call's arguments."""


@dataclass(slots=True)
class OpenCall:
    """A call under way. `index` and `wire_id` are the wire's names for it."""

    index: object
    wire_id: str
    name: str
    whole: Mapping[str, Any] | None = None
    opaque: dict[str, Any] | None = None
    closed: bool = False
    _pieces: list[str] = field(default_factory=list)
    _size: int = 0

    def write(self, arguments: str) -> None:
        self._size += len(arguments)
        if self._size > MOST_WRITTEN:
            raise BadAnswer("The provider sent a tool call without end.", "Try again in a moment.")
        self._pieces.append(arguments)

    def rewrite(self, arguments: str) -> None:
        """The whole of the arguments, in place of the pieces so far."""
        self._pieces.clear()
        self._size = 0
        self.write(arguments)

    @property
    def written(self) -> str:
        return "".join(self._pieces)

    def called(self, position: int) -> ToolCalled:
        self.closed = True
        if not self.written and self.whole is not None:
            return ToolCalled(position, self.name, self.whole, opaque=self.opaque)
        arguments = read_arguments(self.written)
        if arguments is None:
            return ToolCalled(position, self.name, {}, malformed=self.written, opaque=self.opaque)
        return ToolCalled(position, self.name, arguments, opaque=self.opaque)


class Calls:
    """The calls of one answer in the order in which they began."""

    def __init__(self) -> None:
        self._calls: list[OpenCall] = []

    @property
    def seen(self) -> bool:
        return bool(self._calls)

    def __iter__(self) -> Iterator[OpenCall]:
        return iter(self._calls)

    def begin(self, call: OpenCall) -> int:
        """Its position."""
        if len(self._calls) >= MOST_CALLS:
            raise BadAnswer("The provider sent tool calls without end.", "Try again in a moment.")
        self._calls.append(call)
        return len(self._calls) - 1

    def position(self, call: OpenCall) -> int:
        return next(n for n, known in enumerate(self._calls) if known is call)

    def at(self, index: object) -> OpenCall | None:
        """The newest call of this index."""
        return next((call for call in reversed(self._calls) if call.index == index), None)

    def named(self, wire_id: str) -> OpenCall | None:
        return next((call for call in self._calls if wire_id and call.wire_id == wire_id), None)

    def close(self, call: OpenCall) -> Iterator[ToolCalled]:
        """The call as it stands, once."""
        if not call.closed:
            yield call.called(self.position(call))

    def close_all(self) -> Iterator[ToolCalled]:
        for call in self._calls:
            yield from self.close(call)


class DeltaCalls(Calls):
    """Collects the pieces of `tool_calls` deltas of Chat Completions."""

    def add(self, piece: Mapping[str, Any], model: str) -> tuple[int, str] | None:
        """(position, name) when the piece begins a call. Ids and names may be repeated or empty in later
        pieces."""
        function = piece.get("function")
        function = function if isinstance(function, dict) else {}
        name = function.get("name") if isinstance(function.get("name"), str) else ""
        wire_id = piece.get("id") if isinstance(piece.get("id"), str) and piece.get("id") != "null" else ""
        call = self._find(piece.get("index"), wire_id or "", name or "")
        started = None
        if call is None:
            call = OpenCall(piece.get("index"), wire_id or "", name or "")
            position = self.begin(call)
            started = (position, call.name) if call.name else None
        elif name and not call.name:
            call.name = name
            started = (self.position(call), name)
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            call.write(arguments)
        elif isinstance(arguments, dict):
            call.whole = arguments
        if "extra_content" in piece:
            call.opaque = {"model": model, "extra_content": piece["extra_content"]}
        return started

    def _find(self, index: object, wire_id: str, name: str) -> OpenCall | None:
        """The call that a piece continues. Some servers give parallel calls one index, others none at all."""
        for call in reversed(self._calls):
            if index is not None and call.index != index:
                continue
            if wire_id and call.wire_id and wire_id != call.wire_id:
                if name or index is None:
                    return None
                return call
            if index is None and not wire_id and name:
                return None
            return call
        return None


def read_arguments(written: str) -> dict[str, Any] | None:
    """The arguments as an object; none written means an empty one, None that they cannot be read."""
    if not written.strip():
        return {}
    try:
        value = json.loads(written, parse_constant=_no_constant)
        if isinstance(value, str):  # encoded twice
            value = json.loads(value, parse_constant=_no_constant)
        value = settled(value)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
