"""The decoder on bodies that real servers sent. Skipped where the recordings are absent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import ContextOverflow, ProviderError, RateLimited
from bibgenie_desktop.domain.parts import ReasoningPart, ToolPart
from bibgenie_desktop.providers.base import (
    Finished,
    ReasoningClosed,
    ReasoningDelta,
    ToolCalled,
    UsageReported,
)
from bibgenie_desktop.providers.errors import http_error
from bibgenie_desktop.providers.factory import codec_of
from bibgenie_desktop.providers.http_provider import Codec
from tests.providers.helpers import answer, decode, request, text_of, usage_of, user


@pytest.fixture
def streams(shared: Path) -> Path:
    return shared / "fixtures" / "streams"


@pytest.mark.parametrize(
    ("name", "text", "reasoning", "call", "usage", "reason"),
    [
        ("anthropic-cache-usage", "Hello!", False, None, (181, 8), "stop"),
        ("anthropic-refusal", "", False, None, (18, 5), "refusal"),
        ("anthropic-text", "Hello! I'm doing well", False, None, (12, 30), "stop"),
        ("anthropic-thinking", "Here are", True, None, (43, 282), "stop"),
        ("llamacpp-anthropic-messages", "Hello! How can", False, None, (31, 8), "stop"),
        ("gemini-tool-thought-signature", "", False, "get_country", (29, 212), "tool_calls"),
        ("gemini-usage-every-chunk", "1\n2\n3", False, None, (18, 115), "stop"),
        ("gemini3-tool-call", "", False, "weather", (29, 819), "tool_calls"),
        ("openai-responses-reasoning-usage", "", False, "final_result", (53, 469), "tool_calls"),
        ("openai-responses-text", "The capital of", False, None, (278, 9), "stop"),
        ("openai-responses-tool", "", False, "get_capital", (255, 16), "tool_calls"),
        ("openai-chat-text-1", "The capital of", False, None, (78, 9), "stop"),
        ("openai-chat-tool-1", "", False, "get_capital", (53, 15), "tool_calls"),
        ("deepseek-reasoning", "Hello", True, None, (6, 212), "stop"),
        ("mistral-reasoning", "2 + 2 = 4", True, None, (10, 46), "stop"),
        ("openrouter-reasoning", "", True, None, (43, 36), "stop"),
        ("xai-tool", "", True, "weather", (307, 253), "tool_calls"),
        ("llamacpp-tool", "", False, "search_library", (186, 21), "tool_calls"),
        ("llamacpp-no-usage-asked", "Hello, welcome to", False, None, None, "length"),
    ],
)
def test_recorded_stream_is_understood_however_it_is_cut(
    streams: Path, name: str, text: str, reasoning: bool, call: str | None, usage: object, reason: str
) -> None:
    sent = (streams / f"{name}.sse").read_bytes()
    codec = codec_for(name)
    events = decode(sent, codec=codec)
    assert text_of(events).startswith(text)
    assert any(isinstance(e, ReasoningDelta) for e in events) is reasoning
    assert [e.name for e in events if isinstance(e, ToolCalled)] == ([call] if call else [])
    assert not any(e.malformed for e in events if isinstance(e, ToolCalled))
    assert usage_of(events) == usage
    assert events[-1] == Finished(reason)  # type: ignore[arg-type]
    for size in (1, 7, 1000):
        assert decode(sent, codec=codec, size=size) == events


def codec_for(name: str) -> Codec:
    """The codec of a recording, told by its name."""
    for mark, kind in (("anthropic", "anthropic"), ("gemini", "gemini"), ("responses", "openai-responses")):
        if mark in name:
            return codec_of(kind, "https://host/v1")
    return codec_of("openai-chat", "https://host/v1")


def test_no_recorded_stream_is_left_out(streams: Path) -> None:
    for path in sorted(streams.glob("*.sse")):
        assert isinstance(decode(path.read_bytes(), codec=codec_for(path.stem))[-1], Finished)


def test_recorded_thinking_goes_back_with_the_signature_it_came_with(streams: Path) -> None:
    body = (streams / "anthropic-thinking.sse").read_bytes()
    events = decode(body, codec=codec_for("anthropic"))
    (opaque,) = [e.opaque for e in events if isinstance(e, ReasoningClosed)]
    assert opaque is not None
    thought = "".join(e.text for e in events if isinstance(e, ReasoningDelta))
    part = ReasoningPart(thought, 0, opaque)
    call = ToolPart("t", "search_items", {}, "done", 0, sent="x")
    sent = request(user("Q"), answer(part, call, status="pending"))
    (block, _) = codec_for("anthropic").encode(sent)["messages"][1]["content"]
    assert (block["type"], block["thinking"]) == ("thinking", thought)
    assert len(block["signature"]) > 100
    assert block["signature"].encode() in body


@pytest.mark.parametrize("name", ["gemini-tool-thought-signature", "gemini3-tool-call"])
def test_recorded_thought_signature_goes_back_on_its_call(streams: Path, name: str) -> None:
    body = (streams / f"{name}.sse").read_bytes()
    (called,) = [e for e in decode(body, codec=codec_for(name)) if isinstance(e, ToolCalled)]
    call = ToolPart("t", called.name, called.input, "done", 0, sent="x", opaque=called.opaque)
    sent = request(user("Q"), answer(call, status="pending"))
    (part,) = codec_for(name).encode(sent)["contents"][1]["parts"]
    assert part["functionCall"] == {"name": called.name, "args": called.input}
    assert part["thoughtSignature"].encode() in body


def test_recorded_encrypted_reasoning_goes_back_as_it_came(streams: Path) -> None:
    body = (streams / "openai-responses-reasoning-usage.sse").read_bytes()
    events = decode(body, codec=codec_for("responses"))
    (opaque,) = [e.opaque for e in events if isinstance(e, ReasoningClosed)]
    (called,) = [e for e in events if isinstance(e, ToolCalled)]
    parts = (
        ReasoningPart("", 0, opaque),
        ToolPart("t", called.name, called.input, "done", 0, sent="x"),
    )
    sent = codec_for("responses").encode(request(user("Q"), answer(*parts, status="pending")))["input"]
    assert [item["type"] for item in sent[1:]] == ["reasoning", "function_call", "function_call_output"]
    assert json.dumps(sent[1]["encrypted_content"]).encode() in body


def test_recorded_message_that_was_not_streamed_is_understood(streams: Path) -> None:
    recorded = json.loads((streams / "anthropic-parallel-tools-nonstream.json").read_text())
    events = codec_for("anthropic").decoder(request()).whole(recorded["body"])
    assert events is not None
    called = [e for e in events if isinstance(e, ToolCalled)]
    assert [c.input["name"] for c in called] == ["Alice", "Bob", "Charlie", "Daisy"]
    assert usage_of(events) == (423, 202)


def test_recorded_reasoning_details_keep_their_signature(streams: Path) -> None:
    events = decode((streams / "openrouter-reasoning.sse").read_bytes())
    (opaque,) = [e.opaque for e in events if isinstance(e, ReasoningClosed)]
    assert opaque is not None
    (detail,) = opaque["reasoning_details"]
    assert detail["text"] == "".join(e.text for e in events if isinstance(e, ReasoningDelta))
    assert len(detail["signature"]) > 100


def test_recorded_passes_of_the_provider_are_each_billed(streams: Path) -> None:
    events = decode(
        (streams / "anthropic-cache-usage.sse").read_bytes(), codec=codec_for("anthropic-cache-usage")
    )
    used = [e.usage for e in events if isinstance(e, UsageReported)]
    figures = [(u.input_total, u.cache_read, u.output_total) for u in used]
    assert figures == [(55_196, 55_096, 83), (181, 0, 8)]


def test_recorded_cost_of_a_router_is_kept(streams: Path) -> None:
    events = decode((streams / "openrouter-reasoning.sse").read_bytes())
    assert [e.usage.cost for e in events if isinstance(e, UsageReported)] == [0.000669]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("llamacpp-400-overflow", ContextOverflow),
        ("openrouter-429", RateLimited),
        ("openai-400-invalid", ProviderError),
        ("anthropic-404-model", ProviderError),
        ("gemini-429-retry-info", RateLimited),
    ],
)
def test_recorded_error_is_understood(streams: Path, name: str, kind: type[ProviderError]) -> None:
    recorded = json.loads((streams / f"{name}.json").read_text())
    error = http_error(recorded["status"], recorded["headers"], json.dumps(recorded["body"]).encode(), "lab")
    assert type(error) is kind
    if isinstance(error, ContextOverflow):
        assert (error.window, error.requested) == (8192, 12031)
    if kind is ProviderError:
        assert "decimal below minimum value" in error.title or "claude-does-not-exist" in error.title
    if name == "gemini-429-retry-info":
        assert isinstance(error, RateLimited)
        assert error.retry_after == 34.4
