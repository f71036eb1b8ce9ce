"""What a conversation tells its listeners. Facts only, in the order in which they happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.messages import Message, Session
from bibgenie_desktop.domain.parts import Draft, ToolPart
from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.providers.base import Waiting
from bibgenie_desktop.services.tools.base import Card

Offer = Literal["compact", "send_anyway", "retry", "edit", "choose_model"]


@dataclass(frozen=True, slots=True)
class StateChanged:
    """`step` says in words what is being done, for the state's line in the interface."""

    state: SessionState
    step: str = ""


@dataclass(frozen=True, slots=True)
class BranchLoaded:
    """The path shown is another one now: opened, switched, edited, retried, compacted or reloaded."""

    session: Session


@dataclass(frozen=True, slots=True)
class MessageAppended:
    """A stored message became the new end of the path."""

    message: Message


@dataclass(frozen=True, slots=True)
class ReplyStarted:
    """An answer begins under its question; until it ends, it is not in the tree."""

    message_id: MessageId
    parent_id: MessageId
    model: str


@dataclass(frozen=True, slots=True)
class ReplyText:
    """More words of the answer; `step` is the request of the turn that brings them."""

    text: str
    step: int


@dataclass(frozen=True, slots=True)
class ReplyReasoning:
    text: str
    step: int


@dataclass(frozen=True, slots=True)
class ReplyWaiting:
    """The provider is busy: the request goes out again at `until` (UTC milliseconds), as number `attempt` of
    at most `tries`."""

    reason: str
    until: int
    attempt: int
    tries: int

    @classmethod
    def of(cls, event: Waiting, now: int) -> ReplyWaiting:
        return cls(event.reason, now + round(1000 * event.seconds), event.attempt, event.tries)


@dataclass(frozen=True, slots=True)
class ReplyWaitOver:
    """The provider answers after all."""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    part: ToolPart


@dataclass(frozen=True, slots=True)
class ToolEnded:
    part: ToolPart


@dataclass(frozen=True, slots=True)
class CardOpened:
    """The turn waits for the person's word on a proposal."""

    call_id: str
    card: Card


@dataclass(frozen=True, slots=True)
class CardClosed:
    call_id: str


@dataclass(frozen=True, slots=True)
class ReplyEnded:
    """The answer is stored. `moved` is False where the session's head had gone elsewhere meanwhile."""

    message: Message
    moved: bool


@dataclass(frozen=True, slots=True)
class CompactionProgress:
    """Tokens written so far of the budget told to the model, both estimated; `stage` counts from 1."""

    written: int
    budget: int
    stage: int = 1
    stages: int = 1


@dataclass(frozen=True, slots=True)
class CompactionEnded:
    """How a compaction ended. `done` alone wrote a checkpoint."""

    outcome: Literal["done", "nothing", "failed", "cancelled", "stale"]
    message: str = ""
    tokens_before: int = 0
    tokens_after: int = 0


@dataclass(frozen=True, slots=True)
class ContextChanged:
    """The size of the next request may be another one now."""


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """Follow-ups that wait for the answer under way, oldest first."""

    drafts: tuple[Draft, ...]


@dataclass(frozen=True, slots=True)
class SendEnded:
    """Whether the draft became a message. When it did not, it is still in the composer."""

    sent: bool


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know, with what to do next. `offers` name the actions that help."""

    tone: Literal["info", "warn", "bad"]
    title: str
    advice: str = ""
    offers: tuple[Offer, ...] = ()
    about: Literal["session", "request", "answer"] = "request"
    retry_at: int | None = None
    """UTC milliseconds from which the first offer is worth taking up: a provider named the time."""


@dataclass(frozen=True, slots=True)
class SessionsChanged:
    """The list of sessions should be read again."""

    session_id: SessionId | None = None


ChatEvent: TypeAlias = (
    StateChanged
    | BranchLoaded
    | MessageAppended
    | ReplyStarted
    | ReplyText
    | ReplyReasoning
    | ReplyWaiting
    | ReplyWaitOver
    | ToolStarted
    | ToolEnded
    | CardOpened
    | CardClosed
    | ReplyEnded
    | CompactionProgress
    | CompactionEnded
    | ContextChanged
    | QueueChanged
    | SendEnded
    | Notice
    | SessionsChanged
)
