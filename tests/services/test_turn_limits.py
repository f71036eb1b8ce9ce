"""The borders of an answer: a busy provider, one that names a time, words without end, several passes."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path

import pytest

from bibgenie_desktop.domain.messages import AssistantMessage
from bibgenie_desktop.domain.parts import Draft, text_of
from bibgenie_desktop.services import events
from bibgenie_desktop.services.reply import MOST_TEXT, Endless, Reply
from bibgenie_desktop.services.spending.costs import total
from tests.scripted_server import Reply as Sent
from tests.scripted_server import ScriptedServer, error, raw, text
from tests.services.desk import ask, desk
from tests.services.spending.test_costs import PRICES


def answer_of(path: tuple[object, ...]) -> AssistantMessage:
    (*_, last) = path
    assert isinstance(last, AssistantMessage)
    return last


def limited(kind: str, seconds: int) -> Sent:
    """A refusal that names a time; as a date it is as exact as a second."""
    later = time.time() + seconds
    headers = {
        "seconds": {"Retry-After": str(seconds)},
        "milliseconds": {"retry-after-ms": str(1000 * seconds)},
        "date": {"Retry-After": formatdate(later, usegmt=True)},
        "reset": {
            "anthropic-ratelimit-input-tokens-remaining": "0",
            "anthropic-ratelimit-input-tokens-reset": datetime.fromtimestamp(later, UTC).isoformat(),
        },
    }
    return error(429, "slow", headers=headers[kind])


@pytest.mark.parametrize(
    ("kind", "seconds"), [("seconds", 34), ("milliseconds", 3), ("date", 90), ("reset", 20)]
)
async def test_a_time_that_the_provider_names_is_told_with_retry(
    tmp_path: Path, kind: str, seconds: int
) -> None:
    with ScriptedServer() as server:
        server.script(limited(kind, seconds))
        async with desk(tmp_path, server) as d:
            chat = await d.chat()
            await chat.send(ask("U1"))
            (notice,) = d.happened(events.Notice)
            assert notice.offers[0] == "retry"
            assert notice.retry_at is not None
            now = d.workspace.clock()
            assert notice.retry_at - now == pytest.approx(seconds * 1000, abs=2_000)
            assert answer_of(chat.path).status == "failed"
            server.script(text("Here"))
            await chat.retry(answer_of(chat.path).id)  # at once, without waiting
            assert text_of(answer_of(chat.path).parts) == "Here"


async def test_a_limit_without_a_time_has_no_countdown(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(error(429, "slow"))
        async with desk(tmp_path, server) as d:
            chat = await d.chat()
            await chat.send(ask("U1"))
            assert d.happened(events.Notice) == []
            assert "Try again in a moment" in answer_of(chat.path).error


async def test_a_busy_provider_is_told_of_and_then_answers(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(error(503, "Loading model"), text("Here"))
        async with desk(tmp_path, server) as d:
            chat = await d.chat()
            await chat.send(ask("U1"))
            kinds = [type(e) for e in d.events]
            order = [events.ReplyWaiting, events.ReplyWaitOver, events.ReplyText, events.ReplyEnded]
            assert [kinds.index(k) for k in order] == sorted(kinds.index(k) for k in order)
            (waiting,) = d.happened(events.ReplyWaiting)
            assert (waiting.attempt, waiting.tries) == (2, 4)
            assert "busy" in waiting.reason


async def test_an_answer_without_end_is_stopped_with_its_reason_and_kept(tmp_path: Path) -> None:
    piece = "word " * 20_000
    with ScriptedServer() as server:
        server.script(text(*([piece] * 60)))
        async with desk(tmp_path, server) as d:
            chat = await d.chat()
            await chat.send(ask("U1"))
            answer = answer_of(chat.path)
            assert answer.status == "stopped"
            assert "did not come to an end" in answer.error
            assert MOST_TEXT < len(text_of(answer.parts)) <= MOST_TEXT + len(piece)


def test_words_are_joined_in_linear_time() -> None:
    def seconds(count: int) -> float:
        reply = Reply(None)  # type: ignore[arg-type]
        begun = time.process_time()
        for _ in range(count):
            reply.add_text("0123456789")
        assert len(text_of(tuple(reply.parts))) == 10 * count
        return time.process_time() - begun

    few, many = min(seconds(20_000) for _ in range(3)), seconds(200_000)
    assert many < 40 * few  # ten times the words; a quadratic join takes a hundred times as long


def test_thoughts_and_words_keep_their_order_however_they_are_looked_at() -> None:
    for look in (False, True):
        reply = Reply(None)  # type: ignore[arg-type]
        for add in (reply.add_reasoning, reply.add_reasoning, reply.add_text, reply.add_text):
            add("ab")
            if look:
                assert reply.parts
        assert [p.text for p in reply.parts] == ["abab", "abab"]  # type: ignore[union-attr]
    with pytest.raises(Endless):
        reply.add_reasoning("x" * MOST_TEXT)


def passes() -> Sent:
    def event(kind: str, **more: object) -> bytes:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode()

    usage = {
        "input_tokens": 181,
        "output_tokens": 8,
        "iterations": [
            {
                "type": "compaction",
                "input_tokens": 100,
                "cache_read_input_tokens": 55_096,
                "output_tokens": 83,
            },
            {"type": "message", "input_tokens": 181, "output_tokens": 8},
        ],
    }
    start = {"id": "m", "usage": {"input_tokens": 100, "cache_read_input_tokens": 55_096, "output_tokens": 1}}
    return raw(
        event("message_start", message=start),
        event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": "Hello"}),
        event("content_block_stop", index=0),
        event("message_delta", delta={"stop_reason": "end_turn"}, usage=usage),
        event("message_stop"),
    )


async def test_every_pass_of_the_provider_is_billed_and_none_calibrates(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(passes())
        async with desk(tmp_path, server, kind="anthropic") as d:
            chat = await d.chat()
            before = (await chat.plan(Draft())).estimator.factor
            await chat.send(ask("U1"))
            used = answer_of(chat.path).usage
            assert [u.input_total for u in used] == [55_196, 181]
            cost = total(used, lambda one: PRICES)
            assert (cost.requests, cost.input_tokens, cost.cached_tokens, cost.output_tokens) == (
                2,
                55_377,
                55_096,
                91,
            )
            plan = await chat.plan(Draft())
            assert plan.estimator.factor == before
            assert plan.occupancy.tokens < 10_000  # the last pass, or an estimate; never the sum
