"""The servers that speak Chat Completions, each in its own way."""

# A row of a table stays one line.
# ruff: noqa: E501

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.parts import ReasoningPart, TextPart, ToolPart
from bibgenie_desktop.domain.projection import ProjectedMessage
from bibgenie_desktop.providers.dialects import dialect_of
from bibgenie_desktop.providers.factory import codec_of, replay_of
from tests.providers.helpers import PROFILE, answer, request, user

OPENAI, OPENROUTER, DEEPSEEK = (
    "https://api.openai.com/v1",
    "https://openrouter.ai/api/v1",
    "https://api.deepseek.com",
)
MISTRAL, GROQ, XAI = "https://api.mistral.ai/v1", "https://api.groq.com/openai/v1", "https://api.x.ai/v1"
ZAI, AZURE = "https://api.z.ai/api/paas/v4", "https://me.openai.azure.com/openai/v1"
LM_STUDIO, LLAMA, VLLM = "http://localhost:1234/v1", "http://127.0.0.1:8080/v1", "http://127.0.0.1:8000/v1"


@pytest.mark.parametrize(
    ("address", "name"),
    [
        (OPENAI, "openai"), (OPENROUTER, "openrouter"), (DEEPSEEK, "deepseek"), (MISTRAL, "mistral"), (GROQ, "groq"),
        (XAI, "xai"), (ZAI, "zai"), (AZURE, "azure"), (LM_STUDIO, "lm-studio"), (LLAMA, "llama.cpp"), (VLLM, "vllm"),
        ("http://127.0.0.1:40404/v1", "plain"), ("https://lab.example/v1", "plain"), ("https://api.openai.com.evil/v1", "plain"),
        ("http://192.168.1.7:8080/v1", "plain"), ("not an address", "plain"), ("http://h:port/", "plain"),
    ],
)  # fmt: skip
def test_dialect_is_told_by_the_address(address: str, name: str) -> None:
    assert dialect_of(address).name == name


def body(address: str, *messages: ProjectedMessage, room: int = 1_000, **profile: Any) -> dict[str, Any]:
    sent = request(*(messages or (user("Hi"),)), **profile)
    return codec_of("openai-chat", address).encode(replace(sent, max_output_tokens=room))


@pytest.mark.parametrize(
    ("address", "field", "asks"),
    [
        (OPENAI, "max_completion_tokens", True),
        (AZURE, "max_completion_tokens", True),
        (MISTRAL, "max_tokens", False),
        (OPENROUTER, "max_tokens", True),
        (GROQ, "max_tokens", True),
        (LLAMA, "max_tokens", True),
    ],
)
def test_fields_are_those_the_server_knows(address: str, field: str, asks: bool) -> None:
    assert body(address)[field] == 1_000
    assert ("stream_options" in body(address)) is asks


@pytest.mark.parametrize("address", [OPENAI, AZURE, DEEPSEEK, GROQ, ZAI])
def test_limit_above_what_a_model_may_write_is_not_guessed(address: str) -> None:
    assert not {"max_tokens", "max_completion_tokens"} & set(body(address, room=120_000))
    known = body(address, room=120_000, max_output=150_000)
    assert 120_000 in known.values()


def test_local_servers_are_told_the_room_there_is() -> None:
    assert body(LLAMA, room=120_000)["max_tokens"] == 120_000


@pytest.mark.parametrize(("address", "header"), [(OPENAI, "Authorization"), (AZURE, "api-key")])
def test_key_goes_where_the_server_looks_for_it(address: str, header: str) -> None:
    assert list(codec_of("openai-chat", address).headers("k")) == [header]
    assert list(codec_of("openai-responses", address).headers("k")) == [header]


@pytest.mark.parametrize(("address", "users"), [(LM_STUDIO, 1), (LLAMA, 1), (VLLM, 1), (OPENAI, 2)])
def test_neighbours_are_one_message_for_templates_that_demand_it(address: str, users: int) -> None:
    head = ProjectedMessage(MessageId("c"), "checkpoint", (TextPart("<checkpoint>"),))
    assert [m["role"] for m in body(address, head, user("Next"))["messages"]] == ["system", *["user"] * users]


