"""The Messages dialect of Anthropic, outgoing. What comes back is read by `anthropic_stream`.

Within a turn thinking goes back as it came, byte for byte. Cache marks stand behind the parts of a request
that the next one repeats; they are notes to the provider, not content, and the only thing that moves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bibgenie_desktop.domain.models import ModelProfile, ToolSpec
from bibgenie_desktop.domain.parts import ReasoningPart, TextPart, ToolPart
from bibgenie_desktop.providers.anthropic_stream import AnthropicDecoder
from bibgenie_desktop.providers.base import Request
from bibgenie_desktop.providers.sse import SseReader
from bibgenie_desktop.providers.wire import (
    Entry,
    FromModel,
    FromPerson,
    Picture,
    Results,
    Wire,
    at_least_turn,
    call_id,
    conversation,
    own,
)

VERSION = "2023-06-01"

_MOST_OUTPUT = (
    # More is refused. Whoever knows better says so in the model's settings.
    (re.compile(r"claude-3-(opus|sonnet|haiku)"), 4_096),
    (re.compile(r"claude-3-5"), 8_192),
    (re.compile(r""), 32_000),
)
_BUDGETED = re.compile(r"claude-(3-7|opus-4(-[015])?|sonnet-4(-5)?|haiku-4(-5)?)(-\d{8})?$")
"""Models that are told how long to think; newer ones decide themselves."""
LEAST_THINKING = 1_024
MOST_THINKING = 16_000
_MARK = {"type": "ephemeral"}


class AnthropicCodec:
    """Encoder and decoder of `/messages`."""

    def path(self, request: Request) -> str:
        return "/messages"

    def headers(self, key: str) -> dict[str, str]:
        return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}

    def encode(self, request: Request) -> Wire:
        profile = request.profile
        messages: list[Wire] = []
        for entry in conversation(request, at_least_turn(profile.replays_reasoning)):
            _add(messages, "assistant" if isinstance(entry, FromModel) else "user", _blocks(entry, profile))
        _mark(messages)
        most = _most_output(request)
        body: Wire = {"model": profile.model, "max_tokens": most, "stream": True}
        if request.tools and profile.tools:
            body["tools"] = [_tool(spec) for spec in request.tools]
        if request.system:
            body["system"] = [{"type": "text", "text": request.system, "cache_control": _MARK}]
        elif "tools" in body:
            body["tools"][-1]["cache_control"] = _MARK
        body["messages"] = messages
        if profile.reasoning and request.purpose == "answer":
            body.update(_thinking(profile, most))
        return body

    def reader(self) -> SseReader:
        return SseReader()

    def decoder(self, request: Request) -> AnthropicDecoder:
        return AnthropicDecoder(request.profile)


def _add(messages: list[Wire], role: str, blocks: Iterator[Wire]) -> None:
    """The roles alternate: what follows the same role joins its message."""
    content = list(blocks)
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"].extend(content)
    elif content:
        messages.append({"role": role, "content": content})


def _blocks(entry: Entry, profile: ModelProfile) -> Iterator[Wire]:
    match entry:
        case FromPerson():
            spoken = [piece for piece in entry.pieces if isinstance(piece, Picture) or piece.strip()]
            for piece in spoken or ("(empty message)",):
                yield _picture(piece) if isinstance(piece, Picture) else {"type": "text", "text": piece}
        case FromModel():
            for part in entry.parts:
                yield from _said(entry, part, profile)
        case Results():
            for result in entry.results:
                content: str | list[Wire] = result.text
                if result.pictures:
                    content = [{"type": "text", "text": result.text}, *map(_picture, result.pictures)]
                wire: Wire = {
                    "type": "tool_result",
                    "tool_use_id": call_id(entry.message_id, result.call.id),
                    "content": content,
                }
                if result.call.state != "done":
                    wire["is_error"] = True
                yield wire


def _said(
    said: FromModel, part: TextPart | ReasoningPart | ToolPart, profile: ModelProfile
) -> Iterator[Wire]:
    match part:
        case TextPart(text=text):
            if text.strip():  # blank text is refused
                yield {"type": "text", "text": text}
            elif not said.calls and not any(p.text.strip() for p in said.parts if isinstance(p, TextPart)):
                yield {"type": "text", "text": "(no answer)"}
        case ReasoningPart() if said.again:
            yield from (dict(block) for block in own(part.opaque, profile).get("blocks", ()))
        case ToolPart():
            id = call_id(said.message_id, part.id)
            yield {"type": "tool_use", "id": id, "name": part.name, "input": dict(part.input)}


def _picture(piece: Picture) -> Wire:
    source = {"type": "base64", "media_type": piece.mime, "data": piece.data}
    return {"type": "image", "source": source}


def _mark(messages: list[Wire]) -> None:
    """The end of this request, which the next one repeats, and the end of the one before, which is cached."""
    asked = [message for message in messages if message["role"] == "user"]
    for message in asked[-2:]:
        message["content"][-1]["cache_control"] = _MARK


def _most_output(request: Request) -> int:
    """The limit is a must here, and one above what the model can write is refused."""
    profile = request.profile
    most = profile.max_output or next(most for known, most in _MOST_OUTPUT if known.search(profile.model))
    asked = request.max_output_tokens
    return most if asked is None else min(asked, most)


def _thinking(profile: ModelProfile, most: int) -> dict[str, Any]:
    if not _BUDGETED.search(profile.model):
        return {"thinking": {"type": "adaptive"}}
    budget = min(most // 2, MOST_THINKING)
    return {"thinking": {"type": "enabled", "budget_tokens": budget}} if budget >= LEAST_THINKING else {}


def _tool(spec: ToolSpec) -> Wire:
    return {"name": spec.name, "description": spec.description, "input_schema": dict(spec.parameters)}
