"""Sessions as named pointers: create, list, rename, fork, switch branch. No node is written here."""

from __future__ import annotations

from bibgenie_desktop.domain.errors import NotAllowed
from bibgenie_desktop.domain.ids import MessageId, SessionId, TreeId
from bibgenie_desktop.domain.messages import AssistantMessage, Head, Session, UserMessage
from bibgenie_desktop.storage.records import Records
from bibgenie_desktop.storage.rows import SESSION_COLUMNS, session_from_row
from bibgenie_desktop.storage.values import SessionRow


class Sessions(Records):
    def create_session(self, title: str, model: str) -> Session:
        """A session in a tree of its own, still without messages."""
        with self._db.writing():
            now = self._clock()
            tree_id = TreeId(self._ids())
            self._db.run("INSERT INTO tree (id, created_at) VALUES (?, ?)", tree_id, now)
            return self._add_session(tree_id, title, model, None, None)

    def _add_session(
        self, tree_id: TreeId, title: str, model: str, leaf_id: MessageId | None, origin: SessionId | None
    ) -> Session:
        now = self._clock()
        session_id = SessionId(self._ids())
        self._db.run(
            "INSERT INTO session (id, tree_id, title, leaf_id, branch_revision, model, origin_session_id, "
            "origin_message_id, created_at, updated_at) VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?, ?)",
            session_id,
            tree_id,
            title,
            leaf_id,
            model,
            origin,
            leaf_id if origin is not None else None,
            now,
            now,
        )
        return self._session(session_id)

    def session(self, session_id: SessionId) -> Session:
        with self._db.reading():
            return self._session(session_id)

    def sessions(self, trashed: bool = False) -> tuple[SessionRow, ...]:
        """Pinned ones first, then the most recently used."""
        with self._db.reading():
            rows = self._db.rows(
                # A checkpoint has no words of its own: the list shows those of the answer before it.
                f"SELECT {SESSION_COLUMNS}, "
                "COALESCE(NULLIF(leaf.words, ''), before.words, ''), "
                "EXISTS (SELECT 1 FROM pending_reply p WHERE p.session_id = s.id), "
                "EXISTS (SELECT 1 FROM draft d WHERE d.session_id = s.id) "
                "FROM session s LEFT JOIN message leaf ON leaf.id = s.leaf_id "
                "LEFT JOIN message before ON before.id = leaf.parent_id "
                f"WHERE s.trashed_at IS {'NOT ' if trashed else ''}NULL "
                "ORDER BY s.pinned DESC, s.updated_at DESC, s.id DESC"
            )
        return tuple(
            SessionRow(session, row[12], session.updated_at, bool(row[13]), bool(row[14]))
            for row in rows
            for session in (session_from_row(row),)
        )

    def rename(self, session_id: SessionId, title: str) -> Session:
        return self._set(session_id, "title", title)

    def set_model(self, session_id: SessionId, model: str) -> Session:
        return self._set(session_id, "model", model)

    def pin(self, session_id: SessionId, pinned: bool) -> Session:
        return self._set(session_id, "pinned", int(pinned))

    def _set(self, session_id: SessionId, column: str, value: object) -> Session:
        with self._db.writing():
            self._session(session_id)
            self._db.run(f"UPDATE session SET {column} = ? WHERE id = ?", value, session_id)
            return self._session(session_id)

    def fork(self, session_id: SessionId, message_id: MessageId, title: str) -> Session:
        """A new session of the same tree whose leaf is an answer. No node is copied; pins come along."""
        with self._db.writing(lasting=True):
            origin = self._session(session_id)
            message = self._message(message_id, origin.tree_id)
            if not isinstance(message, AssistantMessage):
                raise NotAllowed("Only from an answer can a fork begin.", "Choose an answer of the model.")
            fork = self._add_session(origin.tree_id, title, origin.model, message.id, origin.id)
            self._db.run(
                "INSERT INTO pin (session_id, locator, title, created_at) "
                "SELECT ?, locator, title, created_at FROM pin WHERE session_id = ?",
                fork.id,
                origin.id,
            )
            return fork

    def switch(self, session_id: SessionId, expected: Head, leaf_id: MessageId) -> Session:
        """Moves the leaf to an answer or a checkpoint of the same tree; the present leaf is no move."""
        with self._db.writing(lasting=True):
            session = self._at_head(session_id, expected)
            if isinstance(self._message(leaf_id, session.tree_id), UserMessage):
                raise NotAllowed("This question has no answer yet.", "A branch ends at an answer.")
            moved = self._move_leaf(session, leaf_id)
            self._remember_branch(leaf_id)
            return moved
