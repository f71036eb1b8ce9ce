"""Calls while they arrive, and the bounds that keep a server in a loop from filling the memory."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from bibgenie_desktop.domain.errors import BadAnswer
from bibgenie_desktop.providers import http_provider as module
from bibgenie_desktop.providers.calls import MOST_CALLS, MOST_WRITTEN, Calls, OpenCall, read_arguments
from bibgenie_desktop.providers.factory import codec_of
from bibgenie_desktop.providers.surrogates import settled
from tests.providers.helpers import decode_steps, request, text_of
from tests.providers.test_http_provider import asked, events, provider
from tests.scripted_server import ScriptedServer, text


def endless_calls(kind: str) -> Iterator[dict[str, object]]:
    for n in range(MOST_CALLS + 1):
        function = {"name": "a", "arguments": {}}
        match kind:
            case "openai-chat":
                call = {"index": n, "id": f"c{n}", "function": {"name": "a", "arguments": "{}"}}
                yield {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}
            case "openai-responses":
                item = {"type": "function_call", "call_id": f"c{n}", "name": "a", "arguments": "{}"}
                yield {"type": "response.output_item.done", "output_index": n, "item": item}
            case "anthropic":
                block = {"type": "tool_use", "id": f"c{n}", "name": "a", "input": {}}
                yield {"type": "content_block_start", "index": n, "content_block": block}
            case "gemini":
                yield {"candidates": [{"content": {"parts": [{"functionCall": {"name": "a"}}]}}]}
            case "ollama":
                yield {"message": {"tool_calls": [{"function": function}]}, "done": False}


@pytest.mark.parametrize("kind", ["openai-chat", "openai-responses", "anthropic", "gemini", "ollama"])
def test_calls_without_end_are_refused(kind: str) -> None:
    start = b"" if kind == "ollama" else b"data: "
    body = b"".join(start + json.dumps(one).encode() + b"\n\n" for one in endless_calls(kind))
    with pytest.raises(BadAnswer, match="without end"):
        list(decode_steps(body, request(), 0, codec_of(kind, "https://host/v1")))


def test_arguments_without_end_are_refused() -> None:
    call = OpenCall(0, "c", "a")
    piece = "x" * (MOST_WRITTEN // 4)
    for _ in range(4):
        call.write(piece)
    with pytest.raises(BadAnswer, match="without end"):
        call.write("x")


async def test_answer_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_STREAM_BYTES", 2_000)
    with ScriptedServer() as server:
        server.script(text(*["word "] * 100))
        async with provider(server) as lab:
            with pytest.raises(BadAnswer, match="no end"):
                await events(lab, asked(server))


def test_call_is_given_once_and_later_pieces_do_not_change_it() -> None:
    calls = Calls()
    call = OpenCall(0, "c", "a")
    calls.begin(call)
    call.write('{"n":1}')
    assert len(list(calls.close(call))) == 1
    assert list(calls.close(call)) == list(calls.close_all()) == []


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('{"a": "\\ud83d\\ude00"}', {"a": "😀"}),
        ('{"a": "x\\ud83d"}', {"a": "x\ufffd"}),
        ('"{\\"a\\": \\"\\\\udc00\\"}"', {"a": "\ufffd"}),
    ],
)
def test_half_characters_in_arguments_are_replaced(written: str, expected: dict[str, str]) -> None:
    assert read_arguments(written) == expected


def test_half_characters_in_text_are_replaced_and_whole_ones_kept() -> None:
    chunk = '{"choices":[{"delta":{"content":"a\\ud83d b\\ud83d\\ude00"},"finish_reason":"stop"}]}'
    events_of = decode_steps(f"data: {chunk}\n\n".encode(), request(), 0)
    assert text_of(events_of) == "a\ufffd b😀"
    assert settled({"\ud800": ["\udc00", 1, None]}) == {"\ufffd": ["\ufffd", 1, None]}


@pytest.mark.parametrize("kind", ["openai-chat", "openai-responses", "anthropic", "gemini", "ollama"])
def test_character_that_a_server_cuts_in_two_arrives_whole(kind: str) -> None:
    def delta(text: str) -> dict[str, object]:
        match kind:
            case "openai-chat":
                return {"choices": [{"delta": {"content": text}}]}
            case "openai-responses":
                return {"type": "response.output_text.delta", "delta": text}
            case "anthropic":
                inner = {"type": "text_delta", "text": text}
                return {"type": "content_block_delta", "index": 0, "delta": inner}
            case "gemini":
                return {"candidates": [{"content": {"parts": [{"text": text}]}}]}
        return {"message": {"content": text}, "done": False}

    codec = codec_of(kind, "https://host/v1")
    reader, decoder = codec.reader(), codec.decoder(request())
    start = b"" if kind == "ollama" else b"data: "
    pieces = ("pair \ud83d", "\ude00 done, half \ud83d", " end", "\ud83d", "\ude00")
    body = b"".join(start + json.dumps(delta(piece)).encode() + b"\n\n" for piece in pieces)
    got = [event for sent in reader.feed(body) for event in decoder.feed(sent)]
    assert text_of(got) == "pair 😀 done, half \ufffd end😀"
