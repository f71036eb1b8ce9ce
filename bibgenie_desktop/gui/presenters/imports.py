"""Exported conversations that are dropped into the window come back as sessions."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.services.importing import MOST_FILE_BYTES, NotImported
from bibgenie_desktop.services.workspace import Workspace


class Imports(QObject):
    """`imported` carries the new session's id and title."""

    imported = Signal(str, str)
    failed = Signal(object)

    def __init__(self, workspace: Workspace, tasks: Tasks, parent: QObject) -> None:
        super().__init__(parent)
        self._workspace, self._tasks = workspace, tasks

    def take(self, path: str) -> None:
        self._tasks.start(self._take(Path(path)), "import")

    async def _take(self, path: Path) -> None:
        try:
            data = await asyncio.to_thread(_read, path)
            session = await self._workspace.import_conversation(data)
        except UserError as error:
            self.failed.emit(error)
        else:
            self.imported.emit(session.id, session.title)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_FILE_BYTES + 1)
    except OSError as error:
        raise NotImported(tr("This file cannot be read."), tr("Check its permissions.")) from error
