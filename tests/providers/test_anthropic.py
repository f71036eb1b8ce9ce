"""The Messages dialect: what is asked for, what is marked for the cache, what goes back, what it cost."""

# A row of a table stays one line.
# ruff: noqa: E501

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bibgenie_desktop.domain.errors import BadAnswer, ContextOverflow, Overloaded, ProviderError
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.parts import ImagePart, ReasoningPart, TextPart, ToolPart
from bibgenie_desktop.domain.projection import ProjectedMessage
from bibgenie_desktop.providers.anthropic import AnthropicCodec
from bibgenie_desktop.providers.base import (
    Finished,
    ReasoningClosed,
    ReasoningDelta,
    Request,
    TextDelta,
    ToolCalled,
    ToolCallStarted,
    UsageReported,
)
from bibgenie_desktop.providers.wire import call_id
from tests.providers.bodies import anthropic, block, redacted, said, sse, thinking, use
from tests.providers.helpers import PROFILE, answer, decode, request, text_of, usage_of, user

CODEC = AnthropicCodec()
MARK = {"type": "ephemeral"}


def events_of(body: bytes, **profile: Any) -> list[Any]:
    return decode(body, replace(PROFILE, **profile), codec=CODEC)


def unmarked(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {**m, "content": [{k: v for k, v in one.items() if k != "cache_control"} for one in m["content"]]}
        for m in messages
    ]


def asked(*messages: ProjectedMessage, **profile: Any) -> list[dict[str, Any]]:
    return unmarked(CODEC.encode(request(*messages, **profile))["messages"])


def test_body_has_what_the_interface_demands() -> None:
    assert CODEC.encode(request(user("Hi"))) == {
        "model": "org/model:8b",
        "max_tokens": 1_000,
        "stream": True,
        "system": [{"type": "text", "text": "Be exact.", "cache_control": MARK}],
        "tools": [
            {
                "name": "search_items",
                "description": "Find items.",
                "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}},
            }
        ],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": MARK}]}],
    }


def test_key_and_version_are_headers() -> None:
    assert CODEC.headers("k") == {"x-api-key": "k", "anthropic-version": "2023-06-01"}
    assert CODEC.headers("") == {"anthropic-version": "2023-06-01"}


@pytest.mark.parametrize(
    ("model", "known", "room", "limit"),
    [
        ("claude-sonnet-4-5", None, 180_000, 32_000),
        ("claude-3-5-haiku-latest", None, 180_000, 8_192),
        ("claude-3-opus-20240229", None, 180_000, 4_096),
        ("claude-opus-4-8", 128_000, 180_000, 128_000),
        ("claude-opus-4-8", 128_000, 9_000, 9_000),
        ("claude-opus-4-8", None, None, 32_000),
    ],
)
def test_output_limit_is_always_sent_and_never_more_than_the_model_can_write(
    model: str, known: int | None, room: int | None, limit: int
) -> None:
    sent = replace(request(user("Hi"), model=model, max_output=known), max_output_tokens=room)
    assert CODEC.encode(sent)["max_tokens"] == limit


@pytest.mark.parametrize(
    ("model", "room", "purpose", "expected"),
    [
        ("claude-sonnet-4-5-20250929", 32_000, "answer", {"type": "enabled", "budget_tokens": 16_000}),
        ("claude-opus-4-20250514", 8_000, "answer", {"type": "enabled", "budget_tokens": 4_000}),
        ("claude-sonnet-4-5", 1_500, "answer", None),
        ("claude-opus-4-7", 32_000, "answer", {"type": "adaptive"}),
        ("claude-opus-4-7", 32_000, "summary", None),
    ],
)
def test_thinking_is_asked_for_in_the_words_of_the_model(
    model: str, room: int, purpose: Any, expected: Any
) -> None:
    sent = replace(request(user("Hi"), model=model, reasoning=True), max_output_tokens=room, purpose=purpose)
    assert CODEC.encode(sent).get("thinking") == expected
    assert "thinking" not in CODEC.encode(request(user("Hi"), model=model))


