"""Estimated tokens of messages, tools and requests, for one model."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Final

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.messages import Message
from bibgenie_desktop.domain.models import ModelProfile, ToolSpec
from bibgenie_desktop.domain.parts import ImagePart, Part, ReasoningPart, ResourcePart, TextPart, ToolPart
from bibgenie_desktop.domain.projection import DRAFT_ID, ProjectedMessage, Projection, projected
from bibgenie_desktop.domain.tokens import VERSION
from bibgenie_desktop.domain.tokens import as_json as as_json
from bibgenie_desktop.domain.tokens import estimate_text as estimate_text

PER_MESSAGE: Final = 4
PER_TOOL: Final = 12  # a call and its result: names, ids and braces
PER_IMAGE: Final = 1_600  # the most a common provider counts, whatever the bytes
SCHEMA_FACTOR: Final = 1.1


def estimate_tools(tools: Iterable[ToolSpec]) -> int:
    """Tokens of the tool descriptions of a request."""
    total = sum(estimate_text(as_json([t.name, t.description, dict(t.parameters)])) for t in tools)
    return int(total * SCHEMA_FACTOR)


def rule_version(profile: ModelProfile) -> str:
    """Names the rule by which this model's messages are estimated: cached figures carry it."""
    return f"{VERSION}:{profile.replays_reasoning}"


@dataclass(frozen=True, slots=True)
class Estimator:
    """Estimates for one model. `factor` is its calibration, fixed during one preflight.

    `known` holds uncalibrated estimates of stored messages, which never change; new ones are added to it.
    """

    profile: ModelProfile
    factor: float = 1.0
    known: MutableMapping[MessageId, int] = field(default_factory=dict)

    def scaled(self, tokens: int) -> int:
        """An uncalibrated estimate as this model counts."""
        return round(tokens * self.factor)

    def text(self, text: str) -> int:
        return estimate_text(text)

    def part(self, part: Part, *, in_turn: bool = False) -> int:
        """Uncalibrated tokens of a part. Reasoning counts only where this model gets it again."""
        match part:
            case TextPart():
                return self.text(part.text)
            case ReasoningPart():
                replayed = self.profile.replays_reasoning
                again = replayed == "always" or (replayed == "turn" and in_turn)
                opaque = as_json(dict(part.opaque)) if part.opaque else ""
                return self.text(part.text + opaque) if again else 0
            case ToolPart():
                call = PER_TOOL + self.text(part.name + as_json(dict(part.input)))
                return call + self.text(part.sent) + PER_IMAGE * len(part.images)
            case ImagePart():
                return PER_IMAGE
            case ResourcePart():
                return self.text(part.sent)

    def message(self, message: Message | ProjectedMessage) -> int:
        """Tokens of a message as the next request would carry it."""
        entry = message if isinstance(message, ProjectedMessage) else projected(message)
        pending = entry.status == "pending"
        stored = not pending and entry.id != DRAFT_ID
        tokens = self.known.get(entry.id) if stored else None
        if tokens is None:
            tokens = PER_MESSAGE + sum(self.part(p, in_turn=pending) for p in entry.parts)
            if stored:
                self.known[entry.id] = tokens
        return self.scaled(tokens)

    def projection(self, projection: Projection) -> int:
        return sum(self.message(m) for m in projection.messages)
