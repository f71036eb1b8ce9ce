"""Ollama's own dialect: a window that is asked for, nothing cut in silence, figures that must be possible."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bibgenie_desktop.domain.errors import BadAnswer, ContextOverflow, ProviderError
from bibgenie_desktop.domain.parts import ImagePart, ReasoningPart, TextPart, ToolPart
from bibgenie_desktop.providers.base import (
    Finished,
    ReasoningClosed,
    ReasoningDelta,
    TextDelta,
    ToolCalled,
    ToolCallStarted,
)
from bibgenie_desktop.providers.ndjson import LineReader
from bibgenie_desktop.providers.ollama import OllamaCodec, written_tokens
from bibgenie_desktop.providers.wire import call_id
from tests.providers.bodies import lines, ollama, ollama_call
from tests.providers.helpers import answer, decode, request, text_of, usage_of, user

CODEC = OllamaCodec()


def events_of(body: bytes) -> list[Any]:
    return decode(body, codec=CODEC)


def test_window_is_asked_for_and_cutting_forbidden() -> None:
    assert CODEC.encode(request(user("Hi"), window=16_384, model="gemma3:12b")) == {
        "model": "gemma3:12b",
        "messages": [{"role": "system", "content": "Be exact."}, {"role": "user", "content": "Hi"}],
        "stream": True,
        "options": {"num_ctx": 16_384, "num_predict": 1_000},
        "truncate": False,
        "shift": False,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "search_items",
                    "description": "Find items.",
                    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
                },
            }
        ],
    }


def test_blank_key_sends_no_header() -> None:
    assert CODEC.headers("") == {}
    assert CODEC.headers("k") == {"Authorization": "Bearer k"}


@pytest.mark.parametrize(
    ("reasoning", "purpose", "think"),
    [(True, "answer", True), (True, "summary", False), (False, "answer", None)],
)
def test_thinking_is_asked_for_where_the_model_can(reasoning: bool, purpose: Any, think: Any) -> None:
    sent = replace(request(user("Hi"), reasoning=reasoning), purpose=purpose)
    assert CODEC.encode(sent).get("think") is think


def test_arguments_are_objects_and_results_name_their_call() -> None:
    parts = (
        ReasoningPart("hm"),
        TextPart("See."),
        ToolPart("t1", "search_items", {"q": 1}, "done", sent="3"),
    )
    id = call_id("a1", "t1")
    sent = CODEC.encode(request(user("Q"), answer(*parts, status="pending"), replays_reasoning="turn"))
    assert sent["messages"][2:] == [
        {
            "role": "assistant",
            "content": "See.",
            "thinking": "hm",
            "tool_calls": [{"id": id, "function": {"name": "search_items", "arguments": {"q": 1}}}],
        },
        {"role": "tool", "tool_name": "search_items", "tool_call_id": id, "content": "3"},
    ]


def test_images_stand_beside_the_text() -> None:
    image = ImagePart("h", "a.png", "image/png")
    sent = replace(request(user("What?", image), vision=True), images={"h": b"\x89PNG"})
    assert CODEC.encode(sent)["messages"][1] == {"role": "user", "content": "What?", "images": ["iVBORw=="]}


def test_thinking_text_and_calls_come_in_order() -> None:
    body = ollama({"content": "", "thinking": "hm"}, {"content": "Yes"}, ollama_call("a", {"n": 1}))
    assert events_of(body) == [
        ReasoningDelta("hm"),
        ReasoningClosed(None),
        TextDelta("Yes"),
        ToolCallStarted(0, "a"),
        ToolCalled(0, "a", {"n": 1}),
        Finished("tool_calls"),
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"n": 1}, ToolCalled(0, "a", {"n": 1})),
        (None, ToolCalled(0, "a", {})),
        ('{"n": 1}', ToolCalled(0, "a", {"n": 1})),
        ("", ToolCalled(0, "a", {})),
        ('{"n', ToolCalled(0, "a", {}, malformed='{"n')),
    ],
)
def test_arguments_in_any_form_are_one_call(arguments: Any, expected: ToolCalled) -> None:
    assert expected in events_of(ollama(ollama_call("a", arguments)))


@pytest.mark.parametrize(("share", "valid"), [(1.0, True), (0.6, True), (0.4, False), (0.0, False)])
def test_count_far_below_the_estimate_means_that_the_prompt_was_cut(share: float, valid: bool) -> None:
    sent = request(user("The hippocampus replays the day, bit by bit. " * 40))
    given = int(written_tokens(sent) * share)
    events = decode(ollama({"content": "x"}, given=given, made=7), codec=CODEC, asked=sent)
    assert usage_of(events) == ((given, 7) if valid else None)


def test_pictures_do_not_count_for_that() -> None:
    image = ImagePart("h", "a.png", "image/png")
    sent = request(user("What is it?", image), vision=True)
    assert written_tokens(sent) < 100


def test_missing_count_is_no_usage() -> None:
    assert usage_of(events_of(ollama({"content": "x"}))) is None


@pytest.mark.parametrize(
    ("reason", "given", "expected"),
    [("stop", 20, "stop"), ("length", 20, "length"), ("length", 32_763, "window"), ("load", 20, "stop")],
)
def test_reason_of_the_end_is_told(reason: str, given: int, expected: Any) -> None:
    assert events_of(ollama({"content": "x"}, reason=reason, given=given, made=5))[-1] == Finished(expected)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (
            "the prompt is longer than the context length currently available to the model",
            ContextOverflow,
        ),
        ("an error was encountered while running the model", BadAnswer),
    ],
)
def test_error_line_is_raised(fault: str, kind: type[ProviderError]) -> None:
    with pytest.raises(kind):
        events_of(lines({"message": {"content": "so far"}}, {"error": fault}))


def test_nothing_after_the_end_is_read() -> None:
    assert text_of(events_of(ollama({"content": "x"}) + b"rubbish\n")) == "x"


def test_whole_answer_is_understood() -> None:
    whole = {"message": {"content": "Hi"}, "done": True, "done_reason": "stop", "prompt_eval_count": 60_000}
    events = CODEC.decoder(request()).whole(whole)
    assert events is not None
    assert (text_of(events), usage_of(events)) == ("Hi", (60_000, 0))
    assert CODEC.decoder(request()).whole({"hello": 1}) is None


# The reader of lines


def test_lines_are_split_at_line_feeds_only() -> None:
    reader = LineReader()
    sent = '{"a":"\u2028\u0085\x0b"}\r\n\n  \n{"b":1}'.encode()
    found = [event.data for byte in sent for event in reader.feed(bytes([byte]))]
    assert found + [event.data for event in reader.close()] == ['{"a":"\u2028\u0085\x0b"}', '{"b":1}']
    assert reader.close() == []


def test_line_without_end_is_refused_before_it_fills_the_memory() -> None:
    reader = LineReader(max_line_bytes=100)
    for _ in range(10):
        assert reader.feed(b"0123456789") == []
    with pytest.raises(BadAnswer):
        reader.feed(b"0")


def test_many_short_lines_are_no_long_one() -> None:
    reader = LineReader(max_line_bytes=100)
    assert sum(len(reader.feed(b"0123456789\n")) for _ in range(1_000)) == 1_000
