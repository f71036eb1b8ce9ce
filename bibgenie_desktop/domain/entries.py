"""Providers and models as the person described them, and what others say of a model.

Values only: `settings` reads and writes them, `providers` finds things out, `services` puts them together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bibgenie_desktop.domain.models import ReasoningReplay
from bibgenie_desktop.domain.prices import Prices

ProviderKind = Literal["openai-chat", "openai-responses", "anthropic", "gemini", "ollama"]


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model as the person described it; None: not said."""

    id: str
    context_window: int | None = None
    max_output: int | None = None
    vision: bool | None = None
    tools: bool | None = None
    name: str = ""
    replays_reasoning: ReasoningReplay | None = None
    reasoning: bool | None = None
    """Whether to ask for reasoning where it comes only when asked for; it costs output tokens."""


@dataclass(frozen=True, slots=True)
class ProviderEntry:
    id: str
    kind: ProviderKind
    base_url: str = ""
    models: tuple[ModelEntry, ...] = ()
    allow_plain_http: bool = False
    """Plain http to another machine, for a model server in a trusted network."""
    proxy: str = ""
    """Empty: the system's settings; `direct`: none; else its address."""
    ca_file: str = ""
    """Certificates to trust besides the system's, for servers of firms and universities."""


@dataclass(frozen=True, slots=True)
class KnownModel:
    """What a catalogue or a provider's own list says of a model; None: not said."""

    id: str
    name: str = ""
    window: int | None = None
    max_output: int | None = None
    vision: bool | None = None
    tools: bool | None = None
    reasoning: bool | None = None
    replays_reasoning: ReasoningReplay | None = None
    prices: Prices | None = None
    trained: int | None = None
    """The most the model could have, where its server decides what it gets."""
    loaded: bool = False
    """The window is the one a running server works with, not the most the model could have."""
