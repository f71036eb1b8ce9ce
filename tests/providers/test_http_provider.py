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
    RateLimited,
    StreamCut,
    Unreachable,
    UserError,
)
from bibgenie_desktop.net import Http
from bibgenie_desktop.providers.base import Event, Finished, Provider, Request, TextDelta, ToolCalled
from bibgenie_desktop.providers.factory import http_provider
from bibgenie_desktop.providers.http_provider import encode_body
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
async def provider(server: ScriptedServer, key: str | None = KEY) -> AsyncIterator[Provider]:
    async def ask() -> str | None:
        return key

    http = Http()
    try:
        yield http_provider("openai-chat", "lab", server.base_url, ask, http)
    finally:
        await http.aclose()


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
