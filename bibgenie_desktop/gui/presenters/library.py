"""The Zotero library in use: its state in words, choosing another one, questions made from its titles."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.gui.docks.library import LibraryFacts
from bibgenie_desktop.gui.presenters.texts import TextsPresenter
from bibgenie_desktop.gui.sidebar import LibraryLine
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tr import number, percent, tr
from bibgenie_desktop.gui.welcome import LibraryCard, LibraryOffer, Starter
from bibgenie_desktop.gui.when import age
from bibgenie_desktop.services.workspace import LibraryStatus, Workspace

AGE_MS = 20_000
STARTERS = 3
WATCH = "watch the library"
LARGE = 10_000
"""Items whose number leaves no room for the name beside it in the sidebar."""


class Libraries(Protocol):
    """What the application lets the window do with libraries."""

    def offers(self) -> Sequence[LibraryOffer]:
        """Those that were found, and the sample library last."""

    async def choose(self, path: Path | None) -> None:
        """Takes another library, None the sample one. Raises `UserError`; the old one then stays."""

    async def load(self) -> None:
        """Reads the chosen library if it was not read yet. Raises `UserError`."""

    async def watch(self, changed: Callable[[], None]) -> None:
        """Follows the changes that Zotero makes to the library in use, until cancelled."""

    async def starters(self, most: int) -> Sequence[str]:
        """Questions that this library can answer, made from titles of works that can be read."""


class LibraryPresenter(QObject):
    line_changed = Signal(object)
    card_changed = Signal(object, object)
    facts_changed = Signal(object)
    starters_changed = Signal(object)
    library_changed = Signal()
    failed = Signal(object)

    def __init__(
        self, workspace: Workspace, libraries: Libraries, tasks: Tasks, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._workspace, self._libraries, self._tasks = workspace, libraries, tasks
        self._busy = False
        self.texts = TextsPresenter(workspace, tasks, self)
        self.texts.changed.connect(self._on_texts_changed)
        self.settled = False
        """Nothing is being read any more, and questions were made from what there is."""
        self._watch: asyncio.Task[Any] | None = None
        self._error: UserError | None = None
        self._offers: tuple[LibraryOffer, ...] = ()
        self._clock = QTimer(self)  # the age grows, and the file watcher may have read anew
        self._clock.setInterval(AGE_MS)
        self._clock.timeout.connect(self.redraw)
        self._clock.start()

    def close(self) -> None:
        self._clock.stop()
        self.texts.halt()

    def start(self) -> None:
        """Looks for libraries and reads the chosen one."""
        self._offers = tuple(self._libraries.offers())
        self._begin(self._libraries.load(), "library")

    def refresh(self) -> None:
        self._begin(self._workspace.refresh_library(), "refresh library")

    def choose(self, path: str) -> None:
        """`path` empty: the sample library."""
        self._begin(self._libraries.choose(Path(path) if path else None), "choose library", changed=True)

    def adopt(self) -> None:
        """Another library was made the one in use elsewhere."""
        self._begin(self._libraries.load(), "library", changed=True)

    def _begin(self, work: object, name: str, *, changed: bool = False) -> None:
        self._busy, self._error, self.settled = True, None, False
        self.redraw()
        self._tasks.start(self._run(work, changed), name)

    async def _run(self, work: object, changed: bool) -> None:
        try:
            await work  # type: ignore[misc]
        except UserError as error:
            self._error = error
            self.failed.emit(error)
        finally:
            self._busy = False
            self.redraw()
        if self._error is None:
            if self._workspace.library_status is not None:
                self._watch_again()
            self._offers = tuple(self._libraries.offers())
            if changed:
                self.library_changed.emit()
            self.redraw()
            if self._workspace.library_status is not None:
                self.texts.begin()
            questions = await self._libraries.starters(STARTERS)
            self.starters_changed.emit(tuple(_starter(i, q) for i, q in enumerate(questions)))
        self.settled = True

    def _watch_again(self) -> None:
        """Another library may be in use now."""
        if self._watch is not None:
            self._watch.cancel()
        self._watch = self._tasks.start(self._libraries.watch(self._on_refreshed), WATCH)

    def _on_refreshed(self) -> None:
        """Zotero wrote, and the library was read again."""
        self.redraw()
        self.texts.begin()

    def redraw(self) -> None:
        status = self._workspace.library_status
        self.line_changed.emit(self._line(status))
        self.card_changed.emit(self._card(status), self._shown_offers(status))
        self.facts_changed.emit(self._facts(status))

    def _on_texts_changed(self) -> None:
        """Several times a second, so only the line that tells it."""
        self.line_changed.emit(self._line(self._workspace.library_status))

    def _shown_offers(self, status: LibraryStatus | None) -> tuple[LibraryOffer, ...]:
        """Those that are not in use already."""
        if status is None or not status.loaded:
            return self._offers
        used = str(status.data_dir) if self._from_zotero(status) else ""
        return tuple(o for o in self._offers if o.path != used)

    def _line(self, status: LibraryStatus | None) -> LibraryLine:
        if status is None:
            reason = tr("No Zotero library has been chosen yet.")
            return LibraryLine(
                tr("No Zotero library"), tr("Choose one on the first page"), "text3", self._busy, reason
            )
        if not status.loaded:
            if self._error is not None:
                return LibraryLine(tr("Zotero cannot be read"), self._error.title, "warn", self._busy)
            return LibraryLine(tr("Zotero"), tr("Reading the library…"), "text3", busy=True)
        items = tr("Zotero · 1 item") if status.items == 1 else tr("Zotero · {0} items")
        if status.items >= LARGE:
            items = tr("{0} items")  # the icon says Zotero
        detail = self._freshness(status)
        if self._busy:
            detail = tr("Reading the library again…")
        elif status.notice:
            detail = status.notice
        elif (share := self.texts.texts.share) is not None:
            detail = tr("Reading texts · {0}").format(percent(share))  # the line is short
        tone = "warn" if status.stale else "ok"
        reading = not self._busy and self.texts.texts.share is not None
        title = items.format(number(status.items))
        return LibraryLine(title, detail, tone, self._busy, reading=reading)  # type: ignore[arg-type]

    def _freshness(self, status: LibraryStatus) -> str:
        if status.kind == "web":
            return tr("From zotero.org {0}").format(age(status.age_ms))
        return tr("Snapshot {0}").format(age(status.age_ms))

    def _card(self, status: LibraryStatus | None) -> LibraryCard:
        if self._error is not None and not (status is not None and status.loaded):
            detail = str(self._error)
            return LibraryCard(tr("The library cannot be read"), detail, "warn", self._busy)
        if status is None:
            found = any(o.path for o in self._offers)
            title = tr("Zotero was found on this computer") if found else tr("No Zotero library was found")
            detail = tr("Choose the library that answers should come from. It is only read, never changed.")
            return LibraryCard(title, detail, "accent", self._busy)
        if not status.loaded:
            where = str(status.data_dir) if status.kind == "files" else "zotero.org"
            return LibraryCard(tr("Reading the library…"), where, "accent", busy=True)
        groups = len(status.libraries) - 1
        facts = [tr("{0} items").format(number(status.items))]
        if groups > 0:
            facts.append(tr("1 group") if groups == 1 else tr("{0} groups").format(groups))
        if status.kind == "web":
            facts.append(tr("fetched {0}").format(age(status.age_ms)))
            title = tr("Zotero web library in use")
        elif self._from_zotero(status):
            facts.append(str(status.data_dir))
            title = tr("Zotero library in use")
        else:
            title = tr("Sample library in use")
        return LibraryCard(title, " · ".join(facts), "ok", self._busy)

    def _from_zotero(self, status: LibraryStatus) -> bool:
        return status.data_dir.name != "sample-library"

    def _facts(self, status: LibraryStatus | None) -> LibraryFacts:
        if status is None or not status.loaded:
            line = self._line(status)
            missing = status is None or self._error is not None
            detail = self._error.text if self._error is not None and status is not None else line.detail
            return LibraryFacts(line.title, detail, (), self._busy, missing=missing)
        names = tuple((lib.name or tr("My Library"), "") for lib in status.libraries)
        line = self._line(status)
        place = str(status.data_dir) if self._from_zotero(status) else tr("The bundled sample library")
        if status.kind == "web":
            place = tr("zotero.org, copied to this computer")
        if line.reading:
            line = replace(line, detail=self._freshness(status))
        return LibraryFacts(line.title, line.detail, names, self._busy, place)


def _starter(index: int, question: str) -> Starter:
    glyphs = ("search", "quote", "article")
    details = (
        tr("Searches titles and abstracts, then reads the best matches"),
        tr("Quotes the passages it rests on, page by page"),
        tr("Reads the work and cites its pages"),
    )
    return Starter(glyphs[index % 3], question, details[index % 3])
