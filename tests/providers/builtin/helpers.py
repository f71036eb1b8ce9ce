"""A turn of the built-in assistant, run as the services run it, with whatever tools a test gives it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.domain.parts import Part, TextPart, ToolPart
from bibgenie_desktop.domain.projection import ProjectedMessage, Projection
from bibgenie_desktop.providers.base import Finished, Request, TextDelta, ToolCalled, UsageReported
from bibgenie_desktop.providers.builtin.provider import BUILTIN_PROFILES, BuiltinAssistant
from bibgenie_desktop.services.results import fit_result
from bibgenie_desktop.services.tools.base import UNTRUSTED, Tool, ToolResult

ASSISTANT, SMALL = BUILTIN_PROFILES


def fenced(data: Mapping[str, Any]) -> str:
    return UNTRUSTED.format(json.dumps(data, ensure_ascii=False))


def spec(name: str, *properties: str) -> ToolSpec:
    return ToolSpec(name, f"{name}.", {"type": "object", "properties": {p: {} for p in properties}})


SPECS = (
    spec("search_items", "query", "limit", "sort"),
    spec("find_in_document", "attachment_id", "query", "regex", "limit", "context"),
    spec("read_document", "attachment_id", "pages", "max_chars"),
)


@dataclass
class FakeTool:
    """Answers each call with the next of its results; the last one stays."""

    spec: ToolSpec
    results: list[ToolResult]

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        unknown = set(arguments) - set(self.spec.parameters["properties"])
        assert not unknown, unknown
        return self.results.pop(0) if len(self.results) > 1 else self.results[0]


def user(text: str, *more: Part, id: str = "u1") -> ProjectedMessage:
    return ProjectedMessage(MessageId(id), "user", (*more, TextPart(text)))


@dataclass
class Turn:
    """What happened: the calls, the answer, the usage of each request, and the projection afterwards."""

    calls: list[ToolPart]
    text: str
    usages: list[UsageReported]
    after: Projection


async def ask(
    tools: Sequence[Tool],
    *messages: ProjectedMessage,
    profile: Any = ASSISTANT,
    result_tokens: int = 4_000,
    slim: bool = False,
    room: int | None = None,
) -> Turn:
    """Run the turn that answers the last of these messages."""
    bot = BuiltinAssistant(delay=0)
    by_name = {tool.spec.name: tool for tool in tools}
    specs = tuple(tool.spec.slim() if slim else tool.spec for tool in tools)
    history, parts = Projection(messages), list[Part]()
    id = MessageId(f"answer-{len(messages)}")
    usages: list[UsageReported] = []
    for step in range(10):
        now = history.plus_pending(id, tuple(parts)) if parts else history
        request = Request(profile, "Be exact.", specs, now, room)
        text, called = "", list[ToolCalled]()
        async with aclosing(bot.stream(request)) as events:
            async for event in events:
                match event:
                    case TextDelta():
                        text += event.text
                    case ToolCalled():
                        called.append(event)
                    case UsageReported():
                        usages.append(event)
                    case Finished():
                        assert event.reason == ("tool_calls" if called else "stop")
        if text:
            parts.append(TextPart(text, step))
        if not called:
            break
        for call in called:
            result = await by_name[call.name].run(call.input)
            sent = fit_result(result.text, result_tokens, f"{id}/{len(parts)}")
            done = ToolPart(f"{id}/{len(parts)}", call.name, call.input, "done", step, result.text, sent)
            parts.append(replace(done, state="error") if result.error else done)
    else:
        raise AssertionError("the assistant calls tools for ever")
    calls = [part for part in parts if isinstance(part, ToolPart)]
    answered = ProjectedMessage(id, "assistant", tuple(parts))
    return Turn(calls, text, usages, Projection((*messages, answered)))
