"""Chat Completions against a real llama.cpp server: its bytes, its token counts, its refusals."""

from __future__ import annotations

from contextlib import aclosing

import pytest

from bibgenie_desktop.domain.errors import ContextOverflow
from bibgenie_desktop.domain.tokens import estimate_text
from bibgenie_desktop.providers.base import Event, Finished, TextDelta, UsageReported
from tests.local.helpers import LlamaServer, answered, provider, running

pytestmark = [pytest.mark.local, pytest.mark.patience(120)]

PASSAGE = "Sleep does not simply rest the brain. The hippocampus replays the day, bit by bit. "


def usage(events: list[Event]) -> tuple[int, int]:
    (reported,) = [event.usage for event in events if isinstance(event, UsageReported)]
    return reported.input_total, reported.output_total


async def test_an_answer_comes_in_pieces_and_with_the_real_count_of_tokens(llama: LlamaServer) -> None:
    events = await answered(llama, llama.request("What is the capital of France?", 40))
    pieces = [event.text for event in events if isinstance(event, TextDelta)]
    assert len(pieces) > 1
    assert "".join(pieces).strip()
    input_total, output_total = usage(events)
    assert 20 <= input_total <= 60
    assert 1 <= output_total <= 40
    assert isinstance(events[-1], Finished)


async def test_the_count_of_a_longer_text_is_near_our_estimate(llama: LlamaServer) -> None:
    text = PASSAGE * 12
    input_total, _ = usage(await answered(llama, llama.request(text, 1)))
    assert input_total * 0.9 <= estimate_text(text) <= input_total * 2


async def test_closing_the_answer_frees_the_model_at_once(llama: LlamaServer) -> None:
    async with provider(llama) as asked:
        async with aclosing(
            asked.stream(llama.request("Write a very long story about a lighthouse."))
        ) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    break
            await llama.until(busy=True)
        await llama.until(busy=False)


async def test_a_request_larger_than_the_window_is_an_overflow_with_its_figures(llama: LlamaServer) -> None:
    with pytest.raises(ContextOverflow) as caught:
        await answered(llama, llama.request(PASSAGE * 200))
    assert caught.value.window == llama.window
    assert caught.value.requested is not None
    assert caught.value.requested > llama.window
    assert "2,048" in caught.value.title


async def test_a_full_window_is_told_apart_from_the_limit_that_was_asked_for(installed: None) -> None:
    with running(512) as small:
        asked_for = await answered(small, small.request("Write a long story about a lighthouse.", 5))
        assert asked_for[-1] == Finished("length")
        assert sum(usage(asked_for)) < small.window
        for _ in range(3):  # the model draws its words by lot and may end by itself
            full = await answered(small, small.request(PASSAGE * 22 + "Repeat all of this word for word."))
            if full[-1] != Finished("stop"):
                break
        assert full[-1] == Finished("window")
        assert sum(usage(full)) == small.window
