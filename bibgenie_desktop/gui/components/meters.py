"""How full the context is: ring, bar, and the stacked bar by kind; and the spinner for what is running."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QPointF, QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QHideEvent, QPainter, QPainterPath, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from bibgenie_desktop.gui.components.layouts import fixed
from bibgenie_desktop.gui.theme import current, px
from bibgenie_desktop.gui.tr import percent, thousands, tr

TRIGGER: Final = 0.9
KINDS: Final = ("kind_system", "kind_tools", "kind_checkpoint", "kind_tail", "kind_draft")


def tone(share: float) -> str:
    """Colour role of a share of the safe limit."""
    return "bad" if share > 1 else "warn" if share >= TRIGGER else "accent"


class Ring(QWidget):
    """Share of the safe input limit in use."""

    def __init__(self, share: float = 0.0, size: float = 20) -> None:
        super().__init__()
        self._share = 0.0
        fixed(self, size, size)
        self.set_share(share)

    def set_share(self, share: float) -> None:
        self._share = share
        self.setAccessibleName(tr("Context {0} used").format(percent(share)))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = max(2.0, self.width() * 0.13)
        area = QRectF(self.rect()).adjusted(width, width, -width, -width)
        painter.setPen(QPen(theme.color("line_strong"), width))
        painter.drawEllipse(area)
        if self._share > 0:
            painter.setPen(
                QPen(theme.color(tone(self._share)), width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
            )
            painter.drawArc(area, 90 * 16, round(-360 * 16 * min(1.0, self._share)))


class Meter(QWidget):
    """The toolbar's small bar: used of safe limit."""

    def __init__(self, share: float = 0.0, width: float = 64) -> None:
        super().__init__()
        self._share = 0.0
        fixed(self, width, 6)
        self.set_share(share)

    def set_share(self, share: float) -> None:
        self._share = share
        self.setAccessibleName(tr("Context {0} used").format(percent(share)))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("line_strong"))
        painter.drawRoundedRect(self.rect(), 3, 3)
        if self._share > 0:
            role = tone(self._share)
            painter.setBrush(theme.color("accent_fill" if role == "accent" else role))
            used = max(6.0, self.width() * min(1.0, self._share))
            painter.drawRoundedRect(QRectF(0, 0, used, self.height()), 3, 3)


class StackMeter(QWidget):
    """Occupancy by kind (system, tools, checkpoint, recent messages, draft), free space, hatched
    reserve, and a tick where compaction starts. All numbers are tokens; `window` is the whole bar.
    """

    def __init__(self, height: float = 12) -> None:
        super().__init__()
        self._parts: Sequence[int] = ()
        self._reserve, self._trigger, self._window = 0, 0, 1
        self._bar = height
        fixed(self, height=height + 6)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_values(self, parts: Sequence[int], *, reserve: int, trigger: int, window: int) -> None:
        """`parts` in the fixed order of kinds."""
        self._parts, self._reserve, self._trigger, self._window = (
            tuple(parts),
            reserve,
            trigger,
            max(1, window),
        )
        used, room = thousands(sum(parts)), thousands(max(0, window - reserve))
        self.setAccessibleName(tr("{0} of {1} tokens used").format(used, room))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        top, bar = px(3), px(self._bar)
        clip = QPainterPath()
        clip.addRoundedRect(QRectF(0, top, self.width(), bar), 4, 4)
        painter.setClipPath(clip)
        painter.fillRect(self.rect(), theme.color("line"))
        scale, x = self.width() / self._window, 0.0
        start = max(0.0, (self._window - self._reserve) * scale)
        painter.fillRect(QRectF(start, top, self.width() - start, bar), theme.color("hover"))
        painter.setPen(QPen(theme.color("kind_reserve"), 1.4))
        for i in range(int(start) - bar, self.width(), 5):
            low = QPointF(max(start, i), top + bar - max(0.0, start - i))
            painter.drawLine(low, QPointF(i + bar, top))
        for part, kind in zip(self._parts, KINDS, strict=False):
            if part > 0:
                painter.fillRect(QRectF(x, top, max(2.0, part * scale - 1.5), bar), theme.color(kind))
                x += max(3.5, part * scale)
        painter.setClipping(False)
        if 0 < self._trigger < self._window:
            painter.fillRect(QRect(round(self._trigger * scale), 0, 2, self.height()), theme.color("text"))


class Spinner(QWidget):
    """A quiet three-quarter ring: one turn a second; it stands still under reduced motion and when hidden."""

    def __init__(self, size: float = 15) -> None:
        super().__init__()
        self._angle = 60
        self._timer = QTimer(self)
        self._timer.setInterval(50)
        self._timer.timeout.connect(self._on_timeout)
        self.setAccessibleName(tr("Running"))
        fixed(self, size, size)

    def _on_timeout(self) -> None:
        self._angle = (self._angle - 18) % 360
        self.update()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not current().reduced_motion:
            self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(2, 2, -2, -2)
        painter.setPen(QPen(QColor(theme.colors.line_strong), 1.8))
        painter.drawEllipse(area)
        painter.setPen(QPen(theme.color("accent"), 1.8, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawArc(area, self._angle * 16, 100 * 16)
