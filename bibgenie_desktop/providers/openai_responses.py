"""The Responses dialect of OpenAI, outgoing. What comes back is read by `openai_responses_stream`.

Nothing is stored at the provider (`store: false`): each request carries the whole conversation, and within a
turn the reasoning items as the provider wrote them, encrypted, before the calls that followed them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bibgenie_desktop.domain.models import ModelProfile, ToolSpec
from bibgenie_desktop.domain.parts import ReasoningPart, TextPart, ToolPart
from bibgenie_desktop.providers.base import Request
from bibgenie_desktop.providers.openai_responses_stream import ResponsesDecoder
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
    to_json,
)

_DOES_NOT_REASON = re.compile(r"(^|/)(gpt-3|gpt-4|chatgpt)|-chat(-latest)?$", re.IGNORECASE)
"""Models that refuse a request for encrypted reasoning."""


class ResponsesCodec:
    """Encoder and decoder of `/responses`."""

    def __init__(self, *, api_key_header: bool = False) -> None:
        self._api_key_header = api_key_header

    def path(self, request: Request) -> str:
        return "/responses"

    def headers(self, key: str) -> dict[str, str]:
        if not key:
            return {}
        return {"api-key": key} if self._api_key_header else {"Authorization": f"Bearer {key}"}

    def encode(self, request: Request) -> Wire:
        profile = request.profile
        items: list[Wire] = []
        for entry in apart(conversation(request, at_least_turn(profile.replays_reasoning))):
            items.extend(_items(entry, profile))
        body: Wire = {"model": profile.model, "input": items, "stream": True, "store": False}
        if request.system:
            body["instructions"] = request.system
        if not _DOES_NOT_REASON.search(profile.model):
            body["include"] = ["reasoning.encrypted_content"]
            if profile.reasoning:
                body["reasoning"] = {"summary": "auto"}
        if (limit := output_limit(request)) is not None:
            body["max_output_tokens"] = limit
        if request.tools and profile.tools:
            body["tools"] = [_tool(spec) for spec in request.tools]
        return body

    def reader(self) -> SseReader:
        return SseReader()

    def decoder(self, request: Request) -> ResponsesDecoder:
        return ResponsesDecoder(request.profile, output_limit(request))


def _items(entry: Entry, profile: ModelProfile) -> Iterator[Wire]:
    match entry:
        case FromPerson():
            yield {"type": "message", "role": "user", "content": _content(entry)}
        case FromModel():
            for part in entry.parts:
                yield from _item(entry, part, profile)
        case Results():
            for result in entry.results:
                id = call_id(entry.message_id, result.call.id)
                yield {"type": "function_call_output", "call_id": id, "output": result.text}


def _item(
    said: FromModel, part: TextPart | ReasoningPart | ToolPart, profile: ModelProfile
) -> Iterator[Wire]:
    match part:
        case TextPart(text=text) if text:
            content = [{"type": "output_text", "text": text}]
            yield {"type": "message", "role": "assistant", "content": content}
        case ReasoningPart() if said.again:
            yield from own(part.opaque, profile).get("items", ())
        case ToolPart():
            # Without the item's own id: one that is known to no store must not be looked up.
            yield {
                "type": "function_call",
                "call_id": call_id(said.message_id, part.id),
                "name": part.name,
                "arguments": to_json(part.input),
            }


def _content(entry: FromPerson) -> list[Wire]:
    content: list[Wire] = [
        {"type": "input_image", "image_url": f"data:{piece.mime};base64,{piece.data}"}
        if isinstance(piece, Picture)
        else {"type": "input_text", "text": piece}
        for piece in entry.pieces
    ]
    return content or [{"type": "input_text", "text": ""}]


def _tool(spec: ToolSpec) -> Wire:
    # `strict` is the default here and demands another form of schema.
    return {
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": dict(spec.parameters),
        "strict": False,
    }
