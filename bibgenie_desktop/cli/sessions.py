"""`inspect sessions`: every session pointer, the most recently updated first."""

from __future__ import annotations

from typing import Any

from bibgenie_desktop.cli.reading import all_sessions
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.values import SessionRow


def sessions(store: Store) -> list[dict[str, Any]]:
    return [_session(row) for row in all_sessions(store)]


def _session(row: SessionRow) -> dict[str, Any]:
    session = row.session
    origin = None
    if session.origin_session_id is not None:
        origin = {"session": session.origin_session_id, "message": session.origin_message_id}
    return {
        "id": session.id,
        "title": session.title,
        "tree": session.tree_id,
        "leaf": session.leaf_id,
        "revision": session.branch_revision,
        "model": session.model,
        "origin": origin,
        "pinned": session.pinned,
        "trashed": session.trashed_at is not None,
        "pending": row.pending,
        "has_draft": row.has_draft,
        "updated": row.updated,
    }
