"""The trash. Emptying it is the only way a node ever goes: with its whole tree, after its last session."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from bibgenie_desktop.domain.errors import NotAllowed
from bibgenie_desktop.domain.ids import SessionId
from bibgenie_desktop.domain.messages import Session
from bibgenie_desktop.storage.records import Records
from bibgenie_desktop.storage.values import TrashCounts

_BLOB: Final = re.compile(r'"blob":"([0-9a-f]{64})"')
_NAMING: Final = (
    ("message", "parts"),
    ("pending_reply", "parts"),
    ("draft", "content"),
    ("follow_up", "content"),
)
"""Where pictures are named."""


class Trash(Records):
    def trash(self, session_id: SessionId) -> Session:
        with self._db.writing():
            session = self._session(session_id)
            if self._is_pending(session_id):
                raise NotAllowed("An answer is under way in this conversation.", "Stop it first.")
            if session.trashed_at is None:
                self._db.run("UPDATE session SET trashed_at = ? WHERE id = ?", self._clock(), session_id)
            return self._session(session_id)

    def restore(self, session_id: SessionId) -> Session:
        with self._db.writing():
            self._session(session_id)
            self._db.run("UPDATE session SET trashed_at = NULL WHERE id = ?", session_id)
            return self._session(session_id)

    def count_nodes_going(self, session_ids: Collection[SessionId] | None = None) -> TrashCounts:
        """What emptying the trash would remove, to be said first; `session_ids` limits it to these."""
        with self._db.reading():
            sessions = self._trashed(session_ids)
            trees = self._trees_going(sessions)
            return TrashCounts(len(sessions), len(trees), sum(self._nodes(tree) for tree in trees))

    def empty_trash(self, session_ids: Collection[SessionId] | None = None) -> TrashCounts:
        """Removes trashed session pointers, the nodes of each tree that has no session left, and the pictures
        that nothing shows any more."""
        with self._db.writing(lasting=True):
            sessions = self._trashed(session_ids)
            trees = self._trees_going(sessions)
            counts = TrashCounts(len(sessions), len(trees), sum(self._nodes(tree) for tree in trees))
            pictures = self._pictures(sessions, trees)
            for session_id in sessions:
                for table in ("draft", "follow_up", "undone", "pin"):
                    self._db.run(f"DELETE FROM {table} WHERE session_id = ?", session_id)
                self._db.run("DELETE FROM session WHERE id = ?", session_id)
            for tree_id in trees:
                self._purge(tree_id)
            self._forget(pictures)
            return counts

    def _pictures(self, sessions: Collection[str], trees: Collection[str]) -> set[str]:
        """The pictures of what goes, by content hash."""
        found: set[str] = set()
        for table, column, owner, going in (
            ("message", "parts", "tree_id", trees),
            ("draft", "content", "session_id", sessions),
            ("follow_up", "content", "session_id", sessions),
        ):
            for one in going:
                found |= self._named_in(table, column, f"{owner} = ?", one)
        return found

    def _forget(self, pictures: set[str]) -> None:
        """Removes those of these pictures that are named nowhere else."""
        for table, column in _NAMING:
            if pictures:
                pictures -= self._named_in(table, column, "1")
        for sha256 in pictures:
            self._db.run("DELETE FROM blob WHERE sha256 = ?", sha256)

    def _named_in(self, table: str, column: str, where: str, *values: str) -> set[str]:
        rows = self._db.rows(
            f"SELECT {column} FROM {table} WHERE {where} AND instr({column}, '\"blob\":')", *values
        )
        return {sha256 for (text,) in rows for sha256 in _BLOB.findall(str(text))}

    def _trashed(self, session_ids: Collection[SessionId] | None) -> list[str]:
        rows = self._db.rows(
            "SELECT id FROM session s WHERE trashed_at IS NOT NULL "
            "AND NOT EXISTS (SELECT 1 FROM pending_reply p WHERE p.session_id = s.id)"
        )
        return [found for (found,) in rows if session_ids is None or found in session_ids]

    def _trees_going(self, going: Collection[str]) -> list[str]:
        left: dict[str, set[str]] = {}
        for session_id, tree_id in self._db.rows("SELECT id, tree_id FROM session"):
            left.setdefault(tree_id, set()).add(session_id)
        return [tree_id for tree_id, sessions in left.items() if sessions <= set(going)]

    def _nodes(self, tree_id: str) -> int:
        return int(self._db.value("SELECT count(*) FROM message WHERE tree_id = ?", tree_id))

    def _purge(self, tree_id: str) -> None:
        self._db.run("INSERT INTO purge_permit (tree_id) VALUES (?)", tree_id)
        nodes = "(SELECT id FROM message WHERE tree_id = ?)"
        for table, column in (
            ("last_child", "parent_id"),
            ("archived", "message_id"),
            ("label", "message_id"),
            ("estimate", "message_id"),
            ("proposal", "message_id"),
            ("checkpoint", "message_id"),
        ):
            self._db.run(f"DELETE FROM {table} WHERE {column} IN {nodes}", tree_id)
        self._db.run("DELETE FROM message WHERE tree_id = ?", tree_id)
        self._db.run("DELETE FROM tree WHERE id = ?", tree_id)
