"""What the store hands out beside the domain's own values, and the errors that only it raises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from bibgenie_desktop.domain.errors import Cancelled as Cancelled
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.ids import MessageId, SessionId, TreeId
from bibgenie_desktop.domain.messages import AssistantMessage, Path, PendingReply, Session, Status
from bibgenie_desktop.domain.parts import Draft
from bibgenie_desktop.domain.topology import DamagedBranch
from bibgenie_desktop.domain.usage import Usage


class NotFound(UserError):
    """There is no session or message with this id."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A line of the sessions list. `preview` is the beginning of the newest words on its path."""

    session: Session
    preview: str
    updated: int
    pending: bool
    has_draft: bool


SpendingMark: TypeAlias = tuple[TreeId, MessageId | None, int]


@dataclass(frozen=True, slots=True)
class Spending:
    """The requests behind one message. `unrecorded`: a summary from before its usage was kept."""

    message_id: MessageId
    usages: tuple[Usage, ...]
    unrecorded: bool


@dataclass(frozen=True, slots=True)
class Spent:
    """What a session's tree has records of beyond those known already, and what lies on its path."""

    tree_id: TreeId
    leaf_id: MessageId | None
    fresh: tuple[Spending, ...]
    path: frozenset[MessageId]


@dataclass(frozen=True, slots=True)
class Opened:
    """A session as it is shown first: the newest part of its path. `complete`: nothing older was left out."""

    session: Session
    path: Path | DamagedBranch
    pending: PendingReply | None
    complete: bool


@dataclass(frozen=True, slots=True)
class Finished:
    """The stored answer. `moved` is False where the session had gone elsewhere meanwhile."""

    message: AssistantMessage
    moved: bool
    session: Session


@dataclass(frozen=True, slots=True)
class Recovered:
    """An answer that a crash had cut off and that is in the tree now."""

    session_id: SessionId
    message_id: MessageId


@dataclass(frozen=True, slots=True)
class OutlineNode:
    """A node of the branch navigator. `words` is the beginning of its text on one line."""

    id: MessageId
    parent_id: MessageId | None
    kind: Literal["user", "assistant", "checkpoint"]
    status: Status
    words: str
    created_at: int
    model: str
    depth: int


@dataclass(frozen=True, slots=True)
class TrashCounts:
    sessions: int
    trees: int
    messages: int


@dataclass(frozen=True, slots=True)
class StoredDraft:
    """`edits` is the message that is being edited, None for the normal draft."""

    edits: MessageId | None
    draft: Draft
    updated_at: int


@dataclass(frozen=True, slots=True)
class Blob:
    sha256: str
    mime: str
    data: bytes
    width: int
    height: int
