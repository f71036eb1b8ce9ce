"""What every subject of the store shares: finding sessions and messages, moving a leaf, loading a chain."""

from __future__ import annotations

from collections.abc import Callable

from bibgenie_desktop.domain.codec import InvalidContent
from bibgenie_desktop.domain.errors import NotAllowed, StaleBranch
from bibgenie_desktop.domain.ids import Clock, IdMaker, MessageId, SessionId, TreeId
from bibgenie_desktop.domain.messages import Head, Message, Path, PendingReply, Session
from bibgenie_desktop.domain.topology import BrokenNode, DamagedBranch, Stop, check_path
from bibgenie_desktop.storage.connection import Connection
from bibgenie_desktop.storage.rows import (
    NODE_COLUMNS,
    NODE_TABLES,
    PENDING_COLUMNS,
    SESSION_COLUMNS,
    node_from_row,
    pending_from_row,
    session_from_row,
)
from bibgenie_desktop.storage.values import NotFound

CHUNK = 200
"""How many ancestors one query brings."""

CLIMB = f"""
    WITH RECURSIVE up (id, n) AS (
        SELECT ?, 0
        UNION ALL
        SELECT m.parent_id, up.n + 1 FROM up JOIN message m ON m.id = up.id
        WHERE up.n + 1 < ? AND m.parent_id IS NOT NULL
    )
    SELECT {NODE_COLUMNS} FROM up JOIN {NODE_TABLES} WHERE m.id = up.id
"""


class Records:
    """`db` belongs to this store alone, and to the thread that made it."""

    def __init__(self, db: Connection, clock: Clock, ids: IdMaker) -> None:
        self._db = db
        self._clock = clock
        self._ids = ids
        self._owns = False

    def _session(self, session_id: SessionId) -> Session:
        row = self._db.row(f"SELECT {SESSION_COLUMNS} FROM session s WHERE s.id = ?", session_id)
        if row is None:
            raise NotFound("There is no such conversation.", f"No session has the id {session_id}.")
        return session_from_row(row)

    def _at_head(self, session_id: SessionId, expected: Head) -> Session:
        """The session, if its head is the expected one and nothing is under way in it."""
        session = self._session(session_id)
        if session.head != expected:
            raise StaleBranch(
                "This conversation was changed meanwhile.", "Nothing was written; look at it and try again."
            )
        if self._is_pending(session_id):
            raise NotAllowed("An answer is under way in this conversation.", "Wait for it, or stop it.")
        return session

    def _is_pending(self, session_id: SessionId) -> bool:
        return self._db.row("SELECT 1 FROM pending_reply WHERE session_id = ?", session_id) is not None

    def _pending(self, session_id: SessionId) -> PendingReply | None:
        """Raises `InvalidContent` where what is stored of the answer cannot be read."""
        row = self._db.row(f"SELECT {PENDING_COLUMNS} FROM pending_reply WHERE session_id = ?", session_id)
        return None if row is None else pending_from_row(row)

    def _node(self, message_id: MessageId) -> Message | BrokenNode | None:
        row = self._db.row(f"SELECT {NODE_COLUMNS} FROM {NODE_TABLES} WHERE m.id = ?", message_id)
        return None if row is None else node_from_row(row)

    def _message(self, message_id: MessageId, tree_id: TreeId | None = None) -> Message:
        """A readable message, of this tree where one is named."""
        node = self._node(message_id)
        if node is None or (
            tree_id is not None and not isinstance(node, BrokenNode) and node.tree_id != tree_id
        ):
            raise NotFound("There is no such message in this conversation.", f"Its id would be {message_id}.")
        if isinstance(node, BrokenNode):
            raise NotAllowed("This message is damaged.", node.reason)
        return node

    def _getter(self, chunk: int = CHUNK) -> Callable[[MessageId], Message | BrokenNode | None]:
        """Finds nodes by id and fetches their ancestors along, a chunk at a time."""
        found: dict[MessageId, Message | BrokenNode] = {}

        def get(message_id: MessageId) -> Message | BrokenNode | None:
            if message_id not in found:
                for row in self._db.rows(CLIMB, message_id, chunk):
                    node = node_from_row(row)
                    found.setdefault(node.id, node)
            return found.get(message_id)

        return get

    def _chain(
        self, leaf_id: MessageId | None, tree_id: TreeId, stop: Stop | None, chunk: int = CHUNK
    ) -> Path | DamagedBranch:
        return check_path(self._getter(chunk), leaf_id, tree_id=tree_id, stop=stop)

    def _sound_chain(self, leaf_id: MessageId | None, tree_id: TreeId, stop: Stop | None) -> Path:
        chain = self._chain(leaf_id, tree_id, stop)
        if isinstance(chain, DamagedBranch):
            raise NotAllowed("This conversation is damaged and can only be read.", chain.reason)
        return chain

    def _move_leaf(self, session: Session, leaf_id: MessageId) -> Session:
        """Inside a transaction: the new leaf, and the revision one higher if that is a move."""
        if leaf_id == session.leaf_id:
            return session
        self._db.run(
            "UPDATE session SET leaf_id = ?, branch_revision = branch_revision + 1, updated_at = ? "
            "WHERE id = ?",
            leaf_id,
            self._clock(),
            session.id,
        )
        return self._session(session.id)

    def _remember_child(self, parent_id: MessageId | None, child_id: MessageId) -> None:
        if parent_id is not None:
            self._db.run(
                "INSERT INTO last_child (parent_id, child_id) VALUES (?, ?) "
                "ON CONFLICT (parent_id) DO UPDATE SET child_id = excluded.child_id",
                parent_id,
                child_id,
            )

    def _remember_branch(self, leaf_id: MessageId) -> None:
        """Each ancestor of the leaf leads to it again; needed only when the leaf moves sideways."""
        self._db.run(
            "WITH RECURSIVE up (id, parent_id) AS (SELECT id, parent_id FROM message WHERE id = ? "
            "UNION SELECT m.id, m.parent_id FROM up JOIN message m ON m.id = up.parent_id) "
            "INSERT INTO last_child (parent_id, child_id) "
            "SELECT parent_id, id FROM up WHERE parent_id IS NOT NULL "
            "ON CONFLICT (parent_id) DO UPDATE SET child_id = excluded.child_id "
            "WHERE child_id <> excluded.child_id",
            leaf_id,
        )

    def _pending_or_damage(self, session: Session) -> PendingReply | DamagedBranch | None:
        try:
            return self._pending(session.id)
        except InvalidContent as error:
            bad = self._db.value("SELECT message_id FROM pending_reply WHERE session_id = ?", session.id)
            return DamagedBranch(
                (), MessageId(str(bad)), f"The answer under way cannot be read. {error.reason}"
            )
