"""The Gemini dialect: contents and their signatures, schemas it takes, figures in every chunk."""

# A row of a table stays one line.
# ruff: noqa: E501

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bibgenie_desktop.domain.errors import (
    AuthError,
    BadAnswer,
    ContentFiltered,
    ContextOverflow,
    ProviderError,
    RateLimited,
)
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.domain.parts import ImagePart, Part, ReasoningPart, TextPart, ToolPart
from bibgenie_desktop.domain.projection import ProjectedMessage
from bibgenie_desktop.providers.base import (
    Finished,
    ReasoningClosed,
    ReasoningDelta,
    TextDelta,
    ToolCalled,
    UsageReported,
)
from bibgenie_desktop.providers.gemini import GeminiCodec
from bibgenie_desktop.providers.gemini_schema import gemini_schema
from bibgenie_desktop.providers.wire import call_id
from tests.providers.bodies import SIGNATURE, gemini, sse
from tests.providers.helpers import PROFILE, answer, decode, request, text_of, usage_of, user

CODEC = GeminiCodec()


def events_of(body: bytes) -> list[Any]:
    return decode(body, codec=CODEC)


def contents(*messages: ProjectedMessage, **profile: Any) -> Any:
    return CODEC.encode(request(*messages, **profile))["contents"]


def test_body_has_contents_instruction_tools_and_limit() -> None:
    assert CODEC.encode(request(user("Hi"))) == {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "systemInstruction": {"parts": [{"text": "Be exact."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "search_items",
                        "description": "Find items.",
                        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
                    }
                ]
            }
        ],
        "generationConfig": {"maxOutputTokens": 1_000},
    }


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("gemini-3-pro", "/models/gemini-3-pro:streamGenerateContent?alt=sse"),
        ("models/gemini-3-pro", "/models/gemini-3-pro:streamGenerateContent?alt=sse"),
        ("tunedModels/mine", "/tunedModels/mine:streamGenerateContent?alt=sse"),
        ("odd?name#x", "/models/odd%3Fname%23x:streamGenerateContent?alt=sse"),
    ],
)
def test_model_is_part_of_the_path(model: str, path: str) -> None:
    assert CODEC.path(request(model=model)) == path


def test_key_is_a_header_and_never_part_of_the_address() -> None:
    assert CODEC.headers("AIza") == {"x-goog-api-key": "AIza"}
    assert CODEC.headers("") == {}


@pytest.mark.parametrize(
    ("room", "known", "limit"), [(8_192, None, 8_192), (60_000, None, None), (60_000, 65_536, 60_000)]
)
def test_limit_that_would_be_a_guess_is_left_to_the_provider(
    room: int, known: int | None, limit: int | None
) -> None:
    sent = replace(request(user("Hi"), max_output=known), max_output_tokens=room)
    assert CODEC.encode(sent).get("generationConfig", {}).get("maxOutputTokens") == limit


def test_thoughts_are_asked_for_where_the_model_has_them() -> None:
    config = CODEC.encode(request(user("Hi"), reasoning=True))["generationConfig"]
    assert config["thinkingConfig"] == {"includeThoughts": True}


def test_signature_goes_back_on_the_very_part_it_came_on() -> None:
    called = [e for e in events_of(gemini(
        {"functionCall": {"name": "a", "args": {"n": 1}}, "thoughtSignature": SIGNATURE},
        {"functionCall": {"name": "b", "args": {}}},
    )) if isinstance(e, ToolCalled)]  # fmt: skip
    parts = tuple(
        ToolPart(f"t{n}", e.name, e.input, "done", 0, sent=f"r{n}", opaque=e.opaque)
        for n, e in enumerate(called)
    )
    for status in ("pending", "complete"):
        sent = contents(user("Q"), answer(*parts, status=status))
        assert sent[1:3] == [
            {
                "role": "model",
                "parts": [
                    {"functionCall": {"name": "a", "args": {"n": 1}}, "thoughtSignature": SIGNATURE},
                    {"functionCall": {"name": "b", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "a", "response": {"output": "r0"}}},
                    {"functionResponse": {"name": "b", "response": {"output": "r1"}}},
                ],
            },
        ]
    assert "thoughtSignature" not in str(contents(user("Q"), answer(*parts, status="pending"), model="other"))


