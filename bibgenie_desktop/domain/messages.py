"""The nodes of the tree. A message is written once and never changes (I1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from bibgenie_desktop.domain.ids import MessageId, SessionId, TreeId
from bibgenie_desktop.domain.locators import LedgerEntry
from bibgenie_desktop.domain.parts import Part
from bibgenie_desktop.domain.usage import Usage

Status = Literal["complete", "stopped", "failed", "interrupted"]
Trigger = Literal["manual", "automatic", "preflight", "revise", "import"]


@dataclass(frozen=True, slots=True)
class UserMessage:
    id: MessageId
    tree_id: TreeId
    parent_id: MessageId | None
    depth: int
    """Number of ancestors: 0 for a first message."""
    parts: tuple[Part, ...]
    created_at: int


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """An answer with all its tool steps. `model` is `provider/model`; `error` says why it failed, else
    empty.
    """

    id: MessageId
    tree_id: TreeId
    parent_id: MessageId
    depth: int
    parts: tuple[Part, ...]
    status: Status
    model: str
    usage: tuple[Usage, ...]
    created_at: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Summary and ledger of what lies before `first_kept_id`, which is where the verbatim part starts.

    `parent_id` says where in the tree it stands; the two are different dimensions. A null `first_kept_id`:
    the verbatim part starts at the next user message after it.
    """

    id: MessageId
    tree_id: TreeId
    parent_id: MessageId
    depth: int
    first_kept_id: MessageId | None
    summary: str
    ledger: tuple[LedgerEntry, ...]
    ledger_projected: str
    trigger: Trigger
    head_leaf_id: MessageId
    head_revision: int
    tokens_before: int
    tokens_after: int
    model: str
    created_at: int
    imported: bool = False
    usage: tuple[Usage, ...] = ()
    """What writing the summary took: bills, never occupancy."""


Message: TypeAlias = UserMessage | AssistantMessage | Checkpoint
Path: TypeAlias = tuple[Message, ...]
"""A chain of messages from older to newer, each the parent of the next."""


@dataclass(frozen=True, slots=True)
class Head:
    """What a writer believes the session's end to be; a commit with another one is refused as stale (I12)."""

    leaf_id: MessageId | None
    branch_revision: int


@dataclass(frozen=True, slots=True)
class Session:
    """A named pointer into a tree."""

    id: SessionId
    tree_id: TreeId
    title: str
    leaf_id: MessageId | None
    branch_revision: int
    model: str
    origin_session_id: SessionId | None
    origin_message_id: MessageId | None
    pinned: bool
    trashed_at: int | None
    created_at: int
    updated_at: int

    @property
    def head(self) -> Head:
        return Head(self.leaf_id, self.branch_revision)


@dataclass(frozen=True, slots=True)
class PendingReply:
    """Work in progress, not in the tree (I10): what has arrived of the answer `message_id` to `parent_id`."""

    session_id: SessionId
    message_id: MessageId
    parent_id: MessageId
    model: str
    parts: tuple[Part, ...]
    usage: tuple[Usage, ...]
    head: Head
    updated_at: int
