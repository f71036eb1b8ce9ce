"""A kept picture, small: its own shape with round corners, to be opened by a click or the keyboard."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from bibgenie_desktop.gui.components import fixed
from bibgenie_desktop.gui.conversation.rows import AttachmentView
from bibgenie_desktop.gui.pictures.thumbnails import Thumbnails
from bibgenie_desktop.gui.theme import current, icons
from bibgenie_desktop.gui.tr import tr

WIDEST, HIGHEST = 260.0, 180.0
LEAST = 44.0
RADIUS = 7.0


def size_words(view: AttachmentView) -> str:
    """`640 × 480`; empty where nobody knows."""
    return f"{view.width:,} × {view.height:,}" if view.width and view.height else ""


class PictureFrame(QWidget):
    """Its size is fixed before the picture is there, so that nothing moves when it comes."""

    opened = Signal(str, str)
    """Its key and its name."""

    def __init__(
        self,
        view: AttachmentView,
        thumbnails: Thumbnails | None,
        *,
        widest: float = WIDEST,
        highest: float = HIGHEST,
        focusable: bool = True,
        filled: bool = False,
    ) -> None:
        """`filled`: the whole room is taken, and what does not fit is cut off."""
        super().__init__()
        self.setObjectName("pictureFrame")
        self._filled = filled
        self._key, self._name, self._thumbnails = view.key, view.text, thumbnails
        wide, high = (view.width, view.height) if view.width and view.height else (widest, highest)
        if filled:
            wide, high = widest, highest
        scale = min(widest / wide, highest / high, 1.0)
        fixed(self, max(min(LEAST, widest), wide * scale), max(min(LEAST, highest), high * scale))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if focusable else Qt.FocusPolicy.NoFocus)
        self.setToolTip(" · ".join(word for word in (view.text, size_words(view), view.tip) if word))
        self.setAccessibleName(tr("Picture: {0}").format(view.text))
        if thumbnails is not None:
            thumbnails.ready.connect(self._on_ready)

    @property
    def key(self) -> str:
        return self._key

    def _on_ready(self, key: str) -> None:
        if key == self._key:
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.opened.emit(self._key, self._name)
        else:
            super().mouseReleaseEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.opened.emit(self._key, self._name)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        area = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        shape = QPainterPath()
        shape.addRoundedRect(area, RADIUS, RADIUS)
        image = self._thumbnails.get(self._key) if self._thumbnails is not None else None
        painter.fillPath(shape, theme.color("sunken"))
        if image is None or image.isNull():
            side = min(22.0, area.width() / 2, area.height() / 2)
            center = area.center()
            place = QRectF(center.x() - side / 2, center.y() - side / 2, side, side)
            icons.paint(painter, "image", place, theme.color("text3" if image is None else "warn"))
        else:
            painter.save()
            painter.setClipPath(shape)
            scales = (area.width() / image.width(), area.height() / image.height())
            scale = max(scales) if self._filled else min(scales)
            wide, high = image.width() * scale, image.height() * scale
            center = area.center()
            painter.drawImage(QRectF(center.x() - wide / 2, center.y() - high / 2, wide, high), image)
            painter.restore()
        focused = self.hasFocus()
        painter.setPen(QPen(theme.color("accent" if focused else "line"), 2 if focused else 1))
        painter.drawPath(shape)
