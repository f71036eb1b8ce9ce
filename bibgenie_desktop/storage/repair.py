"""Copying the readable part of a damaged session into a new tree. The damaged rows stay as they are."""

from __future__ import annotations

from dataclasses import replace

from bibgenie_desktop.domain.errors import NotAllowed
from bibgenie_desktop.domain.ids import MessageId, SessionId, TreeId
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Message, Path, Session, UserMessage
from bibgenie_desktop.domain.parts import Draft, ImagePart, ResourcePart, text_of
from bibgenie_desktop.domain.topology import DamagedBranch, after_last_break, check_path
from bibgenie_desktop.storage.branches import Branches
from bibgenie_desktop.storage.drafts import Drafts
from bibgenie_desktop.storage.rows import insert_message
from bibgenie_desktop.storage.sessions import Sessions


class Repair(Sessions, Branches, Drafts):
    def copy_readable(self, session_id: SessionId, title: str | None = None) -> Session:
        """A new session with new ids, from the first question after the last break.

        A question at its end that lost its answer becomes the new session's draft.
        """
        with self._db.writing(lasting=True):
            origin = self._session(session_id)
            whole = self._whole(origin)
            kept = after_last_break(whole) if isinstance(whole, DamagedBranch) else whole
            kept, draft = _without_open_question(kept)
            if not kept and draft.empty:
                raise NotAllowed(
                    "Nothing readable is left to copy.", "The damaged conversation stays as it is."
                )
            tree_id = TreeId(self._ids())
            self._db.run("INSERT INTO tree (id, created_at) VALUES (?, ?)", tree_id, self._clock())
            copy = self._copied(kept, tree_id)
            nodes = {message.id: message for message in copy}
            leaf_id = copy[-1].id if copy else None
            judged = check_path(nodes.get, leaf_id, tree_id=tree_id)
            if isinstance(judged, DamagedBranch):
                raise NotAllowed("The readable part cannot be copied.", judged.reason)
            for message in judged:
                insert_message(self._db, message)
                self._remember_child(message.parent_id, message.id)
            session = self._add_session(tree_id, title or origin.title, origin.model, leaf_id, None)
            if not draft.empty:
                self._keep_draft(session.id, None, draft)
            return session

    def _copied(self, kept: Path, tree_id: TreeId) -> Path:
        """The same messages with new ids in a new tree; the first of them is a question."""
        new_ids: dict[MessageId, MessageId] = {}
        copy: list[Message] = []
        for depth, message in enumerate(kept):
            new_id = new_ids[message.id] = MessageId(self._ids())
            match message:
                case UserMessage():
                    before = copy[-1].id if copy else None
                    copy.append(replace(message, id=new_id, tree_id=tree_id, depth=depth, parent_id=before))
                case AssistantMessage():
                    copy.append(
                        replace(message, id=new_id, tree_id=tree_id, depth=depth, parent_id=copy[-1].id)
                    )
                case Checkpoint():
                    kept_id = message.first_kept_id
                    copy.append(
                        replace(
                            message,
                            id=new_id,
                            tree_id=tree_id,
                            depth=depth,
                            parent_id=copy[-1].id,
                            # A boundary in the lost part: the verbatim part starts where the copy does.
                            first_kept_id=None if kept_id is None else new_ids.get(kept_id, copy[0].id),
                            head_leaf_id=new_ids.get(message.head_leaf_id, copy[-1].id),
                            imported=True,
                        )
                    )
        return tuple(copy)


def _without_open_question(kept: tuple[Message, ...]) -> tuple[tuple[Message, ...], Draft]:
    if not kept or not isinstance(kept[-1], UserMessage):
        return kept, Draft()
    parts = kept[-1].parts
    attached = tuple(part for part in parts if isinstance(part, ImagePart | ResourcePart))
    return kept[:-1], Draft(text_of(parts), attached)
