"""Python's garbage is collected by the thread that owns the widgets, and by no other.

The collector runs in whichever thread happens to allocate. A widget that is part of a circle of references
would then be destroyed by a thread of the database or of a sum, and the process would end.
"""

from __future__ import annotations

import gc
from typing import Final

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication

EVERY_MS: Final = 1_000
PATIENCE: Final = 60
"""Collections of the middle generation, for which a full one waits: ten minutes of work."""


class Collector(QObject):
    """Takes Python's automatic collection over from `start` to `stop`, both called on the widgets' thread."""

    def __init__(self) -> None:
        super().__init__()
        self._clock = QTimer(self)
        self._clock.setInterval(EVERY_MS)
        self._clock.timeout.connect(self._on_timeout)

    def start(self) -> None:
        gc.disable()
        gc.freeze()  # what is there from the start stays to the end; looking at it again costs time
        self._clock.start()

    def stop(self) -> None:
        self._clock.stop()
        gc.unfreeze()
        gc.collect()
        gc.enable()

    def _on_timeout(self) -> None:
        """The thresholds that Python itself would keep, but that a full collection, which takes some 20 ms of
        the event loop, waits until the person is in another application."""
        counts, limits = gc.get_count(), list(gc.get_threshold())
        if QGuiApplication.applicationState() is Qt.ApplicationState.ApplicationActive:
            limits[2] = max(limits[2], PATIENCE)
        for generation in (2, 1, 0):
            if counts[generation] > limits[generation]:
                gc.collect(generation)
                return
