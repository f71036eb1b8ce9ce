"""What models proposed to write to Zotero, what the person said, and what came of it.

The journal is append-only: a proposal's state is what its newest entries say. It names things by their ids
and outlives the conversation it came from; the words of a proposal are in `proposal`, gone with its message.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from bibgenie_desktop.domain.codec import InvalidContent, dumps, loads
from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.mend import mended_value
from bibgenie_desktop.storage.records import Records

EntryKind: TypeAlias = Literal[
    "proposed",
    "accepted",
    "edited",
    "declined",
    "copied",
    "sending",
    "unknown",
    "written",
    "failed",
    "undo",
    "undone",
    "kept",
]
"""`sending`: kept before each write is sent, `unknown`: it was not answered, `failed`: nothing was written.

`undo`: taking it back was asked for; `undone`: done; `kept`: it could not be taken back.
"""

NOT_ANSWERED = (
    "Not answered: the person has not said yes or no to this proposal, and nothing was written. "
    "It stays open; what they say later comes with their next message."
)
NOT_SENT = (
    "The person accepted this proposal, but the turn ended before anything was sent to Zotero. "
    "Nothing was written; they can try it again from the card."
)
NOT_KNOWN = (
    "The person accepted this proposal, but the turn ended before Zotero had answered. "
    "Whether it was written is not known yet."
)


_OPEN = {
    "proposed": NOT_ANSWERED,
    "accepted": NOT_SENT,
    "edited": NOT_SENT,
    "sending": NOT_KNOWN,
    "unknown": NOT_KNOWN,
}
"""What a call says that has no result yet, by what is known of it."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """`content` is what the kind of entry needs: ids, route, versions; never the words of a note."""

    id: str
    call_id: str
    session_id: SessionId | None
    kind: EntryKind
    content: Mapping[str, Any]
    created_at: int


@dataclass(frozen=True, slots=True)
class StoredProposal:
    """`content` is what its card shows, `entries` what has become of it, oldest first."""

    call_id: str
    message_id: MessageId
    content: Mapping[str, Any]
    entries: tuple[JournalEntry, ...]

    @property
    def newest(self) -> EntryKind:
        return self.entries[-1].kind if self.entries else "proposed"

    def last(self, *kinds: EntryKind) -> JournalEntry | None:
        """The newest entry of one of these kinds."""
        return next((e for e in reversed(self.entries) if e.kind in kinds), None)


class Journal(Records):
    def propose(
        self,
        call_id: str,
        session_id: SessionId,
        content: Mapping[str, Any],
        facts: Mapping[str, Any],
    ) -> None:
        """Keeps a proposal before its card is shown; the same call proposes once. The journal gets facts."""
        with self._db.writing(lasting=True):
            if self._db.row("SELECT 1 FROM proposal WHERE call_id = ?", call_id) is not None:
                return
            self._db.run(
                "INSERT INTO proposal (call_id, message_id, content, created_at) VALUES (?, ?, ?, ?)",
                call_id,
                _message_of(call_id),
                dumps(mended_value(content)),
                self._clock(),
            )
            self._append(call_id, session_id, "proposed", facts)

    def revise_proposal(self, call_id: str, content: Mapping[str, Any]) -> None:
        """What the card shows from now on."""
        with self._db.writing():
            self._db.run(
                "UPDATE proposal SET content = ? WHERE call_id = ?", dumps(mended_value(content)), call_id
            )

    def journal_entry(
        self,
        call_id: str,
        session_id: SessionId | None,
        kind: EntryKind,
        content: Mapping[str, Any] | None = None,
    ) -> None:
        """Appends to the journal, and waits until the disk has it."""
        with self._db.writing(lasting=True):
            self._append(call_id, session_id, kind, content or {})

    def proposal(self, call_id: str) -> StoredProposal | None:
        with self._db.reading():
            row = self._db.row("SELECT call_id, message_id, content FROM proposal WHERE call_id = ?", call_id)
            return None if row is None else self._proposal(*row)

    def proposals(self, message_ids: Collection[MessageId]) -> tuple[StoredProposal, ...]:
        """The proposals made in these answers, in the order in which they were made."""
        with self._db.reading():
            found = [
                row
                for message_id in message_ids
                for row in self._db.rows(
                    "SELECT call_id, message_id, content FROM proposal WHERE message_id = ? ORDER BY "
                    "(SELECT min(seq) FROM journal WHERE journal.call_id = proposal.call_id), call_id",
                    message_id,
                )
            ]
            return tuple(self._proposal(*row) for row in found)

    def journal(self, call_id: str | None = None) -> tuple[JournalEntry, ...]:
        """The whole journal, or what it says of one proposal; oldest first."""
        with self._db.reading():
            return self._entries(call_id)

    def _append(
        self, call_id: str, session_id: SessionId | None, kind: EntryKind, content: Mapping[str, Any]
    ) -> None:
        self._db.run(
            "INSERT INTO journal (id, call_id, session_id, message_id, kind, content, created_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            self._ids(),
            call_id,
            session_id,
            _message_of(call_id),
            kind,
            dumps(mended_value(content)),
            self._clock(),
        )

    def _proposal(self, call_id: str, message_id: str, content: str) -> StoredProposal:
        return StoredProposal(call_id, MessageId(message_id), _read(content), self._entries(call_id))

    def _entries(self, call_id: str | None) -> tuple[JournalEntry, ...]:
        which = "" if call_id is None else "WHERE call_id = ? "
        values = () if call_id is None else (call_id,)
        rows = self._db.rows(
            f"SELECT id, call_id, session_id, kind, content, created_at FROM journal {which}ORDER BY seq",
            *values,
        )
        return tuple(
            JournalEntry(
                str(row_id), str(call), None if session is None else SessionId(session), kind, _read(text), at
            )
            for row_id, call, session, kind, text, at in rows
        )

    def _open_call(self, call_id: str) -> str:
        """What a call without a result is to say, by what the journal knows of it; empty for another call."""
        newest = self._db.value(
            "SELECT kind FROM journal WHERE call_id = ? ORDER BY seq DESC LIMIT 1", call_id
        )
        return _OPEN.get(newest or "", "")


def _message_of(call_id: str) -> str:
    return call_id.rpartition("/")[0]


def _read(text: object) -> Mapping[str, Any]:
    """What cannot be read counts as empty: the entry itself still says that something happened."""
    try:
        value = loads(text)
    except InvalidContent:
        return {}
    return value if isinstance(value, dict) else {}
