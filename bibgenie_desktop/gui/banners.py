"""What is said around the conversation: compaction under way, notices with their offers, a damaged session,
follow-ups that wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QProgressBar, QPushButton

from bibgenie_desktop.domain.errors import UserError, sentences
from bibgenie_desktop.domain.parts import Draft, title_of
from bibgenie_desktop.gui.components import Banner, Chip, Flow, box, column, gate, label, push
from bibgenie_desktop.gui.components.banner import Tone
from bibgenie_desktop.gui.tr import number, tr
from bibgenie_desktop.services.events import CompactionProgress, Notice, Offer, ReplyWaiting

OFFERS: Final[dict[Offer, str]] = {
    "send_anyway": "Send without compacting",
    "compact": "Compact",
    "choose_model": "Choose a model…",
    "edit": "Edit and resend",
    "retry": "Retry",
}
TICK_MS: Final = 250
TONES: Final[dict[str, Tone]] = {"info": "accent", "warn": "warn", "bad": "bad"}


class CompactionBanner(Banner):
    """Tokens written of about so many, and Cancel."""

    cancel_requested = Signal()

    def __init__(self) -> None:
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 100)
        self._bar.setAccessibleName(tr("Compaction progress"))
        self._cancel = push(tr("Cancel"), dense=True, object_name="cancelCompactionButton")
        super().__init__(
            "accent",
            tr("Compacting earlier context…"),
            "",
            [self._cancel],
            icon="compact",
            extra=self._bar,
            object_name="compactionBanner",
        )
        self._cancel.clicked.connect(self._on_cancel_clicked)

    def show_progress(self, progress: CompactionProgress | None, *, waiting: bool, busy: str = "") -> None:
        """`busy`: the provider makes wait, in words."""
        said = tr("The model is reading what is to be summarised.")
        if progress is not None and progress.written:
            said = tr("{0} of about {1} tokens written.").format(
                number(progress.written), number(progress.budget)
            )
            if progress.stages > 1:
                said += " " + tr("Part {0} of {1}.").format(progress.stage, progress.stages)
            share = (progress.stage - 1 + min(1.0, progress.written / max(1, progress.budget))) / max(
                1, progress.stages
            )
            self._bar.setValue(round(100 * share))
        if busy:
            said = busy
        if waiting:
            said += " " + tr("Your message is sent afterwards.")
        if self._cancel.isEnabled():
            self.say(tr("Compacting earlier context…"), said)

    def _on_cancel_clicked(self) -> None:
        self._cancel.setEnabled(False)
        self.say(tr("Cancelling…"), tr("Nothing of the summary is kept."))
        self.cancel_requested.emit()


class NoticeBanner(Banner):
    """What happened, and at most two ways on."""

    offer_chosen = Signal(str)
    dismissed = Signal()

    def __init__(self, notice: Notice) -> None:
        self._notice = notice
        self._left = 0
        self._reasons: Mapping[Offer, str | None] = {}
        buttons: list[QPushButton] = []
        for offer in notice.offers[:2]:
            button = push(tr(OFFERS[offer]), dense=True, object_name=f"offer_{offer}")
            button.setProperty("offer", offer)
            buttons.append(button)
        self._offers = tuple(buttons)
        dismiss = push(tr("Dismiss"), "quiet", dense=True)
        self._at_once = push(tr("Retry at once"), dense=True, object_name="retryAtOnce")
        self._at_once.setProperty("offer", "retry")
        if notice.retry_at is not None:
            buttons[1:] = [self._at_once]
            self._offers = (buttons[0],)
        super().__init__(
            TONES[notice.tone],
            notice.title,
            notice.advice,
            [*buttons, dismiss],
            icon="clock" if notice.retry_at else "context" if "choose_model" in notice.offers else "",
            object_name="noticeBanner",
        )
        for button in buttons:
            button.clicked.connect(self._on_offer_clicked)
        dismiss.clicked.connect(self.dismissed)

    def show_reasons(self, reasons: Mapping[Offer, str | None]) -> None:
        """Offers that cannot be taken up now say why."""
        self._reasons = reasons
        for button in self._offers:
            gate(button, reasons.get(button.property("offer")))
        self._show_left()

    @property
    def counts(self) -> bool:
        """Whether it still waits for its time to come."""
        return self._left > 0

    def show_time(self, now: int) -> None:
        """How long until the provider takes requests again; from then on Retry is what it always is."""
        at = self._notice.retry_at
        if at is not None:
            self._left = max(0, at - now)
            self._show_left()

    def _show_left(self) -> None:
        if self._notice.retry_at is None:
            return
        reason = self._reasons.get("retry")
        gate(self._at_once, reason)
        self._at_once.setVisible(self.counts)
        retry, advice = self._offers[0], self._notice.advice
        if self.counts:
            words = duration(self._left)
            retry.setText(tr("Retry in {0}").format(words))
            gate(retry, reason or tr("The provider takes requests again in {0}.").format(words))
            return
        retry.setText(tr(OFFERS["retry"]))
        gate(retry, reason)
        self.say(self._notice.title, " ".join((tr("You can retry now."), advice)))

    def _on_offer_clicked(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.offer_chosen.emit(str(sender.property("offer")))


class WaitingBanner(Banner):
    """A busy provider: when it is asked again, and Stop."""

    stop_requested = Signal()

    def __init__(self) -> None:
        self._stop = push(tr("Stop"), dense=True, object_name="stopWaiting")
        super().__init__("accent", "", "", [self._stop], icon="clock", object_name="waitingBanner")
        self._stop.clicked.connect(self.stop_requested)

    def show_waiting(self, waiting: ReplyWaiting, now: int) -> None:
        self.say(waiting.reason, waiting_words(waiting, now))


def waiting_words(waiting: ReplyWaiting, now: int) -> str:
    """`Trying again in 3 s (2 of 4)`."""
    left = waiting.until - now
    count = tr("{0} of {1}").format(number(waiting.attempt), number(waiting.tries))
    if left <= 0:
        return tr("Trying again ({0})").format(count)
    return tr("Trying again in {0} ({1})").format(duration(left), count)


def duration(milliseconds: int) -> str:
    """A wait as people read it, rounded up: `34 s`, `12 min`, `3 h 5 min`."""
    seconds = -(-milliseconds // 1000)
    if seconds < 100:
        return tr("{0} s").format(number(seconds))
    minutes = -(-seconds // 60)
    if minutes < 100:
        return tr("{0} min").format(number(minutes))
    return tr("{0} h {1} min").format(number(minutes // 60), number(minutes % 60))


class ReadOnlyBanner(Banner):
    copy_requested = Signal()

    def __init__(self, reason: str, message_id: str) -> None:
        self._copy = push(
            tr("Copy the readable part into a new session"), dense=True, object_name="copyReadableButton"
        )
        said = tr("Message {0}: {1} Nothing was changed.").format(message_id[:13], reason)
        super().__init__(
            "bad",
            tr("This session is damaged and opens read-only"),
            said,
            [self._copy],
            icon="lock",
            object_name="readOnlyBanner",
        )
        self._copy.clicked.connect(self.copy_requested)


class SettingsBanner(Banner):
    """The settings file is wrong: which file, which line, and what counts meanwhile."""

    reread_requested = Signal()

    def __init__(self, fault: UserError) -> None:
        again = push(tr("Read it again"), dense=True, object_name="rereadSettings")
        meanwhile = tr("The last good settings are used and cannot be changed until it is mended.")
        said = sentences(fault.advice, meanwhile)
        super().__init__("warn", fault.title, said, [again], object_name="settingsBanner")
        again.clicked.connect(self.reread_requested)


class QueueStrip(QFrame):
    """Follow-ups that are sent one after the other; each can be taken back."""

    removed = Signal(int)

    def __init__(self, drafts: Sequence[Draft]) -> None:
        super().__init__()
        self.setObjectName("queueStrip")
        chips = []
        for index, draft in enumerate(drafts):
            words = title_of(draft.parts(), 60) or tr("Attached items")
            chip = Chip(words, "clock", key=str(index), tip=draft.text)
            chip.removed.connect(self._on_removed)
            chips.append(chip)
        said = tr("Sent next") if len(drafts) == 1 else tr("Sent next, in this order")
        self.setLayout(column(label(said, "caption", "3"), box(Flow(chips)), spacing=4))

    def _on_removed(self, key: str) -> None:
        self.removed.emit(int(key))
