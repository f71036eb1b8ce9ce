"""Turns: a question and its pending reply in, the answer out, recovery after a crash. Each is one
transaction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bibgenie_desktop.domain.codec import InvalidContent, dumps, parts_to_json, usage_to_json
from bibgenie_desktop.domain.errors import NotAllowed
from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.mend import mended_text, storable
from bibgenie_desktop.domain.messages import (
    AssistantMessage,
    Checkpoint,
    Head,
    PendingReply,
    Session,
    Status,
    UserMessage,
)
from bibgenie_desktop.domain.parts import Part, ToolPart, ToolState
from bibgenie_desktop.domain.topology import DamagedBranch, back_to_boundary
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.storage.compaction import Compaction
from bibgenie_desktop.storage.drafts import Drafts
from bibgenie_desktop.storage.journal import Journal
from bibgenie_desktop.storage.rows import insert_message
from bibgenie_desktop.storage.values import Finished, Recovered

STOPPED_CALL = "This call was cancelled: the answer was stopped before it had a result."
INTERRUPTED_CALL = "This call was interrupted before it had a result."
CRASHED = "BibGenie ended before this answer was finished."

Token = Callable[[], bool]
"""Asked last before COMMIT; True: nothing is to be written."""


class Turns(Compaction, Drafts, Journal):
    def send(
        self,
        session_id: SessionId,
        expected: Head,
        parts: tuple[Part, ...],
        reply_id: MessageId,
        model: str,
        *,
        cancelled: Token | None = None,
    ) -> tuple[Session, UserMessage, PendingReply]:
        """A question under the leaf, and the pending reply to it; a draft of the same content is gone."""
        with self._db.writing(lasting=True, cancelled=cancelled):
            session = self._at_head(session_id, expected)
            question = self._ask(session, session.leaf_id, parts)
            self._use_up(session_id, question.parts)
            self._remember_child(question.parent_id, question.id)
            return self._start_reply(session, question, reply_id, model)

    def retry(
        self,
        session_id: SessionId,
        expected: Head,
        question_id: MessageId,
        reply_id: MessageId,
        model: str,
        *,
        cancelled: Token | None = None,
    ) -> tuple[Session, UserMessage, PendingReply]:
        """Another reply to a stored question; the leaf moves there."""
        with self._db.writing(lasting=True, cancelled=cancelled):
            session = self._at_head(session_id, expected)
            question = self._message(question_id, session.tree_id)
            if not isinstance(question, UserMessage):
                raise NotAllowed("Only a question can be answered again.", "Choose one of your own messages.")
            self._remember_branch(question.id)
            return self._start_reply(session, question, reply_id, model)

    def edit(
        self,
        session_id: SessionId,
        expected: Head,
        parent_id: MessageId | None,
        parts: tuple[Part, ...],
        reply_id: MessageId,
        model: str,
        checkpoint: Checkpoint | None = None,
        *,
        edits: MessageId | None = None,
        cancelled: Token | None = None,
    ) -> tuple[Session, UserMessage, PendingReply]:
        """A new question beside an old one: under the old one's parent, or under a checkpoint placed there.

        `parent_id` None: another first message. `edits` names the old question, whose edit draft is done
        with; None takes the edit drafts of every question under `parent_id`.
        """
        with self._db.writing(lasting=True, cancelled=cancelled):
            session = self._at_head(session_id, expected)
            if checkpoint is not None:
                if checkpoint.parent_id != parent_id:
                    raise ValueError("the checkpoint of an edit stands under the edited message's parent")
                parent_id = self._place(session, checkpoint).id
            question = self._ask(session, parent_id, parts)
            before = checkpoint.parent_id if checkpoint is not None else parent_id
            if edits is not None:
                self._db.run(
                    "DELETE FROM draft WHERE session_id = ? AND edits_message_id = ?", session_id, edits
                )
            else:
                self._db.run(
                    "DELETE FROM draft WHERE session_id = ? AND edits_message_id IN "
                    "(SELECT id FROM message WHERE tree_id = ? AND parent_id IS ?)",
                    session_id,
                    session.tree_id,
                    before,
                )
            self._remember_branch(question.id)
            return self._start_reply(session, question, reply_id, model)

    def _ask(self, session: Session, parent_id: MessageId | None, parts: tuple[Part, ...]) -> UserMessage:
        depth = 0
        if parent_id is not None:
            parent = self._message(parent_id, session.tree_id)
            if isinstance(parent, UserMessage):
                raise NotAllowed(
                    "A question can only follow an answer.", "Answer or retry the last question."
                )
            depth = parent.depth + 1
        question = UserMessage(
            id=MessageId(self._ids()),
            tree_id=session.tree_id,
            parent_id=parent_id,
            depth=depth,
            parts=storable(parts),
            created_at=self._clock(),
        )
        insert_message(self._db, question)
        return question

    def _start_reply(
        self, session: Session, question: UserMessage, reply_id: MessageId, model: str
    ) -> tuple[Session, UserMessage, PendingReply]:
        moved = self._move_leaf(session, question.id)
        pending = PendingReply(
            session_id=session.id,
            message_id=reply_id,
            parent_id=question.id,
            model=model,
            parts=(),
            usage=(),
            head=moved.head,
            updated_at=self._clock(),
        )
        self._db.run(
            "INSERT INTO pending_reply (session_id, message_id, parent_id, model, head_leaf_id, "
            "head_revision, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            pending.session_id,
            pending.message_id,
            pending.parent_id,
            pending.model,
            pending.head.leaf_id,
            pending.head.branch_revision,
            pending.updated_at,
        )
        return moved, question, pending

    def save_pending(
        self, session_id: SessionId, parts: tuple[Part, ...], usage: tuple[Usage, ...] = ()
    ) -> bool:
        """What has arrived so far; False where nothing is pending any more."""
        with self._db.writing():
            changed = self._db.run(
                "UPDATE pending_reply SET parts = ?, usage = ?, updated_at = ? WHERE session_id = ?",
                dumps(parts_to_json(storable(parts))),
                dumps(usage_to_json(usage)),
                self._clock(),
                session_id,
            )
            return changed > 0

    def finish(
        self,
        session_id: SessionId,
        status: Status,
        error: str,
        parts: tuple[Part, ...],
        usage: tuple[Usage, ...],
    ) -> Finished:
        """The pending reply becomes an answer under its question, always.

        The leaf moves only if the head is still that of this reply.
        """
        with self._db.writing(lasting=True):
            pending = self._db.row(
                "SELECT message_id, parent_id, model, head_leaf_id, head_revision FROM pending_reply "
                "WHERE session_id = ?",
                session_id,
            )
            if pending is None:
                raise NotAllowed("No answer is under way in this conversation.", "It has ended already.")
            return self._end(self._session(session_id), pending, status, error, parts, usage)

    def _end(
        self,
        session: Session,
        pending: tuple[str, str, str, str, int],
        status: Status,
        error: str,
        parts: tuple[Part, ...],
        usage: tuple[Usage, ...],
    ) -> Finished:
        message_id, parent_id, model, leaf_id, revision = pending
        # Only its place is needed: an answer finds its end even where the question's content is damaged.
        depth = self._db.value("SELECT depth FROM message WHERE id = ?", parent_id)
        answer = AssistantMessage(
            id=MessageId(message_id),
            tree_id=session.tree_id,
            parent_id=MessageId(parent_id),
            depth=depth + 1,
            parts=self._closed(storable(parts), status),
            status=status,
            model=model,
            usage=usage,
            created_at=self._clock(),
            error=mended_text(error),
        )
        insert_message(self._db, answer)
        self._db.run("DELETE FROM pending_reply WHERE session_id = ?", session.id)
        moved = session.head == Head(MessageId(leaf_id), revision)
        if moved:
            session = self._move_leaf(session, answer.id)
            self._remember_child(answer.parent_id, answer.id)
        return Finished(answer, moved, session)

    def recover(self) -> tuple[Recovered, ...]:
        """After a crash: every answer under way ends as interrupted. Damaged sessions are left alone.

        Only the owner of the data directory may call it, before anything is sent.
        """
        if not self._owns:
            raise NotAllowed("Only the running application repairs its database.", "Start BibGenie.")
        waiting = self._db.rows("SELECT session_id FROM pending_reply ORDER BY updated_at, session_id")
        recovered = (self._recover(SessionId(session_id)) for (session_id,) in waiting)
        return tuple(one for one in recovered if one is not None)

    def _recover(self, session_id: SessionId) -> Recovered | None:
        with self._db.writing(lasting=True):
            session = self._session(session_id)
            try:
                pending = self._pending(session_id)
            except InvalidContent:
                return None
            if pending is None:
                return None
            for leaf_id in {pending.parent_id, session.leaf_id}:
                if isinstance(self._chain(leaf_id, session.tree_id, back_to_boundary(0)), DamagedBranch):
                    return None
            row = (
                pending.message_id,
                pending.parent_id,
                pending.model,
                str(pending.head.leaf_id),
                pending.head.branch_revision,
            )
            ended = self._end(session, row, "interrupted", CRASHED, pending.parts, pending.usage)
        return Recovered(session_id, ended.message.id)

    def _closed(self, parts: tuple[Part, ...], status: Status) -> tuple[Part, ...]:
        """Every open tool call gets a result that says why it has none; an open proposal stays open."""
        stopped = status == "stopped"
        usual = STOPPED_CALL if stopped else INTERRUPTED_CALL
        state: ToolState = "cancelled" if stopped else "interrupted"

        def ended(part: Part) -> Part:
            if not isinstance(part, ToolPart) or part.state != "pending":
                return part
            sentence = self._open_call(part.id) or usual
            return replace(part, state=state, result=sentence, sent=sentence)

        return tuple(ended(part) for part in parts)
