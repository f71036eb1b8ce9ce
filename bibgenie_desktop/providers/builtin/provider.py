"""The built-in assistant as a provider: models, requests, and answers that stream like any other."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator
from typing import Any, Final

from bibgenie_desktop.domain.capacity import limits_of
from bibgenie_desktop.domain.errors import ProviderError
from bibgenie_desktop.domain.estimate import PER_MESSAGE, PER_TOOL, Estimator, estimate_tools
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.parts import text_of
from bibgenie_desktop.domain.prices import FREE
from bibgenie_desktop.domain.tokens import as_json, estimate_text
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.providers.base import (
    Event,
    Finished,
    Request,
    TextDelta,
    ToolCalled,
    ToolCallStarted,
    UsageReported,
)
from bibgenie_desktop.providers.builtin.answer import answer
from bibgenie_desktop.providers.builtin.plan import Call, knowledge_of, next_calls
from bibgenie_desktop.providers.builtin.question import question_of, results_of
from bibgenie_desktop.providers.builtin.saving import saving
from bibgenie_desktop.providers.builtin.summary import summarise
from bibgenie_desktop.providers.openai_chat import ChatCodec, ChatDialect

PROVIDER_ID: Final = "builtin"
DELTA_SECONDS: Final = 0.008
"""Between a few words and the next: fast, but seen to stream."""

BUILTIN_PROFILES: Final = (
    ModelProfile(PROVIDER_ID, "assistant", "", 32_768, "provider", name="Built-in assistant", prices=FREE),
    ModelProfile(
        PROVIDER_ID,
        "assistant-small",
        "",
        4_096,
        "provider",
        name="Built-in assistant, small window",
        prices=FREE,
    ),
)

_PIECE = re.compile(r"\S+\s*(?:\S+\s*){0,3}|\s+")


class BuiltinAssistant:
    """A `Provider` that needs no key, no network and no model. `delay` is the pause between pieces of
    text."""

    def __init__(self, delay: float = DELTA_SECONDS) -> None:
        self._delay = delay
        self._codec = ChatCodec(ChatDialect(asks_for_usage=False))

    @property
    def id(self) -> str:
        return PROVIDER_ID

    def encode(self, request: Request) -> dict[str, Any]:
        """The request in the common form; nothing of it leaves the process."""
        return self._codec.encode(request)

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        # Long texts are searched: not on the thread that draws the window.
        text, calls = await asyncio.to_thread(_summary if request.purpose == "summary" else _act, request)
        for piece in _PIECE.findall(text):
            yield TextDelta(piece)
            await asyncio.sleep(self._delay)
        for index, call in enumerate(calls):
            yield ToolCallStarted(index, call.name)
            await asyncio.sleep(0)
            yield ToolCalled(index, call.name, call.input)
        yield UsageReported(_usage(request, text, calls))
        yield Finished("tool_calls" if calls else "stop")


def _act(request: Request) -> tuple[str, tuple[Call, ...]]:
    """What this step brings: calls, or the answer."""
    question = question_of(request.projection)
    tools = {spec.name: spec for spec in request.tools}
    if (step := saving(question, request.projection, tools)) is not None:
        return step
    known = knowledge_of(results_of(request.projection))
    calls = next_calls(question, known, tools, request.profile.window, _left(request))
    if calls:
        return "", calls
    return answer(question, known, tools, request.max_output_tokens, request.profile.window), ()


def _left(request: Request) -> int | None:
    """The tokens that results may still take: what is open of the window, without the answer's reserve."""
    if request.max_output_tokens is None or request.profile.max_output is not None:
        return None
    return request.max_output_tokens - limits_of(request.profile, 0).reserve


def _summary(request: Request) -> tuple[str, tuple[Call, ...]]:
    message = request.projection.messages[-1] if request.projection.messages else None
    if message is None:
        raise ProviderError("There is nothing to summarise.")
    return summarise(text_of(message.parts), request.max_output_tokens), ()


def _usage(request: Request, text: str, calls: tuple[Call, ...]) -> Usage:
    profile = request.profile
    fixed = estimate_text(request.system) + estimate_tools(request.tools)
    written = estimate_text(text) + sum(_size(calls))
    return Usage(
        provider=profile.provider,
        base_url=profile.base_url,
        model=profile.model,
        input_total=fixed + Estimator(profile).projection(request.projection),
        output_total=PER_MESSAGE + written,
        source="estimate",
    )


def _size(calls: tuple[Call, ...]) -> Iterator[int]:
    return (PER_TOOL + estimate_text(call.name + as_json(dict(call.input))) for call in calls)