def marks(sent: Request) -> list[tuple[int, int]]:
    """(message, block) of every cache mark in the messages."""
    return [
        (m, b)
        for m, message in enumerate(CODEC.encode(sent)["messages"])
        for b, block in enumerate(message["content"])
        if "cache_control" in block
    ]


def test_cache_marks_stand_at_the_end_and_where_the_request_before_ended() -> None:
    tool = ToolPart("t1", "search_items", {}, "done", 0, sent="3 items")
    first = request(user("Q"))
    second = request(user("Q"), answer(tool, status="pending"))
    third = request(user("Q"), answer(tool, TextPart("A", 1)), user("R", id="u2"))
    assert marks(first) == [(0, 0)]
    assert marks(second) == [(0, 0), (2, 0)]
    assert marks(third) == [(2, 0), (4, 0)]
    for sent in (first, second, third):
        assert len(marks(sent)) + 1 <= 4  # all that is allowed, that of the system prompt included


def test_tools_are_marked_where_there_is_no_system_prompt() -> None:
    body = CODEC.encode(request(user("Hi"), system=""))
    assert "system" not in body
    assert body["tools"][-1]["cache_control"] == MARK


def test_checkpoint_and_question_are_one_message_of_the_person() -> None:
    head = ProjectedMessage(MessageId("c"), "checkpoint", (TextPart("<checkpoint>"),))
    assert asked(head, user("Next")) == [
        {"role": "user", "content": [said("<checkpoint>"), said("Next")]},
    ]


def test_steps_become_uses_and_results() -> None:
    done = ToolPart("t1", "search_items", {"query": "ü"}, "done", 0, sent="3 items")
    failed = ToolPart("t2", "search_items", {}, "error", 0, sent="bad query")
    first, second = (call_id("a1", name) for name in ("t1", "t2"))
    assert asked(user("Q"), answer(TextPart("See."), done, failed, TextPart("A", 1)), user("R", id="u2")) == [
        {"role": "user", "content": [said("Q")]},
        {
            "role": "assistant",
            "content": [
                said("See."),
                {"type": "tool_use", "id": first, "name": "search_items", "input": {"query": "ü"}},
                {"type": "tool_use", "id": second, "name": "search_items", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": first, "content": "3 items"},
                {"type": "tool_result", "tool_use_id": second, "content": "bad query", "is_error": True},
            ],
        },
        {"role": "assistant", "content": [said("A")]},
        {"role": "user", "content": [said("R")]},
    ]


def test_blank_text_which_is_refused_is_never_sent() -> None:
    sent = asked(user(" "), answer(TextPart(" \n")), user("R", id="u2"))
    assert sent[0]["content"] == [said("(empty message)")]
    assert sent[1]["content"] == [said("(no answer)")]
    tool = ToolPart("t1", "search_items", {}, "done", 0, sent="x")
    assert [
        one["type"] for one in asked(user("Q"), answer(TextPart("\n"), tool, status="pending"))[1]["content"]
    ] == ["tool_use"]


def test_image_is_sent_by_its_bytes() -> None:
    image = ImagePart("h", "a.png", "image/png")
    sent = replace(request(user("What?", image), vision=True), images={"h": b"\x89PNG"})
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}
    content = unmarked(CODEC.encode(sent)["messages"])[0]["content"]
    assert content == [{"type": "image", "source": source}, said("What?")]


# Decoding


def test_thinking_goes_back_byte_for_byte_before_the_call_it_led_to() -> None:
    first = thinking(" Let me\u2028see. ", "sig+/==")
    events = events_of(
        anthropic(first, redacted("xyz=="), use("search_items", {"query": "a"}), stop="tool_use")
    )
    assert [e for e in events if isinstance(e, ReasoningDelta)] == [ReasoningDelta(" Let me\u2028see. ")]
    (closed,) = [e for e in events if isinstance(e, ReasoningClosed)]
    assert closed.opaque == {"model": PROFILE.ref, "blocks": [first, redacted("xyz==")]}
    parts = (
        ReasoningPart(" Let me\u2028see. ", 0, closed.opaque),
        ToolPart("t1", "search_items", {"query": "a"}, "done", 0, sent="x"),
    )
    content = asked(user("Q"), answer(*parts, status="pending"))[1]["content"]
    assert content[:2] == [first, redacted("xyz==")]
    assert content[2]["type"] == "tool_use"


