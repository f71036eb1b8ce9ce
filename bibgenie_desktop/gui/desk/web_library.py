"""Opens the dialog of the web library, and connects it and the Zotero page with what they change."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from bibgenie_desktop.gui.presenters.library import LibraryPresenter
from bibgenie_desktop.gui.presenters.web_library import WebLibraryPresenter
from bibgenie_desktop.gui.presenters.zotero_live import ZoteroLivePresenter
from bibgenie_desktop.gui.settings.zotero_page import ZoteroPage
from bibgenie_desktop.gui.settings.zotero_web import WebLibraryDialog
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.services.library.web_library import WebLibraries


class WebLibraryDesk(QObject):
    """`front` is what the dialog belongs over."""

    link_requested = Signal(str)

    def __init__(
        self,
        front: Callable[[], QWidget],
        web: WebLibraries,
        library: LibraryPresenter,
        tasks: Tasks,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._front, self._library = front, library
        self._dialog: WebLibraryDialog | None = None
        self.presenter = WebLibraryPresenter(web, tasks, self)
        self.live = ZoteroLivePresenter(web, tasks, self)
        self.presenter.chosen.connect(self._on_chosen)

    def connect_page(self, page: ZoteroPage) -> None:
        page.web_requested.connect(self.open)
        page.look_requested.connect(self.live.look)
        self.live.changed.connect(page.show_live)

    def open(self) -> None:
        if self._dialog is not None:
            return
        presenter, dialog = self.presenter, WebLibraryDialog(self._front())
        self._dialog = dialog
        presenter.view_changed.connect(dialog.show_view)
        presenter.key_changed.connect(dialog.show_key)
        presenter.taken.connect(dialog.clear_key)
        dialog.test_requested.connect(presenter.test)
        dialog.use_requested.connect(presenter.use)
        dialog.stop_requested.connect(presenter.stop)
        dialog.keep_requested.connect(presenter.keep)
        dialog.forget_requested.connect(presenter.forget)
        dialog.link_requested.connect(self.link_requested)
        dialog.finished.connect(self._on_finished)
        dialog.open()
        presenter.show()
        dialog.focus_first()

    def _on_chosen(self) -> None:
        self._library.adopt()
        if self._dialog is not None:
            self._dialog.accept()

    def _on_finished(self) -> None:
        self._dialog = None
        self.presenter.leave()
