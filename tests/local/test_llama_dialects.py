"""Anthropic's and OpenAI's newer dialects against the same real llama.cpp server, which speaks them too."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

import pytest

from bibgenie_desktop.domain.errors import ContextOverflow
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.domain.parts import TextPart, ToolPart
from bibgenie_desktop.domain.projection import ProjectedMessage, Projection
from bibgenie_desktop.net.client import Http
from bibgenie_desktop.providers.base import Event, Finished, Provider, Request, TextDelta, UsageReported
from bibgenie_desktop.providers.factory import http_provider
from tests.local.helpers import LlamaServer, running

pytestmark = [
    pytest.mark.local,
    pytest.mark.patience(120),
    pytest.mark.parametrize("kind", ["openai-chat", "openai-responses", "anthropic"]),
]

SEARCH = ToolSpec(
    "search_items", "Find items.", {"type": "object", "properties": {"query": {"type": "string"}}}
)
PASSAGE = "Sleep does not simply rest the brain. The hippocampus replays the day, bit by bit. "


@asynccontextmanager
async def asked(server: LlamaServer, kind: str) -> AsyncIterator[Provider]:
    async def no_key() -> None:
        return None

    http = Http()
    try:
        yield http_provider(kind, "llama", server.address, no_key, http)
    finally:
        await http.aclose()


async def answered(server: LlamaServer, kind: str, request: Request) -> list[Event]:
    async with asked(server, kind) as provider, aclosing(provider.stream(request)) as events:
        return [event async for event in events]


def usage(events: list[Event]) -> tuple[int, int]:
    (reported,) = [event.usage for event in events if isinstance(event, UsageReported)]
    return reported.input_total, reported.output_total


async def test_text_comes_in_pieces_and_usage_is_the_same_in_every_dialect(
    llama: LlamaServer, kind: str
) -> None:
    events = await answered(llama, kind, llama.request("What is the capital of France?", 30))
    assert sum(isinstance(event, TextDelta) for event in events) > 1
    input_total, output_total = usage(events)
    chat_input, _ = usage(
        await answered(llama, "openai-chat", llama.request("What is the capital of France?", 1))
    )
    assert input_total == chat_input
    assert 1 <= output_total <= 30
    assert isinstance(events[-1], Finished)


async def test_history_with_calls_and_a_checkpoint_is_taken(llama: LlamaServer, kind: str) -> None:
    call = ToolPart("t1", "search_items", {"query": "sleep"}, "done", 0, sent="3 items")
    messages = (
        ProjectedMessage(MessageId("c"), "checkpoint", (TextPart("<checkpoint>Sleep.</checkpoint>"),)),
        ProjectedMessage(MessageId("u1"), "user", (TextPart("What of sleep?"),)),
        ProjectedMessage(MessageId("a1"), "assistant", (TextPart("See."), call, TextPart("Much.", 1))),
        ProjectedMessage(MessageId("u2"), "user", (TextPart("Thanks."),)),
    )
    sent = llama.request("", 5)
    for has_tools in (True, False):
        profile = replace(sent.profile, tools=has_tools)
        events = await answered(
            llama, kind, replace(sent, profile=profile, tools=(SEARCH,), projection=Projection(messages))
        )
        assert isinstance(events[-1], Finished)
        assert usage(events)[0] > 20


async def test_overflow_has_its_figures(llama: LlamaServer, kind: str) -> None:
    with pytest.raises(ContextOverflow) as caught:
        await answered(llama, kind, llama.request(PASSAGE * 200))
    assert caught.value.window == llama.window
    assert (caught.value.requested or 0) > llama.window


async def test_limit_that_was_asked_for_is_told_from_a_full_window(installed: None, kind: str) -> None:
    with running(512) as small:
        asked_for = await answered(small, kind, small.request("Write a long story about a lighthouse.", 5))
        assert asked_for[-1] == Finished("length")
        for _ in range(4):  # the model draws its words by lot and may end by itself
            full = await answered(
                small, kind, small.request(PASSAGE * 22 + "Repeat all of this word for word.", 400)
            )
            if full[-1] != Finished("stop"):
                break
        assert full[-1] == Finished("window")
        assert sum(usage(full)) == small.window


async def test_closing_the_answer_frees_the_model(llama: LlamaServer, kind: str) -> None:
    async with asked(llama, kind) as provider:
        sent = llama.request("Write a very long story about a lighthouse.", 1_500)
        async with aclosing(provider.stream(sent)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    break
            await llama.until(busy=True)
        await llama.until(busy=False)
