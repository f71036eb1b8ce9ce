"""What the Context dock shows, as values that presenters make."""

from __future__ import annotations

from dataclasses import dataclass

from bibgenie_desktop.domain.locators import LedgerEntry
from bibgenie_desktop.gui.docks.checkpoints import CheckpointLine


@dataclass(frozen=True, slots=True)
class SeenLine:
    """One message of the next request. `id` is empty for what is no message."""

    glyph: str
    text: str
    tokens: int
    id: str = ""
    role: str = "text3"


@dataclass(frozen=True, slots=True)
class CostView:
    """What was spent, in words: a heading, tokens by kind, amounts by model, and what is not in the sum.
    Pairs of a name and its figure."""

    title: str
    kinds: tuple[tuple[str, str], ...] = ()
    models: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    cache: str = ""
    """How much of the last request came from the provider's cache."""


@dataclass(frozen=True, slots=True)
class ContextView:
    """The next request, measured. All figures are tokens; `parts` in the order of the meter's kinds."""

    used: int
    safe_limit: int
    trigger: int
    window: int
    reserve: int
    parts: tuple[int, int, int, int, int]
    source: str
    assumed: bool
    seen: tuple[SeenLine, ...]
    checkpoints: tuple[CheckpointLine, ...]
    reported: bool = False
    pins: tuple[LedgerEntry, ...] = ()
    cost: CostView | None = None
    """What the session cost so far; None before the first request. Billing, not context."""
    compact_tip: str = ""
    """What Compact would lose now, in a sentence; empty where it loses nothing."""

    @property
    def share(self) -> float:
        return self.used / self.safe_limit if self.safe_limit else 0.0
