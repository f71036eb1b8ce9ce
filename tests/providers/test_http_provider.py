"""The provider over real HTTP on loopback: what is sent, what comes out, and how it ends."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import traceback
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

import pytest

from bibgenie_desktop.domain.errors import (
    AuthError,
    BadAnswer,
    ContextOverflow,
    Overloaded,
    RateLimited,
    StreamCut,
    Unreachable,
    UserError,
)
from bibgenie_desktop.net.client import Http
from bibgenie_desktop.providers.base import Event, Finished, Provider, Request, TextDelta, ToolCalled, Waiting
from bibgenie_desktop.providers.factory import http_provider
from bibgenie_desktop.providers.http_provider import encode_body
from bibgenie_desktop.providers.retry import Backoff
from tests.providers.bodies import FULL
from tests.providers.helpers import request, text_of, usage_of, user
from tests.scripted_server import (
    Reply,
    ScriptedServer,
    completion,
    cut,
    error,
    html,
    raw,
    text,
    tool_calls,
)

KEY = "sk-very-secret-0123456789"


@asynccontextmanager
async def provider(
    server: ScriptedServer,
    key: str | None = KEY,
    kind: str = "openai-chat",
    backoff: Backoff | None = None,
    idle: float = 600.0,
) -> AsyncIterator[Provider]:
    async def ask() -> str | None:
        return key

    http = Http(local_idle_seconds=idle)
    try:
        yield http_provider(kind, "lab", server.base_url, ask, http, backoff=backoff)
    finally:
        await http.aclose()


class Waits:
    """Instead of sleeping: what would have been slept, with the least spread."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)

    @property
    def backoff(self) -> Backoff:
        return Backoff(sleep=self.sleep, chance=lambda: 0.5)


def asked(server: ScriptedServer) -> Request:
    sent = request(user("Hi ü"))
    return replace(sent, profile=replace(sent.profile, base_url=server.base_url))


async def events(lab: Provider, sent: Request) -> list[Event]:
    return [event async for event in lab.stream(sent)]


async def test_answer_streams_and_the_body_is_what_encode_says() -> None:
    with ScriptedServer() as server:
        server.script(text("Hel", "lo", usage=(12, 2)))
        async with provider(server) as lab:
            sent = asked(server)
            got = await events(lab, sent)
            assert server.requests[0].raw == encode_body(lab.encode(sent))
            assert server.requests[0].path == "/v1/chat/completions"
            assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
            assert server.requests[0].headers["content-type"] == "application/json"
        assert got[:2] == [TextDelta("Hel"), TextDelta("lo")]
        assert usage_of(got) == (12, 2)
        assert got[-1] == Finished("stop")


async def test_calls_come_whole() -> None:
    with ScriptedServer() as server:
        server.script(tool_calls(("search_items", {"query": "soil"}), ("get_items", {"ids": ["u-AAAA2222"]})))
        async with provider(server) as lab:
            called = [e for e in await events(lab, asked(server)) if isinstance(e, ToolCalled)]
        assert [(c.name, c.input) for c in called] == [
            ("search_items", {"query": "soil"}),
            ("get_items", {"ids": ["u-AAAA2222"]}),
        ]


@pytest.mark.parametrize("key", [None, "", "  "])
async def test_blank_key_sends_no_authorization(key: str | None) -> None:
    with ScriptedServer() as server:
        server.script(text("x"))
        async with provider(server, key) as lab:
            await events(lab, asked(server))
        assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize("key", ["schlüssel", "two\nlines"])
async def test_key_that_cannot_be_one_is_refused_before_anything_is_sent(key: str) -> None:
    with ScriptedServer() as server:
        async with provider(server, key) as lab:
            with pytest.raises(AuthError) as caught:
                await events(lab, asked(server))
        assert server.requests == []
        assert key not in str(caught.value)


