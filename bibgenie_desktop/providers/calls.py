"""Tool calls while their pieces arrive, and the reading of their arguments. Shared by the dialects that
send pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bibgenie_desktop.providers.base import ToolCalled


@dataclass(slots=True)
class _OpenCall:
    index: object
    wire_id: str
    name: str
    arguments: list[str] = field(default_factory=list)
    whole: Mapping[str, Any] | None = None
    opaque: dict[str, Any] | None = None


class OpenCalls:
    """Collects the pieces of `tool_calls` deltas of Chat Completions."""

    def __init__(self) -> None:
        self._calls: list[_OpenCall] = []

    @property
    def seen(self) -> bool:
        return bool(self._calls)

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
            call = _OpenCall(piece.get("index"), wire_id or "", name or "")
            self._calls.append(call)
            started = (len(self._calls) - 1, call.name) if call.name else None
        elif name and not call.name:
            call.name = name
            started = (self._calls.index(call), name)
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            call.arguments.append(arguments)
        elif isinstance(arguments, dict):
            call.whole = arguments
        if "extra_content" in piece:
            call.opaque = {"model": model, "extra_content": piece["extra_content"]}
        return started

    def _find(self, index: object, wire_id: str, name: str) -> _OpenCall | None:
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

    def close(self) -> Iterator[ToolCalled]:
        """Every call in the order in which they began."""
        for position, call in enumerate(self._calls):
            written = "".join(call.arguments)
            if call.whole is not None:
                yield ToolCalled(position, call.name, call.whole, opaque=call.opaque)
            elif (arguments := read_arguments(written)) is None:
                yield ToolCalled(position, call.name, {}, malformed=written, opaque=call.opaque)
            else:
                yield ToolCalled(position, call.name, arguments, opaque=call.opaque)


def read_arguments(written: str) -> dict[str, Any] | None:
    """The arguments as an object; none written means an empty one, None that they cannot be read."""
    if not written.strip():
        return {}
    try:
        value = json.loads(written, parse_constant=_no_constant)
        if isinstance(value, str):  # encoded twice
            value = json.loads(value, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
