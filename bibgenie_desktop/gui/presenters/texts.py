"""Reading the texts of the library's files in the background: begun, shown, stopped, gone on with."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, Final

from PySide6.QtCore import QObject, QTimer, Signal

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.gui.docks.library import Texts
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tr import number, tr
from bibgenie_desktop.services.library.library_room import Coverage, LibraryRoom
from bibgenie_desktop.services.workspace import Workspace

SHOWN_MS: Final = 300
"""How often progress is shown; a run that is over before is not shown at all."""
INDEX: Final = "index texts"


class TextsPresenter(QObject):
    """`begin` after every new state of the library; what the person stopped stays stopped until `resume`."""

    changed = Signal(object)

    def __init__(self, workspace: Workspace, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace, self._tasks = workspace, tasks
        self._task: asyncio.Task[Any] | None = None
        self._room: LibraryRoom | None = None
        self._stopped = False
        self._texts = Texts("")
        self._clock = QTimer(self)
        self._clock.setSingleShot(True)
        self._clock.setInterval(SHOWN_MS)
        self._clock.timeout.connect(self.show)

    @property
    def texts(self) -> Texts:
        return self._texts

    @property
    def running(self) -> bool:
        return self._task is not None and not self._task.done()

    def begin(self) -> None:
        room = self._workspace.room
        if room is not self._room:
            self._room, self._stopped = room, False
        if room is None or self._stopped or self.running:
            return
        self._task = self._tasks.start(self._run(room), INDEX)
        if self._task is not None:
            self._task.add_done_callback(self._on_done)

    async def _run(self, room: LibraryRoom) -> None:
        with contextlib.suppress(UserError):  # the library went away; its line says so
            await room.index_texts(self._on_progress)

    def _on_done(self, _task: object) -> None:
        """Also of a run that was cancelled before it began."""
        self._clock.stop()
        self.show()

    def cancel(self) -> None:
        """Stops; what was read stays read."""
        self._stopped = True
        self.halt()

    def resume(self) -> None:
        self._stopped = False
        self.begin()

    def halt(self) -> None:
        """For the end of the application, or of a library: it goes on at the next start."""
        self._clock.stop()
        if self._task is not None:
            self._task.cancel()

    def _on_progress(self, _coverage: Coverage) -> None:
        if not self._clock.isActive():
            self._clock.start()

    def show(self) -> None:
        """How far it is now; of another library nothing, until its texts are read."""
        self._texts = self._said()
        self.changed.emit(self._texts)

    def _said(self) -> Texts:
        here = self._room is not None and self._room is self._workspace.room
        coverage = self._room.coverage if here and self._room is not None else None
        if not here:
            return Texts("")
        if self._stopped and (coverage is None or not coverage.attachments):
            return Texts(tr("Reading texts was stopped"), can_resume=True)
        if coverage is None or not coverage.attachments:
            return Texts("")
        done, whole = coverage.indexed + coverage.unreadable, coverage.attachments
        if self.running:
            return Texts(tr("Reading texts {0} of {1}").format(number(done), number(whole)), done / whole)
        if done < whole:
            words = tr("Texts of {0} of {1} files can be searched")
            return Texts(words.format(number(coverage.indexed), number(whole)), can_resume=True)
        if coverage.unreadable:
            words = tr("Texts of {0} files can be searched; {1} have none")
            return Texts(words.format(number(coverage.indexed), number(coverage.unreadable)))
        return Texts(tr("Texts of {0} files can be searched").format(number(coverage.indexed)))
