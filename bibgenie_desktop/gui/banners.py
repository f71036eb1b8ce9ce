"""What is said around the conversation: compaction under way, notices with their offers, a damaged session,
follow-ups that wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QProgressBar, QPushButton

from bibgenie_desktop.domain.parts import Draft, title_of
from bibgenie_desktop.gui.components import Banner, Chip, Flow, box, column, gate, label, push
from bibgenie_desktop.gui.components.banner import Tone
from bibgenie_desktop.gui.tr import number, tr
from bibgenie_desktop.services.events import CompactionProgress, Notice, Offer

OFFERS: Final[dict[Offer, str]] = {
    "send_anyway": "Send without compacting",
    "compact": "Compact",
    "choose_model": "Choose a model…",
    "edit": "Edit and resend",
    "retry": "Retry",
}
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

    def show_progress(self, progress: CompactionProgress | None, *, waiting: bool) -> None:
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
        buttons: list[QPushButton] = []
        for offer in notice.offers[:2]:
            button = push(tr(OFFERS[offer]), dense=True, object_name=f"offer_{offer}")
            button.setProperty("offer", offer)
            buttons.append(button)
        self._offers = tuple(buttons)
        dismiss = push(tr("Dismiss"), "quiet", dense=True)
        super().__init__(
            TONES[notice.tone],
            notice.title,
            notice.advice,
            [*buttons, dismiss],
            icon="context" if "choose_model" in notice.offers else "",
            object_name="noticeBanner",
        )
        for button in buttons:
            button.clicked.connect(self._on_offer_clicked)
        dismiss.clicked.connect(self.dismissed)

    def show_reasons(self, reasons: Mapping[Offer, str | None]) -> None:
        """Offers that cannot be taken up now say why."""
        for button in self._offers:
            gate(button, reasons.get(button.property("offer")))

    def _on_offer_clicked(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.offer_chosen.emit(str(sender.property("offer")))


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
