"""What a person is told when a request is not sent: the sentences, and what to do next."""

from __future__ import annotations

from bibgenie_desktop.services.events import Notice, Offer
from bibgenie_desktop.services.planner import Plan


def too_large(plan: Plan, offers: tuple[Offer, ...]) -> Notice:
    return Notice(
        "bad",
        f"Not sent: {plan.overshoot:,} tokens too many for {plan.profile.label}.",
        f"The request would take {plan.occupancy.tokens:,} of {plan.limits.safe_limit:,} tokens. "
        "Shorten your text or choose a model with a larger window. Your text is in the composer.",
        offers,
    )


def not_compacted() -> Notice:
    """A request that fits goes out without its compaction only by a word of the person."""
    return Notice(
        "warn",
        "Not sent: the earlier context was not compacted.",
        "The request still fits. Your text is in the composer.",
        ("send_anyway", "compact"),
    )
