"""Rows to domain values and back. A row that cannot be read becomes a `BrokenNode`, never an exception."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast, get_args

from bibgenie_desktop.domain.codec import (
    InvalidContent,
    dumps,
    ledger_from_json,
    ledger_to_json,
    loads,
    parts_from_json,
    parts_to_json,
    usage_from_json,
    usage_to_json,
)
from bibgenie_desktop.domain.ids import MessageId, SessionId, TreeId
from bibgenie_desktop.domain.messages import (
    AssistantMessage,
    Checkpoint,
    Head,
    Message,
    PendingReply,
    Session,
    Status,
    Trigger,
    UserMessage,
)
from bibgenie_desktop.domain.parts import ImagePart, Part, ResourcePart, text_of
from bibgenie_desktop.domain.topology import BrokenNode
from bibgenie_desktop.storage.connection import Connection, Row

WORDS = 160
"""How much of a message's text the lists and the outline show."""

NODE_COLUMNS = (
    "m.id, m.tree_id, m.parent_id, m.kind, m.status, m.depth, m.parts, m.model, m.usage, m.created_at, "
    "m.error, c.message_id, c.first_kept_id, c.summary, c.ledger, c.ledger_projected, c.trigger, "
    "c.head_leaf_id, c.head_revision, c.tokens_before, c.tokens_after, c.imported"
)
NODE_TABLES = (
    # Looked up for checkpoints alone: their rows hold whole ledgers, and even a vain search reads some.
    "message m LEFT JOIN checkpoint c ON c.message_id = CASE m.kind WHEN 'checkpoint' THEN m.id END"
)
SESSION_COLUMNS = (
    "s.id, s.tree_id, s.title, s.leaf_id, s.branch_revision, s.model, s.origin_session_id, "
    "s.origin_message_id, s.pinned, s.trashed_at, s.created_at, s.updated_at"
)
PENDING_COLUMNS = (
    "session_id, message_id, parent_id, model, parts, usage, head_leaf_id, head_revision, updated_at"
)


def node_from_row(row: Row) -> Message | BrokenNode:
    """`row` has `NODE_COLUMNS`."""
    node_id, parent_id = MessageId(str(row[0])), row[2]
    parent = None if parent_id is None else MessageId(str(parent_id))
    try:
        return _message(row)
    except InvalidContent as error:
        return BrokenNode(node_id, parent, error.reason)


def _message(row: Row) -> Message:
    (node_id, tree_id, parent_id, kind, status, depth, parts, model, usage, created_at, error) = row[:11]
    node = MessageId(_text(node_id))
    tree = TreeId(_text(tree_id))
    place, made = _whole(depth), _whole(created_at)
    if kind == "checkpoint" and row[11] is None:
        raise InvalidContent("A summary has no record.")
    if kind == "user":
        parent = None if parent_id is None else MessageId(_text(parent_id))
        return UserMessage(node, tree, parent, place, parts_from_json(loads(parts)), made)
    if kind not in ("assistant", "checkpoint"):
        raise InvalidContent("A message is of an unknown kind.")
    if parent_id is None:
        raise InvalidContent(
            "An answer has no question before it."
            if kind == "assistant"
            else "A summary has nothing before it."
        )
    before = MessageId(_text(parent_id))
    if kind == "assistant":
        if status not in get_args(Status):
            raise InvalidContent("An answer has an unknown status.")
        return AssistantMessage(
            id=node,
            tree_id=tree,
            parent_id=before,
            depth=place,
            parts=parts_from_json(loads(parts)),
            status=cast(Status, status),
            model=_text(model),
            usage=usage_from_json(loads(usage)),
            created_at=made,
            error=_text(error),
        )
    kept, summary, ledger, projected, trigger, leaf, revision, tokens_before, tokens_after, imported = row[
        12:22
    ]
    if trigger not in get_args(Trigger):
        raise InvalidContent("A summary was made for an unknown reason.")
    if not _text(summary).strip():
        raise InvalidContent("A summary is empty: nothing stands for what it replaced.")
    return Checkpoint(
        id=node,
        tree_id=tree,
        parent_id=before,
        depth=place,
        first_kept_id=None if kept is None else MessageId(_text(kept)),
        summary=_text(summary),
        ledger=ledger_from_json(loads(ledger)),
        ledger_projected=_text(projected),
        trigger=cast(Trigger, trigger),
        head_leaf_id=MessageId(_text(leaf)),
        head_revision=_whole(revision),
        tokens_before=_whole(tokens_before),
        tokens_after=_whole(tokens_after),
        model=_text(model),
        created_at=made,
        imported=bool(imported),
        usage=usage_from_json(loads(usage)),
    )


