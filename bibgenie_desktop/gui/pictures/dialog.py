"""A kept picture large: as it was sent, fitted to the window, or pixel by pixel."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QDialog, QFrame, QScrollArea, QWidget

from bibgenie_desktop.gui.components import column, label, push, row
from bibgenie_desktop.gui.theme import px
from bibgenie_desktop.gui.tr import tr


class PictureDialog(QDialog):
    """A click on the picture changes between fitted and its own size."""

    def __init__(self, title: str, image: QImage, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("pictureDialog")
        self.setWindowTitle(title)
        self._area = QScrollArea()
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._area.setAccessibleName(title)
        self._canvas = _Canvas(image)
        self._area.setWidget(self._canvas)
        close = push(tr("Close"), "primary")
        close.clicked.connect(self.accept)
        said = tr("{0:,} × {1:,} pixels, as models that see are sent it").format(
            image.width(), image.height()
        )
        self.setLayout(
            column(
                label(title, "title", wrap=True),
                self._area,
                row(label(said, "small", "2"), None, close),
                margins=(20, 16, 20, 16),
                spacing=10,
                grow=1,
            )
        )
        room = parent.window().size()
        wide, high = image.width() + px(60), image.height() + px(150)
        self.resize(max(px(360), min(wide, room.width() - 64)), max(px(300), min(high, room.height() - 64)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._canvas.fit(self._area.maximumViewportSize())


class _Canvas(QWidget):
    def __init__(self, image: QImage) -> None:
        super().__init__()
        self._image, self._room, self._whole = image, QSize(1, 1), True
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def fit(self, room: QSize) -> None:
        self._room = room
        own = self._image.size() / self.devicePixelRatioF()
        shown = own
        if self._whole and (own.width() > room.width() or own.height() > room.height()):
            shown = own.scaled(room, Qt.AspectRatioMode.KeepAspectRatio)
        self.resize(shown.expandedTo(QSize(1, 1)))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._whole = not self._whole
        self.fit(self._room)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(QRectF(self.rect()), self._image)
