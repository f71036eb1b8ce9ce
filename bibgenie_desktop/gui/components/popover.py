"""A raised sheet with a soft shadow, in a window of its own.

`Popover` takes the keyboard and closes on Esc or a click elsewhere. `hover=True` makes a card that shows
without taking the focus and goes away when the pointer has left both it and the place it belongs to.
"""

from typing import Final, Literal

from PySide6.QtCore import (
    QEasingCurve,
    QPoint,
    QPropertyAnimation,
    QRect,
    QRectF,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QCloseEvent,
    QColor,
    QCursor,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QRegion,
)
from PySide6.QtWidgets import QLayout, QWidget

from bibgenie_desktop.gui.theme import current, px
from bibgenie_desktop.gui.theme.tokens import RADIUS


def rounded(area: QRect, radius: int) -> QRegion:
    """A rectangle with round corners, for cutting a window to shape."""
    path = QPainterPath()
    path.addRoundedRect(QRectF(area), radius, radius)
    return QRegion(path.toFillPolygon().toPolygon())


Edge = Literal["left", "right"]
# Only there does Qt set the opacity of a window; others warn.
FADING: Final = ("windows", "cocoa", "xcb")


class Popover(QWidget):
    """`Popover(layout, 400, parent)`, then one of the `open_…` methods.

    `closed` is emitted however it ends.
    """

    closed = Signal()
    MARGIN: Final = 28

    def __init__(self, content: QLayout, width: float, parent: QWidget, *, hover: bool = False) -> None:
        kind = Qt.WindowType.ToolTip if hover else Qt.WindowType.Popup
        flags = kind | Qt.WindowType.FramelessWindowHint | Qt.WindowType.NoDropShadowWindowHint
        super().__init__(parent, flags)
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self._content = content
        self._hover, self._width = hover, width
        self._keep = QRect()
        if hover:
            self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self._leave = QTimer(self)
        self._leave.setInterval(120)
        self._leave.timeout.connect(self._on_leave_timeout)
        m, inset = content.contentsMargins(), self.MARGIN
        content.setContentsMargins(m.left() + inset, m.top() + inset, m.right() + inset, m.bottom() + inset)
        self.setLayout(content)

    # opening

    def open_below(self, anchor: QWidget, edge: Edge = "left") -> None:
        """Show under (or, without room, over) a widget, with one edge in line with it."""
        self.open_at(QRect(anchor.mapToGlobal(QPoint(0, 0)), anchor.size()), edge)

    def open_at(self, place: QRect, edge: Edge = "left") -> None:
        """Show beside a rectangle in global coordinates, whole on its screen."""
        size, screen = self._fit(), self._screen()
        self._keep = place.adjusted(-4, -4, 4, 8)
        x = place.left() if edge == "left" else place.right() + 1 - size.width()
        y = place.bottom() + 1 + px(6)
        if y + size.height() > screen.bottom() and place.top() - px(6) - size.height() >= screen.top():
            y = place.top() - px(6) - size.height()
        self._show(x, y, size, screen)

    def open_centred(self, window: QWidget, share: float = 0.22) -> None:
        """Show over the middle of a window, at a share of the height that is left."""
        size = self._fit()
        corner = window.mapToGlobal(QPoint(0, 0))
        x = corner.x() + (window.width() - size.width()) // 2
        y = corner.y() + max(12, round((window.height() - size.height()) * share))
        self._show(x, y, size, self._screen())

    def refit(self) -> None:
        """Grow or shrink after the content has changed, without moving the upper left corner."""
        size = self._fit()
        self.setFixedSize(size.width() + 2 * self.MARGIN, size.height() + 2 * self.MARGIN)
        self._clip()

    def _clip(self) -> None:
        """Where windows cannot be see-through, cut this one to its sheet: no shadow beats a black one."""
        if not current().blends:
            inner = self.rect().adjusted(*(self.MARGIN,) * 2, *(-self.MARGIN,) * 2)
            self.setMask(rounded(inner, RADIUS["sheet"]))

    def _fit(self) -> QSize:
        """Size of the sheet without its shadow, at most as wide as its window allows."""
        window = self._anchor_window()
        width = min(px(self._width), max(px(200), window.width() - 32)) + 2 * self.MARGIN
        layout = self._content
        layout.activate()
        high = layout.hasHeightForWidth()
        height = layout.totalHeightForWidth(width) if high else layout.totalSizeHint().height()
        room = self._screen().height() - 16 + 2 * self.MARGIN
        return QSize(width - 2 * self.MARGIN, min(height, room) - 2 * self.MARGIN)

    def _anchor_window(self) -> QWidget:
        # Asked for each time: a Python reference from child to parent makes a cycle that crashes at its end.
        parent = self.parentWidget()
        return parent.window() if parent is not None else self

    def _screen(self) -> QRect:
        screen = self._anchor_window().screen() or QGuiApplication.primaryScreen()
        return screen.availableGeometry()

    def _show(self, x: int, y: int, size: QSize, screen: QRect) -> None:
        x = max(screen.left() + 8, min(x, screen.right() - 8 - size.width()))
        y = max(screen.top() + 8, min(y, screen.bottom() - 8 - size.height()))
        self.setFixedSize(size.width() + 2 * self.MARGIN, size.height() + 2 * self.MARGIN)
        self.move(x - self.MARGIN, y - self.MARGIN)
        self._clip()
        fade = current().duration(90)
        if fade and not self.isVisible() and QGuiApplication.platformName() in FADING:
            self.setWindowOpacity(0.0)
            animation = QPropertyAnimation(self, b"windowOpacity", self)
            animation.setDuration(fade)
            animation.setEndValue(1.0)
            animation.setEasingCurve(QEasingCurve.Type.OutCubic)
            animation.start(QPropertyAnimation.DeletionPolicy.DeleteWhenStopped)
        self.show()
        if self._hover:
            self._leave.start()

    # going away

    def _on_leave_timeout(self) -> None:
        sheet = self.frameGeometry().adjusted(*(self.MARGIN - 4,) * 2, *(4 - self.MARGIN,) * 2)
        at = QCursor.pos()
        if not sheet.contains(at) and not self._keep.contains(at):
            self.close()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on the shadow is a click elsewhere."""
        inside = QRectF(self.rect()).adjusted(*(self.MARGIN,) * 2, *(-self.MARGIN,) * 2)
        if inside.contains(event.position()):
            super().mousePressEvent(event)
        else:
            self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self._leave.stop()
        self.closed.emit()
        self.deleteLater()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter, radius = current(), QPainter(self), RADIUS["sheet"]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        sheet = QRectF(self.rect()).adjusted(*(self.MARGIN,) * 2, *(-self.MARGIN,) * 2)
        painter.setPen(Qt.PenStyle.NoPen)
        strength = 7.0 if theme.is_dark else 2.0
        for i in range(self.MARGIN - 4, 0, -2):
            painter.setBrush(QColor(10, 12, 20, round(strength * (1 - i / self.MARGIN) + 0.6)))
            painter.drawRoundedRect(sheet.adjusted(-i, -i + 6, i, i + 2), radius + i, radius + i)
        painter.setBrush(theme.color("raised"))
        painter.setPen(QPen(theme.color("line_strong"), 1))
        painter.drawRoundedRect(sheet.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
