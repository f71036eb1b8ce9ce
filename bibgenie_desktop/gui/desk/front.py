"""The session in front: its rows, its composer, and what is said around them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.parts import Draft
from bibgenie_desktop.domain.states import Action, SessionState
from bibgenie_desktop.domain.topology import DamagedBranch, Placeholder
from bibgenie_desktop.gui.banners import CompactionBanner, NoticeBanner, QueueStrip, ReadOnlyBanner
from bibgenie_desktop.gui.components import Banner
from bibgenie_desktop.gui.composer import ComposerState
from bibgenie_desktop.gui.conversation.copying import readable_markdown
from bibgenie_desktop.gui.conversation.message import copy_to_clipboard
from bibgenie_desktop.gui.conversation.rows import AnswerRow, Row, UserRow
from bibgenie_desktop.gui.dialogs import WholeTextDialog
from bibgenie_desktop.gui.docks.context import ContextView
from bibgenie_desktop.gui.presenters.chat import ChatPresenter
from bibgenie_desktop.gui.presenters.conversation import Conversation
from bibgenie_desktop.gui.presenters.transcript import attachments_of
from bibgenie_desktop.gui.tr import thousands, tr
from bibgenie_desktop.gui.window import MainWindow
from bibgenie_desktop.services import events

OFFERED: dict[events.Offer, Action] = {
    "compact": Action.COMPACT,
    "send_anyway": Action.SEND,
    "retry": Action.RETRY,
    "edit": Action.EDIT,
    "choose_model": Action.CHOOSE_MODEL,
}


class Front(QObject):
    """Shows what the chat presenter says and hands on what the person wishes."""

    models_requested = Signal()
    retry_with_requested = Signal(str)
    draft_changed = Signal(object)

    def __init__(self, window: MainWindow, chats: ChatPresenter, parent: QObject) -> None:
        super().__init__(parent)
        self._window, self._chats = window, chats
        self._view, self._composer, self._bottom = window.conversation, window.composer, window.bottom
        self._attached: Draft = Draft()
        self._share: float | None = None
        self._places: dict[str, tuple[str, int] | None] = {}
        self._shown = ""
        self._damaged: DamagedBranch | None = None
        self._ids: list[str] = []
        # What has no service behind it yet is not offered: attaching comes with images and the library view.
        for name in ("attachButton", "mentionButton"):
            button = self._composer.findChild(QObject, name)
            if button is not None:
                button.setProperty("visible", False)
        self._view.set_allowed(self._chats.allowed)
        self._view.set_is_newest(self._chats.is_newest)
        self._connect()

    def _connect(self) -> None:
        chats, view, composer = self._chats, self._view, self._composer
        chats.shown.connect(self._on_shown)
        chats.rows_changed.connect(self._on_rows_changed)
        chats.row_changed.connect(self._on_row_changed)
        chats.state_changed.connect(self.refresh)
        chats.notice_changed.connect(self._on_notice_changed)
        chats.began.connect(self._bottom.toasts.clear)
        chats.progress_changed.connect(self._on_progress_changed)
        chats.queue_changed.connect(self._on_queue_changed)
        chats.compaction_ended.connect(self._on_compaction_ended)
        chats.drafts.shown.connect(self._on_draft_shown)
        chats.drafts.editing_changed.connect(self._on_editing_changed)
        chats.drafts.unsaved_changed.connect(self._on_unsaved_changed)
        view.retry_requested.connect(self._on_retry_requested)
        view.retry_with_requested.connect(self.retry_with_requested)
        view.edit_requested.connect(self._on_edit_requested)
        view.fork_requested.connect(chats.fork)
        view.older_requested.connect(chats.load_older)
        view.quote_requested.connect(composer.quote)
        view.copy_requested.connect(self._on_copy_requested)
        view.notice.connect(self._on_view_notice)
        view.whole_text_requested.connect(self._on_whole_text_requested)
        composer.send_requested.connect(self._on_send_requested)
        composer.send_refused.connect(self._on_send_refused)
        composer.stop_requested.connect(chats.stop)
        composer.draft_changed.connect(self._on_draft_typed)
        composer.edit_last_requested.connect(chats.edit_last)
        composer.edit_cancelled.connect(self._on_edit_cancelled)
        composer.attachment_removed.connect(self._on_attachment_removed)
        composer.dropped.connect(self._on_dropped)
        self._window.escaped.connect(self._on_escaped)
        self._window.welcome.starter_chosen.connect(self._on_starter_chosen)

    # -- rows

    def _on_shown(self, conversation: Conversation) -> None:
        if self._shown and self._ids:
            self._places[self._shown] = self._view.place()
        self._shown, self._ids = conversation.id, []

    def _on_rows_changed(self, rows: list[Row]) -> None:
        """The same beginning with more at its end is appended, so that nothing jumps."""
        ids = [r.id for r in rows]
        before, self._ids = self._ids, ids
        older = self._older()
        if before and ids[: len(before)] == before:
            shown = {r.id: r for r in self._view.rows}
            for row in rows:
                if shown.get(row.id) != row:
                    self._view.update_row(row)
        elif before and ids[-len(before) :] == before:
            self._view.prepend(rows[: len(rows) - len(before)], older=older)
        else:
            keep = next((i for i in before if i in set(ids)), "") if before else ""
            fresh = not before
            self._view.set_rows(rows, older=older, keep="" if fresh or self._view.is_following else keep)
            if fresh:
                self._view.restore(self._places.pop(self._shown, None))
        front = self._chats.front
        self._window.show_welcome(front is not None and front.empty and front.chat.damaged is None)

    def _older(self) -> int:
        """How many messages come before the first one that is loaded."""
        front = self._chats.front
        if front is None or front.at_beginning or not front.entries:
            return 0
        first = front.entries[0]
        return 0 if isinstance(first, Placeholder) else first.depth

    def _on_row_changed(self, row: Row) -> None:
        """While an answer grows only its text goes the short way."""
        known = next((r for r in reversed(self._view.rows) if r.id == row.id), None)
        if isinstance(row, AnswerRow) and isinstance(known, AnswerRow) and row.streaming:
            same = (known.steps, known.tool_summary, known.reasoning) == (
                row.steps,
                row.tool_summary,
                row.reasoning,
            )
            if same:
                self._view.stream(row.text)
                return
        if known is not None:
            self._view.update_row(row)

    # -- state

    def show_context(self, view: ContextView) -> None:
        self._share = view.share
        self.refresh()

    def refresh(self) -> None:
        """Everything that depends on what is allowed now."""
        chats, window = self._chats, self._window
        chat = chats.chat
        if chat is None:
            return
        state = chats.state
        sending = chats.drafts.is_sending
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
        front = chats.front
        window.toolbar.show_model(
            front.model_label(chat.session.model) if front is not None else "",
            chats.refusal(Action.CHOOSE_MODEL),
        )
        window.toolbar.show_compact(chats.refusal(Action.COMPACT))
        window.welcome.show_reason(chats.refusal(Action.SEND))
        self._view.refresh_actions()
        self._show_compaction(state is SessionState.COMPACTING, sending)
        self._gate_offers()
        self._show_damage()

    def _frozen(self) -> str:
        chat = self._chats.chat
        compacting = self._chats.state is SessionState.COMPACTING
        if chat is not None and (chat.waiting is not None or (compacting and self._chats.drafts.is_sending)):
            return tr("This message is sent when the earlier context has been compacted.")
        return ""

    def _show_compaction(self, compacting: bool, sending: bool) -> None:
        shown = self._bottom.banner("compaction")
        if compacting and shown is None:
            banner = CompactionBanner()
            banner.cancel_requested.connect(self._chats.cancel)
            self._bottom.set_banner("compaction", banner)
            shown = banner
        elif not compacting and shown is not None:
            self._bottom.set_banner("compaction", None)
            shown = None
        if isinstance(shown, CompactionBanner):
            front, chat = self._chats.front, self._chats.chat
            waiting = sending or (chat is not None and chat.waiting is not None)
            shown.show_progress(front.progress if front is not None else None, waiting=waiting)

    def _show_damage(self) -> None:
        chat = self._chats.chat
        damaged = chat.damaged if chat is not None else None
        if damaged is self._damaged:
            return
        self._damaged = damaged
        self._window.show_top_banner(None)
        if damaged is not None:
            banner = ReadOnlyBanner(damaged.reason, damaged.bad_id)
            banner.copy_requested.connect(self._chats.copy_readable)
            self._window.show_top_banner(banner)

    def _on_progress_changed(self, progress: object) -> None:
        self.refresh()

    def _on_notice_changed(self, notice: events.Notice | None) -> None:
        if notice is None:
            self._bottom.set_banner("notice", None)
            return
        banner = NoticeBanner(notice)
        banner.offer_chosen.connect(self._on_offer_chosen)
        banner.dismissed.connect(self._chats.dismiss_notice)
        self._bottom.set_banner("notice", banner)
        self._gate_offers()

    def _gate_offers(self) -> None:
        banner = self._bottom.banner("notice")
        if isinstance(banner, NoticeBanner):
            banner.show_reasons({o: self._chats.refusal(a) for o, a in OFFERED.items()})

    def _on_offer_chosen(self, offer: str) -> None:
        chats = self._chats
        match offer:
            case "compact":
                chats.compact()
            case "send_anyway":
                chats.send_anyway(self._draft())
            case "retry":
                chats.retry_last()
            case "edit":
                self._composer.flush_draft()
                chats.edit_last()
            case "choose_model":
                self.models_requested.emit()

    def _on_queue_changed(self, queue: Sequence[Draft]) -> None:
        strip = QueueStrip(queue) if queue else None
        if strip is not None:
            strip.removed.connect(self._chats.unqueue)
        self._bottom.set_banner("queue", strip)

    def _on_compaction_ended(self, ended: events.CompactionEnded) -> None:
        window = self._window
        match ended.outcome:
            case "done":
                sizes = (thousands(ended.tokens_before), thousands(ended.tokens_after))
                window.toast(
                    tr("Compacted · {0} → {1}").format(*sizes),
                    tr("The model now works from a summary. You keep every message."),
                    action=tr("Undo"),
                    on_action=self._chats.undo_checkpoint,
                )
            case "nothing":
                window.toast(tr("Nothing to compact"), ended.message, tone="accent")
            case "cancelled":
                window.toast(tr("Compaction cancelled"), tr("Nothing was changed."), tone="accent")
            case "failed" | "stale":
                window.toast(tr("Not compacted"), ended.message, tone="warn")

    # -- composer

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

    def _on_editing_changed(self, message_id: object) -> None:
        words = ""
        if message_id is not None and not self._chats.is_newest(str(message_id)):
            words = tr("Editing as a new branch: what follows this message leaves the view, and is kept")
        self._composer.set_editing(message_id is not None, words)
        if message_id is not None:
            self._composer.focus_text()

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

    def _on_send_requested(self, _text: str) -> None:
        self._chats.drafts.now = self._draft()
        self._chats.send(self._draft())
        self._view.scroll_to_end()

    def _on_starter_chosen(self, question: str) -> None:
        draft = Draft(question)
        self._composer.set_text(question)
        self._chats.drafts.now = draft
        self._chats.send(draft)

    def _on_send_refused(self, reason: str) -> None:
        self._window.toast(tr("Not sent"), reason, tone="accent")

    def _on_edit_cancelled(self) -> None:
        if self._chats.chat is not None:
            self._chats.drafts.cancel_edit(self._chats.chat)

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

    def _on_escaped(self) -> None:
        """The topmost thing first, then an edit, then what runs."""
        chats = self._chats
        if self._bottom.toasts.toast is not None:
            self._bottom.toasts.clear()
        elif self._bottom.banner("notice") is not None:
            chats.dismiss_notice()
        elif self._composer.is_editing:
            self._on_edit_cancelled()
        elif chats.refusal(Action.STOP) is None:
            chats.stop()
        elif chats.refusal(Action.CANCEL) is None:
            chats.cancel()

    # -- messages

    def _on_retry_requested(self, row_id: str) -> None:
        if not self._chats.is_newest(row_id):
            self._window.toast(
                tr("Retrying as a new branch"),
                tr("What followed this answer is kept and stays in Branches."),
                tone="accent",
            )
        self._chats.retry(row_id)

    def _on_edit_requested(self, row_id: str) -> None:
        self._composer.flush_draft()  # it comes back after the edit
        self._chats.edit(row_id)

    def _on_whole_text_requested(self, row_id: str) -> None:
        row = next((r for r in self._view.rows if r.id == row_id), None)
        if isinstance(row, UserRow | AnswerRow):
            WholeTextDialog(row.text, self._window).open()

    def _on_view_notice(self, words: str) -> None:
        self._window.toast(words)

    def _on_copy_requested(self, row_id: str, _form: str) -> None:
        """With citations written out, and the works they name below."""
        row = next((r for r in self._view.rows if r.id == row_id), None)
        if not isinstance(row, UserRow | AnswerRow):
            return
        text = readable_markdown(row)
        if isinstance(row, AnswerRow):
            works = dict.fromkeys(f"{v.byline}. {v.title}." for v in row.citations.values() if v.title)
            if works:
                text += "\n\n" + "\n".join(f"- {work}" for work in works)
        copy_to_clipboard(text)
        self._window.toast(tr("Copied"))
