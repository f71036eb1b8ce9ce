"""Drafts, one for the composer and one for each edited question, and pictures by content hash."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from bibgenie_desktop.domain.codec import InvalidContent, draft_from_json, draft_to_json, dumps, loads
from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.mend import mended_text, storable
from bibgenie_desktop.domain.parts import Draft, ImagePart, ResourcePart
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

    def save_draft(self, session_id: SessionId, edits: MessageId | None, draft: Draft) -> None:
        """Replaces the draft; an empty one is forgotten. Neither counts as a change of the session."""
        with self._db.writing():
            self._session(session_id)
            self._db.run(
                "DELETE FROM draft WHERE session_id = ? AND edits_message_id IS ?", session_id, edits
            )
            # Spaces alone are kept as well: nothing typed is taken away.
            if draft.text or draft.attached:
                self._keep_draft(session_id, edits, draft)

    def _keep_draft(self, session_id: SessionId, edits: MessageId | None, draft: Draft) -> None:
        attached = tuple(
            part for part in storable(draft.attached) if isinstance(part, ImagePart | ResourcePart)
        )
        self._db.run(
            "INSERT INTO draft (session_id, edits_message_id, content, updated_at) VALUES (?, ?, ?, ?)",
            session_id,
            edits,
            dumps(draft_to_json(replace(draft, text=mended_text(draft.text), attached=attached))),
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


def _decoded(text: object) -> Draft:
    """A draft is the person's own text: what of it cannot be read is still shown, as it is stored."""
    try:
        return draft_from_json(loads(text))
    except InvalidContent:
        return Draft(mended_text(str(text)))
