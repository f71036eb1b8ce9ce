"""What has become of the proposals of a conversation, as an export tells it beside the stored results.

A result is what the model was told in its turn; what was said and written later is in the journal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.services.zotero_changes.standing import proposal_of
from bibgenie_desktop.storage.store import Store

WORDS: Final = {
    "proposed": "not answered",
    "accepted": "accepted",
    "edited": "accepted with changes",
    "declined": "declined",
    "copied": "copied",
    "sending": "not known whether written",
    "unknown": "not known whether written",
    "written": "written",
    "failed": "not written",
    "undo": "being taken back",
    "undone": "taken back",
    "kept": "could not be taken back",
}


@dataclass(frozen=True, slots=True)
class Fate:
    """`state` is that of the journal, `words` the sentence for it, `at` when it came to that."""

    state: str
    words: str
    at: int
    entries: tuple[tuple[str, int], ...] = ()

    @property
    def said(self) -> str:
        return ": ".join(filter(None, (WORDS.get(self.state, self.state), self.words)))


def fates_of(store: Store, message_ids: Iterable[MessageId]) -> dict[str, Fate]:
    """By the ids of the calls."""
    found = {}
    for stored in store.proposals(tuple(message_ids)):
        proposal = proposal_of(stored, busy=False)
        entries = tuple((entry.kind, entry.created_at) for entry in stored.entries)
        at = entries[-1][1] if entries else 0
        found[stored.call_id] = Fate(proposal.state, proposal.words, at, entries)
    return found


def fates_to_json(fates: Mapping[str, Fate]) -> list[dict[str, Any]]:
    return [
        {
            "call_id": call_id,
            "state": fate.state,
            "words": fate.words,
            "at": fate.at,
            "journal": [{"kind": kind, "at": at} for kind, at in fate.entries],
        }
        for call_id, fate in fates.items()
    ]
