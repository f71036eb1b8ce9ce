"""How large the next request is, in tokens. What was billed is another figure and not this module's
business.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Literal

from bibgenie_desktop.domain.capacity import Fixed
from bibgenie_desktop.domain.estimate import PER_TOOL, Estimator
from bibgenie_desktop.domain.messages import AssistantMessage, Path
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.parts import Draft, Part, ToolPart
from bibgenie_desktop.domain.projection import ProjectedMessage, Projection, project
from bibgenie_desktop.domain.usage import Usage

LEAST_SHARE: Final = 1 / 3  # reported usage below this share of the estimate is a provider's mistake
MOST_SHARE: Final = 3.0
HIDDEN_PROMPT: Final = 2_000  # below this estimate a server's hidden prompt may explain a much larger figure


@dataclass(frozen=True, slots=True)
class Occupancy:
    tokens: int
    source: Literal["reported", "estimated"]


def occupancy_of(path: Path, draft: Draft, fixed: Fixed, estimator: Estimator) -> Occupancy:
    """The size of the request that Send would make now on a valid path with this draft."""
    projection = project(path).plus_draft(draft)
    return measure(projection, usages_of(path), fixed, estimator)


def usages_of(path: Path) -> dict[str, tuple[Usage, ...]]:
    """What each answer of a path reported, by message id."""
    return {m.id: m.usage for m in path if isinstance(m, AssistantMessage)}


def measure(
    projection: Projection, usages: dict[str, tuple[Usage, ...]], fixed: Fixed, estimator: Estimator
) -> Occupancy:
    """The size of a request with this projection: from the newest valid usage, else estimated.

    Usage of the tail describes requests from before the checkpoint and never counts.
    """
    messages = projection.messages
    up_to = list(accumulate(map(estimator.message, messages), initial=0))
    base_cost = estimator.scaled(fixed.tokens)
    first = 0 if projection.checkpoint is None else 1 + projection.tail
    for index in range(len(messages) - 1, first - 1, -1):
        entry = messages[index]
        reported = usages.get(entry.id, ())
        if entry.kind != "assistant" or not reported:
            continue
        usage = reported[-1]
        late = _late(entry, usage, estimator)
        estimate = base_cost + up_to[index + 1] - late
        base = _carried(usage, entry, estimator.profile)
        if _valid(usage, base, estimate, estimator.profile):
            return Occupancy(base + late + up_to[-1] - up_to[index + 1], "reported")
    return Occupancy(base_cost + up_to[-1], "estimated")


def _late(entry: ProjectedMessage, usage: Usage, estimator: Estimator) -> int:
    """What the answer holds beyond its last reported request: that step's results and all later steps."""

    def cost(part: Part) -> int:
        if part.step > usage.step:
            return estimator.part(part, in_turn=entry.status == "pending")
        if part.step == usage.step and isinstance(part, ToolPart):
            return PER_TOOL // 2 + estimator.text(part.sent)
        return 0

    return estimator.scaled(sum(cost(p) for p in entry.parts))


def _carried(usage: Usage, entry: ProjectedMessage, profile: ModelProfile) -> int:
    replayed = profile.replays_reasoning
    again = replayed == "always" or (replayed == "turn" and entry.status == "pending")
    return usage.input_total + usage.output_total - (0 if again else usage.reasoning)


def _valid(usage: Usage, base: int, estimate: int, profile: ModelProfile) -> bool:
    if usage.source != "provider":
        return False
    asked = (profile.provider, profile.base_url, profile.model)
    if (usage.provider, usage.base_url, usage.model) != asked:
        return False
    if not usage.complete or usage.input_total <= 0 or base > profile.window:
        return False
    if base < LEAST_SHARE * estimate:
        return False
    return base <= MOST_SHARE * estimate or estimate < HIDDEN_PROMPT
