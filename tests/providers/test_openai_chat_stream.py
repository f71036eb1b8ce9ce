"""Decoding Chat Completions: the shapes of many servers, and what is refused."""

# A row of a table stays one line.
# ruff: noqa: E501

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from bibgenie_desktop.domain.errors import (
    BadAnswer,
    ContextOverflow,
    Overloaded,
    ProviderError,
    RateLimited,
    StreamCut,
)
from bibgenie_desktop.providers.base import (
    Finished,
    ReasoningClosed,
    ReasoningDelta,
    TextDelta,
    ToolCalled,
    ToolCallStarted,
    UsageReported,
)
from bibgenie_desktop.providers.calls import read_arguments
from tests.providers.helpers import PROFILE, decode, text_of, usage_of


def body(
    *deltas: dict[str, Any], finish: str | None = "stop", more: tuple[dict[str, Any], ...] = ()
) -> bytes:
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    if finish:
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    lines = [f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in (*chunks, *more)]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


def piece(
    index: int | None, arguments: Any = None, name: str | None = None, id: str | None = None
) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    call = {key: value for key, value in (("index", index), ("id", id)) if value is not None}
    return {"tool_calls": [{**call, "function": function}]}


USAGE = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}


def test_text_usage_and_end_come_in_this_order() -> None:
    sent = body(
        {"role": "assistant", "content": ""},
        {"content": "Hé"},
        {"content": "llo"},
        more=({"choices": [], "usage": USAGE},),
    )
    events = decode(sent)
    assert events[:2] == [TextDelta("Hé"), TextDelta("llo")]
    assert isinstance(events[2], UsageReported)
    assert events[3:] == [Finished("stop")]
    assert usage_of(events) == (20, 5)


def test_stream_cut_at_every_byte_decodes_alike() -> None:
    sent = body(
        {"content": "é\u2028中"},
        {"reasoning_content": "hm"},
        piece(0, '{"q":', "search_items", "c1"),
        piece(0, '"ü"}'),
        finish="tool_calls",
        more=({"choices": [], "usage": USAGE},),
    )
    whole = decode(sent)
    assert text_of(whole) == "é\u2028中"
    for size in range(1, 40):
        assert decode(sent, size=size) == whole


def test_first_chunk_without_choices_is_no_surprise() -> None:
    filtered = b'data: {"choices":[],"prompt_filter_results":[{}]}\n\n'
    assert text_of(decode(filtered + body({"content": "Hi"}))) == "Hi"


def test_second_choice_is_not_mixed_in() -> None:
    other = b'data: {"choices":[{"index":1,"delta":{"content":"no"}}]}\n\n'
    assert text_of(decode(other + body({"content": "yes"}))) == "yes"


def test_content_as_a_list_is_split_into_reasoning_and_text() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Let me see."}]}
    events = decode(body({"content": [thinking]}, {"content": [{"type": "text", "text": "Four."}]}))
    assert events == [
        ReasoningDelta("Let me see."),
        ReasoningClosed(None),
        TextDelta("Four."),
        Finished("stop"),
    ]


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_content": "hm"},
        {"reasoning": "hm"},
        {"reasoning": "hm", "reasoning_content": "hm"},
        {"reasoning_details": [{"type": "reasoning.text", "text": "hm", "index": 0}]},
    ],
)
def test_reasoning_under_any_name_is_reported_once(delta: dict[str, Any]) -> None:
    events = decode(body(delta, {"content": "Yes"}))
    assert [e for e in events if isinstance(e, ReasoningDelta)] == [ReasoningDelta("hm")]
    assert isinstance(events[1], ReasoningClosed)
    assert text_of(events) == "Yes"


