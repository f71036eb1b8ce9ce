"""Pictures between window and store: taken in from files and the clipboard, brought back small or whole.

Reading, decoding and scaling run in threads; the window's loop only waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.parts import ResourcePart
from bibgenie_desktop.gui.pictures.reading import picture_of
from bibgenie_desktop.gui.pictures.thumbnails import EDGE, Thumbnails, small
from bibgenie_desktop.gui.presenters.drafts import Attached, Drafts
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.services.images import MOST_FILE_BYTES, Picture, PictureRefused
from bibgenie_desktop.services.workspace import Workspace

DOCUMENTS: Final = frozenset(
    (".pdf", ".epub", ".txt", ".md", ".docx", ".doc", ".odt", ".rtf", ".html", ".htm", ".tex", ".bib", ".ris")
)
LONGEST_NAME: Final = 120
WHOLE: Final = 4_000
"""Pixels: no kept picture is larger."""

Job = tuple[str, Callable[[], Awaitable[Picture]]]
"""A name, and the work that brings its picture."""
Place = tuple[SessionId, MessageId | None]
"""A session, and the question in it that is being edited, if any."""


@dataclass(frozen=True, slots=True)
class Offered:
    """A picture from outside: a file, coded bytes, or an image of the clipboard."""

    source: Path | bytes | QImage
    name: str


@dataclass(frozen=True, slots=True)
class Refused:
    name: str
    error: UserError


class Pictures(QObject):
    """`taken` and `refused` answer `take`; `opened` answers `open`."""

    taken = Signal(object, object)
    """The place for which pictures were taken, and the parts."""
    refused = Signal(object)
    """What could not be taken: a list of `Refused`."""
    reading_changed = Signal()
    opened = Signal(str, QImage)

    def __init__(self, workspace: Workspace, drafts: Drafts, tasks: Tasks, parent: QObject) -> None:
        super().__init__(parent)
        self._workspace, self._drafts, self._tasks = workspace, drafts, tasks
        self._reading: list[Place] = []
        self.thumbnails = Thumbnails(self)
        self.thumbnails.wanted.connect(self._on_wanted)

    # -- taking

    def is_reading(self, place: Place) -> bool:
        """Whether something offered for a place is not there yet."""
        return place in self._reading

    def take(self, offered: Sequence[Offered], place: Place) -> None:
        """Reads pictures for what is being written at a place, wherever the person goes meanwhile."""
        self._start([(one.name, partial(asyncio.to_thread, _read, one)) for one in offered], place)

    def take_marked(self, resources: Sequence[ResourcePart], place: Place) -> None:
        """Of attached annotations that mark a picture or are a drawing: what they show."""
        room = self._workspace.room
        marked = [r.locator.id for r in resources if r.locator.annotation]
        if room is not None:
            shown = [one for one in marked if room.is_picture(one)]
            self._start([(tr("Annotation"), partial(room.picture_of, one)) for one in shown], place)

    def _start(self, jobs: Sequence[Job], place: Place) -> None:
        if not jobs:
            return
        self._reading.append(place)
        self.reading_changed.emit()
        if self._tasks.start(self._take(jobs, place), "pictures") is None:
            self._end(place)

    async def _take(self, jobs: Sequence[Job], place: Place) -> None:
        found: list[Picture] = []
        refused: list[Refused] = []
        try:
            for name, job in jobs:
                try:
                    found.append(await job())
                except UserError as error:
                    refused.append(Refused(name, error))
            await self._keep(found, place)
        except UserError as error:
            refused += [Refused(one.name, error) for one in found]
        finally:
            self._end(place)
        if refused:
            self.refused.emit(refused)

    async def _keep(self, found: Sequence[Picture], place: Place) -> None:
        if not found:
            return
        parts = await self._workspace.keep_pictures(found)
        for part, picture in zip(parts, found, strict=True):
            if not self.thumbnails.knows(part.blob):
                self.thumbnails.put(part.blob, await asyncio.to_thread(small, picture.data))
        self.taken.emit(place, parts)

    def _end(self, place: Place) -> None:
        self._reading.remove(place)
        self.reading_changed.emit()

    def attach_later(self, place: Place, parts: Attached) -> None:
        """What was taken for a place that is not in front any more goes into its draft."""
        self._tasks.start(self._drafts.add(*place, parts), "late pictures")

    # -- showing

    def blind(self, ref: str) -> str:
        """The name of a model that does not see; empty for one that does, or that is not known."""
        found = next((p for p in self._workspace.profiles() if p.ref == ref), None)
        return found.label if found is not None and not found.vision else ""

    def open(self, key: str, name: str) -> None:
        self._tasks.start(self._open(key, name), "picture")

    async def _open(self, key: str, name: str) -> None:
        image = await self._image(key, WHOLE)
        if image.isNull():
            error = PictureRefused(tr("This picture is no longer there."))
            self.refused.emit([Refused(name, error)])
        else:
            self.opened.emit(name, image)

    def _on_wanted(self, key: str) -> None:
        self._tasks.start(self._load(key), "thumbnail")

    async def _load(self, key: str) -> None:
        self.thumbnails.put(key, await self._image(key, EDGE))

    async def _image(self, key: str, edge: int) -> QImage:
        """Null where there is none."""
        try:
            data = (await self._workspace.pictures((key,))).get(key, b"")
        except UserError:
            data = b""
        return await asyncio.to_thread(small, data, edge) if data else QImage()


def _read(offered: Offered) -> Picture:
    """For a thread. Raises `PictureRefused`."""
    source = offered.source
    name = " ".join(offered.name.split())[:LONGEST_NAME] or tr("Picture")
    return picture_of(_file(source) if isinstance(source, Path) else source, name)


def _file(path: Path) -> bytes:
    if path.suffix.lower() in DOCUMENTS:
        raise PictureRefused(
            tr("Only pictures can be attached; this is a document."),
            tr("Add it to Zotero: documents of your library are read by pages and can be cited."),
        )
    try:
        if not path.is_file():
            raise PictureRefused(
                tr("This is a folder, or no longer there."), tr("Attach the pictures in it.")
            )
        with path.open("rb") as file:
            return file.read(MOST_FILE_BYTES + 1)
    except OSError as error:
        raise PictureRefused(tr("This file cannot be read."), tr("Check its permissions.")) from error
