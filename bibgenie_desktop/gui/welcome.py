"""What an empty session shows: which library answers, which assistant, and questions to begin with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from bibgenie_desktop.gui.components import (
    Flow,
    Glyph,
    box,
    column,
    fixed,
    label,
    most,
    push,
    repolish,
    row,
)
from bibgenie_desktop.gui.components.focus import paint_focus_ring
from bibgenie_desktop.gui.theme import current
from bibgenie_desktop.gui.tr import tr

READING_WIDTH = 720


@dataclass(frozen=True, slots=True)
class Starter:
    """A question that is sent as it stands."""

    glyph: str
    question: str
    detail: str


@dataclass(frozen=True, slots=True)
class LibraryOffer:
    """A library that can be chosen. `path` empty: the sample library."""

    path: str
    title: str
    detail: str


@dataclass(frozen=True, slots=True)
class LibraryCard:
    """The library in use, or that there is none yet."""

    title: str
    detail: str
    tone: Literal["ok", "warn", "accent"]
    busy: bool = False


class Mascot(QWidget):
    """A branching path, drawn so that it follows theme and scale."""

    def __init__(self, size: float = 56) -> None:
        super().__init__()
        fixed(self, size, size)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme, u = QPainter(self), current(), self.width() / 56
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("accent_soft"))
        painter.drawRoundedRect(QRectF(self.rect()), 14 * u, 14 * u)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color("accent"), 2.4 * u, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawLine(QPointF(20 * u, 14 * u), QPointF(20 * u, 42 * u))
        painter.drawArc(QRectF(20 * u, 12 * u, 20 * u, 20 * u), 180 * 16, 90 * 16)
        painter.drawLine(QPointF(30 * u, 32 * u), QPointF(36 * u, 32 * u))
        painter.setBrush(theme.color("raised"))
        painter.drawEllipse(QRectF(16.5 * u, 10.5 * u, 7 * u, 7 * u))
        painter.setBrush(theme.color("accent"))
        painter.drawEllipse(QRectF(34 * u, 28.5 * u, 7 * u, 7 * u))
        painter.drawEllipse(QRectF(16.5 * u, 38.5 * u, 7 * u, 7 * u))


class StarterCard(QFrame):
    """A question as a card: click or Enter sends it."""

    chosen = Signal(str)

    def __init__(self, starter: Starter) -> None:
        super().__init__()
        self._question = starter.question
        self.setProperty("card", "true")
        self.setObjectName("starter")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(f"{starter.question}. {starter.detail}")
        words = column(
            label(starter.question, "strong", wrap=True),
            label(starter.detail, "small", "2", wrap=True),
            spacing=2,
        )
        arrow = column(None, Glyph("chevron-right", "text3", 16), None)
        glyph = column(Glyph(starter.glyph, "accent", 18), None)
        self.setLayout(row(glyph, words, arrow, margins=(14, 11, 12, 11), spacing=12, grow=1))

    @property
    def question(self) -> str:
        return self._question

    def set_reason(self, reason: str | None) -> None:
        self.setEnabled(reason is None)
        self.setToolTip(reason or "")

    def enterEvent(self, event: object) -> None:
        repolish(self, card="hover")

    def leaveEvent(self, event: object) -> None:
        repolish(self, card="true")

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.chosen.emit(self._question)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self._question)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        paint_focus_ring(self, 9)


class Welcome(QScrollArea):
    starter_chosen = Signal(str)
    library_chosen = Signal(str)
    """The path of an offer; empty: the sample library."""
    folder_requested = Signal()
    web_requested = Signal()
    provider_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("welcomePage")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._reason: str | None = None
        self._cards: list[StarterCard] = []
        title = label(tr("What are you reading about?"), "display", wrap=True)
        lead = label(
            tr(
                "Ask in your own words. Answers come from your Zotero library and cite the page they rest on."
            ),
            tone="2",
            wrap=True,
        )
        head = box(column(row(Mascot(), None), 6, title, lead, spacing=6))
        self._try = label(tr("Try"), "caption", "3")
        self._starters = column(spacing=8)
        self._group = box(column(self._try, self._starters, spacing=8))
        self._group.hide()  # until there is something to try
        self._library_glyph = Glyph("library", "accent", 18)
        self._library_title = label("", "strong", wrap=True)
        self._library_detail = label("", "small", "2", wrap=True)
        self._offers = Flow()
        self._offer_frame = box(self._offers)
        words = column(self._library_title, self._library_detail, self._offer_frame, spacing=2)
        library = box(
            row(column(self._library_glyph, None), words, margins=(14, 10, 14, 12), spacing=10, grow=1),
            card="true",
            object_name="libraryCard",
        )
        self._model_title = label("", "strong", wrap=True)
        self._model_detail = label("", "small", "2", wrap=True)
        provider = push(tr("Add a provider…"), dense=True, object_name="welcomeProvider")
        provider.clicked.connect(self.provider_requested)
        model = box(
            row(
                column(Glyph("spark", "accent", 18), None),
                column(self._model_title, self._model_detail, spacing=0),
                column(None, provider, None, spacing=0),
                margins=(14, 10, 14, 10),
                spacing=10,
                grow=1,
            ),
            card="true",
            object_name="modelCard",
        )
        self._ready = label(tr("Ready"), "caption", "3")
        ready = box(column(self._ready, library, model, spacing=8))
        inner = QWidget()
        layout = QVBoxLayout(inner)
        layout.setContentsMargins(0, 24, 0, 24)
        layout.setSpacing(28)
        layout.addStretch(1)
        for widget in (head, self._group, ready):
            widget.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
            layout.addWidget(widget)
        layout.addStretch(1)
        most(inner, READING_WIDTH)
        holder = QFrame()
        holder.setProperty("surface", "canvas")
        outer = QHBoxLayout(holder)
        outer.setContentsMargins(24, 0, 24, 0)
        outer.addStretch(1)
        outer.addWidget(inner, 1000)
        outer.addStretch(1)
        self.setWidget(holder)

    def show_starters(self, starters: Sequence[Starter]) -> None:
        for card in self._cards:
            self._starters.removeWidget(card)
            card.hide()
            card.deleteLater()
        self._cards = [StarterCard(s) for s in starters]
        for card in self._cards:
            card.chosen.connect(self.starter_chosen)
            card.set_reason(self._reason)
            self._starters.addWidget(card)
        self._group.setVisible(bool(starters))

    def focus_first(self) -> None:
        """Takes the keyboard, for F6."""
        if self._cards:
            self._cards[0].setFocus(Qt.FocusReason.TabFocusReason)

    def show_reason(self, reason: str | None) -> None:
        """Why no question can be sent now; None: it can."""
        self._reason = reason
        for card in self._cards:
            card.set_reason(reason)

    def show_library(self, card: LibraryCard, offers: Sequence[LibraryOffer]) -> None:
        icon = "check" if card.tone == "ok" else "warn" if card.tone == "warn" else "library"
        self._library_glyph.show_icon(icon, card.tone)
        self._library_title.setText(card.title)
        self._library_detail.setText(card.detail)
        self._ready.setText(tr("Ready") if card.tone == "ok" else tr("To begin"))
        while (item := self._offers.takeAt(0)) is not None:
            old = item.widget()
            if old is not None:
                old.hide()
                old.deleteLater()
        primary = "" if card.tone == "ok" else "primary"
        for offer in offers:
            button = push(offer.title, primary, dense=True, tip=offer.detail)
            button.setProperty("path", offer.path)
            button.setObjectName("sampleLibrary" if not offer.path else "foundLibrary")
            button.clicked.connect(self._on_offer_clicked)
            button.setEnabled(not card.busy)
            primary = ""
            self._offers.addWidget(button)
        folder = push(tr("Choose another folder…"), "quiet", dense=True, object_name="chooseFolder")
        folder.clicked.connect(self.folder_requested)
        folder.setEnabled(not card.busy)
        web = push(tr("Zotero web library…"), "quiet", dense=True, object_name="chooseWebLibrary")
        web.setToolTip(tr("For a library that is not on this computer: read from zotero.org."))
        web.clicked.connect(self.web_requested)
        web.setEnabled(not card.busy)
        for other in (folder, web):
            self._offers.addWidget(other)

    def show_model(self, title: str, detail: str) -> None:
        self._model_title.setText(title)
        self._model_detail.setText(detail)

    def _on_offer_clicked(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.library_chosen.emit(str(sender.property("path") or ""))
