"""What the application knows of a model, and the tools it can be offered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from bibgenie_desktop.domain.prices import Prices

ReasoningReplay = Literal["none", "turn", "always"]
WindowSource = Literal["user", "learned", "provider", "catalogue", "assumed"]


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """A model of one provider. `window` and `max_output` are tokens; `max_output` None: not known."""

    provider: str
    model: str
    base_url: str
    window: int
    window_source: WindowSource
    max_output: int | None = None
    vision: bool = False
    tools: bool = True
    name: str = ""
    replays_reasoning: ReasoningReplay = "none"
    """Which reasoning the provider gets again: none, that of the turn under way, or all since the
    checkpoint.
    """
    reasoning: bool = False
    """Asked to reason, at providers that do so only when told."""
    prices: Prices | None = None
    """What the provider asks for it; None: not known."""

    @property
    def ref(self) -> str:
        """`provider/model`, split at the first slash when read back."""
        return f"{self.provider}/{self.model}"

    @property
    def address(self) -> str:
        """The model at its address: what was learned of it is kept under this name."""
        return f"{self.provider} {self.base_url} {self.model}"

    @property
    def label(self) -> str:
        return self.name or self.model


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it. `parameters` is a JSON schema; the slim forms serve small windows."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    slim_description: str = ""
    slim_parameters: Mapping[str, Any] | None = None
    needs_vision: bool = False
    """Its results are pictures: offered only to models that see."""

    def slim(self) -> ToolSpec:
        return replace(
            self,
            description=self.slim_description or self.description,
            parameters=self.slim_parameters or self.parameters,
            slim_description="",
            slim_parameters=None,
        )
