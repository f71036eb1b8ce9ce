"""The session in front: wishes of the person become operations of its chat, its events become signals."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from PySide6.QtCore import QObject, Signal

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.messages import AssistantMessage, UserMessage
from bibgenie_desktop.domain.parts import Draft, ImagePart, ResourcePart, text_of
from bibgenie_desktop.domain.states import Action, SessionState
from bibgenie_desktop.gui.conversation import rows as view_rows
from bibgenie_desktop.gui.docks.outline import Tree
from bibgenie_desktop.gui.presenters.conversation import Conversation
from bibgenie_desktop.gui.presenters.drafts import Drafts
from bibgenie_desktop.gui.presenters.permissions import answer_of, is_newest, marker_of, reason_against
from bibgenie_desktop.gui.presenters.pictures import Pictures
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.services import events
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.services.workspace import Workspace


class ChatPresenter(QObject):
    """Every open session keeps its `Conversation`; one of them is in front."""

    about_to_show = Signal()
    """What is in the composer should be reported now: another session takes its place."""
    shown = Signal(object)
    """The `Conversation` that is in front now."""
    rows_changed = Signal(object)
    row_changed = Signal(object)
    state_changed = Signal()
    """What is allowed may be different now; ask `refusal`."""
    notice_changed = Signal(object)
    began = Signal()
    """An operation starts: what was said of earlier ones has had its time."""
    progress_changed = Signal(object)
    queue_changed = Signal(object)
    compaction_ended = Signal(object)
    tree_may_have_grown = Signal()
    branch_loaded = Signal()
    context_may_have_changed = Signal()
    sessions_may_have_changed = Signal()
    forked = Signal(str)
    failed = Signal(object)
    """A `UserError` that no event tells of."""

    def __init__(self, workspace: Workspace, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace, self._tasks = workspace, tasks
        self._open: dict[str, Conversation] = {}
        self._front: Conversation | None = None
        self._wanted = ""
        self.drafts = Drafts(workspace, tasks, self)
        self.pictures = Pictures(workspace, self.drafts, tasks, self)

    def close(self) -> None:
        for conversation in self._open.values():
            conversation.close()

    @property
    def front(self) -> Conversation | None:
        return self._front

    @property
    def now(self) -> int:
        return self._workspace.clock()

    @property
    def chat(self) -> Chat | None:
        return self._front.chat if self._front is not None else None

    # -- showing

    def show(self, session_id: str) -> None:
        self._wanted = session_id
        self._tasks.start(self._show(session_id), "open session")

    async def _show(self, session_id: str) -> None:
        try:
            chat = await self._workspace.chat(SessionId(session_id))
            self.about_to_show.emit()
            edits = self._question_asked_last(chat)
            draft, editing = await self.drafts.load(chat, edits)
        except UserError as error:
            self.failed.emit(error)
            return
        if self._wanted != session_id:
            return
        conversation = self._open.get(session_id)
        if conversation is None:
            conversation = self._open[session_id] = Conversation(chat, self._workspace, self._tasks, self)
            conversation.rows_changed.connect(self._on_rows_changed)
            conversation.row_changed.connect(self._on_row_changed)
            conversation.began.connect(self._on_began)
            conversation.announced.connect(self._on_announced)
            self._tasks.start(self._check_whole(conversation), "check of the whole branch")
        self.about_to_show.emit()
        await self.drafts.flush()  # what was typed meanwhile
        if self._wanted != session_id:
            return
        self._front = conversation
        self.drafts.show(chat, draft, editing)
        self.shown.emit(conversation)
        self._announce_all(conversation)
        conversation.check_citations()

    def _announce_all(self, conversation: Conversation) -> None:
        self.rows_changed.emit(conversation.rows())
        self.notice_changed.emit(conversation.notice)
        self.progress_changed.emit(conversation.progress)
        self.queue_changed.emit(conversation.chat.queued)
        self.state_changed.emit()

    def _question_asked_last(self, chat: Chat) -> MessageId | None:
        return next((m.id for m in reversed(chat.path) if isinstance(m, UserMessage)), None)

    async def _check_whole(self, conversation: Conversation) -> None:
        """What lies behind the loaded part is checked in the background; damage makes it read-only."""
        chat = conversation.chat
        if chat.damaged is not None or chat.whole:
            return
        damaged = await self._workspace.check_whole(chat)
        if damaged is not None and chat.state is SessionState.IDLE:
            chat.damaged = damaged
            chat.set_state(SessionState.READ_ONLY)
            conversation.rows_changed.emit(conversation.id)

    def _is_front(self, session_id: str) -> bool:
        return self._front is not None and self._front.id == session_id

    def _on_rows_changed(self, session_id: str) -> None:
        if self._front is not None and self._is_front(session_id):
            self.rows_changed.emit(self._front.rows())

    def _on_row_changed(self, session_id: str, row: object) -> None:
        if self._is_front(session_id):
            self.row_changed.emit(row)

    def take_tree(self, tree: Tree) -> None:
        if self._front is not None:
            self._front.take_tree(tree)

    def library_changed(self) -> None:
        for conversation in self._open.values():
            conversation.forget_citations()

    # -- events

    def _on_began(self, session_id: str) -> None:
        if self._is_front(session_id):
            self.notice_changed.emit(None)
            self.began.emit()

    def _on_announced(self, session_id: str, event: events.ChatEvent) -> None:
        conversation = self._open[session_id]
        if isinstance(event, events.SessionsChanged | events.StateChanged):
            self.sessions_may_have_changed.emit()
        if isinstance(event, events.SendEnded):
            self.drafts.send_ended(conversation.chat, event.sent, conversation.in_flight)
            conversation.in_flight = None
        if not self._is_front(session_id):
            return
        match event:
            case events.StateChanged():
                self.state_changed.emit()
                if event.state is SessionState.IDLE:
                    self.tree_may_have_grown.emit()
            case events.BranchLoaded():
                self.branch_loaded.emit()
                self.tree_may_have_grown.emit()
                self.context_may_have_changed.emit()
                self.state_changed.emit()
            case events.ReplyStarted() | events.ReplyEnded():
                self.notice_changed.emit(conversation.notice)
                self.tree_may_have_grown.emit()
            case events.ReplyWaiting() | events.ReplyWaitOver():
                self.state_changed.emit()
            case events.ContextChanged():
                self.context_may_have_changed.emit()
                self.state_changed.emit()
            case events.Notice():
                self.notice_changed.emit(event)
            case events.CompactionProgress():
                self.progress_changed.emit(event)
            case events.CompactionEnded():
                self.progress_changed.emit(None)
                self.compaction_ended.emit(event)
            case events.QueueChanged():
                self.drafts.queue_changed(event.drafts)
                self.queue_changed.emit(event.drafts)
            case events.SendEnded():
                self.state_changed.emit()

    # -- what is allowed

    def refusal(self, action: Action) -> str | None:
        return self.chat.refusal(action) if self.chat is not None else tr("No session is open.")

    @property
    def state(self) -> SessionState:
        return self.chat.state if self.chat is not None else SessionState.IDLE

    def allowed(self, action: view_rows.Action, row_id: str) -> str | None:
        """Why something cannot be done with a row now, for its buttons and its menu."""
        if self._front is None:
            return tr("No session is open.")
        return reason_against(self._front, action, row_id)

    def marker_of(self, citation: view_rows.CitationView) -> str:
        """The marker that a citation stands for in the conversation in front."""
        return marker_of(self._front, citation) if self._front is not None else ""

    def is_newest(self, row_id: str) -> bool:
        """Whether a row belongs to the last turn: elsewhere, retry and edit make a new branch."""
        return self._front is None or is_newest(self._front, row_id)

    def _answer(self, row_id: str) -> AssistantMessage | None:
        return answer_of(self._front, row_id) if self._front is not None else None

    # -- wishes

    def send(self, draft: Draft) -> None:
        if self.chat is not None and not draft.empty:
            self._dismiss()
            self.drafts.sending(draft)
            if self.drafts.editing is not None:
                self._run("edit", self.chat.edit(self.drafts.editing, draft))
            else:
                self._run("send", self.chat.send(draft))

    def go_on(self) -> bool:
        """Asks the model to continue; not while there is something in the composer that it would replace."""
        if self.chat is None or not self.drafts.now.empty:
            return False
        self.send(Draft(tr("Go on")))
        return True

    def send_anyway(self, draft: Draft) -> None:
        if self.chat is not None:
            self._dismiss()
            self.drafts.sending(draft)
            if self.drafts.editing is not None:
                self._run("edit", self.chat.edit(self.drafts.editing, draft, without_compacting=True))
            else:
                self._run("send", self.chat.send(draft, without_compacting=True))

    def stop(self) -> None:
        if self.chat is not None:
            self.chat.stop()

    def cancel(self) -> None:
        if self.chat is not None:
            self.chat.cancel()

    def compact(self) -> None:
        if self.chat is not None:
            self._dismiss()
            self._run("compact", self.chat.compact())

    def undo_checkpoint(self) -> None:
        if self.chat is not None:
            self._run("undo checkpoint", self.chat.undo_checkpoint())

    def revise_summary(self, summary: str) -> None:
        if self.chat is not None:
            self._dismiss()
            self._run("revise summary", self.chat.revise_summary(summary))

    def retry(self, row_id: str, model: str = "") -> None:
        answer = self._answer(row_id)
        if self.chat is not None and answer is not None:
            self._dismiss()
            self._run("retry", self.chat.retry(answer.id, model))

    def retry_last(self) -> None:
        if self._front is not None:
            last = next((e for e in reversed(self._front.entries) if isinstance(e, AssistantMessage)), None)
            if last is not None:
                self.retry(last.id)

    def edit(self, row_id: str) -> None:
        """Puts a question into the composer, with what was already changed of it."""
        entry = self._front.entry(row_id) if self._front is not None else None
        if self.chat is not None and isinstance(entry, UserMessage) and self.refusal(Action.EDIT) is None:
            self._tasks.start(self.drafts.begin_edit(self.chat, entry.id, draft_of(entry)), "edit draft")

    def edit_last(self) -> None:
        if self.chat is not None:
            last = self._question_asked_last(self.chat)
            if last is not None:
                self.edit(last)

    def fork(self, row_id: str) -> None:
        answer = self._answer(row_id)
        if self.chat is not None and answer is not None:
            self._tasks.start(self._fork(self.chat, answer.id), "fork")

    async def _fork(self, chat: Chat, answer: MessageId) -> None:
        try:
            session = await chat.fork(answer)
        except UserError as error:
            self.failed.emit(error)
            return
        self.forked.emit(session.id)

    def switch_to(self, message_id: str) -> None:
        if self.chat is not None:
            self._run("switch branch", self.chat.switch_to(MessageId(message_id)))

    def switch_version(self, row_id: str, step: int, tree: Tree) -> None:
        """To the version before or after, where the reader last was below it."""
        node = tree.nodes.get(MessageId(row_id))
        if node is None:
            return
        versions = tree.versions(node)
        at = versions.index(node.id) + step
        if 0 <= at < len(versions):
            self.switch_to(versions[at])

    def choose_model(self, ref: str) -> None:
        if self.chat is not None:
            self._run("choose model", self.chat.choose_model(ref))

    def unqueue(self, index: int) -> None:
        """Takes a follow-up back into the composer."""
        if self.chat is not None:
            draft = self.chat.unqueue(index)
            if self._front is not None:
                self._front.in_flight = None
            if draft is not None:
                self.drafts.give_back(draft)

    def load_older(self) -> None:
        if self._front is not None:
            self._front.load_older()

    def copy_readable(self) -> None:
        if self.chat is not None:
            self._tasks.start(self._copy_readable(self.chat.session_id), "copy the readable part")

    async def _copy_readable(self, session_id: SessionId) -> None:
        try:
            session = await self._workspace.copy_readable(session_id)
        except UserError as error:
            self.failed.emit(error)
            return
        self.sessions_may_have_changed.emit()
        self.show(session.id)

    def dismiss_notice(self) -> None:
        self._dismiss()

    def _dismiss(self) -> None:
        if self._front is not None and self._front.notice is not None:
            self._front.notice = None
            self.notice_changed.emit(None)

    def _run(self, name: str, work: Coroutine[Any, Any, Any]) -> None:
        self._tasks.start(self._guarded(work), name)

    async def _guarded(self, work: Coroutine[Any, Any, Any]) -> None:
        """What is refused before an operation begins is raised and not announced."""
        try:
            await work
        except UserError as error:
            self.drafts.refused()
            self.failed.emit(error)
            self.state_changed.emit()


def draft_of(message: UserMessage) -> Draft:
    """A question as it stood in the composer."""
    attached = tuple(p for p in message.parts if isinstance(p, ImagePart | ResourcePart))
    return Draft(text_of(message.parts), attached)
