"""Whether the Zotero on this computer answers, in words with what to do; asked when somebody looks."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, Signal

from bibgenie_desktop.gui.settings.zotero_values import LiveView
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tr import harmless, tr
from bibgenie_desktop.services.library.web_library import Liveness, WebLibraries

SWITCH: Final = "Allow other applications on this computer to communicate with Zotero"
"""As Zotero itself writes it."""


class ZoteroLivePresenter(QObject):
    changed = Signal(object)

    def __init__(self, web: WebLibraries, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._web, self._tasks = web, tasks

    def look(self) -> None:
        self.changed.emit(LiveView(tr("Looking for Zotero…"), looking=True))
        self._tasks.start(self._look(), "look for Zotero")

    async def _look(self) -> None:
        self.changed.emit(live_words(await self._web.liveness()))


def live_words(live: Liveness) -> LiveView:
    name = tr("Zotero {0}").format(harmless(live.version[:20])) if live.version else tr("Zotero")
    reading = tr("Reading the library works without it.")
    match live.state:
        case "open":
            return LiveView(tr("{0} is running and lets other applications in.").format(name), "", "ok")
        case "off":
            fix = tr("To save notes and tags: in Zotero's settings, under Advanced, tick “{0}”.")
            said = tr("{0} is running, but does not let other applications in.")
            return LiveView(said.format(name), f"{fix.format(SWITCH)} {reading}", "warn")
        case "old":
            fix = tr("Zotero 7 and later have it: update Zotero.")
            said = tr("{0} is running, but has no interface for other applications.")
            return LiveView(said.format(name), f"{fix} {reading}", "warn")
        case "closed":
            return LiveView(
                tr("Zotero is not running."), f"{tr('Start it to save notes and tags.')} {reading}", "3"
            )
        case "silent":
            fix = tr("Close any open dialog in it, or restart it.")
            return LiveView(tr("Zotero does not answer."), f"{fix} {reading}", "warn")
        case "taken":
            said = tr("Another program uses Zotero's port, {0}.").format(live.port)
            return LiveView(said, f"{tr('Quit that program, then restart Zotero.')} {reading}", "warn")
    return LiveView(name)
