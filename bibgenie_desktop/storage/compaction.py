"""The compaction commit: the one transaction that appends a checkpoint to a living branch (I2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bibgenie_desktop.domain.errors import NotAllowed, StaleBranch
from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.mend import mended_text
from bibgenie_desktop.domain.messages import Checkpoint, Head, Session
from bibgenie_desktop.domain.topology import back_to_boundary, refusal
from bibgenie_desktop.storage.records import Records
from bibgenie_desktop.storage.rows import insert_message


class Compaction(Records):
    def commit_checkpoint(
        self,
        session_id: SessionId,
        expected: Head,
        checkpoint: Checkpoint,
        cancelled: Callable[[], bool] | None = None,
    ) -> Session:
        """Appends a checkpoint to the leaf and moves the leaf to it, if the head is still the expected one.

        Anything that does not fit leaves the database as it was. The record says for which head it was made.
        """
        with self._db.writing(lasting=True, cancelled=cancelled):
            session = self._at_head(session_id, expected)
            if checkpoint.parent_id != session.leaf_id:
                raise StaleBranch("The summary was made for another place.", "Nothing was written.")
            placed = self._place(session, checkpoint)
            self._remember_child(placed.parent_id, placed.id)
            return self._move_leaf(session, placed.id)

    def undo_checkpoint(self, session_id: SessionId, expected: Head) -> Session:
        """Moves the leaf from a checkpoint to what it stands under; the checkpoint stays in the tree."""
        with self._db.writing(lasting=True):
            session = self._at_head(session_id, expected)
            leaf = self._message(session.leaf_id, session.tree_id) if session.leaf_id is not None else None
            if not isinstance(leaf, Checkpoint):
                raise NotAllowed("There is no checkpoint at the end of this branch.", "Compact first.")
            moved = self._move_leaf(session, leaf.parent_id)
            self._db.run("DELETE FROM undone WHERE session_id = ?", session_id)
            self._db.run(
                "INSERT INTO undone (session_id, message_id, branch_revision, created_at) "
                "VALUES (?, ?, ?, ?)",
                session_id,
                leaf.id,
                moved.branch_revision,
                self._clock(),
            )
            return moved

    def checkpoint_undone(self, session_id: SessionId) -> bool:
        """Whether the last move of this session's leaf was to take its newest checkpoint back."""
        with self._db.reading():
            session = self._session(session_id)
            row = self._db.row(
                "SELECT 1 FROM undone WHERE session_id = ? AND branch_revision = ?",
                session_id,
                session.branch_revision,
            )
        return row is not None

    def _place(self, session: Session, checkpoint: Checkpoint) -> Checkpoint:
        """Inside a transaction: the checkpoint under its parent, checked against I3 to I6 on that path."""
        path = self._sound_chain(checkpoint.parent_id, session.tree_id, back_to_boundary(0))
        placed = replace(
            checkpoint,
            summary=mended_text(checkpoint.summary),
            ledger_projected=mended_text(checkpoint.ledger_projected),
            head_leaf_id=session.leaf_id or MessageId(""),
            head_revision=session.branch_revision,
            imported=False,
        )
        if reason := refusal(path, placed):
            raise NotAllowed("The summary does not fit this conversation; nothing was written.", reason)
        insert_message(self._db, placed)
        return placed
