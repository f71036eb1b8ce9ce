"""What the person writes: the draft and what is attached to it, in the composer and on its way out."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.parts import Draft, ImagePart, ResourcePart
from bibgenie_desktop.domain.states import Action, SessionState
from bibgenie_desktop.gui.components import Banner
from bibgenie_desktop.gui.composer import ComposerState
from bibgenie_desktop.gui.docks.context import ContextView
from bibgenie_desktop.gui.presenters.chat import ChatPresenter
from bibgenie_desktop.gui.presenters.transcript import attachments_of
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.gui.window import MainWindow


class Writing(QObject):
    """The composer of a window and the draft of the session in front."""

    draft_changed = Signal(object)

    def __init__(self, window: MainWindow, chats: ChatPresenter, parent: QObject) -> None:
        super().__init__(parent)
        self._window, self._chats = window, chats
        self._view, self._composer, self._bottom = window.conversation, window.composer, window.bottom
        self._attached: Draft = Draft()
        self._share: float | None = None
        # What has no service behind it yet is not offered: attaching comes with images.
        for name in ("attachButton",):
            button = self._composer.findChild(QObject, name)
            if button is not None:
                button.setProperty("visible", False)
        self._connect()

    def _connect(self) -> None:
        chats, composer = self._chats, self._composer
        chats.drafts.shown.connect(self._on_draft_shown)
        chats.drafts.editing_changed.connect(self._on_editing_changed)
        chats.drafts.unsaved_changed.connect(self._on_unsaved_changed)
        composer.send_requested.connect(self._on_send_requested)
        composer.send_refused.connect(self._on_send_refused)
        composer.stop_requested.connect(chats.stop)
        composer.draft_changed.connect(self._on_draft_typed)
        composer.edit_last_requested.connect(chats.edit_last)
        composer.edit_cancelled.connect(self._on_edit_cancelled)
        composer.attachment_removed.connect(self._on_attachment_removed)
        composer.dropped.connect(self._on_dropped)
        self._window.welcome.starter_chosen.connect(self._on_starter_chosen)

    # -- state

    def show_context(self, view: ContextView) -> None:
        self._share = view.share
        self.refresh()

    def refresh(self) -> None:
        """What the session allows the composer now."""
        chats = self._chats
        chat = chats.chat
        if chat is None:
            return
        state = chats.state
        self._composer.set_state(
            ComposerState(
                send_reason=chats.refusal(Action.SEND),
                streaming=state in (SessionState.STREAMING, SessionState.AWAITING_APPROVAL),
                stop_reason=chats.refusal(Action.STOP),
                frozen=self._frozen(),
                read_only=tr("Read-only: a message can be sent in the copy")
                if state is SessionState.READ_ONLY
                else "",
                share=self._share if chat.damaged is None else None,
                queue_reason=chats.refusal(Action.QUEUE),
            )
        )

    def _frozen(self) -> str:
        chat = self._chats.chat
        compacting = self._chats.state is SessionState.COMPACTING
        if chat is not None and (chat.waiting is not None or (compacting and self._chats.drafts.is_sending)):
            return tr("This message is sent when the earlier context has been compacted.")
        return ""

    # -- the draft

    def _draft(self) -> Draft:
        return Draft(self._composer.text, self._attached.attached)

    def _on_draft_shown(self, draft: Draft) -> None:
        self._attached = draft
        self._composer.set_text(draft.text)
        self._composer.set_attachments(attachments_of(draft.attached))
        self.draft_changed.emit(draft)

    def _on_draft_typed(self, _text: str) -> None:
        draft = self._draft()
        self._chats.drafts.typed(draft)
        self.draft_changed.emit(draft)

    def attach(self, parts: Sequence[ImagePart | ResourcePart]) -> None:
        """Adds pictures or Zotero resources to what is being written; what is there already is not added
        twice. Says why where nothing can be written now."""
        reason = self._composer.state.read_only or self._composer.state.frozen
        if reason:
            self._window.toast(tr("Not attached"), reason, tone="accent")
            return
        now = self._attached.attached
        new = tuple(part for part in dict.fromkeys(parts) if part not in now)
        if not new:
            return
        draft = Draft(self._composer.text, (*now, *new))
        self._on_draft_shown(draft)
        self._chats.drafts.typed(draft)
        self._composer.focus_text()

    def _on_attachment_removed(self, key: str) -> None:
        views = attachments_of(self._attached.attached)
        kept = tuple(
            part for part, view in zip(self._attached.attached, views, strict=True) if view.key != key
        )
        draft = Draft(self._composer.text, kept)
        self._on_draft_shown(draft)
        self._chats.drafts.typed(draft)

    def _on_dropped(self, _dropped: object) -> None:
        self._window.toast(
            tr("Not attached"), tr("Files and pictures cannot be attached yet; text can."), tone="accent"
        )

    def _on_unsaved_changed(self, error: UserError | None) -> None:
        """True as long as it is shown: it goes as soon as the text is stored."""
        shown = self._bottom.banner("unsaved")
        if error is None:
            self._bottom.set_banner("unsaved", None)
            return
        title = tr("What you are writing is not saved yet. It is tried again.")
        if isinstance(shown, Banner):
            shown.say(title, str(error))
        else:
            self._bottom.set_banner("unsaved", Banner("bad", title, str(error), object_name="unsavedBanner"))

    # -- sending

    def _on_send_requested(self, _text: str) -> None:
        self._chats.drafts.now = self._draft()
        self._chats.send(self._draft())
        self._view.scroll_to_end()

    def send_anyway(self) -> None:
        """Without the compaction that failed or was cancelled."""
        self._chats.send_anyway(self._draft())

    def _on_starter_chosen(self, question: str) -> None:
        draft = Draft(question)
        self._composer.set_text(question)
        self._chats.drafts.now = draft
        self._chats.send(draft)

    def _on_send_refused(self, reason: str) -> None:
        self._window.toast(tr("Not sent"), reason, tone="accent")

    # -- editing

    def edit_last(self) -> None:
        """The last question into the composer; what stands there now comes back after the edit."""
        self._composer.flush_draft()
        self._chats.edit_last()

    def leave_edit(self) -> bool:
        """False where nothing is being edited."""
        if not self._composer.is_editing:
            return False
        self._on_edit_cancelled()
        return True

    def _on_editing_changed(self, message_id: object) -> None:
        words = ""
        if message_id is not None and not self._chats.is_newest(str(message_id)):
            words = tr("Editing as a new branch: what follows this message leaves the view, and is kept")
        self._composer.set_editing(message_id is not None, words)
        if message_id is not None:
            self._composer.focus_text()

    def _on_edit_cancelled(self) -> None:
        if self._chats.chat is not None:
            self._chats.drafts.cancel_edit(self._chats.chat)
