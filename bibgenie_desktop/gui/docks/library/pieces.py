"""A file, note or annotation of the item in the preview: shown as a line, dragged or added to a question."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QContextMenuEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame

from bibgenie_desktop.gui.components import Glyph, column, label, row
from bibgenie_desktop.gui.components.focus import paint_focus_ring
from bibgenie_desktop.gui.docks.library.dragging import drag, far_enough
from bibgenie_desktop.gui.theme import current
from bibgenie_desktop.gui.tr import harmless, tr
from bibgenie_desktop.services.library.item_details import Piece

ICONS: Final = {"attachment": "page", "note": "note", "annotation": "highlight"}
WORDS: Final = {"attachment": "file", "note": "note", "annotation": "annotation"}
MOST: Final = 400
"""Letters of an annotation that are shown; the rest is in the tooltip and in what is attached."""


class PieceLine(QFrame):
    """Enter adds it to the question; a right click or the menu key has the rest."""

    add_requested = Signal(str)
    menu_requested = Signal(object, QPoint)

    def __init__(self, piece: Piece) -> None:
        super().__init__()
        self.piece = piece
        self._pressed: QPoint | None = None
        self._hovered = False
        marked = piece.kind == "annotation"
        words = label(_short(piece.text), "small", wrap=True)
        body = column(words, spacing=1)
        if piece.comment:
            body.addWidget(label(_short(piece.comment), "fine", "2", wrap=True))
        if piece.reason:
            body.addWidget(label(piece.reason, "fine", "warn", wrap=True))
        detail = label(piece.detail, "fine", "3")
        entries = [] if marked else [column(Glyph(ICONS[piece.kind], "text2", 14), None)]
        inset = 12 if marked else 4
        self.setLayout(
            row(*entries, body, column(detail, None), margins=(inset, 3, 4, 3), spacing=7, grow=len(entries))
        )
        detail.setVisible(bool(piece.detail))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        self.setObjectName(f"piece:{piece.id}")
        said = (tr(WORDS[piece.kind]), piece.text, piece.comment, piece.detail, piece.reason)
        self.setAccessibleName(", ".join(t for t in said if t))
        if max(len(piece.text), len(piece.comment)) > MOST:
            self.setToolTip(harmless("\n\n".join(t for t in (piece.text, piece.comment) if t))[:4_000])

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed = event.position().toPoint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if far_enough(event, self._pressed):
            self._pressed = None
            drag(self, [self.piece.id], self.piece.text)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._pressed = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.add_requested.emit(self.piece.id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.add_requested.emit(self.piece.id)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu_requested.emit(self.piece, event.globalPos())

    def enterEvent(self, event: object) -> None:
        self._hovered = True
        self.update()

    def leaveEvent(self, event: object) -> None:
        self._hovered = False
        self.update()

    def focusInEvent(self, event: object) -> None:
        self.update()

    def focusOutEvent(self, event: object) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if self._hovered:
            painter.setBrush(theme.color("hover"))
            painter.drawRoundedRect(QRectF(self.rect()), 5, 5)
        if self.piece.kind == "annotation":
            own = QColor(self.piece.color)  # the person's colour in Zotero, not one of the theme
            painter.setBrush(own if own.isValid() else theme.color("outline"))
            painter.drawRoundedRect(QRectF(2, 4, 3, self.height() - 8), 1.5, 1.5)
        painter.end()
        paint_focus_ring(self, 5)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MOST else text[: MOST - 1].rstrip() + "…"
