"""The Chat Completions dialect, incoming: events of a stream become neutral events.

One decoder reads one answer. It knows the ways of many servers: content as a list, reasoning under several
names, calls whole or in pieces, usage in any chunk, errors inside a stream that began well.
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
from bibgenie_desktop.providers.calls import DeltaCalls
from bibgenie_desktop.providers.decoding import JsonDecoder, amount, count, dicts, mapping

_REASONS: dict[str, FinishReason] = {
    "stop": "stop", "end_turn": "stop", "eos": "stop", "stop_sequence": "stop",
    "length": "length", "max_tokens": "length", "model_length": "length",
    "tool_calls": "tool_calls", "function_call": "tool_calls", "tool_use": "tool_calls",
    "content_filter": "content_filter", "safety": "content_filter", "refusal": "refusal",
}  # fmt: skip
_FAULTS = {"error", "insufficient_system_resource", "malformed_function_call"}


class _Detail:
    """One of the details that routers send of a model's reasoning, while its pieces arrive."""

    def __init__(self) -> None:
        self._fields: dict[str, Any] = {}
        self._written: dict[str, list[str]] = {}

    def goes_on_with(self, piece: Mapping[str, Any]) -> bool:
        return all(self._fields.get(name) == piece.get(name) for name in ("type", "index"))

    def add(self, piece: Mapping[str, Any]) -> None:
        for name, value in piece.items():
            if name in ("text", "summary", "data") and isinstance(value, str):
                self._written.setdefault(name, []).append(value)
                self._fields.setdefault(name, "")
            elif name not in self._fields or value not in (None, ""):
                self._fields[name] = value

    def whole(self) -> dict[str, Any]:
        written = {name: "".join(pieces) for name, pieces in self._written.items()}
        return {**self._fields, **written}

    @property
    def holds_something(self) -> bool:
        return any(map(any, self._written.values())) or bool(self._fields.get("signature"))


class ChatDecoder(JsonDecoder):
    """Decodes one answer of a Chat Completions server."""

    ends_with = "[DONE]"

    def __init__(self, profile: ModelProfile) -> None:
        super().__init__(profile)
        self._calls = DeltaCalls()
        self._reason: str | None = None
        self._usage: Mapping[str, Any] | None = None
        self._thinking = False
        self._details: list[_Detail] = []
        self._refused = False

    @property
    def complete(self) -> bool:
        return self._reason is not None or self.done

    def whole(self, payload: object) -> list[Event] | None:
        if not isinstance(payload, dict) or not (payload.get("choices") or payload.get("error")):
            return None
        return [*self.read(payload, ""), *self.finish()]

    def read(self, payload: Mapping[str, Any], name: str) -> list[Event]:
        """One chunk of a stream, or a whole completion of a server that does not stream."""
        if (found := payload.get("error")) or name == "error":
            raise self.fault(found if found else payload)
        for holder in (mapping(payload.get("x_groq")), payload):
            if isinstance(usage := holder.get("usage"), dict):
                self._usage = usage  # cumulative where repeated: never added up
        events: list[Event] = []
        for choice in dicts(payload.get("choices")):
            if choice.get("index") in (0, None):
                events.extend(self._choice(choice))
        return events

    def ended(self) -> list[Event]:
        if self._reason is None and not self.done:
            raise self.cut()
        events: list[Event] = [*self._close_reasoning(), *self._calls.close_all()]
        reason = _REASONS.get((self._reason or "stop").lower(), "stop")
        if self._refused:
            reason = "refusal"
        elif reason == "stop" and self._calls.seen:
            reason = "tool_calls"
        elif reason == "tool_calls" and not self._calls.seen:
            reason = "stop"
        if (usage := self._read_usage()) is not None:
            events.append(UsageReported(usage))
        return [*events, Finished(self.full(reason, usage))]

    def _choice(self, choice: Mapping[str, Any]) -> Iterator[Event]:
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            delta = choice.get("message")
        if isinstance(delta, dict):
            yield from self._delta(delta)
        if isinstance(reason := choice.get("finish_reason"), str) and reason:
            if reason.lower() in _FAULTS:
                raise self.own_fault()
            self._reason = reason

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[Event]:
        yield from self._reasoning(delta)
        for kind, text in _content(delta.get("content")):
            if kind == "reasoning":
                self._thinking = True
                yield ReasoningDelta(text)
            else:
                yield from self._close_reasoning()
                yield TextDelta(text)
        if isinstance(refusal := delta.get("refusal"), str) and refusal:
            self._refused = True
            yield TextDelta(refusal)
        for piece in dicts(delta.get("tool_calls")):
            yield from self._close_reasoning()
            started = self._calls.add(piece, self._profile.ref)
            if started is not None:
                yield ToolCallStarted(*started)

    def _reasoning(self, delta: Mapping[str, Any]) -> Iterator[Event]:
        pieces = dicts(delta.get("reasoning_details"))
        for piece in pieces:
            self._add_detail(piece)
        texts = (delta.get("reasoning_content"), delta.get("reasoning"), _details_text(pieces))
        text = next((text for text in texts if isinstance(text, str) and text), "")
        if text:
            self._thinking = True
            yield ReasoningDelta(text)

    def _add_detail(self, piece: Mapping[str, Any]) -> None:
        """Pieces of one detail are joined: replayed, it must be what the model wrote."""
        last = self._details[-1] if self._details else None
        if last is None or not last.goes_on_with(piece):
            last = _Detail()
            self._details.append(last)
        last.add(piece)

    def _close_reasoning(self) -> Iterator[Event]:
        details = [detail.whole() for detail in self._details if detail.holds_something]
        if self._thinking or details:
            opaque = {"model": self._profile.ref, "reasoning_details": details} if details else None
            self._thinking, self._details = False, []
            yield ReasoningClosed(opaque)

    def _read_usage(self) -> Usage | None:
        """The figures of the request, None where they cannot be true (an input of nothing, a total below
        the input)."""
        found = mapping(self._usage)
        prompt, completion, total = (
            count(found, f"{name}_tokens") for name in ("prompt", "completion", "total")
        )
        inputs = mapping(found.get("prompt_tokens_details"))
        reasoning = count(mapping(found.get("completion_tokens_details")), "reasoning_tokens")
        if total and total < prompt:
            return None
        if reasoning and total == prompt + completion + reasoning:
            completion += reasoning  # xAI counts it beside the output, not within
        elif not completion and total > prompt:
            completion = total - prompt
        cost = amount(found, "cost")
        if cost is not None and found.get("is_byok") is True:  # a router's own fee, beside what it passes on
            cost += amount(mapping(found.get("cost_details")), "upstream_inference_cost") or 0.0
        return self.usage(
            prompt,
            completion,
            cache_read=count(found, "prompt_cache_hit_tokens") or count(inputs, "cached_tokens"),
            cache_write=count(inputs, "cache_write_tokens"),
            reasoning=reasoning,
            cost=cost,
        )


def _content(content: object) -> Iterator[tuple[str, str]]:
    """(`text` or `reasoning`, words) of a string or of Mistral's list."""
    if isinstance(content, str):
        if content:
            yield "text", content
        return
    for piece in content if isinstance(content, list) else ():
        if not isinstance(piece, dict):
            continue
        if piece.get("type") == "thinking":
            inner = piece.get("thinking")
            yield from (("reasoning", text) for _, text in _content(inner))
        elif isinstance(text := piece.get("text"), str) and text:
            yield "text", text


def _details_text(pieces: list[dict[str, Any]]) -> str:
    texts = (piece.get("text") or piece.get("summary") for piece in pieces)
    return "".join(text for text in texts if isinstance(text, str))