def test_reasoning_details_are_joined_for_replay() -> None:
    def details(**fields: Any) -> dict[str, Any]:
        return {"reasoning_details": [{"type": "reasoning.text", "index": 0, "format": "f", **fields}]}

    events = decode(
        body(details(text="Let "), details(text="me."), details(signature="c2ln"), {"content": "Yes"})
    )
    closed = [e for e in events if isinstance(e, ReasoningClosed)]
    joined = {"type": "reasoning.text", "index": 0, "format": "f", "text": "Let me.", "signature": "c2ln"}
    assert closed == [ReasoningClosed({"model": PROFILE.ref, "reasoning_details": [joined]})]


def test_reasoning_without_an_answer_is_closed_and_gives_no_text() -> None:
    events = decode(body({"reasoning_content": "hm"}))
    assert events == [ReasoningDelta("hm"), ReasoningClosed(None), Finished("stop")]


@pytest.mark.parametrize(
    "deltas",
    [
        pytest.param([piece(0, "", "search_items", "c1"), piece(0, '{"query"'), piece(0, ': "soil"}')], id="pieces"),
        pytest.param([piece(0, '{"query": "soil"}', "search_items", "c1")], id="whole in one delta"),
        pytest.param([piece(None, '{"query": "soil"}', "search_items", "c1")], id="no index"),
        pytest.param([piece(0, '{"query": ', "search_items", "c1"), piece(0, '"soil"}', "", "c1")], id="id repeated, name empty"),
        pytest.param([piece(0, '{"query": ', "search_items", "c1"), piece(0, '"soil"}', "", "null")], id="id null as a word"),
        pytest.param([piece(0, '{"query": ', "search_items", "c1"), piece(0, '"soil"}', "", "c9")], id="id changes, no name"),
        pytest.param([piece(0, None, None, "c1"), piece(0, '{"query": "soil"}', "search_items")], id="name comes later"),
        pytest.param([piece(0, {"query": "soil"}, "search_items", "c1")], id="arguments as an object"),
        pytest.param([piece(0, '"{\\"query\\": \\"soil\\"}"', "search_items", "c1")], id="arguments encoded twice"),
    ],
)  # fmt: skip
def test_call_in_any_form_is_one_call(deltas: list[dict[str, Any]]) -> None:
    events = decode(body(*deltas, finish="tool_calls"))
    assert events == [
        ToolCallStarted(0, "search_items"),
        ToolCalled(0, "search_items", {"query": "soil"}),
        Finished("tool_calls"),
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param((0, "a"), (1, "b"), id="by index"),
        pytest.param((0, "a"), (0, "b"), id="one index, two ids"),
        pytest.param((None, "a"), (None, "b"), id="by id"),
        pytest.param((None, None), (None, None), id="by name alone"),
    ],
)
def test_parallel_calls_stay_apart(first: tuple[Any, Any], second: tuple[Any, Any]) -> None:
    deltas = [
        piece(first[0], '{"n":1}', "get_items", first[1]),
        piece(second[0], '{"n":2}', "get_items", second[1]),
    ]
    events = decode(body(*deltas, finish="tool_calls"))
    assert [e for e in events if isinstance(e, ToolCalled)] == [
        ToolCalled(0, "get_items", {"n": 1}),
        ToolCalled(1, "get_items", {"n": 2}),
    ]


def test_pieces_of_interleaved_calls_are_joined_by_index() -> None:
    deltas = [piece(0, "{", "a", "1"), piece(1, "{", "b", "2"), piece(0, "}"), piece(1, "}")]
    called = [e for e in decode(body(*deltas, finish="tool_calls")) if isinstance(e, ToolCalled)]
    assert called == [ToolCalled(0, "a", {}), ToolCalled(1, "b", {})]


@pytest.mark.parametrize("written", ['{"query": "soi', "[1]", "3", '{"a": NaN}', "[" * 100_000, "soil"])
def test_arguments_that_cannot_be_read_are_kept_as_written(written: str) -> None:
    events = decode(body(piece(0, written, "search_items", "c1"), finish="tool_calls"))
    assert ToolCalled(0, "search_items", {}, malformed=written) in events


def test_no_arguments_are_an_empty_object() -> None:
    assert read_arguments("") == read_arguments(" \n") == read_arguments("{}") == {}