def test_call_that_came_with_an_id_gets_ours_and_so_does_its_result() -> None:
    (called,) = [
        e
        for e in events_of(gemini({"functionCall": {"id": "x1", "name": "a", "args": {}}}))
        if isinstance(e, ToolCalled)
    ]
    sent = contents(
        user("Q"),
        answer(ToolPart("t1", "a", {}, "error", 0, sent="bad", opaque=called.opaque), status="pending"),
    )
    id = call_id("a1", "t1")
    assert sent[1]["parts"] == [{"functionCall": {"id": id, "name": "a", "args": {}}}]
    assert sent[2]["parts"] == [{"functionResponse": {"id": id, "name": "a", "response": {"error": "bad"}}}]


@pytest.mark.parametrize(
    "signed", [{"text": "lo", "thoughtSignature": SIGNATURE}, {"text": "", "thoughtSignature": SIGNATURE}]
)
def test_signature_of_text_goes_back_on_its_own_piece(signed: dict[str, str]) -> None:
    events = events_of(gemini({"text": "Hel"}, signed, {"functionCall": {"name": "a", "args": {}}}))
    (closed,) = [e for e in events if isinstance(e, ReasoningClosed)]
    parts: tuple[Part, ...] = (
        TextPart(text_of(events), 0),
        ReasoningPart("", 0, closed.opaque),
        ToolPart("t1", "a", {}, "done", 0, sent="r"),
    )
    assert contents(user("Q"), answer(*parts, status="pending"))[1]["parts"][:2] == [{"text": "Hel"}, signed]
    stored = contents(user("Q"), answer(*parts, TextPart("A", 1)))[1]["parts"]
    assert [p["text"] for p in stored if "text" in p] == (["Hel", "lo"] if signed["text"] else ["Hel"])
    assert SIGNATURE not in str(stored)


def test_checkpoint_and_question_are_one_content() -> None:
    head = ProjectedMessage(MessageId("c"), "checkpoint", (TextPart("<checkpoint>"),))
    assert contents(head, user("Next")) == [
        {"role": "user", "parts": [{"text": "<checkpoint>"}, {"text": "Next"}]}
    ]


def test_image_is_sent_by_its_bytes() -> None:
    image = ImagePart("h", "a.png", "image/png")
    sent = replace(request(user("What?", image), vision=True), images={"h": b"\x89PNG"})
    assert CODEC.encode(sent)["contents"][0]["parts"] == [
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}},
        {"text": "What?"},
    ]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (
            {"type": "object", "additionalProperties": False, "$schema": "x", "properties": {"q": {"type": "string", "minLength": 1}}, "required": ["q"]},
            {"type": "object", "properties": {"q": {"type": "string", "minLength": 1}}, "required": ["q"]},
        ),
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "n"}, {"type": "integer", "nullable": True, "description": "n"}),
        ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        ({"const": "u"}, {"type": "string", "enum": ["u"]}),
        ({"type": "integer", "enum": [1, 2], "description": "How many."}, {"type": "integer", "description": "How many. One of 1, 2."}),
        ({"type": "string", "enum": ["", "a"]}, {"type": "string", "description": "One of , a."}),
        ({"type": "string", "format": "uri"}, {"type": "string"}),
        ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        ({"type": "array", "items": {"type": "string", "examples": ["x"]}, "uniqueItems": True}, {"type": "array", "items": {"type": "string"}}),
        ({"type": "integer", "default": 20}, {"type": "integer", "description": "Default: 20."}),
        ({"description": "Anything."}, {"type": "string", "description": "Anything."}),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "gone"]}, {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
    ],
)  # fmt: skip
def test_schema_keeps_what_the_dialect_takes(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    assert gemini_schema(schema) == expected


def test_tool_without_arguments_has_no_parameters() -> None:
    spec = ToolSpec("list_collections", "List.", {"type": "object", "properties": {}})
    (declared,) = CODEC.encode(request(user("Q"), tools=(spec,)))["tools"][0]["functionDeclarations"]
    assert declared == {"name": "list_collections", "description": "List."}


# Decoding


def test_thoughts_text_and_calls_come_in_order() -> None:
    events = events_of(
        gemini(
            {"text": "hm", "thought": True},
            {"text": "Yes"},
            {"functionCall": {"name": "a", "args": {"n": 1}}},
        )
    )
    assert events[:3] == [ReasoningDelta("hm"), ReasoningClosed(None), TextDelta("Yes")]
    assert events[-2:] == [ToolCalled(0, "a", {"n": 1}), Finished("tool_calls")]


def test_figures_of_the_last_chunk_count() -> None:
    def chunk(made: int, finish: str = "") -> dict[str, Any]:
        figures = {
            "promptTokenCount": 18,
            "candidatesTokenCount": made,
            "thoughtsTokenCount": 35,
            "totalTokenCount": 53 + made,
        }
        return {
            "candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": finish}],
            "usageMetadata": figures,
        }

    assert usage_of(events_of(sse(chunk(31), chunk(79), chunk(80, "STOP")))) == (18, 115)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"promptTokenCount": 20, "candidatesTokenCount": 5, "totalTokenCount": 25}, (20, 5, 0, 0)),
        ({"promptTokenCount": 20, "candidatesTokenCount": 5, "thoughtsTokenCount": 7, "totalTokenCount": 32}, (20, 12, 0, 7)),
        ({"promptTokenCount": 20, "cachedContentTokenCount": 15, "candidatesTokenCount": 5}, (20, 5, 15, 0)),
        ({"promptTokenCount": 20, "totalTokenCount": 20}, (20, 0, 0, 0)),
        ({"promptTokenCount": 20, "candidatesTokenCount": 5, "totalTokenCount": 9}, None),
        ({"candidatesTokenCount": 5, "totalTokenCount": 5}, None),
        (None, None),
    ],
)  # fmt: skip
def test_usage_counts_thoughts_beside_the_answer(usage: Any, expected: Any) -> None:
    found = [e.usage for e in events_of(gemini({"text": "x"}, usage=usage)) if isinstance(e, UsageReported)]
    assert [(u.input_total, u.output_total, u.cache_read, u.reasoning) for u in found] == (
        [expected] if expected else []
    )


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"),
        ("RECITATION", "content_filter"),
        ("SPII", "content_filter"),
        ("NEW_ONE", "stop"),
    ],
)
def test_reason_of_the_end_is_told(said: str, reason: Any) -> None:
    assert events_of(gemini({"text": "x"}, finish=said))[-1] == Finished(reason)


