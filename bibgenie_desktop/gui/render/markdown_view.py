"""What a person does with a typeset message: links, chips, copying, the keyboard.

It opens nothing by itself: links of known schemes are reported, others are plain words.
"""

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, QRect, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from bibgenie_desktop.gui.conversation.rows import CitationView
from bibgenie_desktop.gui.render import decor, inline
from bibgenie_desktop.gui.render.blocks import SCHEMES
from bibgenie_desktop.gui.render.math import MathRenderer
from bibgenie_desktop.gui.render.typeset_view import TypesetView
from bibgenie_desktop.gui.tr import tr

HOVER_MS: Final = 350


class MarkdownView(TypesetView):
    """A typeset message that can be read, followed and copied from."""

    link_opened = Signal(str)
    """An http, https, zotero or mailto address."""
    citation_opened = Signal(object)
    """The `CitationView` of a chip that was clicked."""
    card_requested = Signal(object, QRect, bool)
    """`CitationView`, where its chip is on the screen, and whether the keyboard asked."""
    code_copied = Signal()

    def __init__(
        self,
        text: str = "",
        citations: Mapping[str, CitationView] | None = None,
        *,
        math: MathRenderer | None = None,
        reading: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, citations, math=math, reading=reading, parent=parent)
        self._by_key = self._pressed_copy = False
        self._hover = QTimer(self)
        self._hover.setSingleShot(True)
        self._hover.setInterval(HOVER_MS)
        self._hover.timeout.connect(self._on_hover_timeout)
        self.anchorClicked.connect(self._on_anchor_clicked)
        self.highlighted.connect(self._on_highlighted)

    # links and chips

    def _number_of(self, url: QUrl | str) -> int | None:
        found = inline.CITE.match(url.toString() if isinstance(url, QUrl) else url)
        number = int(found[1]) if found else -1
        return number if 0 <= number < len(self._markers) else None

    def _on_anchor_clicked(self, url: QUrl) -> None:
        number = self._number_of(url)
        if number is not None:
            self._hover.stop()
            if self._by_key:
                self.card_requested.emit(self._citation(number), self._chip_rect(number), True)
            else:
                self.citation_opened.emit(self._citation(number))
        elif url.scheme().lower() in SCHEMES:
            self.link_opened.emit(url.toString(QUrl.ComponentFormattingOption.FullyEncoded))

    def _on_highlighted(self, url: QUrl) -> None:
        hot = self._number_of(url)
        if hot != self._hot:
            self._hot = hot
            self.viewport().update()
            if hot is None:
                self._hover.stop()
            else:
                self._hover.start()

    def _on_hover_timeout(self) -> None:
        if self._hot is not None and self.viewport().underMouse():
            self.card_requested.emit(self._citation(self._hot), self._chip_rect(self._hot), False)

    def _chip_rect(self, number: int) -> QRect:
        areas = [piece.area for piece in self._decoration().chips if piece.number == number]
        area = areas[0].toAlignedRect() if areas else QRect(0, 0, 1, 1)
        return QRect(self.viewport().mapToGlobal(area.topLeft()), area.size())

    def _code_at(self, place: QPointF) -> decor.CodeFrame | None:
        for frame in self._decoration().code:
            if frame.button.adjusted(-5, -5, 5, 5).contains(place):
                return frame
        return None

    # events

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            self._show_tip(event.pos(), event.globalPos())
            return True
        return super().viewportEvent(event)

    def _show_tip(self, place: QPoint, on_screen: QPoint) -> None:
        if self._code_at(QPointF(place)) is not None:
            QToolTip.showText(on_screen, tr("Copy code"), self)
            return
        href = self.anchorAt(place)
        if href and self._number_of(href) is None:
            QToolTip.showText(on_screen, href, self)
        else:
            QToolTip.hideText()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        if self._code_at(event.position()) is not None:
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        frame = self._code_at(event.position())
        self._pressed_copy = frame is not None and event.button() == Qt.MouseButton.LeftButton
        if frame is not None and self._pressed_copy:
            QGuiApplication.clipboard().setText(frame.text)
            self.code_copied.emit()
            event.accept()
            return
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._pressed_copy:
            self._pressed_copy = False
            event.accept()
            return
        super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copying and going through links; the rest is the conversation's."""
        if event.matches(QKeySequence.StandardKey.Copy) and self.textCursor().hasSelection():
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.selectAll()
        elif (
            event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.textCursor().charFormat().isAnchor()
        ):
            self._by_key = True
            try:
                super().keyPressEvent(event)
            finally:
                self._by_key = False
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self.textCursor().hasSelection():
            super().keyPressEvent(event)
        else:
            event.ignore()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._hover.stop()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        event.ignore()

    def createMimeDataFromSelection(self) -> QMimeData:
        data = QMimeData()
        data.setText(self.selected_text())
        return data
