"""Ollama's own dialect, outgoing. What comes back is read by `ollama_stream`.

Through its OpenAI interface Ollama cuts a long conversation without a word. Here it is told how large a
window to make, and to refuse what does not fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bibgenie_desktop.domain.estimate import Estimator, estimate_tools
from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.domain.parts import ImagePart, Part, ToolPart
from bibgenie_desktop.domain.tokens import estimate_text
from bibgenie_desktop.providers.base import Request
from bibgenie_desktop.providers.ndjson import LineReader
from bibgenie_desktop.providers.ollama_stream import OllamaDecoder
from bibgenie_desktop.providers.wire import (
    Entry,
    FromModel,
    FromPerson,
    Picture,
    Results,
    Wire,
    apart,
    call_id,
    conversation,
    merged,
)


class OllamaCodec:
    """Encoder and decoder of `/api/chat`."""

    def path(self, request: Request) -> str:
        return "/api/chat"

    def headers(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def encode(self, request: Request) -> Wire:
        profile = request.profile
        messages: list[Wire] = [{"role": "system", "content": request.system}] if request.system else []
        for entry in merged(apart(conversation(request, profile.replays_reasoning))):
            messages.extend(_spelled(entry))
        options: Wire = {"num_ctx": profile.window}
        if request.max_output_tokens is not None:
            options["num_predict"] = request.max_output_tokens
        body: Wire = {
            "model": profile.model,
            "messages": messages,
            "stream": True,
            "options": options,
            "truncate": False,
            "shift": False,
        }
        if request.tools and profile.tools:
            body["tools"] = [_tool(spec) for spec in request.tools]
        if profile.reasoning:
            # A summary is written without: thoughts would use up the room it was given.
            body["think"] = request.purpose == "answer"
        return body

    def reader(self) -> LineReader:
        return LineReader()

    def decoder(self, request: Request) -> OllamaDecoder:
        return OllamaDecoder(request.profile, lambda: written_tokens(request))


def written_tokens(request: Request) -> int:
    """The estimate of a request's text; what its images cost differs too much from model to model."""
    estimator = Estimator(request.profile)
    tools = estimate_tools(request.tools) if request.profile.tools else 0
    parts = (
        estimator.part(_unpictured(part), in_turn=message.status == "pending")
        for message in request.projection.messages
        for part in message.parts
        if not isinstance(part, ImagePart)
    )
    return estimate_text(request.system) + tools + sum(parts)


def _unpictured(part: Part) -> Part:
    return replace(part, images=()) if isinstance(part, ToolPart) else part


def _spelled(entry: Entry) -> Iterator[Wire]:
    match entry:
        case FromPerson():
            wire: Wire = {"role": "user", "content": entry.text}
            if entry.pictures:
                wire["images"] = [piece.data for piece in entry.pieces if isinstance(piece, Picture)]
            yield wire
        case FromModel():
            wire = {"role": "assistant", "content": entry.text}
            if thoughts := "".join(part.text for part in entry.thoughts):
                wire["thinking"] = thoughts
            if entry.calls:
                wire["tool_calls"] = [
                    {
                        "id": call_id(entry.message_id, part.id),
                        "function": {"name": part.name, "arguments": dict(part.input)},
                    }
                    for part in entry.calls
                ]
            yield wire
        case Results():
            for result in entry.results:
                yield {
                    "role": "tool",
                    "tool_name": result.call.name,
                    "tool_call_id": call_id(entry.message_id, result.call.id),
                    "content": result.text,
                }


def _tool(spec: ToolSpec) -> Wire:
    return {
        "type": "function",
        "function": {"name": spec.name, "description": spec.description, "parameters": dict(spec.parameters)},
    }
