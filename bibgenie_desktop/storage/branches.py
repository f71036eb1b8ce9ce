"""Reading branches: opening from the leaf backwards, paging, the check of a path, siblings, the outline.

Nothing here writes, whatever is found.
"""

from __future__ import annotations

from bibgenie_desktop.domain.ids import MessageId, SessionId, TreeId
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Message, Path, Session, UserMessage
from bibgenie_desktop.domain.topology import (
    CYCLE,
    FOREIGN_TREE,
    MISSING,
    SELF_PARENT,
    WRONG_DEPTH,
    BrokenNode,
    DamagedBranch,
    Placeholder,
    back_to_boundary,
)
from bibgenie_desktop.storage.records import CHUNK, Records
from bibgenie_desktop.storage.rows import NODE_COLUMNS, NODE_TABLES, WORDS, node_from_row
from bibgenie_desktop.storage.values import Opened, OutlineNode

SHOWN = 100
"""How many messages an opened session has at least: more than a window shows; older ones follow by page."""

DEEPEST = 1_000_000
"""Ends a walk downwards in a damaged tree that goes round in a circle."""


class Branches(Records):
    def open_branch(self, session_id: SessionId, limit: int = SHOWN) -> Opened:
        """The newest part of a session's path: what the model sees of it, and at least `limit` messages."""
        with self._db.reading():
            session = self._session(session_id)
            pending = self._pending_or_damage(session)
            path = self._chain(session.leaf_id, session.tree_id, back_to_boundary(limit), max(limit, 50))
            if isinstance(pending, DamagedBranch):
                if not isinstance(path, DamagedBranch):
                    path = DamagedBranch(path, pending.bad_id, pending.reason)
                pending = None
        return Opened(session, path, pending, _complete(path))

    def older(
        self, tree_id: TreeId, before: MessageId, limit: int = CHUNK
    ) -> tuple[Message | Placeholder, ...]:
        """The messages above `before`, nearest ones, from older to newer; empty where nothing is above it.

        Bad ones are placeholders. Paging always ends; all that is readable of a damaged branch is in what
        `check_session` returns.
        """
        with self._db.reading():
            get = self._getter(limit + 1)
            start = get(before)
            page: list[Message | Placeholder] = []
            at = None if start is None else start.parent_id
            depth = DEEPEST if start is None or isinstance(start, BrokenNode) else start.depth
            while at is not None and len(page) < limit:
                node = get(at)
                if node is None:
                    page.append(Placeholder(at, MISSING))
                    break
                if isinstance(node, BrokenNode):
                    page.append(Placeholder(node.id, node.reason))
                elif node.depth < depth:
                    depth = node.depth
                    page.append(node if node.tree_id == tree_id else Placeholder(node.id, FOREIGN_TREE, node))
                elif _leads_up(None if node.parent_id is None else get(node.parent_id), depth):
                    page.append(Placeholder(node.id, WRONG_DEPTH, node))
                else:
                    # Depth falls towards the first message; where it does not, the chain goes round.
                    break
                at = node.parent_id
        return tuple(reversed(page))

    def check_session(self, session_id: SessionId) -> DamagedBranch | None:
        """The check of the whole path, for the time after opening; None: all is well."""
        with self._db.reading():
            checked = self._whole(self._session(session_id))
        return checked if isinstance(checked, DamagedBranch) else None

    def _whole(self, session: Session) -> Path | DamagedBranch:
        return self._chain(session.leaf_id, session.tree_id, None, 1000)

    def path_to(self, message_id: MessageId) -> Path:
        """The whole path that ends at a message. Raises `NotAllowed` where it is damaged."""
        with self._db.reading():
            message = self._message(message_id)
            return self._sound_chain(message_id, message.tree_id, None)

    def checkpoints_to(self, message_id: MessageId) -> tuple[Checkpoint, ...]:
        """The readable checkpoints on the path to a message, oldest first, without what lies between them."""
        with self._db.reading():
            rows = self._db.rows(
                # Without UNION ALL a circle in a damaged tree ends here as well.
                "WITH RECURSIVE up (id, kind) AS ("
                "  SELECT id, kind FROM message WHERE id = ? "
                "  UNION SELECT p.id, p.kind FROM up JOIN message m ON m.id = up.id "
                "  JOIN message p ON p.id = m.parent_id"
                f") SELECT {NODE_COLUMNS} FROM {NODE_TABLES} "
                "WHERE m.id IN (SELECT id FROM up WHERE kind = 'checkpoint') ORDER BY m.depth",
                message_id,
            )
        return tuple(node for node in map(node_from_row, rows) if isinstance(node, Checkpoint))

    def leaf_below(self, message_id: MessageId) -> MessageId:
        """The leaf last visited below a message; where none was, the end of the newest branch."""
        with self._db.reading():
            self._message(message_id)
            found = self._db.value(
                "WITH RECURSIVE down (id, n) AS (SELECT ?, 0 UNION ALL SELECT COALESCE("
                "(SELECT l.child_id FROM last_child l JOIN message m ON m.id = l.child_id "
                "WHERE l.parent_id = down.id AND m.parent_id = down.id), "
                "(SELECT id FROM message WHERE parent_id = down.id "
                "ORDER BY created_at DESC, id DESC LIMIT 1)), "
                "down.n + 1 FROM down WHERE down.id IS NOT NULL AND down.n < ?) "
                "SELECT id FROM down WHERE id IS NOT NULL ORDER BY n DESC LIMIT 1",
                message_id,
                DEEPEST,
            )
        return MessageId(found)

    def siblings(self, message: Message) -> tuple[MessageId, ...]:
        """The alternatives to a message, itself among them, oldest first.

        Of a question: those with the same nearest ancestor that is no checkpoint, or all first messages;
        of an answer: the answers to its question; of a checkpoint: only itself.
        """
        with self._db.reading():
            match message:
                case AssistantMessage():
                    rows = self._db.rows(
                        "SELECT id FROM message WHERE parent_id = ? ORDER BY created_at, id",
                        message.parent_id,
                    )
                case UserMessage(parent_id=None):
                    rows = self._db.rows(
                        "SELECT id FROM message WHERE tree_id = ? AND depth = 0 AND parent_id IS NULL "
                        "ORDER BY created_at, id",
                        message.tree_id,
                    )
                case UserMessage():
                    rows = self._db.rows(
                        "WITH RECURSIVE up (id, parent_id, kind) AS ("
                        "SELECT id, parent_id, kind FROM message WHERE id = ? UNION "
                        "SELECT m.id, m.parent_id, m.kind FROM up JOIN message m ON m.id = up.parent_id "
                        "WHERE up.kind = 'checkpoint'), "
                        "below (id, kind, created_at) AS ("
                        "SELECT m.id, m.kind, m.created_at FROM message m "
                        "JOIN up ON up.id = m.parent_id AND up.kind <> 'checkpoint' UNION "
                        "SELECT m.id, m.kind, m.created_at FROM below "
                        "JOIN message m ON m.parent_id = below.id WHERE below.kind = 'checkpoint') "
                        "SELECT id FROM below WHERE kind = 'user' ORDER BY created_at, id",
                        message.parent_id,
                    )
                case _:
                    return (message.id,)
        return tuple(MessageId(node_id) for (node_id,) in rows)

    def nodes(self, tree_id: TreeId) -> tuple[Message | BrokenNode, ...]:
        """Every node of a tree with its content, parents before children; for an export of the whole."""
        with self._db.reading():
            rows = self._db.rows(
                f"SELECT {NODE_COLUMNS} FROM {NODE_TABLES} WHERE m.tree_id = ? "
                "ORDER BY m.depth, m.created_at, m.id",
                tree_id,
            )
        return tuple(node_from_row(row) for row in rows)

    def outline(self, tree_id: TreeId) -> tuple[OutlineNode, ...]:
        """Every node of a tree without its content, parents before children."""
        with self._db.reading():
            rows = self._db.rows(
                # A row written by hand has no words; they are taken from its first text.
                "SELECT id, parent_id, kind, status, COALESCE(words, CASE WHEN json_valid(parts) THEN "
                "(SELECT substr(json_extract(part.value, '$.text'), 1, ?) FROM json_each(parts) part "
                "WHERE json_extract(part.value, '$.type') = 'text' LIMIT 1) END, ''), "
                "created_at, model, depth FROM message WHERE tree_id = ? ORDER BY depth, created_at, id",
                WORDS,
                tree_id,
            )
        return tuple(OutlineNode(*row) for row in rows)


def _leads_up(above: Message | BrokenNode | None, depth: int) -> bool:
    """Whether only a node's own depth is wrong: the one before it is nearer to the first message again."""
    return above is not None and not isinstance(above, BrokenNode) and above.depth < depth


def _complete(path: Path | DamagedBranch) -> bool:
    if isinstance(path, DamagedBranch):
        oldest = next(iter(path.readable), None)
        if isinstance(oldest, Placeholder):
            # Content that cannot be read never ends the climb; without it there is no way up.
            if oldest.message is None or oldest.reason in (CYCLE, SELF_PARENT):
                return True
            oldest = oldest.message
        return oldest is None or oldest.parent_id is None
    return not path or path[0].parent_id is None