def test_thinking_between_calls_keeps_its_place() -> None:
    blocks = (thinking("one", "s1"), use("a", {}, 1), thinking("two", "s2"), use("b", {}, 2))
    events = [e for e in events_of(anthropic(*blocks, stop="tool_use")) if not isinstance(e, ReasoningDelta)]
    closed = [e.opaque["blocks"] for e in events if isinstance(e, ReasoningClosed)]
    assert closed == [[blocks[0]], [blocks[2]]]
    assert [type(e).__name__ for e in events[:6]] == ["ReasoningClosed", "ToolCallStarted", "ToolCalled"] * 2


def test_thinking_that_is_not_shown_still_goes_back() -> None:
    hidden = {"type": "thinking", "thinking": "", "signature": ""}
    body = sse(
        {"type": "content_block_start", "index": 0, "content_block": hidden},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s1"}},
        {"type": "content_block_stop", "index": 0},
        *block(1, said("Yes")),
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    )
    events = events_of(body)
    assert events[0] == ReasoningClosed({"model": PROFILE.ref, "blocks": [{**hidden, "signature": "s1"}]})
    assert events[1] == TextDelta("Y")


def test_call_without_arguments_is_an_empty_object() -> None:
    events = events_of(anthropic(use("list_collections", {}), stop="tool_use"))
    assert events == [
        ToolCallStarted(0, "list_collections"),
        ToolCalled(0, "list_collections", {}),
        Finished("tool_calls"),
    ]


def test_arguments_that_come_whole_in_the_start_count() -> None:
    body = sse(
        {"type": "content_block_start", "index": 0, "content_block": use("a", {"n": 1})},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    )
    assert ToolCalled(0, "a", {"n": 1}) in events_of(body)


def test_parallel_calls_stay_apart_and_half_a_call_is_malformed() -> None:
    body = sse(
        {"type": "content_block_start", "index": 0, "content_block": use("a", {}, 1)},
        {"type": "content_block_start", "index": 1, "content_block": use("b", {}, 2)},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": '{"n":1}'},
        },
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": '{"n'},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}},
        {"type": "message_stop"},
    )
    called = [e for e in events_of(body) if isinstance(e, ToolCalled)]
    assert called == [ToolCalled(0, "a", {"n": 1}), ToolCalled(1, "b", {}, malformed='{"n')]
    assert events_of(body)[-1] == Finished("length")


