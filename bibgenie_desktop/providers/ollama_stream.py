"""Ollama's own dialect, incoming: one JSON object a line becomes neutral events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.providers.base import (
    Event,
    Finished,
    ReasoningClosed,
    ReasoningDelta,
    TextDelta,
    ToolCallStarted,
    UsageReported,
)
from bibgenie_desktop.providers.calls import Calls, OpenCall, read_arguments
from bibgenie_desktop.providers.decoding import JsonDecoder, count, dicts, mapping, words

LEAST_SHARE: Final = 0.5
"""Of the estimate: fewer tokens mean that the prompt was cut, or that a cached part was not counted."""


class OllamaDecoder(JsonDecoder):
    """Decodes one answer of `/api/chat`. `estimate` gives the tokens that the request should have had."""

    def __init__(self, profile: ModelProfile, estimate: Callable[[], int]) -> None:
        super().__init__(profile)
        self._estimate = estimate
        self._calls = Calls()
        self._thinking = False
        self._last: Mapping[str, Any] | None = None

    def whole(self, payload: object) -> list[Event] | None:
        found = mapping(payload)
        if not found.keys() & {"message", "error", "done"}:
            return None
        return [*self.read(found, ""), *self.finish()]

    def read(self, payload: Mapping[str, Any], name: str) -> Iterator[Event]:
        if found := payload.get("error"):
            raise self.fault(found)
        message = mapping(payload.get("message"))
        if thought := words(message.get("thinking")):
            self._thinking = True
            yield ReasoningDelta(thought)
        if text := words(message.get("content")):
            yield from self._close_reasoning()
            yield TextDelta(text)
        for call in dicts(message.get("tool_calls")):
            yield from self._close_reasoning()
            yield from self._call(call)
        if payload.get("done") is True:
            self._last = payload
            self.done = True

    def ended(self) -> list[Event]:
        if self._last is None:
            raise self.cut()
        events: list[Event] = [*self._close_reasoning()]
        usage = self._read_usage()
        if usage is not None:
            events.append(UsageReported(usage))
        if self._last.get("done_reason") == "length":
            return [*events, Finished(self.full("length", usage))]
        return [*events, Finished("tool_calls" if self._calls.seen else "stop")]

    def _call(self, call: Mapping[str, Any]) -> Iterator[Event]:
        function = mapping(call.get("function"))
        made = OpenCall(None, words(call.get("id")), words(function.get("name")))
        arguments = function.get("arguments")
        if isinstance(arguments, str):  # of servers that imitate it
            made.whole = read_arguments(arguments)
            if made.whole is None:
                made.write(arguments)
        else:
            made.whole = mapping(arguments)
        position = self._calls.begin(made)
        yield ToolCallStarted(position, made.name)
        yield from self._calls.close(made)

    def _close_reasoning(self) -> Iterator[Event]:
        if self._thinking:
            self._thinking = False
            yield ReasoningClosed(None)

    def _read_usage(self) -> Usage | None:
        found = mapping(self._last)
        given = count(found, "prompt_eval_count")
        if given < LEAST_SHARE * self._estimate():
            return None
        return self.usage(given, count(found, "eval_count"))
