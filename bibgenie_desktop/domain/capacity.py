"""How much room a model has, and what of it each use gets. One function serves every trigger.

All figures are tokens. The constants stand here and nowhere else, each with its reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bibgenie_desktop.domain.estimate import estimate_tools
from bibgenie_desktop.domain.models import ModelProfile, ToolSpec, WindowSource
from bibgenie_desktop.domain.tokens import estimate_text

LEAST_WINDOW: Final = 2_048  # below it no prompt, tool and answer fit side by side
UNKNOWN_OUTPUT: Final = 32_000  # an unset output limit must not swallow a small window: see RESERVE_SHARE
RESERVE_SHARE: Final = 0.20  # of the window, kept for the answer
RESERVE_LEAST, RESERVE_MOST = 512, 32_000
TRIGGER_SHARE: Final = 0.90  # of the safe limit: early enough that one more turn still fits
FIXED_SHARE: Final = 0.26  # of the safe limit, for system prompt and tools
LANDING_SHARE: Final = 0.60  # of the safe limit: what a compaction aims to leave, to buy several turns
SUMMARY_SHARE: Final = 0.18  # of the safe limit
SUMMARY_OF_RESERVE: Final = 0.8  # a summary is an answer too and must fit where answers do
LEDGER_SHARE, LEDGER_MOST = 0.04, 4_000
PINS_OF_LEDGER: Final = 0.5
TAIL_SHARE, TAIL_FLOOR, TAIL_FLOOR_SHARE = 0.25, 40_000, 0.10
NEWEST_TURN_SHARE: Final = 0.80  # of the safe limit: how full a request may be for the newest turn's sake
GAIN_SHARE: Final = 0.10  # of the safe limit: the least an automatic compaction must free
SUMMARY_OF_SPAN: Final = 0.20  # how long a first summary is expected to be, as a share of its span


@dataclass(frozen=True, slots=True)
class Limits:
    """What one model allows, given what its system prompt and tools take (`fixed`)."""

    window: int
    window_source: WindowSource
    reserve: int
    safe_limit: int
    trigger: int
    landing: int
    fixed: int
    summary_budget: int
    ledger_budget: int
    tail_budget: int
    max_output: int | None

    @property
    def assumed(self) -> bool:
        """The window is a guess: nothing is refused or compacted by itself on it."""
        return self.window_source == "assumed"

    def output_room(self, occupancy: int) -> int:
        """The output tokens a request of this size may ask for."""
        room = max(1, self.window - occupancy)
        return room if self.max_output is None else min(self.max_output, room)


def limits_of(profile: ModelProfile, fixed: int) -> Limits:
    """The limits of a model whose system prompt and tools take `fixed` tokens."""
    safe_limit, reserve = _safe_limit(profile)
    landing = int(LANDING_SHARE * safe_limit)
    summary = min(SUMMARY_OF_RESERVE * reserve, profile.max_output or reserve, SUMMARY_SHARE * safe_limit)
    ledger = min(LEDGER_SHARE * safe_limit, LEDGER_MOST)
    tail = min(
        TAIL_SHARE * safe_limit,
        max(TAIL_FLOOR, TAIL_FLOOR_SHARE * safe_limit),
        landing - fixed - summary - ledger,
    )
    return Limits(
        window=profile.window,
        window_source=profile.window_source,
        reserve=reserve,
        safe_limit=safe_limit,
        trigger=int(TRIGGER_SHARE * safe_limit),
        landing=landing,
        fixed=fixed,
        summary_budget=int(summary),
        ledger_budget=int(ledger),
        tail_budget=max(0, int(tail)),
        max_output=profile.max_output,
    )


def _safe_limit(profile: ModelProfile) -> tuple[int, int]:
    clamped = min(max(RESERVE_SHARE * profile.window, RESERVE_LEAST), RESERVE_MOST)
    reserve = int(min(profile.max_output or UNKNOWN_OUTPUT, clamped))
    return profile.window - reserve, reserve


@dataclass(frozen=True, slots=True)
class Fixed:
    """The part of every request that the conversation does not change: system prompt and tools."""

    system: str
    tools: tuple[ToolSpec, ...]
    tokens: int
    fits: bool
    """False: even the smallest form is larger than its share."""


def fixed_for(
    profile: ModelProfile, prompts: Sequence[str], tools: Sequence[ToolSpec], reader: ToolSpec | None
) -> Fixed:
    """The largest prompt and tool set that keep to their share of this model's safe limit.

    `prompts` from full to smallest; `tools` from last to go to first to go; `reader` reads cut results and
    stays as long as any tool does. Depends on the model and its window only, and on uncalibrated
    estimates, so that it never changes under a conversation.
    """
    safe_limit, _ = _safe_limit(profile)
    most = FIXED_SHARE * safe_limit
    offered = tuple(t for t in tools if profile.vision or not t.needs_vision) if profile.tools else ()
    smallest = prompts[-1]
    full = _with_reader(offered, reader, slim=False)
    candidates = [(prompt, full) for prompt in prompts]
    for count in range(len(offered), -1, -1):
        candidates.append((smallest, _with_reader(offered[:count], reader, slim=True)))
    for system, chosen in candidates:
        tokens = estimate_text(system) + estimate_tools(chosen)
        if tokens <= most:
            return Fixed(system, chosen, tokens, fits=True)
    return Fixed(smallest, (), estimate_text(smallest), fits=False)


def _with_reader(tools: tuple[ToolSpec, ...], reader: ToolSpec | None, *, slim: bool) -> tuple[ToolSpec, ...]:
    if not tools:
        return ()
    chosen = (*tools, reader) if reader is not None else tools
    return tuple(t.slim() for t in chosen) if slim else chosen
