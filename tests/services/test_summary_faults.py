"""Summaries that do not come: their own words, the one repair, sizes of one kind, one without an end."""

from __future__ import annotations

from pathlib import Path

import pytest

from bibgenie_desktop.domain.messages import Checkpoint
from bibgenie_desktop.services import events
from tests.domain.paths import words
from tests.scripted_server import Reply, ScriptedServer, cut, error, text
from tests.services.desk import Desk, ask, desk, summary_text

OVERFLOW = (
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
)


async def two_turns(d: Desk, size: int = 60, usage: tuple[int, int] | None = None):  # type: ignore[no-untyped-def]
    chat = await d.chat()
    for n in (1, 2):
        d.server.script(text(f"A{n} {words(size)}", usage=usage))
        await chat.send(ask(f"U{n} {words(size)}"))
    return chat


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (cut("## Research"), "The summary broke off before its end. Nothing was changed."),
        (
            error(400, OVERFLOW, code="context_length_exceeded"),
            "What is to be summarised is larger than this model's window. It allows 8,192 tokens. Nothing",
        ),
        (error(400, "no", code="content_filter"), "content filter refused the summary. Nothing was changed."),
        (error(429, "slow", headers={"Retry-After": "40"}), "Nothing was changed. Try again in 40 seconds."),
        (error(401, "bad key"), "wants a key, and none is set. Nothing was changed. Enter"),
    ],
)
async def test_a_summary_that_fails_does_not_speak_of_an_answer(
    tmp_path: Path, reply: Reply, says: str
) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await two_turns(d)
            server.script(reply)
            before = chat.session.head
            await chat.compact()
            ended = d.happened(events.CompactionEnded)[-1]
            assert ended.outcome == "failed"
            assert says in ended.message
            for word in ("answer", "retry", "shorten the message", "What had arrived is kept"):
                assert word not in ended.message
            assert chat.session.head == before


@pytest.mark.parametrize("first", [text("  "), text(reasoning=("Let me think",))])
async def test_an_empty_summary_gets_the_one_repair(tmp_path: Path, first: Reply) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await two_turns(d)
            server.script(first, text(summary_text("mended")))
            await chat.compact()
            assert isinstance(chat.path[-1], Checkpoint)
            request = str(d.messages()[0]["content"])
            assert "The summary is empty." in request
            assert "(nothing was written)" in request
            assert len(chat.path[-1].usage) == 2


async def test_a_second_empty_summary_is_the_end(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await two_turns(d)
            server.script(text(""), text(""))
            await chat.compact()
            assert d.happened(events.CompactionEnded)[-1].outcome == "failed"
            assert len(server.requests) == 4


async def test_a_checkpoint_compares_estimates_with_estimates(tmp_path: Path) -> None:
    """A provider that reports far less than we estimate must not make a smaller context look larger."""
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await two_turns(d, size=900, usage=(1_000, 20))
            server.script(text(summary_text()))
            await chat.compact()
            point = chat.path[-1]
            assert isinstance(point, Checkpoint)
            assert point.tokens_before > 2_000
            assert point.tokens_after < point.tokens_before
            ended = d.happened(events.CompactionEnded)[-1]
            assert (ended.tokens_before, ended.tokens_after) == (point.tokens_before, point.tokens_after)


async def test_a_summary_without_end_is_broken_off(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await two_turns(d)
            endless = text(*(["word " * 2_000] * 400))
            server.script(endless, text(summary_text()))
            await chat.compact()
            assert isinstance(chat.path[-1], Checkpoint)
            assert "cut off before its end" in str(d.messages()[0]["content"])


async def test_a_busy_provider_is_told_of_while_it_summarises(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with desk(tmp_path, server) as d:
            chat = await two_turns(d)
            server.script(error(503, "Loading model"), text(summary_text()))
            await chat.compact()
            (waiting,) = d.happened(events.ReplyWaiting)
            assert (waiting.attempt, waiting.tries) == (2, 4)
            assert isinstance(chat.path[-1], Checkpoint)
