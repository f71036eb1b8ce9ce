"""`check`: whether the database is sound and every session's path fits together."""

from __future__ import annotations

from typing import Any

from bibgenie_desktop.cli.reading import all_sessions
from bibgenie_desktop.domain.errors import StoreUnavailable
from bibgenie_desktop.domain.messages import Session
from bibgenie_desktop.domain.topology import DamagedBranch
from bibgenie_desktop.storage.store import Store


def check(store: Store) -> dict[str, Any]:
    """Every session is looked at, also those in the trash, whatever is found in others."""
    try:
        fault = store.integrity()
    except StoreUnavailable as error:
        fault = error.title
    rows = [_session(store, row.session) for row in all_sessions(store)]
    return {
        "ok": not fault and all(row["ok"] for row in rows),
        "database": {"ok": not fault, "reason": fault},
        "sessions": rows,
    }


def _session(store: Store, session: Session) -> dict[str, Any]:
    bad_id, reason = None, ""
    try:
        # The whole path first; opening also reads the answer under way.
        found = store.check_session(session.id) or store.open_branch(session.id, 1).path
        if isinstance(found, DamagedBranch):
            bad_id, reason = found.bad_id, found.reason
    except StoreUnavailable as error:
        reason = error.title
    unread = 0
    try:
        unread = store.unreadable_drafts(session.id)
    except StoreUnavailable as error:
        reason = reason or error.title
    if unread and not reason:
        reason = "What was being written in this conversation is not stored as a draft."
    return {
        "id": session.id,
        "title": session.title,
        "ok": not reason,
        "bad_id": bad_id,
        "reason": reason,
    }
