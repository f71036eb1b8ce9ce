"""Text that does not ask for anything: labels, elided labels, key caps, single icons."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from bibgenie_desktop.gui.components.layouts import fixed, props
from bibgenie_desktop.gui.theme import current, icons, px
from bibgenie_desktop.gui.tr import harmless


def label(text: str, type: str = "", tone: str = "", *, badge: str = "", wrap: bool = False) -> QLabel:
    """Plain text. `type`: caption, fine, small, strong, title, display; `tone`: 2, 3, accent, ok, warn, bad.

    A label whose text can grow must `wrap`, or be `Elided`.
    """
    result = QLabel(harmless(text))
    props(result, type=type, tone=tone, badge=badge)
    result.setTextFormat(Qt.TextFormat.PlainText)
    result.setWordWrap(wrap)
    if wrap:
        result.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
    return result


class Elided(QLabel):
    """One line that shortens itself and then offers the whole text as tooltip."""

    def __init__(self, text: str, type: str = "", tone: str = "", *, middle: bool = False) -> None:
        super().__init__(harmless(text))
        props(self, type=type, tone=tone)
        self._mode = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        return QSize(min(px(32), super().sizeHint().width()), super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(self.font())
        painter.setPen(self.palette().color(self.foregroundRole()))
        whole = self.text().replace("\n", " ")
        shown = QFontMetrics(self.font()).elidedText(whole, self._mode, self.width())
        tip = self.text() if shown != whole else ""
        if tip != self.toolTip():
            self.setToolTip(tip)
        painter.drawText(self.rect(), int(self.alignment()), shown)


class Glyph(QWidget):
    """One icon, not clickable. It never carries a meaning alone."""

    def __init__(self, name: str, role: str = "text2", size: float = 16) -> None:
        super().__init__()
        self._name, self._role = name, role
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        fixed(self, size, size)

    def show_icon(self, name: str, role: str = "") -> None:
        self._name, self._role = name, role or self._role
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        icons.paint(QPainter(self), self._name, QRectF(self.rect()), current().color(self._role))


def key_cap(text: str) -> QLabel:
    """A keyboard shortcut, drawn as a small key."""
    result = label(text)
    props(result, kbd=True)
    result.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    return result
