"""What a person does with a window, done by events: find by name, click, type, wait, take a picture."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QKeyEvent, QMouseEvent, QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from bibgenie_desktop.gui.window import MainWindow

POLL_S = 0.02
W = TypeVar("W", bound=QWidget)


class TourFailed(Exception):
    """A step did not do what it says; the message is a sentence."""


class Hands:
    """Acts on one window; every failure is a `TourFailed` that says what was missing."""

    def __init__(self, window: MainWindow) -> None:
        self.window = window

    # -- waiting and finding

    async def until(self, condition: Callable[[], object], sentence: str, seconds: float = 20.0) -> None:
        """Waits for something to become true; `sentence` says what did not happen."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TourFailed(sentence)
            await asyncio.sleep(POLL_S)

    async def pause(self, seconds: float = 0.1) -> None:
        """Lets what was asked for be drawn."""
        await asyncio.sleep(seconds)

    def find(self, kind: type[W], name: str, root: QWidget | None = None) -> W:
        """The visible widget of a name."""
        found = (root or self.window).findChildren(kind, name)
        shown = [w for w in found if w.isVisible()]
        if not shown:
            raise TourFailed(f"There is no “{name}” to be seen in the window.")
        return shown[-1]

    # -- mouse

    def click(self, widget: QWidget, at: QPoint | None = None) -> None:
        if not widget.isEnabled():
            raise TourFailed(
                f"“{widget.objectName() or widget.accessibleName()}” cannot be used: {widget.toolTip()}"
            )
        place = at if at is not None else widget.rect().center()
        self._mouse(widget, QEvent.Type.MouseButtonPress, place, Qt.MouseButton.LeftButton)
        self._mouse(widget, QEvent.Type.MouseButtonRelease, place, Qt.MouseButton.NoButton)

    def _mouse(self, widget: QWidget, kind: QEvent.Type, at: QPoint, held: Qt.MouseButton) -> None:
        spot = at.toPointF()
        event = QMouseEvent(
            kind,
            spot,
            widget.mapToGlobal(at).toPointF(),
            Qt.MouseButton.LeftButton,
            held,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(widget, event)

    def context_menu(self, widget: QWidget, at: QPoint | None = None) -> QMenu:
        """Right click; returns the menu that opened."""
        place = at if at is not None else widget.rect().center()
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, widget.mapToGlobal(place))
        QApplication.sendEvent(widget, event)
        popup = QApplication.activePopupWidget()
        menus = [m for m in self.window.findChildren(QMenu) if m.isVisible()]
        if isinstance(popup, QMenu):
            return popup
        if not menus:
            raise TourFailed("A right click opened no menu.")
        return menus[-1]

    def choose(self, menu: QMenu, name: str) -> None:
        """Clicks an entry of an open menu."""
        action = next((a for a in menu.findChildren(QAction) if a.objectName() == name), None)
        if action is None:
            raise TourFailed(f"The menu has no entry “{name}”.")
        if not action.isEnabled():
            raise TourFailed(f"“{action.text()}” cannot be used: {action.toolTip()}")
        self.click(menu, menu.actionGeometry(action).center())

    # -- keyboard

    def type(self, widget: QWidget, text: str) -> None:
        """Types words, letter by letter."""
        for letter in text:
            self._key(widget, 0, letter)

    def press(self, widget: QWidget, key: Qt.Key) -> None:
        self._key(widget, key.value, "\r" if key == Qt.Key.Key_Return else "")

    def _key(self, widget: QWidget, key: int, text: str) -> None:
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            QApplication.sendEvent(widget, QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier, text))

    # -- pictures

    def picture(self) -> QPixmap:
        """The window with what is open over it."""
        result = self.window.grab()
        corner = self.window.mapToGlobal(QPoint(0, 0))
        over = [
            w
            for w in QApplication.topLevelWidgets()
            if w is not self.window and w.isVisible() and w.width() > 1 and w.height() > 1
        ]
        if over:
            painter = QPainter(result)
            for widget in over:
                at = widget.mapToGlobal(QPoint(0, 0)) - corner
                painter.drawPixmap(QRect(at, widget.size()), widget.grab())
            painter.end()
        return result

    def save(self, picture: QPixmap, path: Path) -> None:
        if not picture.save(str(path)):
            raise TourFailed(f"The picture {path} could not be written.")
