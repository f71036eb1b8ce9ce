"""Whole turns through the real services: asked, answered by a server on loopback, stored, read back, asked
again. What a provider demands back must arrive as it was sent."""

# A row of a table stays one line.
# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.domain.messages import AssistantMessage
from bibgenie_desktop.domain.parts import ReasoningPart, TextPart, ToolPart
from bibgenie_desktop.providers.http_provider import encode_body
from bibgenie_desktop.services.tools.base import ToolResult
from tests.providers.bodies import (
    SIGNATURE,
    anthropic,
    chat,
    gemini,
    ollama,
    ollama_call,
    redacted,
    response_call,
    response_reasoning,
    response_text,
    responses,
    said,
    thinking,
    use,
    written,
)
from tests.providers.helpers import SEARCH
from tests.providers.test_every_dialect import KINDS, bare, calls_and_results, is_reasoning, listed
from tests.scripted_server import Reply, ScriptedServer, raw
from tests.services.desk import ask, desk


class Search:
    """A tool that answers each query."""

    spec = SEARCH

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        return ToolResult(f"3 items on {arguments.get('query')}")


def in_pieces(kind: str, body: bytes, size: int = 11) -> Reply:
    content_type = "application/x-ndjson" if kind == "ollama" else "text/event-stream"
    pieces = (body[start : start + size] for start in range(0, len(body), size))
    return raw(*pieces, content_type=content_type)


ITEM = response_reasoning("Plan")
DETAIL = {"type": "reasoning.text", "text": "Plan", "signature": SIGNATURE, "index": 0}
STEP: dict[str, bytes] = {
    "openai-chat": chat(
        {"reasoning": "Plan", "reasoning_details": [DETAIL]},
        {"content": "Looking."},
        {"tool_calls": [{"index": n, "id": f"c{n}", "function": {"name": "search_items", "arguments": written({"query": q})}}
                        for n, q in enumerate(("sleep", "rest"))]},
        finish="tool_calls",
        usage={"prompt_tokens": 900, "completion_tokens": 40, "total_tokens": 940},
    ),
    "openai-responses": responses(
        ITEM, response_text("Looking."),
        response_call("search_items", {"query": "sleep"}, 1), response_call("search_items", {"query": "rest"}, 2),
        usage={"input_tokens": 900, "output_tokens": 40, "total_tokens": 940},
    ),
    "anthropic": anthropic(
        thinking("Plan"), redacted(), said("Looking."),
        use("search_items", {"query": "sleep"}, 1), use("search_items", {"query": "rest"}, 2),
        stop="tool_use", first={"input_tokens": 300, "cache_read_input_tokens": 600}, last={"output_tokens": 40},
    ),
    "gemini": gemini(
        {"text": "Plan", "thought": True}, {"text": "Looking."},
        {"functionCall": {"name": "search_items", "args": {"query": "sleep"}}, "thoughtSignature": SIGNATURE},
        {"functionCall": {"name": "search_items", "args": {"query": "rest"}}},
        usage={"promptTokenCount": 900, "candidatesTokenCount": 30, "thoughtsTokenCount": 10, "totalTokenCount": 940},
    ),
    "ollama": ollama(
        {"content": "", "thinking": "Plan"}, {"content": "Looking."},
        ollama_call("search_items", {"query": "sleep"}), ollama_call("search_items", {"query": "rest"}),
        given=900, made=40,
    ),
}  # fmt: skip
LAST: dict[str, bytes] = {
    "openai-chat": chat({"content": "Done."}, usage={"prompt_tokens": 960, "completion_tokens": 3}),
    "openai-responses": responses(response_text("Done."), usage={"input_tokens": 960, "output_tokens": 3}),
    "anthropic": anthropic(said("Done."), first={"input_tokens": 960}, last={"output_tokens": 3}),
    "gemini": gemini({"text": "Done."}, usage={"promptTokenCount": 960, "candidatesTokenCount": 3}),
    "ollama": ollama({"content": "Done."}, given=960, made=3),
}
DEMANDED: dict[str, list[Any]] = {
    "openai-chat": [],
    "openai-responses": [ITEM],
    "anthropic": [thinking("Plan"), redacted()],
    "gemini": [
        {
            "functionCall": {"name": "search_items", "args": {"query": "sleep"}},
            "thoughtSignature": SIGNATURE,
        }
    ],
    "ollama": [],
}
"""What must be in the next request of the turn, as it came, in this order."""


def pieces(kind: str, body: Any) -> list[Any]:
    """The blocks, parts or items of all messages."""
    inner = {"anthropic": "content", "gemini": "parts"}.get(kind)
    messages = listed(kind, body)
    return [piece for message in messages for piece in message[inner]] if inner else messages


def told(kind: str, body: Any) -> list[bytes]:
    return [encode_body(bare(message)) for message in listed(kind, body) if not is_reasoning(message)]


@pytest.mark.parametrize("kind", KINDS)
async def test_turn_goes_out_comes_back_is_stored_and_goes_out_again(kind: str, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(*(in_pieces(kind, body) for body in (STEP[kind], LAST[kind], LAST[kind], LAST[kind])))
        async with desk(tmp_path, server, tools=(Search(),), kind=kind) as d:
            talk = await d.chat()
            await talk.send(ask("What of sleep? \u2028 ü"))
            answer = talk.path[-1]
            assert isinstance(answer, AssistantMessage)
            assert answer.status == "complete", answer.error
            assert [p.text for p in answer.parts if isinstance(p, TextPart)] == ["Looking.", "Done."]
            assert [p.text for p in answer.parts if isinstance(p, ReasoningPart)] == ["Plan"]
            results = [p.sent for p in answer.parts if isinstance(p, ToolPart)]
            assert results == ["3 items on sleep", "3 items on rest"]
            assert [(u.input_total, u.output_total, u.step) for u in answer.usage] == [
                (900, 40, 0),
                (960, 3, 1),
            ]
            await talk.send(ask("And now?"))
        async with desk(tmp_path, server, tools=(Search(),), kind=kind) as d:
            again = await d.chat(talk.session.id)
            shown = await d.workspace.body(again, ask("Once more"))
            await again.send(ask("Once more"))
            assert server.requests[3].raw == encode_body(shown)

        first, second, third, fourth = server.bodies
        step = pieces(kind, second)
        demanded = DEMANDED[kind]
        assert [piece for piece in step if piece in demanded] == demanded
        for before, after in ((first, second), (second, third), (third, fourth)):
            assert told(kind, after)[: len(told(kind, before))] == told(kind, before)
        for body in (second, third, fourth):
            assert [what for what, _ in calls_and_results(kind, listed(kind, body))] == [
                "call",
                "call",
                "result",
                "result",
            ]
        if kind in {"anthropic", "openai-responses"}:
            assert not any(piece in demanded for body in (third, fourth) for piece in pieces(kind, body))