def test_data_of_a_call_is_kept_with_its_model() -> None:
    call = piece(0, "{}", "get_items", "c1")
    call["tool_calls"][0]["extra_content"] = {"google": {"thought_signature": "c2ln"}}
    called = next(e for e in decode(body(call, finish="tool_calls")) if isinstance(e, ToolCalled))
    assert called.opaque == {"model": PROFILE.ref, "extra_content": {"google": {"thought_signature": "c2ln"}}}


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("model_length", "length"),
        ("content_filter", "content_filter"),
        ("something_new", "stop"),
        ("tool_calls", "stop"),
    ],
)
def test_finish_reasons_are_mapped(said: str, reason: str) -> None:
    assert decode(body({"content": "x"}, finish=said))[-1] == Finished(reason)  # type: ignore[arg-type]


def test_stop_after_calls_means_tool_calls() -> None:
    assert decode(body(piece(0, "{}", "get_items", "c1"), finish="stop"))[-1] == Finished("tool_calls")


def test_length_after_half_a_call_stays_length() -> None:
    events = decode(body(piece(0, '{"que', "get_items", "c1"), finish="length"))
    assert events[-2:] == [ToolCalled(0, "get_items", {}, malformed='{"que'), Finished("length")]


def test_refusal_is_shown_and_named() -> None:
    assert decode(body({"refusal": "I cannot."}))[-2:] == [TextDelta("I cannot."), Finished("refusal")]


def test_end_without_done_is_fine_after_a_finish_reason() -> None:
    assert decode(body({"content": "x"}).replace(b"data: [DONE]\n\n", b""))[-1] == Finished("stop")


def test_done_without_a_finish_reason_is_an_end() -> None:
    assert decode(body({"content": "x"}, finish=None))[-1] == Finished("stop")


def test_end_without_either_is_a_cut_and_reports_no_usage() -> None:
    sent = body({"content": "x"}, finish=None, more=({"choices": [], "usage": USAGE},))
    with pytest.raises(StreamCut):
        decode(sent.replace(b"data: [DONE]\n\n", b""))


def test_text_after_the_finish_reason_still_counts_and_the_reason_stays() -> None:
    sent = body(
        {"content": "Hi"}, finish="length", more=({"choices": [{"index": 0, "delta": {"content": "!"}}]},)
    )
    assert text_of(decode(sent)) == "Hi!"
    assert decode(sent)[-1] == Finished("length")


def test_beginning_that_comes_twice_says_nothing_twice() -> None:
    begun = {"role": "assistant", "content": ""}
    assert decode(body(begun, begun, {"content": "Hi"})) == [TextDelta("Hi"), Finished("stop")]


def test_limit_at_the_windows_end_is_a_full_window() -> None:
    usage = {"prompt_tokens": 32_000, "completion_tokens": 768, "total_tokens": 32_768}
    sent = body({"content": "x"}, finish="length", more=({"choices": [], "usage": usage},))
    assert decode(sent)[-1] == Finished("window")
    assert decode(sent, replace(PROFILE, window=40_000))[-1] == Finished("length")
    assert decode(sent, replace(PROFILE, window_source="assumed"))[-1] == Finished("length")


def test_nothing_after_done_is_read() -> None:
    assert text_of(decode(body({"content": "x"}) + b"data: rubbish\n\n")) == "x"


def test_data_that_is_no_json_is_a_bad_answer() -> None:
    with pytest.raises(BadAnswer):
        decode(b"data: <html>\n\n")


