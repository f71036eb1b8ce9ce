"""What is said around the conversation: compaction under way, notices with offers, damage, the queue."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.parts import Draft
from bibgenie_desktop.domain.states import Action, SessionState
from bibgenie_desktop.domain.topology import DamagedBranch
from bibgenie_desktop.gui.banners import (
    TICK_MS,
    CompactionBanner,
    NoticeBanner,
    QueueStrip,
    ReadOnlyBanner,
    SettingsBanner,
    WaitingBanner,
    waiting_words,
)
from bibgenie_desktop.gui.presenters.chat import ChatPresenter
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


class Announcing(QObject):
    """The banners of the session in front, and the toast at the end of a compaction."""

    models_requested = Signal()
    send_anyway_requested = Signal()
    edit_requested = Signal()
    reread_requested = Signal()
    """The settings file should be read again."""

    def __init__(self, window: MainWindow, chats: ChatPresenter, parent: QObject) -> None:
        super().__init__(parent)
        self._window, self._chats, self._bottom = window, chats, window.bottom
        self._damaged: DamagedBranch | None = None
        self._fault: UserError | None = None
        self._clock = QTimer(self)
        self._clock.setInterval(TICK_MS)
        self._clock.timeout.connect(self._show_waits)
        chats.notice_changed.connect(self._on_notice_changed)
        chats.began.connect(self._bottom.toasts.clear)
        chats.queue_changed.connect(self._on_queue_changed)
        chats.compaction_ended.connect(self._on_compaction_ended)

    def refresh(self) -> None:
        """Everything that depends on the state of the session."""
        self._show_waits()
        self._gate_offers()
        self._show_damage()

    def dismiss(self) -> bool:
        """Takes the topmost message away; False where there is none."""
        if self._bottom.toasts.toast is not None:
            self._bottom.toasts.clear()
            return True
        if self._bottom.banner("notice") is not None:
            self._chats.dismiss_notice()
            return True
        return False

    def _show_waits(self) -> None:
        """What takes its time: a compaction, a provider that is busy."""
        compacting = self._chats.state is SessionState.COMPACTING
        self._show_compaction(compacting, self._chats.drafts.is_sending)
        front = self._chats.front
        waiting = front.waiting if front is not None else None
        self._show_waiting(waiting if not compacting else None)
        notice = self._bottom.banner("notice")
        counting = isinstance(notice, NoticeBanner) and notice.counts
        if isinstance(notice, NoticeBanner) and counting:
            notice.show_time(self._chats.now)
        if waiting is None and not counting:
            self._clock.stop()
        elif not self._clock.isActive():
            self._clock.start()

    def _show_waiting(self, waiting: events.ReplyWaiting | None) -> None:
        shown = self._bottom.banner("waiting")
        if waiting is None:
            if shown is not None:
                self._bottom.set_banner("waiting", None)
            return
        if not isinstance(shown, WaitingBanner):
            shown = WaitingBanner()
            shown.stop_requested.connect(self._chats.stop)
            self._bottom.set_banner("waiting", shown)
        shown.show_waiting(waiting, self._chats.now)

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
            busy = front.waiting if front is not None else None
            shown.show_progress(
                front.progress if front is not None else None,
                waiting=waiting,
                busy=f"{busy.reason} {waiting_words(busy, self._chats.now)}." if busy is not None else "",
            )

    def _show_damage(self) -> None:
        chat = self._chats.chat
        damaged = chat.damaged if chat is not None else None
        if damaged is self._damaged:
            return
        self._damaged = damaged
        self._show_top()

    def show_settings_fault(self, fault: UserError | None) -> None:
        """Why the settings file is not used; None: it is."""
        self._fault = fault
        self._show_top()

    def _show_top(self) -> None:
        """Damage of the session in front comes before a fault of the settings: it is nearer."""
        if self._damaged is not None:
            banner = ReadOnlyBanner(self._damaged.reason, self._damaged.bad_id)
            banner.copy_requested.connect(self._chats.copy_readable)
            self._window.show_top_banner(banner)
        elif self._fault is not None:
            fault = SettingsBanner(self._fault)
            fault.reread_requested.connect(self.reread_requested)
            self._window.show_top_banner(fault)
        else:
            self._window.show_top_banner(None)

    def _on_notice_changed(self, notice: events.Notice | None) -> None:
        if notice is None:
            self._bottom.set_banner("notice", None)
            return
        banner = NoticeBanner(notice)
        banner.offer_chosen.connect(self._on_offer_chosen)
        banner.dismissed.connect(self._chats.dismiss_notice)
        banner.show_time(self._chats.now)
        self._bottom.set_banner("notice", banner)
        self._show_waits()
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
                self.send_anyway_requested.emit()
            case "retry":
                chats.retry_last()
            case "edit":
                self.edit_requested.emit()
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
