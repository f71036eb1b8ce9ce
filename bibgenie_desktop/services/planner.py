"""The next request of a session: what it contains, how large it is, whether it may be sent.

One builder for everybody who asks: sending, the meter, the model list, and `inspect projection`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from bibgenie_desktop.domain.boundary import Compaction, Decision, Situation, Way, decide
from bibgenie_desktop.domain.capacity import Fixed, Limits, fixed_for, limits_of
from bibgenie_desktop.domain.estimate import Estimator
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.messages import Path
from bibgenie_desktop.domain.models import ModelProfile, ToolSpec
from bibgenie_desktop.domain.occupancy import Occupancy, measure, usages_of
from bibgenie_desktop.domain.parts import Draft, Part, images_of
from bibgenie_desktop.domain.projection import DRAFT_ID, Projection, project
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.providers.base import Request
from bibgenie_desktop.services.estimates import Estimates
from bibgenie_desktop.services.tools.toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class Plan:
    """The request that would be sent now. `tokens` holds each projected message's estimate, in order."""

    profile: ModelProfile
    fixed: Fixed
    limits: Limits
    projection: Projection
    tokens: tuple[int, ...]
    occupancy: Occupancy
    path: Path
    draft: Draft
    estimator: Estimator

    @property
    def overshoot(self) -> int:
        """Tokens above the safe limit, 0 when the request may be sent."""
        return 0 if self.limits.assumed else max(0, self.occupancy.tokens - self.limits.safe_limit)

    @property
    def above_trigger(self) -> bool:
        return not self.limits.assumed and self.occupancy.tokens > self.limits.trigger

    @property
    def draft_tokens(self) -> int:
        last = self.projection.messages[-1] if self.projection.messages else None
        return self.tokens[-1] if last is not None and last.id == DRAFT_ID else 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What sending to a model would mean. `too_big` carries the overshoot in tokens."""

    profile: ModelProfile
    kind: Literal["fits", "would_compact", "too_big"]
    occupancy: int
    safe_limit: int
    overshoot: int = 0


@dataclass(frozen=True, slots=True)
class Prompts:
    """The written texts, from `resources/prompts/`. `system` from full to smallest."""

    system: tuple[str, ...]
    summary_system: str
    summary_request: str
    summary_repair: str


class Planner:
    """Pure sums over values; may take long for large paths, so callers on the event loop use a thread."""

    def __init__(self, prompts: Prompts, toolbox: Toolbox, reader: ToolSpec, estimates: Estimates) -> None:
        self._prompts = prompts
        self._toolbox = toolbox
        self._reader = reader
        self._estimates = estimates

    def fixed(self, profile: ModelProfile) -> Fixed:
        return fixed_for(profile, self._prompts.system, self._toolbox.specs, self._reader)

    def shortage(self, profile: ModelProfile) -> str:
        """What a model's window has no room for, as a sentence; empty where nothing is missing."""
        fixed = self.fixed(profile)
        if not fixed.fits:
            return f"{profile.label} is too small for this application's instructions."
        if profile.tools and self._toolbox.specs and not fixed.tools:
            return f"{profile.label} is too small for any tool: it answers without looking into your library."
        return ""

    def plan(self, path: Path, draft: Draft, profile: ModelProfile) -> Plan:
        """The request that Send would make on a valid path with this draft."""
        return self._plan(path, draft, profile, project(path).plus_draft(draft), usages_of(path))

    def next_step(
        self,
        path: Path,
        reply: MessageId,
        parts: tuple[Part, ...],
        usage: tuple[Usage, ...],
        profile: ModelProfile,
    ) -> Plan:
        """The next request within a turn whose question is the path's end."""
        projection = project(path)
        usages = dict(usages_of(path))
        if parts:
            projection = projection.plus_pending(reply, parts)
            usages[reply] = usage
        return self._plan(path, Draft(), profile, projection, usages)

    def _plan(
        self,
        path: Path,
        draft: Draft,
        profile: ModelProfile,
        projection: Projection,
        usages: dict[str, tuple[Usage, ...]],
    ) -> Plan:
        fixed = self.fixed(profile)
        estimator = self._estimates.estimator(profile)
        tokens = tuple(estimator.message(m) for m in projection.messages)
        occupancy = measure(projection, usages, fixed, estimator)
        limits = limits_of(profile, estimator.scaled(fixed.tokens))
        return Plan(profile, fixed, limits, projection, tokens, occupancy, path, draft, estimator)

    def decide(self, plan: Plan, way: Way) -> Decision:
        """What a compaction would do to the plan's path."""
        return decide(
            Situation(
                path=plan.path,
                limits=plan.limits,
                estimator=plan.estimator,
                occupancy=plan.occupancy.tokens,
                draft=plan.draft_tokens,
            ),
            way,
        )

    def verdict(self, path: Path, draft: Draft, profile: ModelProfile) -> Verdict:
        """Whether this model would take the next request as it is, after compacting, or not at all."""
        plan = self.plan(path, draft, profile)
        size, limit = plan.occupancy.tokens, plan.limits.safe_limit
        if plan.above_trigger:
            decision = self.decide(plan, "preflight")
            if isinstance(decision, Compaction) and size - decision.gain <= limit:
                return Verdict(profile, "would_compact", size, limit)
        if plan.overshoot:
            return Verdict(profile, "too_big", size, limit, plan.overshoot)
        return Verdict(profile, "fits", size, limit)


def request_of(plan: Plan, images: Mapping[str, bytes] | None = None) -> Request:
    """The request of a plan, exactly as it is sent."""
    return Request(
        profile=plan.profile,
        system=plan.fixed.system,
        tools=plan.fixed.tools,
        projection=plan.projection,
        max_output_tokens=plan.limits.output_room(plan.occupancy.tokens),
        images=images or {},
    )


def blobs_of(plan: Plan) -> tuple[str, ...]:
    """The content hashes of the pictures a plan's request carries: none for a model that does not see."""
    if not plan.profile.vision:
        return ()
    parts = (p for m in plan.projection.messages for p in m.parts)
    return tuple(dict.fromkeys(image.blob for image in images_of(parts)))


def without_draft(plan: Plan) -> Plan:
    """The same plan as if the composer were empty."""
    if not plan.draft_tokens:
        return plan
    occupancy = replace(plan.occupancy, tokens=plan.occupancy.tokens - plan.draft_tokens)
    projection = replace(plan.projection, messages=plan.projection.messages[:-1])
    return replace(plan, projection=projection, tokens=plan.tokens[:-1], occupancy=occupancy, draft=Draft())