def test_starts_that_come_twice_change_nothing() -> None:
    start = {
        "type": "message_start",
        "message": {"id": "m", "usage": {"input_tokens": 9, "output_tokens": 1}},
    }
    begun = {"type": "content_block_start", "index": 0, "content_block": use("a", {}, 1)}
    body = sse(
        start, start, begun, begun,
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"n":1}'}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 4}},
    )  # fmt: skip
    events = events_of(body)
    assert [e for e in events if isinstance(e, ToolCalled)] == [ToolCalled(0, "a", {"n": 1})]
    assert usage_of(events) == (9, 4)


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ({"input_tokens": 9, "output_tokens": 1}, {"output_tokens": 5}, (9, 5, 0, 0)),
        ({"input_tokens": 43, "output_tokens": 1}, {"input_tokens": 61, "output_tokens": 5}, (61, 5, 0, 0)),
        ({"input_tokens": 7, "cache_read_input_tokens": 24}, {"output_tokens": 8}, (31, 8, 24, 0)),
        ({"input_tokens": 3, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 10}, {"output_tokens": 8}, (33, 8, 20, 10)),
        ({"input_tokens": 9}, {"input_tokens": None, "cache_read_input_tokens": None, "output_tokens": 2}, (9, 2, 0, 0)),
        (
            {"input_tokens": 100, "cache_read_input_tokens": 55_096},
            {"input_tokens": 181, "cache_read_input_tokens": 0, "output_tokens": 8, "iterations": [
                {"type": "compaction", "input_tokens": 100, "cache_read_input_tokens": 55_096, "output_tokens": 83},
                {"type": "message", "input_tokens": 181, "output_tokens": 8},
            ]},
            [(55_196, 83, 55_096, 0), (181, 8, 0, 0)],
        ),
        (
            {"input_tokens": 5},
            {"output_tokens": 8, "iterations": [
                {"type": "message", "input_tokens": 900, "cache_creation_input_tokens": 100, "output_tokens": 40},
                {"type": "message", "input_tokens": 50, "cache_read_input_tokens": 950, "output_tokens": 8},
                {"type": "compaction", "input_tokens": 700, "output_tokens": 60},
            ]},
            [(1_000, 40, 0, 100), (700, 60, 0, 0), (1_000, 8, 950, 0)],
        ),
        ({"input_tokens": 7}, {"output_tokens": 8, "iterations": [{"type": "message"}]}, None),
        ({"input_tokens": 7}, {"output_tokens": 8, "iterations": ["x", None]}, (7, 8, 0, 0)),
        ({"input_tokens": 7}, {"output_tokens": 8, "iterations": []}, (7, 8, 0, 0)),
        ({"input_tokens": -7, "cache_read_input_tokens": -1}, {"output_tokens": 8}, None),
        ({"input_tokens": True}, {"output_tokens": 8}, None),
        ({"input_tokens": 5}, {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 6}}, (5, 9, 0, 0)),
        ({}, {}, None),
        ({"input_tokens": 0}, {"output_tokens": 5}, None),
        ({"input_tokens": "9"}, {"output_tokens": 5}, None),
    ],
)  # fmt: skip
def test_usage_counts_each_token_once(first: Any, last: Any, expected: Any) -> None:
    found = [
        e.usage
        for e in events_of(anthropic(said("x"), first=first, last=last))
        if isinstance(e, UsageReported)
    ]
    figures = [(u.input_total, u.output_total, u.cache_read, u.cache_write) for u in found]
    assert figures == (expected if isinstance(expected, list) else [expected] if expected else [])


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("pause_turn", "stop"),
        ("something_new", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "window"),
        ("refusal", "refusal"),
    ],
)
def test_reason_of_the_end_is_told(stop: str, reason: Any) -> None:
    assert events_of(anthropic(said("x"), stop=stop))[-1] == Finished(reason)


def test_output_limit_at_the_windows_end_is_a_full_window() -> None:
    body = anthropic(
        said("x"), stop="max_tokens", first={"input_tokens": 32_000}, last={"output_tokens": 768}
    )
    assert events_of(body)[-1] == Finished("window")
    assert events_of(body, window_source="assumed")[-1] == Finished("length")


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, Overloaded),
        (
            {
                "type": "invalid_request_error",
                "message": "prompt is too long: 205351 tokens > 200000 maximum",
            },
            ContextOverflow,
        ),
        ({"type": "api_error", "message": "Internal server error"}, BadAnswer),
    ],
)
def test_error_event_is_raised(fault: dict[str, str], kind: type[ProviderError]) -> None:
    with pytest.raises(kind):
        events_of(sse({"type": "error", "error": fault}, named=True))


def test_blocks_of_server_tools_are_passed_over() -> None:
    body = anthropic({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}, said("Hi"))
    assert text_of(events_of(body)) == "Hi"
    assert events_of(body)[-1] == Finished("stop")


def test_whole_message_is_understood() -> None:
    usage = {"input_tokens": 4, "output_tokens": 2}
    message = {"type": "message", "stop_reason": "tool_use", "usage": usage}
    message["content"] = [thinking("hm", "s"), said("Hi"), use("a", {"n": 1})]
    events = CODEC.decoder(request()).whole(message)
    assert events is not None
    assert [type(e).__name__ for e in events] == [
        "ReasoningDelta",
        "ReasoningClosed",
        "TextDelta",
        "ToolCallStarted",
        "ToolCalled",
        "UsageReported",
        "Finished",
    ]
    assert CODEC.decoder(request()).whole({"hello": 1}) is None
    with pytest.raises(Overloaded):
        CODEC.decoder(request()).whole({"type": "error", "error": {"type": "overloaded_error"}})
