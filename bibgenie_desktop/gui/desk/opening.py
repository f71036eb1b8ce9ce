"""Opening what an answer names: Zotero at a cited place, the page itself, a link after it was shown."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.gui.conversation.rows import CitationView
from bibgenie_desktop.gui.desk.later import Later
from bibgenie_desktop.gui.dialogs import PageDialog
from bibgenie_desktop.gui.presenters.chat import ChatPresenter
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.gui.window import MainWindow
from bibgenie_desktop.services.workspace import Workspace

OPENABLE = ("http", "https", "zotero", "mailto")


def open_with_system(link: str) -> bool:
    return QDesktopServices.openUrl(QUrl(link))


class Opening(QObject):
    failed = Signal(object)

    def __init__(
        self,
        window: MainWindow,
        workspace: Workspace,
        chats: ChatPresenter,
        tasks: Tasks,
        open_link: Callable[[str], bool],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self.window, self.workspace, self.chats, self.tasks = window, workspace, chats, tasks
        self._open_link = open_link
        window.conversation.citation_opened.connect(self._on_citation_opened)
        window.conversation.citation_page_requested.connect(self._on_page_requested)
        window.conversation.link_opened.connect(self.ask_first)

    def open_at_once(self, link: str) -> None:
        """A link that the person sees where they click it."""
        if not self._open_link(link):
            self.window.toast(tr("This could not be opened"), link, tone="warn")

    def _on_citation_opened(self, citation: CitationView) -> None:
        if not citation.link:
            self.window.toast(
                tr("Nothing to open"), tr("This source is not in the library in use."), tone="warn"
            )
        elif not self._open_link(citation.link):
            self.window.toast(
                tr("Zotero could not be opened"),
                tr("Start Zotero, or open this link yourself: {0}").format(citation.link),
                tone="warn",
            )

    def _on_page_requested(self, citation: CitationView) -> None:
        marker = self.chats.marker_of(citation)
        if marker:
            self.tasks.start(self._show_page(citation, marker), "cited page")

    async def _show_page(self, citation: CitationView, marker: str) -> None:
        try:
            text = await self.workspace.cited_page(marker)
        except UserError as error:
            self.failed.emit(error)
            return
        PageDialog(citation.label, text, citation.quote, self.window).open()

    def ask_first(self, link: str) -> None:
        """The target is shown first; only then, and only if it is harmless, it can be opened."""
        if QUrl(link).scheme() not in OPENABLE:
            self.window.toast(tr("This link is not opened"), link, tone="warn")
            return
        self.window.toast(
            tr("Open this link?"),
            link,
            tone="accent",
            action=tr("Open"),
            on_action=Later(self._open_link, link),
        )
