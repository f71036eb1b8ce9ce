"""`inspect tree`: every node of a session's tree without its content, and who points where."""

from __future__ import annotations

from typing import Any

from bibgenie_desktop.cli.reading import all_sessions
from bibgenie_desktop.domain.messages import Session
from bibgenie_desktop.domain.topology import DamagedBranch, Placeholder
from bibgenie_desktop.services.export import whole_path
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.values import OutlineNode


def tree(store: Store, session: Session) -> dict[str, Any]:
    """For a damaged session: the messages that can be read, the ones that cannot, and why."""
    path = whole_path(store, session)
    damaged = path if isinstance(path, DamagedBranch) else None
    chain = path.readable if isinstance(path, DamagedBranch) else path
    return {
        "tree": session.tree_id,
        "session": session.id,
        "active_path": [m.id for m in chain if not isinstance(m, Placeholder)],
        "ok": damaged is None,
        "bad_id": damaged.bad_id if damaged else None,
        "reason": damaged.reason if damaged else "",
        "unreadable": [{"id": m.id, "reason": m.reason} for m in chain if isinstance(m, Placeholder)],
        "nodes": [_node(node) for node in store.outline(session.tree_id)],
        "sessions": [
            {
                "id": row.session.id,
                "title": row.session.title,
                "leaf": row.session.leaf_id,
                "revision": row.session.branch_revision,
                "trashed": row.session.trashed_at is not None,
            }
            for row in all_sessions(store)
            if row.session.tree_id == session.tree_id
        ],
    }


def _node(node: OutlineNode) -> dict[str, Any]:
    return {
        "id": node.id,
        "parent_id": node.parent_id,
        "kind": node.kind,
        "status": node.status,
        "depth": node.depth,
        "model": node.model,
        "created_at": node.created_at,
        "words": node.words,
    }
