"""The field on top of a list that narrows it: arrows move in the list without leaving the field."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit


class FindField(QLineEdit):
    """`stepped` carries 1 for the arrow down, -1 for up."""

    stepped = Signal(int)

    def __init__(self, words: str) -> None:
        super().__init__()
        self.setPlaceholderText(words)
        self.setAccessibleName(words)
        self.setProperty("bare", "body")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
        if event.key() in steps:
            self.stepped.emit(steps[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)
