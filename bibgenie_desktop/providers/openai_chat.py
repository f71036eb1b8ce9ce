"""The Chat Completions dialect, outgoing: a neutral request becomes one exact body.

Pure and deterministic: the same request gives the same bytes, and a message is encoded alike whether its
turn is under way or stored, so that each request of a branch starts with the messages of the one before
(I8). What comes back is read by `openai_chat_stream`.
"""

from __future__ import annotations

from collections.abc import Iterator

from bibgenie_desktop.domain.models import ModelProfile, ToolSpec
from bibgenie_desktop.domain.parts import ToolPart
from bibgenie_desktop.providers.base import Request
from bibgenie_desktop.providers.dialects import ChatDialect as ChatDialect
from bibgenie_desktop.providers.dialects import dialect_of as dialect_of
from bibgenie_desktop.providers.openai_chat_stream import ChatDecoder
from bibgenie_desktop.providers.sse import SseReader
from bibgenie_desktop.providers.wire import (
    Entry,
    FromModel,
    FromPerson,
    Picture,
    Result,
    Results,
    Wire,
    apart,
    call_id,
    conversation,
    merged,
    output_limit,
    own,
    to_json,
)


class ChatCodec:
    """Encoder and decoder of one server."""

    def __init__(self, dialect: ChatDialect) -> None:
        self._dialect = dialect

    def path(self, request: Request) -> str:
        return "/chat/completions"

    def headers(self, key: str) -> dict[str, str]:
        if not key:
            return {}
        return (
            {"api-key": key} if self._dialect.key_header == "api-key" else {"Authorization": f"Bearer {key}"}
        )

    def encode(self, request: Request) -> Wire:
        dialect, profile = self._dialect, request.profile
        entries: Iterator[Entry] = conversation(request, dialect.replay(profile))
        if not dialect.pictures_in_results:
            entries = apart(entries)
        if dialect.merge_neighbours:
            entries = merged(entries)
        messages: list[Wire] = [{"role": "system", "content": request.system}] if request.system else []
        for entry in entries:
            messages.extend(self._spelled(entry, profile))
        body: Wire = {"model": profile.model, "messages": messages, "stream": True}
        if dialect.asks_for_usage:
            body["stream_options"] = {"include_usage": True}
        limit = output_limit(request) if dialect.refuses_large_limits else request.max_output_tokens
        if limit is not None:
            body[dialect.max_tokens_key] = limit
        if request.tools and profile.tools:
            body["tools"] = [_tool(spec) for spec in request.tools]
        if profile.reasoning and request.purpose == "answer":
            body.update((name, dict(value)) for name, value in dialect.asks_to_reason)
        return body

    def reader(self) -> SseReader:
        return SseReader()

    def decoder(self, request: Request) -> ChatDecoder:
        return ChatDecoder(request.profile)

    def _spelled(self, entry: Entry, profile: ModelProfile) -> Iterator[Wire]:
        match entry:
            case FromPerson():
                yield {"role": "user", "content": _content(entry)}
            case FromModel():
                yield self._assistant(entry, profile)
            case Results():
                for result in entry.results:
                    id = call_id(entry.message_id, result.call.id)
                    yield {"role": "tool", "tool_call_id": id, "content": self._result(result)}

    def _result(self, result: Result) -> str | list[Wire]:
        if not (result.pictures and self._dialect.pictures_in_results):
            return result.text
        return [{"type": "text", "text": result.text}, *map(_picture, result.pictures)]

    def _assistant(self, said: FromModel, profile: ModelProfile) -> Wire:
        wire: Wire = {"role": "assistant", "content": said.text or None, **self._reasoning(said, profile)}
        if said.calls:
            wire["tool_calls"] = [_call(said.message_id, part, profile) for part in said.calls]
        return wire

    def _reasoning(self, said: FromModel, profile: ModelProfile) -> Wire:
        details = [
            detail
            for part in said.thoughts
            for detail in own(part.opaque, profile).get("reasoning_details", ())
        ]
        if details:
            return {"reasoning_details": details}
        text = "".join(part.text for part in said.thoughts)
        form = self._dialect.reasoning_as
        if not text or form == "details":
            return {}
        if form == "thinking":
            spoken = [{"type": "text", "text": said.text}] if said.text else []
            return {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}, *spoken]}
        return {form: text}


def _tool(spec: ToolSpec) -> Wire:
    return {
        "type": "function",
        "function": {"name": spec.name, "description": spec.description, "parameters": dict(spec.parameters)},
    }


def _content(entry: FromPerson) -> str | list[Wire]:
    """A plain string, or a list of text and images where the model can see them."""
    if not entry.pictures:
        return entry.text
    return [
        _picture(piece) if isinstance(piece, Picture) else {"type": "text", "text": piece}
        for piece in entry.pieces
    ]


def _picture(piece: Picture) -> Wire:
    return {"type": "image_url", "image_url": {"url": f"data:{piece.mime};base64,{piece.data}"}}


def _call(message_id: str, part: ToolPart, profile: ModelProfile) -> Wire:
    wire: Wire = {
        "id": call_id(message_id, part.id),
        "type": "function",
        "function": {"name": part.name, "arguments": to_json(part.input)},
    }
    opaque = own(part.opaque, profile)
    if "extra_content" in opaque:
        wire["extra_content"] = opaque["extra_content"]
    return wire
