"""Drafts: one for the composer, one for each edited question, and the follow-ups that wait to be sent; and
pictures by content hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from bibgenie_desktop.domain.codec import InvalidContent, draft_from_json, draft_to_json, dumps, loads
from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.mend import mended_text, storable
from bibgenie_desktop.domain.parts import Draft, ImagePart, Part, ResourcePart, merged
from bibgenie_desktop.storage.records import Records
from bibgenie_desktop.storage.values import Blob, NotFound, StoredDraft


class Drafts(Records):
    def draft(self, session_id: SessionId, edits: MessageId | None = None) -> Draft:
        """What stood in the composer; empty where nothing was kept."""
        text = self._db.value(
            "SELECT content FROM draft WHERE session_id = ? AND edits_message_id IS ?", session_id, edits
        )
        return Draft() if text is None else _decoded(text)

    def drafts(self, session_id: SessionId) -> tuple[StoredDraft, ...]:
        rows = self._db.rows(
            "SELECT edits_message_id, content, updated_at FROM draft "
            "WHERE session_id = ? ORDER BY updated_at",
            session_id,
        )
        return tuple(
            StoredDraft(None if edits is None else MessageId(edits), _decoded(text), updated_at)
            for edits, text, updated_at in rows
        )

    def unreadable_drafts(self, session_id: SessionId) -> int:
        """How many texts of a session are not stored as drafts are: they are shown as they stand there."""
        rows = self._db.rows("SELECT content FROM draft WHERE session_id = ?", session_id)
        rows += self._db.rows("SELECT content FROM follow_up WHERE session_id = ?", session_id)
        return sum(not _is_draft(content) for (content,) in rows)

    def keep_queue(self, session_id: SessionId, queue: Sequence[Draft], back: Draft | None = None) -> None:
        """The follow-ups that wait, oldest first, in place of those kept before.

        What joins the queue leaves the composer; `back` was refused and goes before what stands there.
        """
        with self._db.writing():
            self._session(session_id)
            self._db.run("DELETE FROM follow_up WHERE session_id = ?", session_id)
            for draft in queue:
                self._db.run(
                    "INSERT INTO follow_up (id, session_id, content, created_at) VALUES (?, ?, ?, ?)",
                    self._ids(),
                    session_id,
                    _encoded(draft),
                    self._clock(),
                )
            typed = self.draft(session_id)
            rest = Draft() if typed in queue else typed
            self._replace_draft(session_id, None, rest if back is None else merged((back, rest)))

    def reclaim_queue(self, session_id: SessionId) -> None:
        """After a restart nothing goes out by itself: follow-ups that were not sent become the draft."""
        with self._db.writing():
            waiting = [draft for _, draft in self._follow_ups(session_id)]
            if waiting:
                self._db.run("DELETE FROM follow_up WHERE session_id = ?", session_id)
                typed = self.draft(session_id)
                lost = [d for d in waiting if d.text not in typed.text or d.attached]
                self._replace_draft(session_id, None, merged((*lost, typed)))

    def _follow_ups(self, session_id: SessionId) -> list[tuple[str, Draft]]:
        rows = self._db.rows("SELECT id, content FROM follow_up WHERE session_id = ? ORDER BY id", session_id)
        return [(str(row_id), _decoded(text)) for row_id, text in rows]

    def _use_up(self, session_id: SessionId, parts: tuple[Part, ...]) -> None:
        """Inside the transaction that sends: the text is no draft and no follow-up any more. Others stay."""
        if storable(self.draft(session_id).parts()) == parts:
            self._replace_draft(session_id, None, Draft())
        for row_id, draft in self._follow_ups(session_id):
            if storable(draft.parts()) == parts:
                self._db.run("DELETE FROM follow_up WHERE id = ?", row_id)
                return

    def save_draft(self, session_id: SessionId, edits: MessageId | None, draft: Draft) -> None:
        """Replaces the draft; an empty one is forgotten. Neither counts as a change of the session."""
        with self._db.writing():
            self._session(session_id)
            self._replace_draft(session_id, edits, draft)

    def _replace_draft(self, session_id: SessionId, edits: MessageId | None, draft: Draft) -> None:
        self._db.run("DELETE FROM draft WHERE session_id = ? AND edits_message_id IS ?", session_id, edits)
        # Spaces alone are kept as well: nothing typed is taken away.
        if draft.text or draft.attached:
            self._keep_draft(session_id, edits, draft)

    def _keep_draft(self, session_id: SessionId, edits: MessageId | None, draft: Draft) -> None:
        self._db.run(
            "INSERT INTO draft (session_id, edits_message_id, content, updated_at) VALUES (?, ?, ?, ?)",
            session_id,
            edits,
            _encoded(draft),
            self._clock(),
        )

    def put_blob(self, data: bytes, mime: str, width: int = 0, height: int = 0) -> str:
        """Keeps bytes once, whoever refers to them; returns their SHA-256, which an `ImagePart` names."""
        digest = hashlib.sha256(data).hexdigest()
        with self._db.writing(lasting=True):
            self._db.run(
                "INSERT INTO blob (sha256, mime, width, height, bytes) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (sha256) DO NOTHING",
                digest,
                mime,
                width,
                height,
                data,
            )
        return digest

    def blob(self, sha256: str) -> Blob:
        row = self._db.row("SELECT sha256, mime, bytes, width, height FROM blob WHERE sha256 = ?", sha256)
        if row is None:
            raise NotFound("A picture is missing from the database.", f"Its hash is {sha256}.")
        return Blob(*row)


def _encoded(draft: Draft) -> str:
    attached = tuple(part for part in storable(draft.attached) if isinstance(part, ImagePart | ResourcePart))
    return dumps(draft_to_json(replace(draft, text=mended_text(draft.text), attached=attached)))


def _is_draft(text: object) -> bool:
    try:
        draft_from_json(loads(text))
    except InvalidContent:
        return False
    return True


def _decoded(text: object) -> Draft:
    """A draft is the person's own text: what of it cannot be read is still shown, as it is stored."""
    try:
        return draft_from_json(loads(text))
    except InvalidContent:
        return Draft(mended_text(str(text)))
