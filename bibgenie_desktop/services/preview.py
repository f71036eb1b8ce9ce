"""What Compact would do, without doing it: what goes, what stays, what it costs, and when it pays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from bibgenie_desktop.domain.boundary import NothingToDo
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.messages import Checkpoint
from bibgenie_desktop.domain.prices import MILLION, Prices
from bibgenie_desktop.domain.serialise import serialise
from bibgenie_desktop.domain.tokens import estimate_text
from bibgenie_desktop.services.planner import Plan, Planner, without_draft

CACHED_PRICE: Final = 0.1  # of a plain input token: what providers with a prompt cache commonly ask
OUTPUT_PRICE: Final = 5.0  # of a plain input token
# Where a model's own prices are known, they are used in place of these two.


@dataclass(frozen=True, slots=True)
class DryRun:
    """An outcome with its figures; tokens throughout. `cost` and `saved_per_turn` are in plain input tokens;
    `dollars` is `cost` in money, None where the model's prices are not known.

    `pays_after` counts turns until what later requests save makes up for the summary and the lost prompt
    cache; None: never.
    """

    outcome: Literal["compact", "refresh", "condense", "nothing"]
    reason: str
    span: tuple[MessageId, ...]
    tail: tuple[MessageId, ...]
    before: int
    after: int
    summary_budget: int
    cost: int
    saved_per_turn: int
    pays_after: int | None
    dollars: float | None = None
    cache_lost: bool = True
    """Whether the cost holds reading anew what a warm cache has."""

    @property
    def frees(self) -> int:
        return max(0, self.before - self.after)


def dry_run(planner: Planner, plan: Plan, *, warm: bool = True) -> DryRun:
    """What the Compact action would do on a plan's path. A pure sum: no request, no change.

    `warm`: the provider's cache holds the conversation; a cold one has nothing to lose.
    """
    plan = without_draft(plan)
    before = plan.occupancy.tokens
    decision = planner.decide(plan, "manual")
    if isinstance(decision, NothingToDo):
        budget = plan.limits.summary_budget
        return DryRun("nothing", decision.reason, (), (), before, before, budget, 0, 0, None)
    after = max(0, before - decision.gain)
    prices = plan.profile.prices.at(before) if plan.profile.prices is not None else None
    cached, output = _ratios(prices)
    condense = not decision.span and isinstance(plan.path[-1], Checkpoint)
    asked = estimate_text(serialise(decision.span or decision.tail)) + plan.limits.summary_budget
    written = min(plan.limits.summary_budget, max(1, after))
    lost_cache = after * (1 - cached) if warm else 0
    cost = round(asked + written * output + lost_cache)
    saved = round((before - after) * cached)
    return DryRun(
        outcome="compact" if decision.span else "condense" if condense else "refresh",
        reason="",
        span=tuple(m.id for m in decision.span),
        tail=tuple(m.id for m in decision.tail),
        before=before,
        after=after,
        summary_budget=plan.limits.summary_budget,
        cost=cost,
        saved_per_turn=max(0, saved),
        pays_after=math.ceil(cost / saved) if saved > 0 else None,
        dollars=None if prices is None else cost * prices.input / MILLION,
        cache_lost=warm,
    )


def _ratios(prices: Prices | None) -> tuple[float, float]:
    """What a cached and an output token cost, in plain input tokens."""
    if prices is None or prices.input <= 0:
        return CACHED_PRICE, OUTPUT_PRICE
    cached = prices.input if prices.cache_read is None else prices.cache_read
    return min(1.0, cached / prices.input), prices.output / prices.input
