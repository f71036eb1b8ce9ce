"""Where a compaction's verbatim part starts: one function for the manual, the automatic and the preflight
way.

A boundary is the start of a whole turn (I6), never behind the previous position (I5), and may be null: the
verbatim part then starts at the user's next message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bibgenie_desktop.domain.capacity import GAIN_SHARE, NEWEST_TURN_SHARE, SUMMARY_OF_SPAN, Limits
from bibgenie_desktop.domain.estimate import Estimator
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Path, UserMessage
from bibgenie_desktop.domain.projection import newest_checkpoint, position

Way = Literal["manual", "automatic", "preflight"]
Turn: TypeAlias = tuple[UserMessage | AssistantMessage, ...]


@dataclass(frozen=True, slots=True)
class Situation:
    """What a decision rests on. `occupancy` holds the draft; `draft` is its estimate alone."""

    path: Path
    limits: Limits
    estimator: Estimator
    occupancy: int
    draft: int = 0


@dataclass(frozen=True, slots=True)
class Compaction:
    """A compaction worth doing: `span` is newly replaced, `tail` stays word for word.

    An empty span renews the summary alone: with a tail it is brought up to date (refresh), at a smaller
    budget it is condensed. `gain` is what it is expected to free, in tokens.
    """

    first_kept_id: MessageId | None
    span: Turn
    tail: Turn
    gain: int


@dataclass(frozen=True, slots=True)
class NothingToDo:
    """A success without effect; `reason` is a sentence for the person."""

    reason: str


Decision: TypeAlias = Compaction | NothingToDo

NOTHING = "Nothing to compact: everything here is still needed word for word."
NO_GAIN = "Compacting now would free too little to be worth a summary."


def decide(situation: Situation, way: Way) -> Decision:
    """What to compact on a valid, stable path that ends in an answer or a checkpoint (or is empty)."""
    path = situation.path
    newest = newest_checkpoint(path)
    turns = _turns(path, 0 if newest is None else position(path, newest))
    if way == "manual":
        return _manual(situation, newest, turns)
    return _automatic(situation, turns, preflight=way == "preflight")


def _manual(situation: Situation, newest: int | None, turns: Sequence[Turn]) -> Decision:
    limits, path = situation.limits, situation.path
    kept = _kept(situation, turns, draft=0)
    if newest is None:
        if len(turns) == kept == 1 or not turns:
            return NothingToDo(NOTHING)
        return _compaction(situation, turns, 1 if kept == len(turns) else kept)
    if isinstance(path[-1], Checkpoint):
        if situation.occupancy - situation.draft <= limits.trigger:
            return NothingToDo(NOTHING)
        return _compaction(situation, turns, kept)
    return _compaction(situation, turns, kept)


def _automatic(situation: Situation, turns: Sequence[Turn], *, preflight: bool) -> Decision:
    limits = situation.limits
    if not turns:
        return NothingToDo(NOTHING)
    kept = _kept(situation, turns, draft=situation.draft if preflight else 0)
    if kept == 0 and not (preflight and situation.occupancy > limits.safe_limit):
        kept = 1
    if kept == len(turns):
        return NothingToDo(NOTHING)
    found = _compaction(situation, turns, kept)
    cost = _summary_cost(situation, found.span)
    if found.gain < max(GAIN_SHARE * limits.safe_limit, 2 * cost):
        return NothingToDo(NO_GAIN)
    return found


def _turns(path: Path, start: int) -> list[Turn]:
    """The whole turns from an index on; checkpoints between them are skipped."""
    turns: list[list[UserMessage | AssistantMessage]] = []
    for message in path[start:]:
        if isinstance(message, UserMessage):
            turns.append([message])
        elif isinstance(message, AssistantMessage) and turns:
            turns[-1].append(message)
    return [tuple(t) for t in turns]


def _kept(situation: Situation, turns: Sequence[Turn], *, draft: int) -> int:
    """How many of the newest turns stay word for word."""
    limits = situation.limits
    costs = [sum(situation.estimator.message(m) for m in turn) for turn in turns]
    beside = limits.fixed + limits.summary_budget + limits.ledger_budget
    kept, total = 0, 0
    for cost in reversed(costs):
        if total + cost > limits.tail_budget:
            break
        kept, total = kept + 1, total + cost
    if turns and kept == 0 and beside + costs[-1] <= NEWEST_TURN_SHARE * limits.safe_limit:
        kept, total = 1, costs[-1]
    while draft and kept and beside + total + draft > limits.safe_limit:
        total -= costs[len(costs) - kept]
        kept -= 1
    return kept


def _compaction(situation: Situation, turns: Sequence[Turn], kept: int) -> Compaction:
    cut = len(turns) - kept
    span: Turn = tuple(m for turn in turns[:cut] for m in turn)
    tail: Turn = tuple(m for turn in turns[cut:] for m in turn)
    freed = sum(situation.estimator.message(m) for m in span)
    gain = freed + _previous_cost(situation) - _summary_cost(situation, span)
    return Compaction(tail[0].id if tail else None, span, tail, gain)


def _previous_cost(situation: Situation) -> int:
    newest = newest_checkpoint(situation.path)
    return 0 if newest is None else situation.estimator.message(situation.path[newest])


def _summary_cost(situation: Situation, span: Turn) -> int:
    """What the new checkpoint will probably take: as much as the previous one, or a share of a first span."""
    replaced = sum(situation.estimator.message(m) for m in span)
    likely = max(_previous_cost(situation), int(SUMMARY_OF_SPAN * replaced))
    return min(situation.limits.summary_budget + situation.limits.ledger_budget, likely)
