"""Finding items while a person types after an @: the newest words win, and what finds nothing goes away."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from PySide6.QtCore import QObject, QTimer, Signal

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.services.workspace import Workspace

TYPING_MS: Final = 90
MOST: Final = 8


class MentionsPresenter(QObject):
    found = Signal(object, str)
    """Rows, and the words they were found for."""
    ended = Signal()

    def __init__(self, workspace: Workspace, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace, self._tasks = workspace, tasks
        self._words = ""
        self._over = False
        self._task: asyncio.Task[Any] | None = None
        self._clock = QTimer(self)
        self._clock.setSingleShot(True)
        self._clock.timeout.connect(self._on_timeout)

    def close(self) -> None:
        self._clock.stop()

    def follow(self, words: str | None) -> None:
        """What stands after the @ now; None: there is no @ at the cursor any more."""
        if words is None:
            self._over = False
            self._end()
        elif not self._over:
            self._words = words
            self._clock.start(TYPING_MS if words else 0)

    def dismiss(self) -> None:
        """This @ is meant as a letter: nothing is offered until the next one."""
        self._over = True
        self._end()

    def _end(self) -> None:
        self._clock.stop()
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self.ended.emit()

    def _on_timeout(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self._task = self._tasks.start(self._find(self._words), "mentions")

    async def _find(self, words: str) -> None:
        room = self._workspace.room
        if room is None:
            self.found.emit((), words)
            return
        try:
            rows = await room.browsing.find(words, MOST)
        except UserError:
            rows = ()
        if not rows and " " in words.strip():
            self.dismiss()  # a sentence goes on after the @
        else:
            self.found.emit(rows, words)