def session_from_row(row: Row) -> Session:
    return Session(
        id=SessionId(row[0]),
        tree_id=TreeId(row[1]),
        title=row[2],
        leaf_id=None if row[3] is None else MessageId(row[3]),
        branch_revision=row[4],
        model=row[5],
        origin_session_id=None if row[6] is None else SessionId(row[6]),
        origin_message_id=None if row[7] is None else MessageId(row[7]),
        pinned=bool(row[8]),
        trashed_at=row[9],
        created_at=row[10],
        updated_at=row[11],
    )


def pending_from_row(row: Row) -> PendingReply:
    """`row` has `PENDING_COLUMNS`; raises `InvalidContent`."""
    return PendingReply(
        session_id=SessionId(row[0]),
        message_id=MessageId(row[1]),
        parent_id=MessageId(row[2]),
        model=_text(row[3]),
        parts=parts_from_json(loads(row[4]), unfinished=True),
        usage=usage_from_json(loads(row[5])),
        head=Head(MessageId(row[6]), _whole(row[7])),
        updated_at=_whole(row[8]),
    )


def _text(value: Any) -> str:
    """Text of a column; bytes that were no UTF-8 show as lone surrogates and are refused."""
    if not isinstance(value, str):
        raise InvalidContent("A field of a message is not text.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidContent("A field of a message holds bytes that are no text.") from error
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int):
        raise InvalidContent("A field of a message is not a number.")
    return value


def words_of(parts: tuple[Part, ...]) -> str:
    """The beginning of a message on one line; of one without text, the names of what it carries."""
    text = text_of(parts) or ", ".join(_names(parts))
    return " ".join(text[: WORDS * 4].split())[:WORDS]


def _names(parts: tuple[Part, ...]) -> Iterable[str]:
    for part in parts:
        if isinstance(part, ImagePart):
            yield part.name
        elif isinstance(part, ResourcePart):
            yield part.title


def insert_message(db: Connection, message: Message) -> None:
    """Appends a node; a checkpoint also needs its permit, which this uses up."""
    match message:
        case UserMessage():
            _insert(db, message, "user", parts=message.parts)
        case AssistantMessage():
            _insert(
                db,
                message,
                "assistant",
                parts=message.parts,
                status=message.status,
                model=message.model,
                error=message.error,
                usage=dumps(usage_to_json(message.usage)),
            )
        case Checkpoint():
            db.run("INSERT INTO write_permit (message_id) VALUES (?)", message.id)
            usage = dumps(usage_to_json(message.usage))
            _insert(db, message, "checkpoint", parts=(), model=message.model, usage=usage)
            db.run(
                "INSERT INTO checkpoint (message_id, first_kept_id, trigger, head_leaf_id, head_revision, "
                "tokens_before, tokens_after, imported, summary, ledger_projected, ledger) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                message.id,
                message.first_kept_id,
                message.trigger,
                message.head_leaf_id,
                message.head_revision,
                message.tokens_before,
                message.tokens_after,
                int(message.imported),
                message.summary,
                message.ledger_projected,
                dumps(ledger_to_json(message.ledger)),
            )


def _insert(
    db: Connection,
    message: Message,
    kind: str,
    *,
    parts: tuple[Part, ...],
    status: str = "complete",
    model: str = "",
    error: str = "",
    usage: str = "[]",
) -> None:
    db.run(
        "INSERT INTO message (id, tree_id, parent_id, kind, status, depth, model, created_at, error, words, "
        "usage, parts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        message.id,
        message.tree_id,
        message.parent_id,
        kind,
        status,
        message.depth,
        model,
        message.created_at,
        error,
        words_of(parts),
        usage,
        dumps(parts_to_json(parts)),
    )
