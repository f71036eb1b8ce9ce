"""The Messages dialect of Anthropic, incoming: events of a stream become neutral events.

Thinking is kept block by block as it was sent, for the next request of the turn. Figures of the last event
override those of the first, field by field; neither is ever added up. Each pass of the provider's own is a
record of its own.
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

_REASONS: dict[str, FinishReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "window",
    "refusal": "refusal",
    "content_filter": "content_filter",
}
"""Of the others, `tool_use` is told by the calls; `pause_turn` is of tools that we never ask for."""
MOST_PASSES = 64
"""More passes than any answer has."""


class AnthropicDecoder(JsonDecoder):
    """Decodes one answer of `/messages`."""

    def __init__(self, profile: ModelProfile) -> None:
        super().__init__(profile)
        self._calls = Calls()
        self._open: tuple[object, dict[str, Any], list[str], list[str]] | None = None
        self._blocks: list[dict[str, Any]] = []
        self._thinking = False
        self._figures: dict[str, Any] = {}
        self._reason: str | None = None

    @property
    def complete(self) -> bool:
        return self._reason is not None

    def whole(self, payload: object) -> list[Event] | None:
        found = mapping(payload)
        if found.get("error"):
            raise self.fault(found["error"])
        if not isinstance(found.get("content"), list):
            return None
        self._figures.update(mapping(found.get("usage")))
        self._reason = words(found.get("stop_reason")) or "end_turn"
        events: list[Event] = []
        for index, block in enumerate(dicts(found["content"])):
            events.extend(self._started(index, block))
            events.extend(self._stopped(index))
        return [*events, *self.finish()]

    def read(self, payload: Mapping[str, Any], name: str) -> Iterator[Event]:
        kind = words(payload.get("type")) or name
        index = payload.get("index")
        if kind == "error" or (not kind and payload.get("error")):
            raise self.fault(payload.get("error") or payload)
        if kind == "message_start":
            # Some proxies send it twice; the figures of the second are the same ones.
            self._figures.update(_stated(mapping(payload.get("message")).get("usage")))
        elif kind == "content_block_start":
            yield from self._started(index, mapping(payload.get("content_block")))
        elif kind == "content_block_delta":
            yield from self._delta(index, mapping(payload.get("delta")))
        elif kind == "content_block_stop":
            yield from self._stopped(index)
        elif kind == "message_delta":
            self._figures.update(_stated(payload.get("usage")))
            if reason := words(mapping(payload.get("delta")).get("stop_reason")):
                self._reason = reason
        elif kind == "message_stop":
            self.done = True

    def ended(self) -> list[Event]:
        if self._reason is None:
            raise self.cut()
        events: list[Event] = [*self._close_reasoning(), *self._calls.close_all()]
        usages = self._read_usages()
        events += map(UsageReported, usages)
        reason = _REASONS.get(self._reason, "tool_calls" if self._calls.seen else "stop")
        return [*events, Finished(self.full(reason, usages[-1] if usages else None))]

    def _started(self, index: object, block: Mapping[str, Any]) -> Iterator[Event]:
        match block.get("type"):
            case "text":
                yield from self._text(words(block.get("text")))
            case "thinking":
                self._keep_open()
                self._open = (index, dict(block), [], [])
                yield from self._thought(words(block.get("thinking")))
            case "redacted_thinking":
                self._keep_open()
                self._blocks.append(dict(block))
            case "tool_use":
                yield from self._called(index, block)

    def _called(self, index: object, block: Mapping[str, Any]) -> Iterator[Event]:
        wire_id = words(block.get("id"))
        if self._calls.named(wire_id) is not None:  # the same start again
            return
        yield from self._close_reasoning()
        call = OpenCall(index, wire_id, words(block.get("name")), whole=mapping(block.get("input")))
        position = self._calls.begin(call)
        yield ToolCallStarted(position, call.name)

    def _delta(self, index: object, delta: Mapping[str, Any]) -> Iterator[Event]:
        match delta.get("type"):
            case "text_delta":
                yield from self._text(words(delta.get("text")))
            case "thinking_delta":
                piece = words(delta.get("thinking"))
                self._thinking_block(index)[2].append(piece)
                yield from self._thought(piece)
            case "signature_delta":
                self._thinking_block(index)[3].append(words(delta.get("signature")))
            case "input_json_delta":
                call = self._calls.at(index)
                if call is not None and not call.closed:
                    call.write(words(delta.get("partial_json")))

    def _thinking_block(self, index: object) -> tuple[object, dict[str, Any], list[str], list[str]]:
        """The open block; one whose start was lost begins here."""
        if self._open is None or self._open[0] != index:
            self._keep_open()
            self._open = (index, {"type": "thinking", "thinking": "", "signature": ""}, [], [])
        return self._open

    def _stopped(self, index: object) -> Iterator[Event]:
        if self._open is not None and self._open[0] == index:
            self._keep_open()
            return
        call = self._calls.at(index)
        if call is not None:
            yield from self._calls.close(call)

    def _text(self, text: str) -> Iterator[Event]:
        if text:
            yield from self._close_reasoning()
            yield TextDelta(text)

    def _thought(self, text: str) -> Iterator[Event]:
        self._thinking = True
        if text:
            yield ReasoningDelta(text)

    def _keep_open(self) -> None:
        """The thinking block that ends here, with everything it came with."""
        if self._open is None:
            return
        _, block, thoughts, signatures = self._open
        self._open = None
        for name, pieces in (("thinking", thoughts), ("signature", signatures)):
            if pieces:
                block[name] = words(block.get(name)) + "".join(pieces)
        self._blocks.append(block)

    def _close_reasoning(self) -> Iterator[Event]:
        self._keep_open()
        if self._thinking or self._blocks:
            opaque = {"model": self._profile.ref, "blocks": self._blocks} if self._blocks else None
            self._thinking, self._blocks = False, []
            yield ReasoningClosed(opaque)

    def _read_usages(self) -> list[Usage]:
        """One record, or one for each pass where the provider itself worked in several: all are billed, and
        the last that wrote the message is what the context holds. It comes last."""
        passes = dicts(self._figures.get("iterations"))[:MOST_PASSES]
        last = max((i for i, p in enumerate(passes) if p.get("type") == "message"), default=None)
        if last is None:
            found = [self._read_usage(self._figures)]
        else:
            found = [self._read_usage(p) for i, p in enumerate(passes) if i != last]
            found.append(self._read_usage(passes[last]))
        return [usage for usage in found if usage is not None]

    def _read_usage(self, found: Mapping[str, Any]) -> Usage | None:
        """Input is what was not cached: the cached and newly cached tokens come on top."""
        read, written = count(found, "cache_read_input_tokens"), count(found, "cache_creation_input_tokens")
        return self.usage(
            count(found, "input_tokens") + read + written,
            count(found, "output_tokens"),
            cache_read=read,
            cache_write=written,
            reasoning=count(mapping(found.get("output_tokens_details")), "thinking_tokens"),
        )


def _stated(usage: object) -> dict[str, Any]:
    """The figures that are there: a null says nothing about the one before."""
    return {name: value for name, value in mapping(usage).items() if value is not None}