async def test_whole_completion_instead_of_a_stream_is_understood() -> None:
    with ScriptedServer() as server:
        server.script(completion("All at once", usage=(9, 3)))
        async with provider(server) as lab:
            got = await events(lab, asked(server))
        assert text_of(got) == "All at once"
        assert usage_of(got) == (9, 3)
        assert got[-1] == Finished("stop")


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (html(), Unreachable),
        (html(502), Unreachable),
        (raw(b'{"hello": 1}', content_type="application/json"), Unreachable),
        (raw(b"{half", content_type="application/json"), BadAnswer),
        (raw(b'{"error": {"message": "slow", "code": 429}}', content_type="application/json"), RateLimited),
        (raw(b"data: rubbish\n\n"), BadAnswer),
        (raw(b""), StreamCut),
        (raw(b'data: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: {"choi'), StreamCut),
        (cut("so far"), StreamCut),
        (cut("so far", clean=True), StreamCut),
        (error(401, "Incorrect API key provided: " + KEY, code="invalid_api_key"), AuthError),
        (error(400, "prompt is too long: 300 tokens > 200 maximum"), ContextOverflow),
        (error(429, "slow", headers={"Retry-After": "3"}), RateLimited),
    ],
)
async def test_failure_has_its_own_kind(reply: Reply, kind: type[Exception]) -> None:
    with ScriptedServer() as server:
        server.script(reply)
        async with provider(server) as lab:
            with pytest.raises(kind):
                await events(lab, asked(server))


async def test_text_before_a_cut_has_been_given() -> None:
    with ScriptedServer() as server:
        server.script(cut("so ", "far"))
        async with provider(server) as lab:
            got: list[Event] = []
            with pytest.raises(StreamCut):  # noqa: PT012
                async for event in lab.stream(asked(server)):
                    got.append(event)
        assert text_of(got) == "so far"


async def test_last_event_may_lack_its_blank_line() -> None:
    body = text("x").chunks
    with ScriptedServer() as server:
        server.script(raw(*body[:-1], b"data: [DONE]"))
        async with provider(server) as lab:
            assert (await events(lab, asked(server)))[-1] == Finished("stop")


async def test_closing_the_iterator_ends_the_request_at_the_server() -> None:
    with ScriptedServer() as server:
        server.script(text("a", "b", "c").held(threading.Event(), after=2))
        async with provider(server) as lab:
            async with aclosing(lab.stream(asked(server))) as stream:
                async for event in stream:
                    assert event == TextDelta("a")
                    break
            server.wait_aborted()


