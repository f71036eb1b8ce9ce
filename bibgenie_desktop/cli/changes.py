"""`inspect changes`: everything that was proposed to be written to Zotero, and what came of it."""

from __future__ import annotations

from typing import Any

from bibgenie_desktop.storage.journal import JournalEntry
from bibgenie_desktop.storage.store import Store


def changes(store: Store) -> list[dict[str, Any]]:
    """By proposal, the first one first; the journal keeps them when their conversation is gone."""
    found: dict[str, list[JournalEntry]] = {}
    for entry in store.journal():
        found.setdefault(entry.call_id, []).append(entry)
    return [
        {
            "id": call_id,
            "session": entries[0].session_id,
            "state": entries[-1].kind,
            "entries": [{"kind": e.kind, "time": e.created_at, "facts": dict(e.content)} for e in entries],
        }
        for call_id, entries in found.items()
    ]
