"""The conversation as the window shows it: on older messages, Retry and Edit say that they make a branch."""

from __future__ import annotations

import weakref
from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from bibgenie_desktop.gui.components import Menu
from bibgenie_desktop.gui.conversation.view import ConversationView
from bibgenie_desktop.gui.tr import tr

IsNewest = Callable[[str], bool]


class Talk(ConversationView):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_newest: weakref.WeakMethod[IsNewest] | None = None

    def set_is_newest(self, is_newest: IsNewest) -> None:
        """A bound method that tells whether a row belongs to the last turn."""
        self._is_newest = weakref.WeakMethod(is_newest)

    def context_menu(self, row_id: str) -> Menu | None:
        menu = super().context_menu(row_id)
        is_newest = self._is_newest() if self._is_newest is not None else None
        if menu is None or is_newest is None or is_newest(row_id):
            return menu
        words = {
            "retryAction": tr("Retry as a new branch"),
            "retryWithAction": tr("Retry as a new branch with…"),
            "editAction": tr("Edit as a new branch"),
        }
        for action in menu.actions():
            if action.objectName() in words:
                action.setText(words[action.objectName()])
        return menu