@pytest.mark.parametrize("said", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER"])
def test_fault_of_the_provider_is_one(said: str) -> None:
    with pytest.raises(BadAnswer):
        events_of(gemini({"text": "x"}, finish=said))


def test_text_after_the_end_and_a_second_candidate() -> None:
    late = sse({"candidates": [{"content": {"parts": [{"text": " late"}]}}]})
    other = sse({"candidates": [{"index": 1, "content": {"parts": [{"text": "no"}]}}]})
    assert text_of(events_of(gemini({"text": "Hi"}) + other + late)) == "Hi late"


def test_refused_question_is_the_filter() -> None:
    with pytest.raises(ContentFiltered):
        events_of(
            sse(
                {
                    "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
                    "usageMetadata": {"promptTokenCount": 3},
                }
            )
        )


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (
            {
                "code": 400,
                "status": "INVALID_ARGUMENT",
                "message": "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
            },
            ContextOverflow,
        ),
        (
            {
                "code": 400,
                "status": "INVALID_ARGUMENT",
                "message": "API key not valid. Please pass a valid API key.",
            },
            AuthError,
        ),
        (
            {
                "code": 429,
                "status": "RESOURCE_EXHAUSTED",
                "message": "slow",
                "details": [{"retryDelay": "3s"}],
            },
            RateLimited,
        ),
    ],
)
def test_error_within_the_stream_is_raised(fault: dict[str, Any], kind: type[ProviderError]) -> None:
    with pytest.raises(kind):
        events_of(sse({"error": fault}))


def test_chunks_as_one_list_are_understood() -> None:
    chunks = [
        {"candidates": [{"content": {"parts": [{"text": t}]}, "finishReason": f}]}
        for t, f in (("Hel", ""), ("lo", "STOP"))
    ]
    events = CODEC.decoder(request()).whole(chunks)
    assert events is not None
    assert (text_of(events), events[-1]) == ("Hello", Finished("stop"))
    assert CODEC.decoder(request()).whole([1]) is CODEC.decoder(request()).whole({"hello": 1}) is None


def test_data_is_kept_under_the_models_name() -> None:
    (called,) = [
        e
        for e in events_of(gemini({"functionCall": {"name": "a"}, "thoughtSignature": "s"}))
        if isinstance(e, ToolCalled)
    ]
    assert called == ToolCalled(0, "a", {}, opaque={"model": PROFILE.ref, "thoughtSignature": "s"})
