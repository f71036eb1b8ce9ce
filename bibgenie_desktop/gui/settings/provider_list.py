"""The list of providers: name, address and state of each; one is chosen by click, Enter or the arrows."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPaintEvent
from PySide6.QtWidgets import QFrame

from bibgenie_desktop.gui.components import Elided, Glyph, column, most, row
from bibgenie_desktop.gui.components.focus import paint_focus_ring
from bibgenie_desktop.gui.settings.values import ProviderLine
from bibgenie_desktop.gui.tr import tr


class ProviderRow(QFrame):
    chosen = Signal(str)

    def __init__(self, line: ProviderLine) -> None:
        super().__init__()
        self.id = line.id
        self.setProperty("card", "hover" if line.current else "")
        self.setObjectName(f"provider:{line.id or 'builtin'}")
        dot = Glyph("dot", {"2": "text3", "3": "text3"}.get(line.tone, line.tone), 14)
        words = column(
            Elided(line.name, "strong" if line.current else ""), Elided(line.where, "small", "3"), spacing=0
        )
        state = most(Elided(line.state, "small", "2" if line.tone == "ok" else line.tone), 240)
        state.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        layout = row(dot, words, state, margins=(8, 6, 12, 6), spacing=8)
        layout.setStretch(1, 3)
        layout.setStretch(2, 2)
        self.setLayout(layout)
        said = ", ".join(t for t in (line.name, line.where, line.state) if t)
        self.setAccessibleName(tr("{0}, chosen").format(said) if line.current else said)
        if line.id:
            self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            self.setCursor(Qt.CursorShape.PointingHandCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        inside = self.rect().contains(event.position().toPoint())
        if self.id and inside and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(self.id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self.id)
        elif event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self.focusNextPrevChild(event.key() == Qt.Key.Key_Down)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        paint_focus_ring(self, 6)


class ProviderList(QFrame):
    """`chosen` carries the provider's id."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("card", "true")
        self.setAccessibleName(tr("Providers"))
        self._lines: tuple[ProviderLine, ...] = ()
        self._rows: list[ProviderRow] = []
        self._column = column(margins=(4, 4, 4, 4), spacing=0)
        self.setLayout(self._column)

    def show_lines(self, lines: Sequence[ProviderLine]) -> None:
        if tuple(lines) == self._lines:
            return
        self._lines = tuple(lines)
        focused = next((r.id for r in self._rows if r.hasFocus()), "")
        for old in self._rows:
            self._column.removeWidget(old)
            old.hide()
            old.deleteLater()
        self._rows = [ProviderRow(line) for line in lines]
        for new in self._rows:
            new.chosen.connect(self.chosen)
            self._column.addWidget(new)
            if focused and new.id == focused:
                new.setFocus(Qt.FocusReason.OtherFocusReason)