def reasoned(address: str, *, opaque: Any = None, status: Any = "pending", **profile: Any) -> dict[str, Any]:
    """The assistant message of a step that was thought about."""
    thought = ReasoningPart("Plan", 0, opaque)
    call = ToolPart("t1", "search_items", {}, "done", 0, sent="x")
    parts = (thought, TextPart("Looking.", 0), call)
    return body(address, user("Q"), answer(*parts, status=status), **profile)["messages"][2]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("address", "model", "replays", "field"),
    [
        (DEEPSEEK, "deepseek-reasoner", "none", "reasoning_content"),
        (DEEPSEEK, "deepseek-v4", "none", "reasoning_content"),
        (DEEPSEEK, "deepseek-r1", "turn", None),
        (DEEPSEEK, "deepseek-r1-0528", "none", None),
        (GROQ, "openai/gpt-oss-120b", "none", None),
        (GROQ, "openai/gpt-oss-120b", "turn", "reasoning"),
        (LLAMA, "qwen3", "none", None),
        (LLAMA, "qwen3", "turn", "reasoning_content"),
        (OPENROUTER, "x/y", "turn", None),
        (OPENAI, "gpt-5", "none", None),
    ],
)
def test_reasoning_goes_back_in_the_field_and_to_the_models_that_want_it(
    address: str, model: str, replays: Any, field: str | None
) -> None:
    message = reasoned(address, model=model, replays_reasoning=replays)
    assert {name for name in message if name.startswith("reasoning")} == ({field} if field else set())
    assert not {
        n
        for n in reasoned(address, model=model, status="complete", replays_reasoning="turn")
        if n.startswith("reasoning")
    }


@pytest.mark.parametrize(
    ("address", "field", "value"),
    [
        (OPENROUTER, "reasoning", {"enabled": True}),
        (DEEPSEEK, "thinking", {"type": "enabled"}),
        (ZAI, "thinking", {"type": "enabled"}),
    ],
)
def test_model_that_thinks_only_when_told_is_told(address: str, field: str, value: Any) -> None:
    assert body(address, reasoning=True)[field] == value
    assert field not in body(address)
    summary = replace(request(user("Hi"), reasoning=True), purpose="summary")
    assert field not in codec_of("openai-chat", address).encode(summary)


def test_openrouter_gets_its_details_back_within_the_turn() -> None:
    detail = {"type": "reasoning.encrypted", "data": "abc==", "format": "f", "index": 0, "id": "r1"}
    opaque = {"model": PROFILE.ref, "reasoning_details": [detail]}
    assert reasoned(OPENROUTER, opaque=opaque)["reasoning_details"] == [detail]
    assert "reasoning_details" not in reasoned(OPENROUTER, opaque=opaque, status="complete")


def test_mistral_gets_its_thinking_as_content() -> None:
    assert reasoned(MISTRAL, replays_reasoning="turn")["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Plan"}]},
        {"type": "text", "text": "Looking."},
    ]
    assert reasoned(MISTRAL)["content"] == "Looking."


@pytest.mark.parametrize(
    ("kind", "address", "model", "said", "real"),
    [
        ("anthropic", "", "m", "none", "turn"),
        ("gemini", "", "m", "always", "always"),
        ("openai-responses", "", "m", "none", "turn"),
        ("openai-chat", OPENAI, "m", "none", "none"),
        ("openai-chat", DEEPSEEK, "deepseek-reasoner", "none", "turn"),
        ("openai-chat", DEEPSEEK, "deepseek-r1", "always", "none"),
        ("openai-chat", OPENROUTER, "m", "none", "turn"),
        ("openai-chat", "api.deepseek.com/", "m", "none", "turn"),
        ("openai-chat", "no address", "m", "none", "none"),
        ("ollama", "", "m", "none", "none"),
    ],
)
def test_what_really_goes_back_can_be_asked(
    kind: str, address: str, model: str, said: Any, real: str
) -> None:
    profile = replace(PROFILE, model=model, replays_reasoning=said)
    assert replay_of(kind, address, profile) == real
