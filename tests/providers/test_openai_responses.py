"""The Responses dialect: items in order, reasoning encrypted, nothing stored at the provider."""

# A row of a table stays one line.
# ruff: noqa: E501

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bibgenie_desktop.domain.errors import BadAnswer, ContextOverflow, ProviderError, RateLimited, StreamCut
from bibgenie_desktop.domain.parts import ImagePart, ReasoningPart, TextPart, ToolPart
from bibgenie_desktop.providers.base import (
    Finished,
    ReasoningClosed,
    ReasoningDelta,
    TextDelta,
    ToolCalled,
    ToolCallStarted,
    UsageReported,
)
from bibgenie_desktop.providers.openai_responses import ResponsesCodec
from bibgenie_desktop.providers.wire import call_id
from tests.providers.bodies import (
    response_call,
    response_item,
    response_reasoning,
    response_text,
    responses,
    sse,
)
from tests.providers.helpers import PROFILE, answer, decode, request, text_of, user

CODEC = ResponsesCodec()


def events_of(body: bytes) -> list[Any]:
    return decode(body, codec=CODEC)


def message(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def test_body_stores_nothing_and_asks_for_encrypted_reasoning() -> None:
    assert CODEC.encode(request(user("Hi"))) == {
        "model": "org/model:8b",
        "input": [message("user", "Hi")],
        "stream": True,
        "store": False,
        "instructions": "Be exact.",
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": 1_000,
        "tools": [
            {
                "type": "function",
                "name": "search_items",
                "description": "Find items.",
                "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
                "strict": False,
            }
        ],
    }


@pytest.mark.parametrize(
    ("model", "includes"),
    [
        ("gpt-5.1", True),
        ("o4-mini", True),
        ("openai/gpt-oss-20b", True),
        ("gpt-4o", False),
        ("gpt-4.1-mini", False),
        ("gpt-5-chat-latest", False),
        ("chatgpt-4o-latest", False),
    ],
)
def test_models_that_do_not_reason_are_not_asked_for_it(model: str, includes: bool) -> None:
    assert ("include" in CODEC.encode(request(user("Hi"), model=model))) is includes


def test_summary_of_reasoning_is_asked_for_where_reasoning_is() -> None:
    assert CODEC.encode(request(user("Hi"), model="gpt-5", reasoning=True))["reasoning"] == {
        "summary": "auto"
    }
    assert "reasoning" not in CODEC.encode(request(user("Hi"), model="gpt-4o", reasoning=True))


@pytest.mark.parametrize(("known", "limit"), [(None, None), (16_384, 120_000)])
def test_limit_that_would_be_a_guess_is_left_to_the_provider(known: int | None, limit: int | None) -> None:
    sent = replace(request(user("Hi"), max_output=known), max_output_tokens=120_000)
    assert CODEC.encode(sent).get("max_output_tokens") == limit


def test_key_goes_where_the_server_looks_for_it() -> None:
    assert CODEC.headers("k") == {"Authorization": "Bearer k"}
    assert ResponsesCodec(api_key_header=True).headers("k") == {"api-key": "k"}
    assert CODEC.headers("") == {}


def test_image_is_sent_by_its_bytes() -> None:
    image = ImagePart("h", "a.png", "image/png")
    sent = replace(request(user("What?", image), vision=True), images={"h": b"\x89PNG"})
    assert CODEC.encode(sent)["input"][0]["content"] == [
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw=="},
        {"type": "input_text", "text": "What?"},
    ]


def test_reasoning_item_goes_back_unchanged_before_its_call_and_only_within_the_turn() -> None:
    item = {**response_reasoning("**Plan**"), "status": None, "extra": {"kept": ["as", "it", "came"]}}
    events = events_of(responses(item, response_call("search_items", {"query": "a"})))
    (closed,) = [e for e in events if isinstance(e, ReasoningClosed)]
    parts = (
        ReasoningPart("**Plan**", 0, closed.opaque),
        ToolPart("t1", "search_items", {"query": "a"}, "done", 0, sent="3 items"),
    )
    id = call_id("a1", "t1")
    assert CODEC.encode(request(user("Q"), answer(*parts, status="pending")))["input"] == [
        message("user", "Q"),
        item,
        {"type": "function_call", "call_id": id, "name": "search_items", "arguments": '{"query":"a"}'},
        {"type": "function_call_output", "call_id": id, "output": "3 items"},
    ]
    over = CODEC.encode(request(user("Q"), answer(*parts, TextPart("A", 1)), user("R", id="u2")))["input"]
    assert [one["type"] for one in over] == [
        "message",
        "function_call",
        "function_call_output",
        "message",
        "message",
    ]


def test_items_keep_their_order_in_the_events_and_in_what_goes_back() -> None:
    items = (
        response_reasoning("one", 1),
        response_call("a", {"n": 1}, 1),
        response_reasoning("two", 2),
        response_call("b", {}, 2),
    )
    events = [e for e in events_of(responses(*items)) if not isinstance(e, ReasoningDelta | ToolCallStarted)]
    assert [type(e) for e in events[:4]] == [ReasoningClosed, ToolCalled, ReasoningClosed, ToolCalled]
    parts = (
        ReasoningPart("one", 0, events[0].opaque),
        ToolPart("t1", "a", {"n": 1}, "done", 0, sent="x"),
        ReasoningPart("two", 0, events[2].opaque),
        ToolPart("t2", "b", {}, "done", 0, sent="y"),
    )
    sent = CODEC.encode(request(user("Q"), answer(*parts, status="pending")))["input"][1:]
    assert [one["type"] for one in sent] == [
        "reasoning",
        "function_call",
        "reasoning",
        "function_call",
        "function_call_output",
        "function_call_output",
    ]
    assert (sent[0], sent[2]) == (items[0], items[2])


def test_reasoning_that_only_a_store_could_read_is_not_kept() -> None:
    item = {"type": "reasoning", "id": "rs_1", "summary": []}
    assert not any(isinstance(e, ReasoningClosed) for e in events_of(responses(item, response_text("x"))))


def test_parts_of_a_summary_are_paragraphs() -> None:
    item = response_reasoning("one")
    item["summary"].append({"type": "summary_text", "text": "two"})
    thought = "".join(e.text for e in events_of(responses(item)) if isinstance(e, ReasoningDelta))
    assert thought == "one\n\ntwo"


@pytest.mark.parametrize("kind", ["response.reasoning_text.delta", "response.reasoning.delta"])
def test_open_reasoning_of_other_servers_is_shown(kind: str) -> None:
    body = sse({"type": kind, "delta": "hm"}) + responses(response_text("Yes"))
    assert events_of(body)[:2] == [ReasoningDelta("hm"), ReasoningClosed(None)]


def test_last_event_alone_is_enough() -> None:
    items = [response_reasoning("hm"), response_text("Hi"), response_call("a", {"n": 1})]
    body = sse({"type": "response.completed", "response": {"status": "completed", "output": items}})
    events = events_of(body)
    assert text_of(events) == "Hi"
    assert ToolCalled(0, "a", {"n": 1}) in events
    assert events[-1] == Finished("tool_calls")


def test_nothing_is_said_twice() -> None:
    items = (response_text("Hi"), response_call("a", {"n": 1}))
    events = events_of(responses(*items))
    assert text_of(events) == "Hi"
    assert [e for e in events if isinstance(e, ToolCalled)] == [ToolCalled(0, "a", {"n": 1})]


def test_whole_response_is_understood() -> None:
    usage = {"input_tokens": 4, "output_tokens": 2}
    whole = {"status": "completed", "output": [response_text("Hi")], "usage": usage, "error": None}
    events = CODEC.decoder(request()).whole(whole)
    assert events is not None
    assert (text_of(events), events[-1]) == ("Hi", Finished("stop"))
    assert CODEC.decoder(request()).whole({"hello": 1}) is None


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 20, "output_tokens": 5, "total_tokens": 25}, (20, 5, 0, 0)),
        ({"input_tokens": 20, "input_tokens_details": {"cached_tokens": 15}, "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 6}, "total_tokens": 29}, (20, 9, 15, 6)),
        ({"input_tokens": 20, "output_tokens": 5, "total_tokens": 10}, None),
        ({"input_tokens": 0, "output_tokens": 0}, None),
        (None, None),
    ],
)  # fmt: skip
def test_usage_comes_with_the_last_event(usage: Any, expected: Any) -> None:
    found = [
        e.usage for e in events_of(responses(response_text("x"), usage=usage)) if isinstance(e, UsageReported)
    ]
    assert [(u.input_total, u.output_total, u.cache_read, u.reasoning) for u in found] == (
        [expected] if expected else []
    )


