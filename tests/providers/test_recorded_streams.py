"""The decoder on bodies that real servers sent. Skipped where the recordings are absent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import ContextOverflow, ProviderError, RateLimited
from bibgenie_desktop.providers.base import (
    Finished,
    ReasoningClosed,
    ReasoningDelta,
    ToolCalled,
    UsageReported,
)
from bibgenie_desktop.providers.errors import http_error
from tests.providers.helpers import decode, text_of, usage_of


@pytest.fixture
def streams(shared: Path) -> Path:
    return shared / "fixtures" / "streams"


@pytest.mark.parametrize(
    ("name", "text", "reasoning", "call", "usage", "reason"),
    [
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
    events = decode(sent)
    assert text_of(events).startswith(text)
    assert any(isinstance(e, ReasoningDelta) for e in events) is reasoning
    assert [e.name for e in events if isinstance(e, ToolCalled)] == ([call] if call else [])
    assert all(not e.malformed and e.input for e in events if isinstance(e, ToolCalled))
    assert usage_of(events) == usage
    assert events[-1] == Finished(reason)  # type: ignore[arg-type]
    for size in (1, 7, 1000):
        assert decode(sent, size=size) == events


def test_recorded_reasoning_details_keep_their_signature(streams: Path) -> None:
    events = decode((streams / "openrouter-reasoning.sse").read_bytes())
    (opaque,) = [e.opaque for e in events if isinstance(e, ReasoningClosed)]
    assert opaque is not None
    (detail,) = opaque["reasoning_details"]
    assert detail["text"] == "".join(e.text for e in events if isinstance(e, ReasoningDelta))
    assert len(detail["signature"]) > 100


def test_recorded_cost_of_a_router_is_kept(streams: Path) -> None:
    events = decode((streams / "openrouter-reasoning.sse").read_bytes())
    assert [e.usage.cost for e in events if isinstance(e, UsageReported)] == [0.000669]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("llamacpp-400-overflow", ContextOverflow),
        ("openrouter-429", RateLimited),
        ("openai-400-invalid", ProviderError),
    ],
)
def test_recorded_error_is_understood(streams: Path, name: str, kind: type[ProviderError]) -> None:
    recorded = json.loads((streams / f"{name}.json").read_text())
    error = http_error(recorded["status"], recorded["headers"], json.dumps(recorded["body"]).encode(), "lab")
    assert type(error) is kind
    if isinstance(error, ContextOverflow):
        assert (error.window, error.requested) == (8192, 12031)
    if kind is ProviderError:
        assert "decimal below minimum value" in error.title