def test_unknown_events_and_values_are_passed_over() -> None:
    odd = b'event: ping\ndata: {"type":"ping"}\n\ndata: 5\n\ndata: null\n\ndata: {"choices":[null,{"delta":null}]}\n\n'
    assert text_of(decode(odd + body({"content": "x"}))) == "x"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ({"error": {"message": "Provider returned error", "code": 502}}, Overloaded),
        ({"error": {"message": "slow down", "code": 429}}, RateLimited),
        ({"error": {"message": "context window exceeds limit", "code": 400}}, ContextOverflow),
        ({"error": {"type": "exceed_context_size_error", "message": "x", "n_ctx": 8, "code": 400}}, ContextOverflow),
        ({"error": {"type": "overloaded_error", "message": "Overloaded"}}, Overloaded),
        ({"error": "went wrong"}, BadAnswer),
        ({"error": {"message": "boom"}, "choices": [{"delta": {}, "finish_reason": "length"}]}, BadAnswer),
        ({"choices": [{"delta": {}, "finish_reason": "error"}]}, BadAnswer),
    ],
)  # fmt: skip
def test_error_inside_a_stream_is_raised_after_what_had_come(
    data: dict[str, Any], kind: type[ProviderError]
) -> None:
    sent = body({"content": "so far"}, finish=None).replace(b"data: [DONE]\n\n", b"")
    with pytest.raises(kind):
        decode(sent + f"data: {json.dumps(data)}\n\ndata: [DONE]\n\n".encode())


def test_named_error_event_is_an_error() -> None:
    with pytest.raises(RateLimited):
        decode(b'event: error\ndata: {"message":"slow down","status_code":429}\n\n')


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}, (20, 5, 0, 0, 0)),
        ({"prompt_tokens": 20, "completion_tokens": 5}, (20, 5, 0, 0, 0)),
        ({"prompt_tokens": 20, "total_tokens": 25}, (20, 5, 0, 0, 0)),
        ({"prompt_tokens": 20, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 15}}, (20, 5, 15, 0, 0)),
        ({"prompt_tokens": 20, "completion_tokens": 5, "prompt_cache_hit_tokens": 15}, (20, 5, 15, 0, 0)),
        ({"prompt_tokens": 20, "completion_tokens": 5, "prompt_tokens_details": {"cache_write_tokens": 9}}, (20, 5, 0, 9, 0)),
        ({"prompt_tokens": 20, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 6}}, (20, 9, 0, 0, 6)),
        ({"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 29, "completion_tokens_details": {"reasoning_tokens": 6}}, (20, 9, 0, 0, 6)),
        ({"prompt_tokens": 20, "completion_tokens": 5, "prompt_tokens_details": None}, (20, 5, 0, 0, 0)),
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, None),
        ({"prompt_tokens": 0, "completion_tokens": 5, "total_tokens": 5}, None),
        ({"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 10}, None),
        ({"prompt_tokens": "20", "completion_tokens": 5}, None),
        ({"prompt_tokens": -3, "completion_tokens": 5}, None),
        (None, None),
    ],
)  # fmt: skip
def test_usage_counts_cache_and_reasoning_once_or_is_not_reported(usage: Any, expected: Any) -> None:
    sent = body({"content": "x"}, more=({"choices": [], "usage": usage},))
    read = next((e.usage for e in decode(sent) if isinstance(e, UsageReported)), None)
    figures = read and (
        read.input_total,
        read.output_total,
        read.cache_read,
        read.cache_write,
        read.reasoning,
    )
    assert figures == expected
    if read:
        assert (read.provider, read.base_url, read.model) == (
            PROFILE.provider,
            PROFILE.base_url,
            PROFILE.model,
        )
        assert (read.source, read.complete) == ("provider", True)


def test_usage_in_each_chunk_is_replaced_not_added() -> None:
    growing = tuple(
        {"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": n}} for n in (1, 2, 3)
    )
    assert usage_of(decode(body({"content": "x"}, more=growing))) == (20, 3)


def test_usage_of_null_does_not_erase_the_figures() -> None:
    chunks: tuple[dict[str, Any], ...] = ({"choices": [], "usage": USAGE}, {"choices": [], "usage": None})
    assert usage_of(decode(body({"content": "x"}, more=chunks))) == (20, 5)


def test_usage_beside_the_chunk_is_found() -> None:
    assert usage_of(decode(body({"content": "x"}, more=({"choices": [], "x_groq": {"usage": USAGE}},)))) == (
        20,
        5,
    )
