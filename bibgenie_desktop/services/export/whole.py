"""A session and its whole tree as JSON, lossless: every node on every branch, drafts, the answer under way,
pictures. The form is described in `docs/cli.md`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from bibgenie_desktop.domain.codec import draft_to_json, ledger_to_json, parts_to_json, usage_to_json
from bibgenie_desktop.domain.messages import (
    AssistantMessage,
    Checkpoint,
    Message,
    PendingReply,
    Session,
    UserMessage,
)
from bibgenie_desktop.domain.topology import BrokenNode
from bibgenie_desktop.services.export.proposals import Fate, fates_to_json
from bibgenie_desktop.storage.values import Blob, StoredDraft

FORMAT: Final = "bibgenie-conversation"
VERSION: Final = 1
"""Goes up when a reader of the old form could not read the new one."""


def export_json(
    session: Session,
    nodes: Sequence[Message | BrokenNode],
    drafts: Sequence[StoredDraft] = (),
    pending: PendingReply | None = None,
    blobs: Sequence[Blob] = (),
    fates: Mapping[str, Fate] | None = None,
) -> str:
    """Nodes whose stored content cannot be read are listed under `broken` with the reason."""
    whole = {
        "format": FORMAT,
        "version": VERSION,
        "session": session_to_json(session),
        "messages": [_message(node) for node in nodes if not isinstance(node, BrokenNode)],
        "broken": [
            {"id": node.id, "parent_id": node.parent_id, "reason": node.reason}
            for node in nodes
            if isinstance(node, BrokenNode)
        ],
        "pending_reply": None if pending is None else _pending(pending),
        "drafts": [
            {
                "edits_message_id": stored.edits,
                "content": draft_to_json(stored.draft),
                "updated_at": stored.updated_at,
            }
            for stored in drafts
        ],
        "proposals": fates_to_json(fates or {}),
        "blobs": [
            {
                "sha256": blob.sha256,
                "mime": blob.mime,
                "width": blob.width,
                "height": blob.height,
                "data": base64.b64encode(blob.data).decode("ascii"),
            }
            for blob in blobs
        ],
    }
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


def session_to_json(session: Session) -> dict[str, Any]:
    return {
        "id": session.id,
        "tree_id": session.tree_id,
        "title": session.title,
        "leaf_id": session.leaf_id,
        "branch_revision": session.branch_revision,
        "model": session.model,
        "origin_session_id": session.origin_session_id,
        "origin_message_id": session.origin_message_id,
        "pinned": session.pinned,
        "trashed_at": session.trashed_at,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
    }


def _message(message: Message) -> dict[str, Any]:
    value: dict[str, Any] = {
        "id": message.id,
        "parent_id": message.parent_id,
        "depth": message.depth,
        "created_at": message.created_at,
    }
    match message:
        case UserMessage():
            return {"kind": "user", **value, "parts": parts_to_json(message.parts)}
        case AssistantMessage():
            return {
                "kind": "assistant",
                **value,
                "status": message.status,
                "error": message.error,
                "model": message.model,
                "parts": parts_to_json(message.parts),
                "usage": usage_to_json(message.usage),
            }
        case Checkpoint():
            return {
                "kind": "checkpoint",
                **value,
                "model": message.model,
                "first_kept_id": message.first_kept_id,
                "summary": message.summary,
                "ledger": ledger_to_json(message.ledger),
                "ledger_projected": message.ledger_projected,
                "trigger": message.trigger,
                "head_leaf_id": message.head_leaf_id,
                "head_revision": message.head_revision,
                "tokens_before": message.tokens_before,
                "tokens_after": message.tokens_after,
                "imported": message.imported,
                "usage": usage_to_json(message.usage),
            }


def _pending(pending: PendingReply) -> dict[str, Any]:
    return {
        "message_id": pending.message_id,
        "parent_id": pending.parent_id,
        "model": pending.model,
        "parts": parts_to_json(pending.parts),
        "usage": usage_to_json(pending.usage),
        "head": {"leaf_id": pending.head.leaf_id, "branch_revision": pending.head.branch_revision},
        "updated_at": pending.updated_at,
    }