@pytest.mark.parametrize(
    ("status", "details", "reason"),
    [
        ("completed", None, "stop"),
        ("incomplete", {"reason": "max_output_tokens"}, "length"),
        ("incomplete", None, "length"),
        ("incomplete", {"reason": "content_filter"}, "content_filter"),
    ],
)
def test_reason_of_the_end_is_told(status: str, details: Any, reason: Any) -> None:
    body = responses(response_text("x"), status=status, incomplete_details=details)
    assert events_of(body)[-1] == Finished(reason)


def test_refusal_is_shown_and_named() -> None:
    body = sse({"type": "response.refusal.delta", "delta": "I cannot."}) + responses()
    assert events_of(body) == [TextDelta("I cannot."), Finished("refusal")]


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (
            {
                "type": "error",
                "code": "context_length_exceeded",
                "message": "Your input exceeds the context window of this model.",
            },
            ContextOverflow,
        ),
        ({"type": "error", "error": {"code": "rate_limit_exceeded", "message": "slow down"}}, RateLimited),
        (
            {
                "type": "response.failed",
                "response": {
                    "status": "failed",
                    "error": {"code": "context_length_exceeded", "message": "x"},
                },
            },
            ContextOverflow,
        ),
        (
            {
                "type": "response.failed",
                "response": {"status": "failed", "error": {"code": "server_error", "message": "x"}},
            },
            BadAnswer,
        ),
        (
            {
                "type": "response.completed",
                "response": {"status": "failed", "error": {"code": "server_error"}},
            },
            BadAnswer,
        ),
        ({"type": "response.cancelled", "response": {}}, StreamCut),
    ],
)
def test_failure_within_the_stream_is_raised(event: dict[str, Any], kind: type[ProviderError]) -> None:
    with pytest.raises(kind):
        events_of(sse(event))


