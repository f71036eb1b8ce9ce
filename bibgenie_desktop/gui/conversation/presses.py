"""Where and when a button was pressed last: the second press of a double click means nothing new."""

from __future__ import annotations

import time

from PySide6.QtCore import QPointF
from PySide6.QtGui import QGuiApplication


class Presses:
    """Shared by all cards of a conversation: what the first press changed may lie under the second."""

    def __init__(self) -> None:
        self._last: tuple[float, QPointF] | None = None

    def repeats(self, at: QPointF) -> bool:
        """Takes note of a press, at a place on the screen; whether it belongs to the press before it."""
        now, hints, before = time.monotonic(), QGuiApplication.styleHints(), self._last
        self._last = now, at
        if before is None or (now - before[0]) * 1000 >= hints.mouseDoubleClickInterval():
            return False
        return (at - before[1]).manhattanLength() <= 2 * hints.mouseDoubleClickDistance()
