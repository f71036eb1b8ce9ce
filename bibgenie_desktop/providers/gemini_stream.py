"""The Gemini dialect of Google, incoming: chunks of a stream become neutral events.

Each chunk carries the figures so far, so the last ones count. Calls come whole; the stream ends with the
connection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bibgenie_desktop.domain.errors import ContentFiltered
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.providers.base import (
    Event,
    Finished,
    FinishReason,
    ReasoningClosed,
    ReasoningDelta,
    TextDelta,
    ToolCalled,
    ToolCallStarted,
    UsageReported,
)
from bibgenie_desktop.providers.calls import Calls, OpenCall
from bibgenie_desktop.providers.decoding import JsonDecoder, count, dicts, mapping, words

_FILTERED = {
    "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY",
    "MODEL_ARMOR", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION",
}  # fmt: skip
_FAULTS = {
    "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE",
    "MALFORMED_RESPONSE", "OTHER", "NO_IMAGE",
}  # fmt: skip


class GeminiDecoder(JsonDecoder):
    """Decodes one answer of `streamGenerateContent`."""

    def __init__(self, profile: ModelProfile) -> None:
        super().__init__(profile)
        self._calls = Calls()
        self._thinking = False
        self._figures: Mapping[str, Any] | None = None
        self._reason = ""

    @property
    def complete(self) -> bool:
        return bool(self._reason)

    def whole(self, payload: object) -> list[Event] | None:
        """One answer, or the chunks of a stream as a list."""
        chunks = payload if isinstance(payload, list) else [payload]
        known = [chunk for chunk in dicts(chunks) if chunk.keys() & {"candidates", "error", "promptFeedback"}]
        if not known:
            return None
        return [*(event for chunk in known for event in self.read(chunk, "")), *self.finish()]

    def read(self, payload: Mapping[str, Any], name: str) -> Iterator[Event]:
        if (found := payload.get("error")) or name == "error":
            raise self.fault(found if found else payload)
        if isinstance(figures := payload.get("usageMetadata"), dict):
            self._figures = figures
        candidates = dicts(payload.get("candidates"))
        if not candidates and words(mapping(payload.get("promptFeedback")).get("blockReason")):
            raise ContentFiltered(
                f"The content filter of “{self._profile.provider}” refused the request.",
                "Change the question, or choose another model.",
            )
        for candidate in candidates:
            if candidate.get("index") in (0, None):
                yield from self._candidate(candidate)

    def ended(self) -> list[Event]:
        if not self._reason:
            raise self.cut()
        events: list[Event] = list(self._close_reasoning())
        reason: FinishReason = "tool_calls" if self._calls.seen else "stop"
        if self._reason == "MAX_TOKENS":
            reason = "length"
        elif self._reason in _FILTERED:
            reason = "content_filter"
        usage = self._read_usage()
        if usage is not None:
            events.append(UsageReported(usage))
        return [*events, Finished(self.full(reason, usage))]

    def _candidate(self, candidate: Mapping[str, Any]) -> Iterator[Event]:
        for part in dicts(mapping(candidate.get("content")).get("parts")):
            yield from self._part(part)
        if reason := words(candidate.get("finishReason")):
            if reason in _FAULTS:
                raise self.own_fault()
            if reason != "FINISH_REASON_UNSPECIFIED":
                self._reason = reason

    def _part(self, part: Mapping[str, Any]) -> Iterator[Event]:
        text, signature = words(part.get("text")), words(part.get("thoughtSignature"))
        if isinstance(call := part.get("functionCall"), dict):
            yield from self._close_reasoning()
            yield from self._call(call, signature)
        elif part.get("thought") is True:
            if text:
                self._thinking = True
                yield ReasoningDelta(text)
        elif text or signature:
            yield from self._close_reasoning()
            if text:
                yield TextDelta(text)
            if signature:
                signed = {"text": text, "thoughtSignature": signature}
                yield ReasoningClosed({"model": self._profile.ref, "signed": signed})

    def _call(self, call: Mapping[str, Any], signature: str) -> Iterator[Event]:
        made = OpenCall(None, words(call.get("id")), words(call.get("name")), whole=mapping(call.get("args")))
        kept = {"id": made.wire_id, "thoughtSignature": signature}
        if any(kept.values()):
            made.opaque = {
                "model": self._profile.ref,
                **{name: value for name, value in kept.items() if value},
            }
        position = self._calls.begin(made)
        yield ToolCallStarted(position, made.name)
        yield ToolCalled(position, made.name, made.whole or {}, opaque=made.opaque)

    def _close_reasoning(self) -> Iterator[Event]:
        if self._thinking:
            self._thinking = False
            yield ReasoningClosed(None)

    def _read_usage(self) -> Usage | None:
        """Thoughts are counted beside the answer, cached tokens within the prompt."""
        found = mapping(self._figures)
        given, thoughts = count(found, "promptTokenCount"), count(found, "thoughtsTokenCount")
        total = count(found, "totalTokenCount")
        if total and total < given:
            return None
        return self.usage(
            given,
            count(found, "candidatesTokenCount") + thoughts,
            cache_read=count(found, "cachedContentTokenCount"),
            reasoning=thoughts,
        )
