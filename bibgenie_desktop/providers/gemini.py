"""The Gemini dialect of Google, outgoing. What comes back is read by `gemini_stream`.

A thought signature goes back on the very part it came on: the newer models refuse the next step of a turn
without it. Thoughts themselves, which are summaries, never go back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from bibgenie_desktop.domain.models import ModelProfile, ToolSpec
from bibgenie_desktop.domain.parts import ReasoningPart, TextPart, ToolPart
from bibgenie_desktop.providers.base import Request
from bibgenie_desktop.providers.gemini_schema import gemini_schema
from bibgenie_desktop.providers.gemini_stream import GeminiDecoder
from bibgenie_desktop.providers.sse import SseReader
from bibgenie_desktop.providers.wire import (
    Entry,
    FromModel,
    FromPerson,
    Picture,
    Results,
    Wire,
    apart,
    at_least_turn,
    call_id,
    conversation,
    output_limit,
    own,
)

OLDEST_OUTPUT = 8_192
"""The first models still offered write no more, and refuse a larger limit."""


class GeminiCodec:
    """Encoder and decoder of `streamGenerateContent`."""

    def path(self, request: Request) -> str:
        model = quote(request.profile.model.removeprefix("models/"), safe="/-._~")
        folder = "" if model.startswith("tunedModels/") else "models/"
        return f"/{folder}{model}:streamGenerateContent?alt=sse"

    def headers(self, key: str) -> dict[str, str]:
        return {"x-goog-api-key": key} if key else {}

    def encode(self, request: Request) -> Wire:
        profile = request.profile
        contents: list[Wire] = []
        for entry in apart(conversation(request, at_least_turn(profile.replays_reasoning))):
            parts = list(_parts(entry, profile))
            role = "model" if isinstance(entry, FromModel) else "user"
            if contents and contents[-1]["role"] == role:
                contents[-1]["parts"].extend(parts)
            else:
                contents.append({"role": role, "parts": parts})
        body: Wire = {"contents": contents}
        if request.system:
            body["systemInstruction"] = {"parts": [{"text": request.system}]}
        if request.tools and profile.tools:
            body["tools"] = [{"functionDeclarations": [_tool(spec) for spec in request.tools]}]
        config: dict[str, Any] = {}
        if (limit := output_limit(request, OLDEST_OUTPUT)) is not None:
            config["maxOutputTokens"] = limit
        if profile.reasoning:
            config["thinkingConfig"] = {"includeThoughts": True}
        if config:
            body["generationConfig"] = config
        return body

    def reader(self) -> SseReader:
        return SseReader()

    def decoder(self, request: Request) -> GeminiDecoder:
        return GeminiDecoder(request.profile)


def _parts(entry: Entry, profile: ModelProfile) -> Iterator[Wire]:
    match entry:
        case FromPerson():
            for piece in entry.pieces or ("",):
                if isinstance(piece, Picture):
                    yield {"inlineData": {"mimeType": piece.mime, "data": piece.data}}
                else:
                    yield {"text": piece}
        case FromModel():
            yield from _said(entry, profile)
        case Results():
            for result in entry.results:
                part = result.call
                outcome = "output" if part.state == "done" else "error"
                response = {"name": part.name, "response": {outcome: result.text}}
                yield {"functionResponse": {**_id(entry.message_id, part, profile), **response}}


def _said(said: FromModel, profile: ModelProfile) -> Iterator[Wire]:
    signed: dict[str, Any] | None = None
    wires: list[Wire] = []
    for part in reversed(said.parts):
        match part:
            case TextPart(text=text) if text:
                wires[:0] = _text(text, signed, said.again)
                signed = None
            case ReasoningPart():
                found = own(part.opaque, profile).get("signed")
                signed = found if isinstance(found, dict) else None
                if signed is not None and not signed.get("text") and said.again:
                    wires.insert(0, dict(signed))
            case ToolPart():
                call = {**_id(said.message_id, part, profile), "name": part.name, "args": dict(part.input)}
                wire: Wire = {"functionCall": call}
                if signature := own(part.opaque, profile).get("thoughtSignature"):
                    wire["thoughtSignature"] = signature
                wires.insert(0, wire)
    yield from wires


def _text(text: str, signed: Mapping[str, Any] | None, again: bool) -> list[Wire]:
    """Text whose end was signed stays cut where it was: a signature is of its own part only."""
    end = str((signed or {}).get("text") or "")
    if signed is None or not end or not text.endswith(end):
        return [{"text": text}]
    whole: Wire = dict(signed) if again else {"text": end}
    return [whole] if text == end else [{"text": text.removesuffix(end)}, whole]


def _id(message_id: str, part: ToolPart, profile: ModelProfile) -> Wire:
    """Only calls that came with an id have one: older models know none."""
    return {"id": call_id(message_id, part.id)} if own(part.opaque, profile).get("id") else {}


def _tool(spec: ToolSpec) -> Wire:
    wire: Wire = {"name": spec.name, "description": spec.description}
    schema = gemini_schema(spec.parameters)
    if schema.get("properties"):  # an object without properties is refused
        wire["parameters"] = schema
    return wire
