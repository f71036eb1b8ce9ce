"""Three columns: sidebar, centre, dock. The centre keeps its least width; what has no room opens over it."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QWidget

from bibgenie_desktop.gui.theme import current, px

SIDE_WIDTH: Final = 264
DOCK_WIDTH: Final = 336
CENTRE_LEAST: Final = 520
NARROWEST, WIDEST_SIDE, WIDEST_DOCK = 200, 420, 620
GRIP: Final = 7


class Grip(QWidget):
    """The hairline between two columns, a little wider for the pointer."""

    dragged = Signal(int)
    """The new x of the line, in the frame's coordinates."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setCursor(Qt.CursorShape.SplitHCursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.dragged.emit(self.mapToParent(event.position().toPoint()).x())

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(QRect(GRIP // 2, 0, 1, self.height()), current().color("line"))


class Frame(QFrame):
    """`wants_side` and `dock` are the person's wishes; `shown` is the truth."""

    arranged = Signal()
    """Something appeared, went away or got another width."""

    def __init__(self, side: QWidget, centre: QWidget) -> None:
        super().__init__()
        self.setProperty("surface", "canvas")
        self._side, self._centre = side, centre
        self._docks: dict[str, QWidget] = {}
        self._dock = ""
        self._wants_side = True
        self._side_over = self._dock_over = False
        self._side_width, self._dock_width = float(SIDE_WIDTH), float(DOCK_WIDTH)
        self._busy = False
        self._truth: tuple[object, ...] = ()
        for widget in (centre, side):
            widget.setParent(self)
        self._side_grip, self._dock_grip = Grip(self), Grip(self)
        self._side_grip.dragged.connect(self._on_side_dragged)
        self._dock_grip.dragged.connect(self._on_dock_dragged)
        current().changed.connect(self.arrange)

    # wishes

    def add_dock(self, name: str, panel: QWidget) -> None:
        panel.setParent(self)
        panel.hide()
        self._docks[name] = panel

    @property
    def dock(self) -> str:
        """The dock that is wanted, shown or not."""
        return self._dock

    def open_dock(self, name: str) -> None:
        """Opens a dock, beside the conversation or over it; empty closes."""
        self._dock = name
        self._dock_over = bool(name)
        if name:
            self._side_over = False
        self.arrange()

    def open_side(self, wanted: bool) -> None:
        self._wants_side = self._side_over = wanted
        if wanted:
            self._dock_over = False
        self.arrange()

    def close_overlay(self) -> bool:
        """Closes what lies over the conversation; False where nothing does."""
        if not (self._covers("side") or self._covers("dock")):
            return False
        self._side_over = self._dock_over = False
        self.arrange()
        return True

    def _covers(self, what: str) -> bool:
        side, dock = self._inline()
        if what == "side":
            return self._side_over and not side and self._side.isVisibleTo(self)
        return self._dock_over and not dock and bool(self._dock)

    # truth

    @property
    def side_shown(self) -> bool:
        return self._side.isVisibleTo(self)

    @property
    def dock_shown(self) -> str:
        panel = self._docks.get(self._dock)
        return self._dock if panel is not None and panel.isVisibleTo(self) else ""

    def panel(self, name: str) -> QWidget | None:
        return self._docks.get(name)

    @property
    def centre_width(self) -> int:
        return self._centre.width()

    def state(self) -> dict[str, object]:
        return {
            "side": self._wants_side,
            "side_width": round(self._side_width),
            "dock": self._dock,
            "dock_width": round(self._dock_width),
        }

    def restore(self, *, side: bool, side_width: float, dock: str, dock_width: float) -> None:
        self._wants_side = side
        self._side_width = min(WIDEST_SIDE, max(NARROWEST, side_width))
        self._dock_width = min(WIDEST_DOCK, max(NARROWEST, dock_width))
        self._dock = dock if dock in self._docks else ""
        self.arrange()

    # geometry

    def _inline(self) -> tuple[bool, bool]:
        """Whether sidebar and dock have room beside the centre."""
        width, least = self.width(), px(CENTRE_LEAST)
        side = self._wants_side and width - px(self._side_width) >= least
        taken = px(self._side_width) if side else 0
        dock = bool(self._dock) and width - taken - px(self._dock_width) >= least
        return side, dock

    def arrange(self) -> None:
        if self._busy:
            return
        self._busy = True
        try:
            self._arrange()
        finally:
            self._busy = False
        truth = (self.side_shown, self.dock_shown, self.centre_width)
        if truth != self._truth:
            self._truth = truth
            self.arranged.emit()

    def _arrange(self) -> None:
        width, height = self.width(), self.height()
        side, dock = self._inline()
        side_over = self._wants_side and self._side_over and not side
        dock_over = bool(self._dock) and self._dock_over and not dock
        side_width = min(px(self._side_width), width - 48)
        dock_width = min(px(self._dock_width), width - 48)
        left = side_width + 1 if side else 0
        right = width - dock_width - 1 if dock else width
        self._centre.setGeometry(left, 0, max(0, right - left), height)
        self._side.setGeometry(0, 0, side_width, height)
        self._side.setVisible(side or side_over)
        self._side_grip.setGeometry(side_width - GRIP // 2, 0, GRIP, height)
        self._side_grip.setVisible(side or side_over)
        for name, panel in self._docks.items():
            shown = name == self._dock and (dock or dock_over)
            if shown:
                panel.setGeometry(width - dock_width, 0, dock_width, height)
            panel.setVisible(shown)
            if shown and dock_over:
                panel.raise_()
        self._dock_grip.setGeometry(width - dock_width - 1 - GRIP // 2, 0, GRIP, height)
        self._dock_grip.setVisible(dock or dock_over)
        if side_over:
            self._side.raise_()
        self._side_grip.raise_()
        self._dock_grip.raise_()

    def _on_side_dragged(self, x: int) -> None:
        unit = px(1000) / 1000
        self._side_width = min(WIDEST_SIDE, max(NARROWEST, x / unit))
        self.arrange()

    def _on_dock_dragged(self, x: int) -> None:
        unit = px(1000) / 1000
        self._dock_width = min(WIDEST_DOCK, max(NARROWEST, (self.width() - x) / unit))
        self.arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._side_over = self._dock_over = False
        self.arrange()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.arrange()
