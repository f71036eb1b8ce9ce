"""The contract between the services and every provider: one request in, neutral events out.

A codec is a pure pair of functions without I/O: `encode(request)` gives the exact body, a decoder turns bytes
into events. Failures are raised as `ProviderError`s, also from within the stream.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from bibgenie_desktop.domain.models import ModelProfile, ToolSpec
from bibgenie_desktop.domain.projection import Projection
from bibgenie_desktop.domain.usage import Usage

FinishReason = Literal["stop", "length", "window", "tool_calls", "content_filter", "refusal"]
"""`length`: as long as was allowed; `window`: the model's window is full."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `max_output_tokens` None leaves it to the provider; `images`: bytes by content hash."""

    profile: ModelProfile
    system: str
    tools: tuple[ToolSpec, ...]
    projection: Projection
    max_output_tokens: int | None
    purpose: Literal["answer", "summary"] = "answer"
    images: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningClosed:
    """The end of a reasoning block with the provider's own data, to be carried back untouched."""

    opaque: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    index: int
    name: str


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """A whole call.

    `arguments` is what the model wrote when it could not be read as an object; `input` is then empty.
    """

    index: int
    name: str
    input: Mapping[str, Any]
    malformed: str = ""
    opaque: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class UsageReported:
    usage: Usage


@dataclass(frozen=True, slots=True)
class Finished:
    reason: FinishReason


@dataclass(frozen=True, slots=True)
class Waiting:
    """Nothing of an answer yet: the provider is busy, and the same request goes out again after so many
    seconds, as number `attempt` of at most `tries`."""

    seconds: float
    attempt: int
    tries: int
    reason: str


Event: TypeAlias = (
    TextDelta
    | ReasoningDelta
    | ReasoningClosed
    | ToolCallStarted
    | ToolCalled
    | UsageReported
    | Waiting
    | Finished
)


class Provider(Protocol):
    """Where a model is asked. A stream that ends well ends with `Finished`; usage comes before it.

    Several usages: the provider worked, and bills, in several passes; the last is what the context holds.
    """

    @property
    def id(self) -> str: ...

    def encode(self, request: Request) -> dict[str, Any]:
        """The exact body that `stream` sends for this request."""

    def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Raises `ProviderError`. Closing the iterator ends the request at the provider."""
