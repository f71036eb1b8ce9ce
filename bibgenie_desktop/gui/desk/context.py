"""The context of the session in front: meter, dock, pins, the dry run, and the revision of a summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject

from bibgenie_desktop.domain.errors import sentences
from bibgenie_desktop.domain.locators import LedgerEntry
from bibgenie_desktop.domain.states import Action
from bibgenie_desktop.gui.desk.front import Front
from bibgenie_desktop.gui.desk.later import Later
from bibgenie_desktop.gui.docks.checkpoints import ReviseDialog
from bibgenie_desktop.gui.docks.context import ContextView, RequestDialog
from bibgenie_desktop.gui.presenters.chat import ChatPresenter
from bibgenie_desktop.gui.presenters.context import ContextPresenter
from bibgenie_desktop.gui.presenters.conversation import Conversation
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.gui.window import MainWindow
from bibgenie_desktop.services.events import CompactionEnded, Notice


class ContextDesk(QObject):
    """Connects the context presenter with the dock, the meter and the composer."""

    def __init__(
        self,
        window: MainWindow,
        context: ContextPresenter,
        chats: ChatPresenter,
        front: Front,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self.window, self.context, self.chats, self.front = window, context, chats, front
        self._context_view: ContextView | None = None
        self._connect()

    def _connect(self) -> None:
        context, window, chats = self.context, self.window, self.chats
        context.context_changed.connect(self._on_context_changed)
        context.request_ready.connect(self._on_request_ready)
        context.trial_ready.connect(window.context.show_trial)
        context.pinned_changed.connect(self._on_pinned_changed)
        window.context.request_requested.connect(context.ask_request)
        window.context.trial_requested.connect(context.ask_trial)
        window.context.undo_requested.connect(chats.undo_checkpoint)
        window.context.pin_requested.connect(context.pin)
        window.context.unpin_requested.connect(context.unpin)
        window.context.revise_requested.connect(self._on_revise_requested)
        window.conversation.pin_requested.connect(context.pin_sentence)
        window.toolbar.compact_requested.connect(self._on_compact_requested)
        window.compact_requested.connect(self._on_compact_requested)
        self.front.writing.draft_changed.connect(context.show_draft)
        chats.context_may_have_changed.connect(context.refresh)
        chats.state_changed.connect(self._on_state_changed)
        chats.notice_changed.connect(self._on_notice_while_revising)
        chats.compaction_ended.connect(self._on_compaction_while_revising)

    def show(self, conversation: Conversation) -> None:
        self.context.show_chat(conversation.chat, self.chats.drafts.now)
        self.window.context.show_trial(None)

    def _on_context_changed(self, view: ContextView) -> None:
        if self._context_view is not None and self._context_view.seen != view.seen:
            self.window.context.show_trial(None)  # it spoke of another request
        self._context_view = view
        self.window.toolbar.meter.show_context(view)
        self.window.toolbar.show_compact_cost(view.compact_tip)
        self.window.context.show_context(view)
        self.front.writing.show_context(view)

    def _on_state_changed(self) -> None:
        refusal = self.chats.refusal
        self.window.context.show_reasons(refusal(Action.UNDO_CHECKPOINT), refusal(Action.REVISE_SUMMARY))

    def _on_compact_requested(self) -> None:
        self.chats.compact()

    def _on_request_ready(self, body: Mapping[str, Any]) -> None:
        RequestDialog(body, self.window).open()

    def _on_pinned_changed(self, entry: LedgerEntry, pinned: bool) -> None:
        if pinned:
            self.window.toast(
                tr("Pinned: “{0}”").format(entry.title),
                tr("It enters the next checkpoint and every later one."),
                action=tr("Undo"),
                on_action=Later(self.context.unpin, entry),
            )
        else:
            self.window.toast(tr("Not pinned any more: “{0}”").format(entry.title))

    # -- revising a summary: the dialog stays until the new checkpoint is stored

    def _on_revise_requested(self, summary: str) -> None:
        dialog = ReviseDialog(summary, self.window)
        dialog.revised.connect(self.chats.revise_summary)
        dialog.open()

    def _on_notice_while_revising(self, notice: Notice | None) -> None:
        dialog = self.window.findChild(ReviseDialog)
        if dialog is not None and notice is not None:
            dialog.say(sentences(notice.title, notice.advice))

    def _on_compaction_while_revising(self, ended: CompactionEnded) -> None:
        dialog = self.window.findChild(ReviseDialog)
        if dialog is not None and ended.outcome == "done":
            dialog.accept()
        elif dialog is not None:
            dialog.say(ended.message)
