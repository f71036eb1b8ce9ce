"""The Chat Completions dialect, outgoing: a neutral request becomes one exact body.

Pure and deterministic: the same request gives the same bytes, and a message is encoded alike whether its
turn is under way or stored, so that each request of a branch starts with the messages of the one before
(I8). What comes back is read by `openai_chat_stream`.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from bibgenie_desktop.domain.models import ModelProfile, ToolSpec
from bibgenie_desktop.domain.parts import ImagePart, Part, ReasoningPart, ResourcePart, TextPart, ToolPart
from bibgenie_desktop.domain.projection import ProjectedMessage
from bibgenie_desktop.providers.base import Request
from bibgenie_desktop.providers.openai_chat_stream import ChatDecoder

Wire = dict[str, Any]

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class ChatDialect:
    """Where servers of this interface differ."""

    max_tokens_key: str = "max_tokens"
    asks_for_usage: bool = True
    """`stream_options`: strict servers refuse fields they do not know, and report usage without being
    asked."""
    merge_neighbours: bool = False
    """For chat templates that demand strict alternation of user and assistant."""


def dialect_of(base_url: str) -> ChatDialect:
    host = urlsplit(base_url).hostname or ""
    if host == "api.openai.com" or host.endswith(".openai.azure.com"):
        return ChatDialect(max_tokens_key="max_completion_tokens")
    if host == "api.mistral.ai":
        return ChatDialect(asks_for_usage=False)
    return ChatDialect()


class ChatCodec:
    """Encoder and decoder of one server."""

    path = "/chat/completions"

    def __init__(self, dialect: ChatDialect) -> None:
        self._dialect = dialect

    def headers(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def encode(self, request: Request) -> Wire:
        dialect, profile = self._dialect, request.profile
        messages: list[Wire] = [{"role": "system", "content": request.system}] if request.system else []
        for message in request.projection.messages:
            messages.extend(_message(message, profile, request.images))
        if dialect.merge_neighbours:
            messages = _merged(messages)
        body: Wire = {"model": profile.model, "messages": messages, "stream": True}
        if dialect.asks_for_usage:
            body["stream_options"] = {"include_usage": True}
        if request.max_output_tokens is not None:
            body[dialect.max_tokens_key] = request.max_output_tokens
        if request.tools and profile.tools:
            body["tools"] = [_tool(spec) for spec in request.tools]
        return body

    def decoder(self, profile: ModelProfile) -> ChatDecoder:
        return ChatDecoder(profile)


def call_id(message_id: str, part_id: str) -> str:
    """The wire's name of a call, derived from ours: nine letters and digits, the form every server
    accepts."""
    number = int.from_bytes(hashlib.sha256(f"{message_id}/{part_id}".encode()).digest()[:8])
    digits = []
    for _ in range(9):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(digits)


def _tool(spec: ToolSpec) -> Wire:
    return {
        "type": "function",
        "function": {"name": spec.name, "description": spec.description, "parameters": dict(spec.parameters)},
    }


def _message(message: ProjectedMessage, profile: ModelProfile, images: Mapping[str, bytes]) -> Iterator[Wire]:
    if message.kind == "assistant":
        yield from _assistant(message, profile)
    else:
        yield {"role": "user", "content": _user_content(message.parts, profile, images)}


def _user_content(
    parts: tuple[Part, ...], profile: ModelProfile, images: Mapping[str, bytes]
) -> str | list[Wire]:
    """A plain string, or a list of text and images where the model can see them."""
    content: list[Wire] = []
    for part in parts:
        match part:
            case TextPart(text=text) | ResourcePart(sent=text):
                _add_text(content, text)
            case ImagePart() if profile.vision and part.blob in images:
                encoded = base64.b64encode(images[part.blob]).decode("ascii")
                content.append(
                    {"type": "image_url", "image_url": {"url": f"data:{part.mime};base64,{encoded}"}}
                )
            case ImagePart():
                _add_text(content, _image_note(part, profile))
            case ReasoningPart() | ToolPart():
                continue
    if any(piece["type"] != "text" for piece in content):
        return content
    return "".join(piece["text"] for piece in content)


def _add_text(content: list[Wire], text: str) -> None:
    """Text pieces next to each other are one, a blank line between them."""
    if content and content[-1]["type"] == "text":
        content[-1]["text"] += f"\n\n{text}"
    elif text:
        content.append({"type": "text", "text": text})


def _image_note(part: ImagePart, profile: ModelProfile) -> str:
    reason = "no longer available" if profile.vision else "not shown to this model"
    return f"[image: {part.name}, {reason}]"


def _assistant(message: ProjectedMessage, profile: ModelProfile) -> Iterator[Wire]:
    """Each step as one assistant message and the results of its calls; always ends in words once the turn
    is over."""
    spoken = False
    for step in dict.fromkeys(part.step for part in message.parts):
        parts = tuple(part for part in message.parts if part.step == step)
        calls = tuple(part for part in parts if isinstance(part, ToolPart))
        text = "".join(_assistant_text(part, profile) for part in parts)
        if not text and not calls:
            continue
        spoken = not calls
        reasoning = _reasoning(message, parts, profile)
        if calls and not profile.tools:
            yield from _marked(text, calls)
            continue
        wire: Wire = {"role": "assistant", "content": text or None, **reasoning}
        if calls:
            wire["tool_calls"] = [_call(message, part, profile) for part in calls]
        yield wire
        for part in calls:
            yield {"role": "tool", "tool_call_id": call_id(message.id, part.id), "content": _result(part)}
    if not spoken and message.status != "pending":
        yield {"role": "assistant", "content": _no_answer(message)}


def _assistant_text(part: Part, profile: ModelProfile) -> str:
    match part:
        case TextPart():
            return part.text
        case ImagePart():
            return _image_note(part, profile)
    return ""


def _no_answer(message: ProjectedMessage) -> str:
    reason = message.error or ("" if message.status == "complete" else message.status)
    return f"(no answer: {reason})" if reason else "(no answer)"


def _call(message: ProjectedMessage, part: ToolPart, profile: ModelProfile) -> Wire:
    wire: Wire = {
        "id": call_id(message.id, part.id),
        "type": "function",
        "function": {"name": part.name, "arguments": to_json(part.input)},
    }
    if part.opaque and part.opaque.get("model") == profile.ref and "extra_content" in part.opaque:
        wire["extra_content"] = part.opaque["extra_content"]
    return wire


def _result(part: ToolPart) -> str:
    """What the model saw; a call without a result gets one that says so, since a call must never stand
    alone."""
    if part.sent:
        return part.sent
    return "(empty result)" if part.state == "done" else f"(no result: {part.note or part.state})"


def _marked(text: str, calls: tuple[ToolPart, ...]) -> Iterator[Wire]:
    asked = [f"[tool call: {part.name} {to_json(part.input)}]" for part in calls]
    yield {"role": "assistant", "content": "\n\n".join([text, *asked] if text else asked)}
    results = (f"[tool result: {part.name}]\n{_result(part)}" for part in calls)
    yield {"role": "user", "content": "\n\n".join(results)}


def _reasoning(message: ProjectedMessage, parts: tuple[Part, ...], profile: ModelProfile) -> Wire:
    """Reasoning goes back only where the model's profile asks for it."""
    replay = profile.replays_reasoning
    if replay == "none" or (replay == "turn" and message.status != "pending"):
        return {}
    thoughts = [part for part in parts if isinstance(part, ReasoningPart)]
    details = [
        detail
        for part in thoughts
        if part.opaque and part.opaque.get("model") == profile.ref
        for detail in part.opaque.get("reasoning_details", ())
    ]
    if details:
        return {"reasoning_details": details}
    text = "".join(part.text for part in thoughts)
    return {"reasoning_content": text} if text else {}


def _merged(messages: list[Wire]) -> list[Wire]:
    merged: list[Wire] = []
    for message in messages:
        before = merged[-1] if merged else None
        if before is None or message["role"] != "user" or before["role"] != "user":
            merged.append(message)
            continue
        content = _pieces(before["content"])
        for piece in _pieces(message["content"]):
            if piece["type"] == "text":
                _add_text(content, piece["text"])
            else:
                content.append(piece)
        plain = len(content) == 1 and content[0]["type"] == "text"
        merged[-1] = {"role": "user", "content": content[0]["text"] if plain else content}
    return merged


def _pieces(content: str | list[Wire]) -> list[Wire]:
    return (
        [{"type": "text", "text": content}]
        if isinstance(content, str)
        else [dict(piece) for piece in content]
    )


def to_json(value: object) -> str:
    """Compact JSON with its characters as they are, keys in the order in which they were written."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
