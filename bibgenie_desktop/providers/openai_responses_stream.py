"""The Responses dialect of OpenAI, incoming: events of a stream become neutral events.

Servers of others that speak this dialect leave events out; what the last one, which carries the whole
response, has and nobody said before is taken from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.providers.base import (
    Event,
    Finished,
    FinishReason,
    ReasoningClosed,
    ReasoningDelta,
    TextDelta,
    ToolCallStarted,
    UsageReported,
)
from bibgenie_desktop.providers.calls import Calls, OpenCall
from bibgenie_desktop.providers.decoding import JsonDecoder, count, dicts, mapping, words

_ENDS = {"response.completed", "response.incomplete", "response.done"}
_THOUGHTS = {
    "response.reasoning_summary_text.delta",
    "response.reasoning_text.delta",
    "response.reasoning.delta",
}


class ResponsesDecoder(JsonDecoder):
    """Decodes one answer of `/responses`."""

    ends_with = "[DONE]"  # of others; OpenAI sends none

    def __init__(self, profile: ModelProfile, limit: int | None = None) -> None:
        """`limit`: the output tokens that were asked for."""
        super().__init__(profile)
        self._limit = limit
        self._calls = Calls()
        self._items: list[Mapping[str, Any]] = []
        self._thinking = False
        self._said = False
        self._refused = False
        self._last: Mapping[str, Any] | None = None

    def whole(self, payload: object) -> list[Event] | None:
        found = mapping(payload)
        if found.get("error"):
            raise self.fault(found["error"])
        if not isinstance(found.get("output"), list):
            return None
        return [*self._end(found), *self.finish()]

    def read(self, payload: Mapping[str, Any], name: str) -> Iterator[Event]:
        kind = words(payload.get("type")) or name
        response = mapping(payload.get("response"))
        if kind == "error" or (not kind and payload.get("error")):
            raise self.fault(payload.get("error") or payload)
        if kind == "response.failed":
            raise self.fault(response.get("error") or response)
        if kind in _ENDS:
            yield from self._end(response)
        elif kind == "response.cancelled":
            raise self.cut()
        elif kind == "response.output_text.delta":
            yield from self._text(words(payload.get("delta")))
        elif kind == "response.refusal.delta":
            self._refused = True
            yield from self._text(words(payload.get("delta")))
        elif kind in _THOUGHTS:
            yield from self._thought(words(payload.get("delta")))
        elif kind == "response.reasoning_summary_part.added" and self._thinking:
            yield from self._thought("\n\n")
        elif kind == "response.output_item.added":
            yield from self._added(payload.get("output_index"), mapping(payload.get("item")))
        elif kind.startswith("response.function_call_arguments."):
            self._arguments(payload)
        elif kind == "response.output_item.done":
            yield from self._done(payload.get("output_index"), mapping(payload.get("item")))

    def ended(self) -> list[Event]:
        if self._last is None:
            raise self.cut()
        events: list[Event] = [*self._close_reasoning(), *self._calls.close_all()]
        usage = self._read_usage()
        if usage is not None:
            events.append(UsageReported(usage))
        return [*events, Finished(self.full(self._reason(usage), usage))]

    def _reason(self, usage: Usage | None) -> FinishReason:
        last = self._last or {}
        why = mapping(last.get("incomplete_details")).get("reason")
        if self._refused:
            return "refusal"
        if why == "content_filter":
            return "content_filter"
        if why is not None or last.get("status") == "incomplete":
            return "length"
        if self._calls.seen:
            return "tool_calls"
        return "length" if self._used_up(usage) else "stop"

    def _used_up(self, usage: Usage | None) -> bool:
        """Some servers call an answer complete that had no room to go on."""
        if usage is None:
            return False
        if self._limit is not None and usage.output_total >= self._limit:
            return True
        return self.full("length", usage) == "window"

    def _text(self, text: str) -> Iterator[Event]:
        if text:
            self._said = True
            yield from self._close_reasoning()
            yield TextDelta(text)

    def _thought(self, text: str) -> Iterator[Event]:
        if text:
            self._thinking = True
            yield ReasoningDelta(text)

    def _added(self, index: object, item: Mapping[str, Any]) -> Iterator[Event]:
        if item.get("type") != "function_call" or self._find(index, item) is not None:
            return
        yield from self._close_reasoning()
        wire_id = words(item.get("call_id")) or words(item.get("id"))
        call = OpenCall(index, wire_id, words(item.get("name")))
        position = self._calls.begin(call)
        if arguments := words(item.get("arguments")):
            call.write(arguments)
        yield ToolCallStarted(position, call.name)

    def _arguments(self, payload: Mapping[str, Any]) -> None:
        call = self._calls.at(payload.get("output_index"))
        if call is None or call.closed:
            return
        if isinstance(delta := payload.get("delta"), str):
            call.write(delta)
        elif isinstance(whole := payload.get("arguments"), str):
            call.rewrite(whole)

    def _done(self, index: object, item: Mapping[str, Any]) -> Iterator[Event]:
        kind = item.get("type")
        if kind == "reasoning":
            # Without either there is nothing in it that a provider which stores nothing could read.
            if item.get("encrypted_content") or item.get("content"):
                self._items.append(dict(item))
        elif kind == "function_call":
            yield from self._added(index, item)
            call = self._find(index, item)
            if call is None or call.closed:
                return
            if isinstance(whole := item.get("arguments"), str) and whole:
                call.rewrite(whole)
            yield from self._close_reasoning()
            yield from self._calls.close(call)

    def _find(self, index: object, item: Mapping[str, Any]) -> OpenCall | None:
        wire_id = words(item.get("call_id")) or words(item.get("id"))
        return self._calls.named(wire_id) or (self._calls.at(index) if index is not None else None)

    def _end(self, response: Mapping[str, Any]) -> Iterator[Event]:
        self._last = response
        self.done = True
        if response.get("status") == "failed":
            raise self.fault(response.get("error") or response)
        said = self._said
        for item in dicts(response.get("output")):
            if item.get("type") == "function_call":
                yield from self._done(None, item)
            elif item.get("type") == "message" and not said:
                yield from self._message(item)
            elif item.get("type") == "reasoning" and not said and not self._calls.seen and not self._items:
                yield from self._done(None, item)

    def _message(self, item: Mapping[str, Any]) -> Iterator[Event]:
        for piece in dicts(item.get("content")):
            if refusal := words(piece.get("refusal")):
                self._refused = True
            yield from self._text(refusal or words(piece.get("text")))

    def _close_reasoning(self) -> Iterator[Event]:
        if self._thinking or self._items:
            opaque = {"model": self._profile.ref, "items": self._items} if self._items else None
            self._thinking, self._items = False, []
            yield ReasoningClosed(opaque)

    def _read_usage(self) -> Usage | None:
        found = mapping((self._last or {}).get("usage"))
        given, written, total = (count(found, f"{name}_tokens") for name in ("input", "output", "total"))
        if total and total < given:
            return None
        inputs = mapping(found.get("input_tokens_details"))
        return self.usage(
            given,
            written,
            cache_read=count(inputs, "cached_tokens"),
            cache_write=count(inputs, "cache_write_tokens"),
            reasoning=count(mapping(found.get("output_tokens_details")), "reasoning_tokens"),
        )
