"""Branches that are put out of sight: a mark at the message where a branch begins, and nothing else."""

from __future__ import annotations

from bibgenie_desktop.domain.errors import NotAllowed
from bibgenie_desktop.domain.ids import MessageId, SessionId, TreeId
from bibgenie_desktop.storage.records import Records


class Archive(Records):
    def archive(self, session_id: SessionId, message_id: MessageId) -> None:
        """Marks a message and all below it as out of sight.

        Raises `NotAllowed` for a message on the session's own path.
        """
        with self._db.writing():
            at = self._session(session_id).leaf_id
            while at is not None:
                if at == message_id:
                    raise NotAllowed("You are on this branch.", "Go to another branch first.")
                row = self._db.row("SELECT parent_id FROM message WHERE id = ?", at)
                at = MessageId(row[0]) if row is not None and row[0] is not None else None
            self._db.run(
                "INSERT OR IGNORE INTO archived (message_id, archived_at) VALUES (?, ?)",
                message_id,
                self._clock(),
            )

    def bring_back(self, message_id: MessageId) -> None:
        """Takes the mark away."""
        with self._db.writing():
            self._db.run("DELETE FROM archived WHERE message_id = ?", message_id)

    def archived(self, tree_id: TreeId) -> frozenset[MessageId]:
        """Where the branches of a tree begin that are out of sight."""
        with self._db.reading():
            rows = self._db.rows(
                "SELECT message_id FROM archived JOIN message ON id = message_id WHERE tree_id = ?",
                tree_id,
            )
            return frozenset(MessageId(row[0]) for row in rows)
