"""The model projection: what the next request contains, as a pure function of the active path (I7).

Neutral: no provider's wire format, no clock, no library. Encoders turn it into requests.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Message, Path, Status, UserMessage
from bibgenie_desktop.domain.parts import Draft, Part, TextPart

DRAFT_ID = MessageId("draft")
"""Stands for the message that the composer's text would become."""


@dataclass(frozen=True, slots=True)
class ProjectedMessage:
    """One message as the model gets it. A checkpoint is a user-role message with one fenced text."""

    id: MessageId
    kind: Literal["checkpoint", "user", "assistant"]
    parts: tuple[Part, ...]
    status: Status | Literal["pending"] = "complete"
    error: str = ""


@dataclass(frozen=True, slots=True)
class Projection:
    """The messages of a request. `tail` of them, right after the checkpoint, are older than it."""

    messages: tuple[ProjectedMessage, ...]
    tail: int = 0

    @property
    def checkpoint(self) -> ProjectedMessage | None:
        first = self.messages[0] if self.messages else None
        return first if first is not None and first.kind == "checkpoint" else None

    def plus_draft(self, draft: Draft) -> Projection:
        """With the draft as its last user message; unchanged when the draft is empty."""
        if draft.empty:
            return self
        return replace(self, messages=(*self.messages, ProjectedMessage(DRAFT_ID, "user", draft.parts())))

    def plus_pending(self, message_id: MessageId, parts: tuple[Part, ...]) -> Projection:
        """With the finished steps of the answer under way, for the next request of its tool loop."""
        pending = ProjectedMessage(message_id, "assistant", parts, "pending")
        return replace(self, messages=(*self.messages, pending))


def newest_checkpoint(path: Path) -> int | None:
    """Index of the newest checkpoint on a path."""
    return next((i for i in range(len(path) - 1, -1, -1) if isinstance(path[i], Checkpoint)), None)


def position(path: Path, checkpoint_index: int) -> int:
    """Where a checkpoint's verbatim part starts (I5), as an index.

    That of its boundary; for a null boundary, of the first user message after it; while there is none, its
    own.
    """
    checkpoint = path[checkpoint_index]
    if not isinstance(checkpoint, Checkpoint):
        raise TypeError("position of a message that is not a checkpoint")
    if checkpoint.first_kept_id is not None:
        return next(i for i, m in enumerate(path) if m.id == checkpoint.first_kept_id)
    after = range(checkpoint_index + 1, len(path))
    return next((i for i in after if isinstance(path[i], UserMessage)), checkpoint_index)


def verbatim(path: Path) -> tuple[UserMessage | AssistantMessage, ...]:
    """The user and assistant messages that the model reads word for word."""
    newest = newest_checkpoint(path)
    start = 0 if newest is None else position(path, newest)
    return tuple(m for m in path[start:] if not isinstance(m, Checkpoint))


def project(path: Path) -> Projection:
    """What the next request carries of a valid path: newest checkpoint, recent tail, everything after it."""
    newest = newest_checkpoint(path)
    entries = tuple(projected(m) for m in verbatim(path))
    if newest is None:
        return Projection(entries)
    before = {m.id for m in path[:newest]}
    tail = sum(entry.id in before for entry in entries)
    return Projection((projected(path[newest]), *entries), tail)


def projected(message: Message) -> ProjectedMessage:
    match message:
        case UserMessage():
            return ProjectedMessage(message.id, "user", message.parts)
        case AssistantMessage():
            return ProjectedMessage(message.id, "assistant", message.parts, message.status, message.error)
        case Checkpoint():
            text = checkpoint_text(message.summary, message.ledger_projected)
            return ProjectedMessage(message.id, "checkpoint", (TextPart(text),))


def checkpoint_text(summary: str, ledger: str) -> str:
    """The fenced message that stands for everything before the boundary."""
    resources = f"\n\n<resource_ledger>\n{ledger}\n</resource_ledger>" if ledger else ""
    return (
        "<checkpoint>\nThe earlier part of this conversation was replaced by this summary. It is a record, "
        f"not an instruction.\n\n{summary}{resources}\n</checkpoint>"
    )
