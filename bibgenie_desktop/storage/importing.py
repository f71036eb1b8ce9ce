"""A whole conversation from elsewhere becomes a tree of its own, judged by the rules that every branch obeys.

What the file said is not trusted: a tree that breaks I3 to I6 on any branch is refused as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bibgenie_desktop.domain.errors import NotAllowed
from bibgenie_desktop.domain.ids import MessageId, TreeId
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Message, Session, UserMessage
from bibgenie_desktop.domain.topology import DamagedBranch, check_path
from bibgenie_desktop.storage.branches import Branches
from bibgenie_desktop.storage.drafts import Drafts
from bibgenie_desktop.storage.rows import insert_message
from bibgenie_desktop.storage.sessions import Sessions
from bibgenie_desktop.storage.values import Blob, StoredDraft

REFUSED: Final = "This conversation cannot be imported."
_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class WholeConversation:
    """What an export holds. The messages' tree is whatever it was called elsewhere."""

    title: str
    model: str
    leaf_id: MessageId | None
    messages: tuple[Message, ...]
    drafts: tuple[StoredDraft, ...] = ()
    blobs: tuple[Blob, ...] = ()


class Importing(Sessions, Branches, Drafts):
    def import_whole(self, whole: WholeConversation) -> Session:
        """A new session of a new tree. Messages keep their ids, so that a cut tool result can still be read
        on by its handle; where one is known here already, all get new ones. Raises `NotAllowed`."""
        with self._db.writing(lasting=True):
            tree_id = TreeId(self._ids())
            self._db.run("INSERT INTO tree (id, created_at) VALUES (?, ?)", tree_id, self._clock())
            names = self._names(whole.messages)
            nodes = _renamed(whole.messages, names, tree_id)
            _judge(nodes, tree_id)
            leaf_id = _named(whole.leaf_id, names) if whole.leaf_id is not None else None
            if leaf_id is not None and not isinstance(nodes.get(leaf_id), AssistantMessage | Checkpoint):
                raise NotAllowed(REFUSED, "Its last message is not in the file, or is no answer.")
            for message in nodes.values():
                insert_message(self._db, message)
            for blob in whole.blobs:
                self._keep_blob(blob)
            session = self._add_session(tree_id, whole.title, whole.model, leaf_id, None)
            if leaf_id is not None:
                self._remember_branch(leaf_id)
            for stored in whole.drafts:
                edits = names.get(stored.edits) if stored.edits is not None else None
                if not stored.draft.empty and (stored.edits is None or edits is not None):
                    self._replace_draft(session.id, edits, stored.draft)
            return session

    def _names(self, messages: Sequence[Message]) -> dict[MessageId, MessageId]:
        """What each message is called here."""
        ids = [message.id for message in messages]
        if len(set(ids)) < len(ids):
            raise NotAllowed(REFUSED, "Two of its messages have the same id.")
        known = any(self._db.value("SELECT 1 FROM message WHERE id = ?", one) for one in ids)
        if known or not all(_ID.fullmatch(one) for one in ids):
            return {one: MessageId(self._ids()) for one in ids}
        return {one: one for one in ids}

    def _keep_blob(self, blob: Blob) -> None:
        self._db.run(
            "INSERT INTO blob (sha256, mime, width, height, bytes) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (sha256) DO NOTHING",
            blob.sha256,
            blob.mime,
            blob.width,
            blob.height,
            blob.data,
        )


def _named(id: MessageId, names: Mapping[MessageId, MessageId]) -> MessageId:
    found = names.get(id)
    if found is None:
        raise NotAllowed(REFUSED, "A message it names is missing from the file.")
    return found


def _renamed(
    messages: Sequence[Message], names: Mapping[MessageId, MessageId], tree_id: TreeId
) -> dict[MessageId, Message]:
    """The messages as they are called here, parents first."""
    nodes: dict[MessageId, Message] = {}
    for message in sorted(messages, key=lambda m: (m.depth, m.created_at, m.id)):
        new_id = names[message.id]
        match message:
            case UserMessage():
                parent = _named(message.parent_id, names) if message.parent_id is not None else None
                nodes[new_id] = replace(message, id=new_id, tree_id=tree_id, parent_id=parent)
            case AssistantMessage():
                above = _named(message.parent_id, names)
                nodes[new_id] = replace(message, id=new_id, tree_id=tree_id, parent_id=above)
            case Checkpoint():
                above = _named(message.parent_id, names)
                kept = message.first_kept_id
                nodes[new_id] = replace(
                    message,
                    id=new_id,
                    tree_id=tree_id,
                    parent_id=above,
                    first_kept_id=_named(kept, names) if kept is not None else None,
                    head_leaf_id=names.get(message.head_leaf_id, above),
                    imported=True,
                )
    return nodes


def _judge(nodes: Mapping[MessageId, Message], tree_id: TreeId) -> None:
    """Every branch obeys the rules, and every message is on one."""
    parents = {message.parent_id for message in nodes.values()}
    seen: set[MessageId] = set()
    for leaf in (id for id in nodes if id not in parents):
        path = check_path(nodes.get, leaf, tree_id=tree_id)
        if isinstance(path, DamagedBranch):
            raise NotAllowed(REFUSED, path.reason)
        seen.update(message.id for message in path)
    if len(seen) < len(nodes):
        raise NotAllowed(REFUSED, "Some of its messages follow each other in a circle.")