@pytest.mark.parametrize("after", [0, 2])
async def test_cancelling_ends_the_request_at_the_server(after: int) -> None:
    with ScriptedServer() as server:
        server.script(text("a", "b").held(threading.Event(), after=after))
        async with provider(server) as lab:
            task = asyncio.create_task(events(lab, asked(server)))
            await asyncio.to_thread(server.wait_for_requests, 1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.to_thread(server.wait_aborted)


@pytest.mark.parametrize("reply", [error(401, f"bad key {KEY}"), error(400, f"odd {KEY}"), cut("x"), html()])
async def test_key_is_in_no_error_and_no_log(reply: Reply, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with ScriptedServer() as server:
        server.script(reply)
        async with provider(server) as lab:
            with pytest.raises(UserError) as caught:
                await events(lab, asked(server))
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY not in caplog.text


async def test_server_without_usage_gives_none() -> None:
    with ScriptedServer() as server:
        server.script(
            text("x"), text("y", usage={"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0})
        )
        async with provider(server) as lab:
            assert usage_of(await events(lab, asked(server))) is None
            assert usage_of(await events(lab, asked(server))) is None


async def test_model_ids_with_colons_and_slashes_arrive_as_they_are() -> None:
    with ScriptedServer() as server:
        server.script(text("x"))
        async with provider(server) as lab:
            await events(lab, asked(server))
        assert json.loads(server.requests[0].raw)["model"] == "org/model:8b"


def test_unknown_kind_names_the_kinds_there_are() -> None:
    async def no_key() -> None:
        return None

    with pytest.raises(UserError, match="anthropic, gemini, ollama, openai-chat, openai-responses"):
        http_provider("claude", "claude", "https://host/v1", no_key, Http())


# A busy provider

BUSY = error(529, body={"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
BUSY_IN_STREAM = raw(b'data: {"error":{"message":"Overloaded","type":"overloaded_error"}}\n\n')


@pytest.mark.parametrize(
    "busy", [BUSY, BUSY_IN_STREAM, error(503, "Loading model", kind="unavailable_error")]
)
async def test_busy_provider_is_asked_again_before_the_first_word(busy: Reply) -> None:
    waits = Waits()
    with ScriptedServer() as server:
        server.script(busy, busy, text("Here"))
        async with provider(server, backoff=waits.backoff) as lab:
            assert text_of(await events(lab, asked(server))) == "Here"
        assert len({sent.raw for sent in server.requests}) == 1
    assert waits.seconds == [pytest.approx(0.8), pytest.approx(2.0)]


async def test_provider_that_stays_busy_is_left_alone_after_four_requests() -> None:
    waits = Waits()
    with ScriptedServer() as server:
        server.script(BUSY, BUSY, BUSY, BUSY)
        async with provider(server, backoff=waits.backoff) as lab:
            got: list[Event] = []
            with pytest.raises(Overloaded):  # noqa: PT012
                async for event in lab.stream(asked(server)):
                    got.append(event)
        assert len(server.requests) == 4
    told = [(w.attempt, w.tries, w.seconds) for w in got if isinstance(w, Waiting)]
    assert told == [(n, 4, pytest.approx(s)) for n, s in zip((2, 3, 4), waits.seconds, strict=True)]
    assert len(told) == len(got)


async def test_nothing_is_asked_again_once_a_word_has_come() -> None:
    begun = text("so ", "far").chunks[:3]
    waits = Waits()
    with ScriptedServer() as server:
        server.script(raw(*begun, BUSY_IN_STREAM.chunks[0]))
        async with provider(server, backoff=waits.backoff) as lab:
            got: list[Event] = []
            with pytest.raises(Overloaded):  # noqa: PT012
                async for event in lab.stream(asked(server)):
                    got.append(event)
        assert len(server.requests) == 1
    assert text_of(got) == "so far"
    assert waits.seconds == []


@pytest.mark.parametrize(
    "reply",
    [
        error(429, "slow", headers={"Retry-After": "1"}),
        error(500, "oops"),
        error(401, "bad key"),
        error(400, "prompt is too long: 300 tokens > 200 maximum"),
        cut("x"),
    ],
)
async def test_other_failures_are_never_asked_again(reply: Reply) -> None:
    waits = Waits()
    with ScriptedServer() as server:
        server.script(reply)
        async with provider(server, backoff=waits.backoff) as lab:
            with pytest.raises(UserError):
                await events(lab, asked(server))
        assert len(server.requests) == 1
    assert waits.seconds == []


@pytest.mark.parametrize(("asks", "waited"), [("4", [4.0]), ("0.1", [0.8]), ("3600", [])])
async def test_wait_that_the_provider_asks_for_is_kept_unless_it_is_long(
    asks: str, waited: list[float]
) -> None:
    waits = Waits()
    with ScriptedServer() as server:
        server.script(replace(BUSY, headers={"Retry-After": asks}), text("Here"))
        async with provider(server, backoff=waits.backoff) as lab:
            if waited:
                await events(lab, asked(server))
            else:
                with pytest.raises(Overloaded) as caught:
                    await events(lab, asked(server))
                assert caught.value.retry_after == 3600
    assert waits.seconds == [pytest.approx(seconds) for seconds in waited]


def test_waits_are_spread_and_bounded() -> None:
    busy = Overloaded("busy")
    waits = {Backoff(chance=lambda c=c: c).wait_after(2, busy) for c in (0.0, 0.25, 0.99)}
    assert len(waits) == 3
    assert all(wait is not None and 1.0 <= wait <= 3.0 for wait in waits)


async def test_stop_during_the_wait_ends_it_at_once() -> None:
    waiting = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    with ScriptedServer() as server:
        server.script(BUSY)
        async with provider(server, backoff=Backoff(sleep=sleep)) as lab:
            task = asyncio.create_task(events(lab, asked(server)))
            await waiting.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert len(server.requests) == 1


# What every kind does over HTTP

PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1/models/org/model%3A8b:streamGenerateContent?alt=sse",
    "ollama": "/api/chat",
}
EVERY_KIND = pytest.mark.parametrize("kind", sorted(PATHS))


def streamed(kind: str, body: bytes) -> Reply:
    content_type = "application/x-ndjson" if kind == "ollama" else "text/event-stream; charset=utf-8"
    return raw(*(body[at : at + 50] for at in range(0, len(body), 50)), content_type=content_type)


def small(server: ScriptedServer) -> Request:
    return replace(asked(server), system="", tools=())


@EVERY_KIND
async def test_every_kind_goes_to_its_path_with_its_key_in_a_header(kind: str) -> None:
    with ScriptedServer() as server:
        server.script(streamed(kind, FULL[kind]))
        async with provider(server, kind=kind) as lab:
            got = await events(lab, small(server))
        (sent,) = server.requests
        assert sent.path == PATHS[kind]
        assert [name for name, value in sent.headers.items() if KEY in value] == [
            {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}.get(kind, "authorization")
        ]
        assert KEY.encode() not in sent.raw
        assert usage_of(got) == (20, 5)
        assert got[-1] == Finished("tool_calls")


@EVERY_KIND
async def test_every_kind_works_without_a_key(kind: str) -> None:
    with ScriptedServer() as server:
        server.script(streamed(kind, FULL[kind]))
        async with provider(server, None, kind=kind) as lab:
            await events(lab, small(server))
        names = set(server.requests[0].headers)
        assert not names & {"authorization", "x-api-key", "x-goog-api-key", "api-key"}


@EVERY_KIND
async def test_stream_under_a_wrong_content_type_is_still_read(kind: str) -> None:
    with ScriptedServer() as server:
        server.script(
            *(
                replace(streamed(kind, FULL[kind]), content_type=said)
                for said in ("application/json", "text/plain", "application/octet-stream")
            )
        )
        async with provider(server, kind=kind) as lab:
            for _ in range(3):
                assert (await events(lab, small(server)))[-1] == Finished("tool_calls")


@EVERY_KIND
@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (html(), Unreachable),
        (html(503), Unreachable),
        (raw(b'{"hello": 1}', content_type="application/json"), Unreachable),
        (raw(b"[1, 2]", content_type="application/json"), Unreachable),
        (raw(b"{half", content_type="application/json"), BadAnswer),
        (raw(b""), StreamCut),
        (raw(b"", ending="cut"), StreamCut),
        (error(401, "no"), AuthError),
        (error(400, "prompt is too long: 300 tokens > 200 maximum"), ContextOverflow),
        (error(429, "slow", headers={"Retry-After": "3"}), RateLimited),
        (raw(b'{"error": {"message": "slow", "code": 429}}', content_type="application/json"), RateLimited),
    ],
)
async def test_failure_of_every_kind_has_its_own_words(
    kind: str, reply: Reply, expected: type[UserError]
) -> None:
    with ScriptedServer() as server:
        server.script(reply)
        async with provider(server, kind=kind) as lab:
            with pytest.raises(UserError) as caught:
                await events(lab, small(server))
    assert type(caught.value) is expected
    assert KEY not in str(caught.value)


@EVERY_KIND
async def test_connection_that_breaks_keeps_what_had_come(kind: str) -> None:
    whole = FULL[kind]
    half = whole[: whole.index(b" more")]
    with ScriptedServer() as server:
        server.script(replace(streamed(kind, half), ending="cut"))
        async with provider(server, kind=kind) as lab:
            got: list[Event] = []
            with pytest.raises(StreamCut):  # noqa: PT012
                async for event in lab.stream(small(server)):
                    got.append(event)
    assert text_of(got)


@EVERY_KIND
async def test_silence_ends_the_wait(kind: str) -> None:
    with ScriptedServer() as server:
        server.script(streamed(kind, FULL[kind]).held(threading.Event(), after=8))
        async with provider(server, kind=kind, idle=0.2) as lab:
            with pytest.raises(StreamCut, match="stopped sending"):
                await events(lab, small(server))


async def test_fault_in_a_stream_that_quotes_the_key_is_told_without_it() -> None:
    key = "plain0key0without0a0prefix"
    fault = json.dumps({"error": {"message": f"the key {key} may not", "code": 403}})
    with ScriptedServer() as server:
        server.script(raw(f"data: {fault}\n\n".encode()))
        async with provider(server, key) as lab:
            with pytest.raises(AuthError) as caught:
                await events(lab, asked(server))
    assert key not in "".join(traceback.format_exception(caught.value))
    assert "the key … may not" in str(caught.value)


@EVERY_KIND
async def test_server_that_hangs_up_once_all_was_said_has_not_cut_the_answer(kind: str) -> None:
    with ScriptedServer() as server:
        server.script(replace(streamed(kind, FULL[kind]), ending="cut"))
        async with provider(server, kind=kind) as lab:
            got = await events(lab, small(server))
    assert got[-1] == Finished("tool_calls")
    assert usage_of(got) == (20, 5)


async def test_hanging_up_before_the_usage_leaves_the_answer_and_no_figures() -> None:
    body = text("Hello", usage=(12, 2)).chunks[:3]
    with ScriptedServer() as server:
        server.script(raw(*body, ending="cut"))
        async with provider(server) as lab:
            got = await events(lab, asked(server))
    assert text_of(got) == "Hello"
    assert usage_of(got) is None
    assert got[-1] == Finished("stop")
