"""How full the next request is: one figure, the bar by kind, and the legend that carries its meaning."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QWidget

from bibgenie_desktop.gui.components import StackMeter, column, fixed, label, repolish, row
from bibgenie_desktop.gui.docks.context.values import ContextView
from bibgenie_desktop.gui.theme import current
from bibgenie_desktop.gui.tr import percent, thousands, tr

KINDS = (
    ("kind_system", "System prompt"),
    ("kind_tools", "Tools"),
    ("kind_checkpoint", "Checkpoint"),
    ("kind_tail", "Recent messages"),
    ("kind_draft", "Draft"),
    ("free", "Free"),
    ("kind_reserve", "Reserve for the answer"),
)


class Swatch(QWidget):
    """The colour of a kind, in the legend."""

    def __init__(self, role: str) -> None:
        super().__init__()
        self._role = role
        fixed(self, 10, 10)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        if self._role == "free":
            painter.setPen(QPen(current().color("outline"), 1))
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(current().color(self._role))
        painter.drawRoundedRect(area, 3, 3)


class MeterCard(QFrame):
    """Shows a `ContextView` in figures."""

    def __init__(self) -> None:
        super().__init__()
        self._used = label("", "title")
        self._of = label("", tone="2")
        self._share = label("", badge="accent")
        self._state = label("", "small", "2")
        self._state.setObjectName("meterState")
        self._meter = StackMeter()
        self._starts = label("", "fine", "3", wrap=True)
        self._sizes = [label("", "small", "2") for _ in KINDS]
        legend = [
            row(Swatch(role), label(tr(name), "small"), None, size, spacing=8)
            for (role, name), size in zip(KINDS, self._sizes, strict=True)
        ]
        self.setLayout(
            column(
                row(self._used, self._of, None, self._state, self._share, spacing=6),
                self._meter,
                self._starts,
                *legend,
                spacing=5,
                margins=(16, 0, 16, 12),
            )
        )

    def show_context(self, view: ContextView) -> None:
        self._used.setText(thousands(view.used, 1))
        self._of.setText(tr("of {0} tokens").format(thousands(view.safe_limit)))
        self._share.setText(percent(view.share))
        tone = "bad" if view.share > 1 else "warn" if view.used >= view.trigger else "accent"
        repolish(self._share, badge=tone)
        self._meter.set_values(view.parts, reserve=view.reserve, trigger=view.trigger, window=view.window)
        said = tr("Compaction starts at {0}").format(thousands(view.trigger))
        if view.assumed:
            said = tr("The window of this model is assumed: nothing is refused or compacted by itself.")
        self._starts.setText(f"{said}\n{view.source}")
        state = tr("Reported") if view.reported else tr("Estimated")
        self._state.setText(tr("Window assumed") if view.assumed else state)
        free = max(0, view.safe_limit - view.used)
        for shown, size in zip(self._sizes, (*view.parts, free, view.reserve), strict=True):
            shown.setText(thousands(size, 1))
