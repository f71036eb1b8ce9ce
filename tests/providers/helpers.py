"""Values that the tests of the providers are written with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.models import ModelProfile, ToolSpec
from bibgenie_desktop.domain.parts import Part, TextPart
from bibgenie_desktop.domain.projection import ProjectedMessage, Projection
from bibgenie_desktop.providers.base import Event, Request, TextDelta, UsageReported
from bibgenie_desktop.providers.http_provider import Codec
from bibgenie_desktop.providers.openai_chat import ChatCodec, ChatDialect

PROFILE = ModelProfile(
    provider="lab",
    model="org/model:8b",
    base_url="http://127.0.0.1:1/v1",
    window=32_768,
    window_source="user",
)
SEARCH = ToolSpec(
    "search_items", "Find items.", {"type": "object", "properties": {"query": {"type": "string"}}}
)


def user(text: str, *more: Part, id: str = "u1") -> ProjectedMessage:
    return ProjectedMessage(MessageId(id), "user", (*more, TextPart(text)))


def answer(*parts: Part, id: str = "a1", status: Any = "complete", error: str = "") -> ProjectedMessage:
    return ProjectedMessage(MessageId(id), "assistant", parts, status, error)


def request(
    *messages: ProjectedMessage, system: str = "Be exact.", tools: Any = (SEARCH,), **profile: Any
) -> Request:
    return Request(replace(PROFILE, **profile), system, tools, Projection(messages), max_output_tokens=1_000)


CHAT = ChatCodec(ChatDialect())


def decode(
    body: bytes,
    profile: ModelProfile = PROFILE,
    *,
    size: int = 0,
    codec: Codec = CHAT,
    asked: Request | None = None,
) -> list[Event]:
    """The events of a whole body that is fed `size` bytes at a time (0: at once)."""
    asked = asked or Request(profile, "", (), Projection(()), None)
    return list(decode_steps(body, asked, size, codec))


def decode_steps(body: bytes, asked: Request, size: int, codec: Codec = CHAT) -> Iterable[Event]:
    reader, decoder = codec.reader(), codec.decoder(asked)
    step = size or max(1, len(body))
    for start in range(0, len(body), step):
        for event in reader.feed(body[start : start + step]):
            yield from decoder.feed(event)
    for event in reader.close():
        yield from decoder.feed(event)
    yield from decoder.finish()


def text_of(events: Iterable[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def usage_of(events: Iterable[Event]) -> tuple[int, int] | None:
    """Input and output of the last pass: what the context holds."""
    found = [(e.usage.input_total, e.usage.output_total) for e in events if isinstance(e, UsageReported)]
    return found[-1] if found else None