def test_half_a_call_is_malformed() -> None:
    call = response_call("a", {"n": 1})
    begun = response_item(0, call)[:2]
    last = {"type": "response.incomplete", "response": {"status": "incomplete", "output": []}}
    assert ToolCalled(0, "a", {}, malformed='{"n"') in events_of(sse(*begun, last))


def test_model_is_named_in_what_is_kept() -> None:
    (closed,) = [
        e
        for e in events_of(responses(response_reasoning("hm"), response_text("x")))
        if isinstance(e, ReasoningClosed)
    ]
    assert closed.opaque["model"] == PROFILE.ref


@pytest.mark.parametrize(
    ("given", "made", "limit", "reason"),
    [
        (20, 5, 5, "length"),
        (20, 5, 6, "stop"),
        (20, 5, None, "stop"),
        (32_760, 8, None, "window"),
        (32_760, 8, 100, "window"),
    ],
)
def test_answer_called_complete_that_had_no_room_to_go_on_is_told(
    given: int, made: int, limit: int | None, reason: Any
) -> None:
    body = responses(response_text("x"), usage={"input_tokens": given, "output_tokens": made})
    asked = replace(request(), max_output_tokens=limit)
    assert decode(body, codec=CODEC, asked=asked)[-1] == Finished(reason)
