"""What stands in the composer: kept while it is typed, given back when nothing came of a send.

A session has its normal draft, and one for each question that is being edited. What could not be stored is
held and tried again until it is.
"""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, QTimer, Signal

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.parts import Draft, ImagePart, ResourcePart
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.services.workspace import Workspace

SAVE_MS = 400
AGAIN_MS = 3_000
"""A text that could not be stored is tried again after this time, and with whatever is typed before."""

Attached = tuple[ImagePart | ResourcePart, ...]
Key = tuple[SessionId, MessageId | None]


class Drafts(QObject):
    """The composer reports what is typed with `typed`; `shown` tells it what to hold instead."""

    shown = Signal(object)
    """The draft to put into the composer."""
    editing_changed = Signal(object)
    """Id of the question that is being edited, None for the normal draft."""

    unsaved_changed = Signal(object)
    """The `UserError` that keeps a text from being stored; None as soon as everything is stored."""

    def __init__(self, workspace: Workspace, tasks: Tasks, parent: QObject) -> None:
        super().__init__(parent)
        self._workspace, self._tasks = workspace, tasks
        self._session: SessionId | None = None
        self._saved: dict[Key, Draft] = {}
        self._unsaved: dict[Key, Draft] = {}
        self._storing = asyncio.Lock()
        self.editing: MessageId | None = None
        self.now = Draft()
        self._sending: dict[SessionId, Draft] = {}
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_timeout)

    # -- showing

    async def load(self, chat: Chat, last_question: MessageId | None) -> tuple[Draft, MessageId | None]:
        """The draft of a session: an unfinished edit of its last question comes first."""
        await self.flush()
        session = chat.session_id
        if last_question is not None:
            edited = await self._stored(session, last_question)
            if not edited.empty:
                return edited, last_question
        return await self._stored(session, None), None

    def show(self, chat: Chat, draft: Draft, editing: MessageId | None) -> None:
        early = self._session is None and draft.empty and not self.now.empty
        if early:  # typed before the first session was there
            draft = self.now
            self._timer.start(SAVE_MS)
        self._session, self.now, self.editing = chat.session_id, draft, editing
        self.shown.emit(draft)
        self.editing_changed.emit(editing)

    async def begin_edit(self, chat: Chat, question: MessageId, original: Draft) -> None:
        await self.flush()
        kept = await self._stored(chat.session_id, question)
        if chat.session_id == self._session:
            self.show(chat, original if kept.empty else kept, question)

    async def end_edit(self, chat: Chat, *, forget: bool) -> None:
        """Back to the normal draft; `forget`: the changes were sent or thrown away."""
        question = self.editing
        self._timer.stop()
        if forget and question is not None:
            await self._save(chat.session_id, question, Draft())
        else:
            await self.flush()
        draft = await self._stored(chat.session_id, None)
        if chat.session_id == self._session and self.editing == question:
            self.show(chat, draft, None)

    def cancel_edit(self, chat: Chat) -> None:
        self._tasks.start(self.end_edit(chat, forget=True), "cancel edit")

    # -- typing

    def typed(self, draft: Draft) -> None:
        self.now = draft
        self._timer.start(SAVE_MS)

    async def add(self, session: SessionId, edits: MessageId | None, parts: Attached) -> None:
        """Attaches to what is not in the composer now: another session's draft, or another question's."""
        draft = await self._stored(session, edits)
        new = tuple(part for part in parts if part not in draft.attached)
        await self._save(session, edits, Draft(draft.text, (*draft.attached, *new)))
        if (session, edits) == (self._session, self.editing):  # the person came back meanwhile
            here = tuple(part for part in parts if part not in self.now.attached)
            self.now = Draft(self.now.text, (*self.now.attached, *here))
            self.shown.emit(self.now)
            self._timer.start(SAVE_MS)

    def sending(self, draft: Draft) -> None:
        self._timer.stop()  # the operation saves what it sends
        if self._session is not None:
            self._sending[self._session] = draft
            self._saved.pop((self._session, self.editing), None)

    @property
    def is_sending(self) -> bool:
        """Whether what stands in the composer is on its way."""
        return self._session in self._sending

    def refused(self) -> None:
        """The operation never began; the text is where it was."""
        if self._session is not None:
            self._sending.pop(self._session, None)
        self._timer.start(SAVE_MS)

    def send_ended(self, chat: Chat, sent: bool, in_flight: Draft | None) -> None:
        """Takes out of the composer what became a message; gives back what did not."""
        front = chat.session_id == self._session
        mine = self._sending.pop(chat.session_id, None)
        if sent:
            # A message that is stored takes the normal draft with it, also one that was typed meanwhile.
            kept = self._saved.pop((chat.session_id, None), None)
            if not front and in_flight is not None and kept not in (None, in_flight):
                self._tasks.start(self._save(chat.session_id, None, kept or Draft()), "draft")
            if front and self.editing is not None and mine is not None:
                self._tasks.start(self.end_edit(chat, forget=True), "end edit")
            elif front and in_flight is None:
                self._take_out(mine or self.now)
            elif front:
                self._tasks.start(self.flush(), "draft")
        elif not front:
            if in_flight is not None:
                self._tasks.start(self._save(chat.session_id, None, in_flight), "draft")
        elif in_flight is not None:
            self.give_back(in_flight)
        else:
            self._timer.start(SAVE_MS)

    def queue_changed(self, queue: tuple[Draft, ...]) -> None:
        """What was sent may wait in the queue now and is no draft any more."""
        mine = self._sending.get(self._session) if self._session is not None else None
        if mine is not None and mine in queue and self._session is not None:
            del self._sending[self._session]
            self._take_out(mine)

    def give_back(self, draft: Draft) -> None:
        """Before what has been typed since."""
        text = "\n\n".join(t for t in (draft.text, self.now.text) if t.strip())
        attached = (*draft.attached, *(a for a in self.now.attached if a not in draft.attached))
        self.now = Draft(text, attached)
        self.shown.emit(self.now)
        self._timer.start(SAVE_MS)

    def _take_out(self, sent: Draft) -> None:
        """What was typed after it stays."""
        rest = self.now
        if rest == sent:
            rest = Draft()
        elif sent.text and rest.text.startswith(sent.text):
            kept = tuple(a for a in rest.attached if a not in sent.attached)
            rest = Draft(rest.text[len(sent.text) :].lstrip(), kept)
        if rest != self.now:
            self.now = rest
            self.shown.emit(rest)
        self._timer.start(SAVE_MS)

    # -- keeping

    def _on_timeout(self) -> None:
        self._tasks.start(self.flush(), "draft")

    async def flush(self) -> None:
        """Keeps what is in the composer now, and what could not be kept before. Never raises `UserError`:
        what goes wrong is announced, and tried again."""
        self._timer.stop()
        if self._session is not None:
            await self._save(self._session, self.editing, self.now)
        for (session, edits), draft in tuple(self._unsaved.items()):
            if (session, edits) != (self._session, self.editing):
                await self._save(session, edits, draft)

    async def keep_queue(self, chat: Chat) -> None:
        """At the end, follow-ups that were not sent become the draft."""
        waiting = chat.queued
        if not waiting:
            return
        draft = await self._stored(chat.session_id, None)
        every = (*waiting, draft)
        text = "\n\n".join(d.text for d in every if d.text.strip())
        attached = tuple(dict.fromkeys(a for d in every for a in d.attached))
        await self._save(chat.session_id, None, Draft(text, attached))

    def close(self) -> None:
        self._timer.stop()

    async def _stored(self, session: SessionId, edits: MessageId | None) -> Draft:
        """What was kept, or what should have been."""
        held = self._unsaved.get((session, edits))
        if held is not None:
            return held
        draft = await self._workspace.draft(session, edits)
        self._saved[session, edits] = draft
        return draft

    async def _save(self, session: SessionId, edits: MessageId | None, draft: Draft) -> None:
        """One at a time, so that the last text is the one that stays."""
        key = (session, edits)
        async with self._storing:
            if self._saved.get(key) == draft and key not in self._unsaved:
                return
            try:
                await self._workspace.save_draft(session, edits, draft)
            except UserError as error:
                self._saved.pop(key, None)
                self._unsaved[key] = draft
                self.unsaved_changed.emit(error)
                self._timer.start(AGAIN_MS)
                return
            self._saved[key] = draft
            if self._unsaved.pop(key, None) is not None and not self._unsaved:
                self.unsaved_changed.emit(None)
