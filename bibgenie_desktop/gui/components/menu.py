"""Context menus with rounded corners whose disabled entries say why."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QMenu, QWidget

from bibgenie_desktop.gui.components.popover import rounded
from bibgenie_desktop.gui.theme import current, icons
from bibgenie_desktop.gui.theme.tokens import RADIUS


class Menu(QMenu):
    """A `QMenu` in the look of popovers; it goes away for good when it closes."""

    def __init__(self, parent: QWidget | None = None, title: str = "") -> None:
        super().__init__(title, parent)
        self.setWindowFlag(Qt.WindowType.FramelessWindowHint)
        self.setWindowFlag(Qt.WindowType.NoDropShadowWindowHint)
        if current().blends:
            self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.setToolTipsVisible(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not current().blends:
            self.setMask(rounded(self.rect(), RADIUS["card"]))

    def entry(
        self,
        text: str,
        on_triggered: Callable[[], object] | None = None,
        *,
        icon: str = "",
        reason: str | None = None,
        object_name: str = "",
    ) -> QAction:
        """Add an entry; with a `reason` it is disabled and the reason is its tooltip."""
        action = QAction(text, self)
        if icon:
            action.setIcon(icons.icon(icon))
        if object_name:
            action.setObjectName(object_name)
        action.setEnabled(reason is None)
        action.setToolTip(reason or "")
        action.setStatusTip(reason or "")
        if on_triggered is not None:
            action.triggered.connect(lambda _checked=False: on_triggered())
        self.addAction(action)
        return action

    def submenu(self, text: str, *, icon: str = "", reason: str | None = None) -> "Menu":
        """Add an entry that opens a menu of its own."""
        menu = Menu(self, text)
        if icon:
            menu.setIcon(icons.icon(icon))
        self.addMenu(menu)
        menu.menuAction().setEnabled(reason is None)
        menu.menuAction().setToolTip(reason or "")
        return menu
