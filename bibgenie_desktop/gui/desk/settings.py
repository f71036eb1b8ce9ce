"""Opens the settings and connects their pages with what they change."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.gui.desk.web_library import WebLibraryDesk
from bibgenie_desktop.gui.presenters.library import LibraryPresenter
from bibgenie_desktop.gui.presenters.settings import SettingsPresenter
from bibgenie_desktop.gui.settings.appearance_page import AppearancePage
from bibgenie_desktop.gui.settings.dialog import Page, SettingsDialog
from bibgenie_desktop.gui.settings.general_pages import CompactionPage, DataPage
from bibgenie_desktop.gui.settings.providers_page import ProvidersPage
from bibgenie_desktop.gui.settings.zotero_page import ZoteroPage
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.theme import Appearance, current
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.services.configuring.provider_setup import ProviderSetup
from bibgenie_desktop.services.library.web_library import WebLibraries
from bibgenie_desktop.services.workspace import Workspace


class Adjustable(Protocol):
    """What of the application the settings may change, besides libraries."""

    @property
    def providers(self) -> ProviderSetup: ...

    @property
    def web(self) -> WebLibraries: ...

    @property
    def data_folder(self) -> Path: ...

    @property
    def automatic_compaction(self) -> bool: ...

    def set_automatic_compaction(self, automatic: bool) -> None:
        """At once and from now on. Raises `UserError`; nothing changed then."""


class SettingsDesk(QObject):
    """One dialog at a time; opening it again only shows the wanted page."""

    link_requested = Signal(str)
    folder_requested = Signal()
    providers_changed = Signal()

    def __init__(
        self,
        window: QWidget,
        workspace: Workspace,
        adjustable: Adjustable | None,
        library: LibraryPresenter,
        tasks: Tasks,
        keep_appearance: Callable[[object], None] | None,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._window, self._adjustable, self._library = window, adjustable, library
        self._keep = keep_appearance
        self._dialog: SettingsDialog | None = None
        self._sure: object = None
        """What was typed when leaving was asked for and not done yet."""
        self._providers: ProvidersPage | None = None
        self._compaction: CompactionPage | None = None
        self.presenter: SettingsPresenter | None = None
        self.web: WebLibraryDesk | None = None
        if adjustable is not None:
            self.web = WebLibraryDesk(self._over, adjustable.web, library, tasks, self)
            self.web.link_requested.connect(self.link_requested)
            self.presenter = SettingsPresenter(workspace, adjustable.providers, tasks, self)
            self.presenter.changed.connect(self.providers_changed)

    def open(self) -> None:
        self.open_page("providers")

    def open_page(self, id: str) -> None:
        if self._dialog is not None:
            self._dialog.show_page(id)
            return
        pages = self._pages()
        dialog = SettingsDialog(pages, id, self._window)
        self._dialog = dialog
        dialog.done_requested.connect(self._on_done)
        dialog.leave_requested.connect(self._on_leave)
        dialog.closed.connect(self._on_closed)
        if self._providers is not None:
            dialog.narrowed.connect(self._providers.set_narrow)
        if self.presenter is not None:
            self.presenter.show()
        self._library.redraw()
        if self.web is not None:
            self.web.live.look()
        dialog.open_over()

    @property
    def front(self) -> QWidget:
        """What other dialogs belong over: the settings while they are open, else the window."""
        return self._dialog if self._dialog is not None else self._window

    def _over(self) -> QWidget:
        return self.front

    def _pages(self) -> list[Page]:
        pages = []
        if self._adjustable is not None and self.presenter is not None:
            self._providers = self._providers_page(self.presenter)
            pages.append(Page("providers", "key", tr("Providers"), self._providers))
        zotero = ZoteroPage()
        self._library.card_changed.connect(zotero.show_library)
        self._library.failed.connect(zotero.show_error)
        zotero.library_chosen.connect(self._library.choose)
        zotero.folder_requested.connect(self.folder_requested)
        if self.web is not None:
            self.web.connect_page(zotero)
        pages.append(Page("zotero", "library", tr("Zotero"), zotero))
        if self._adjustable is not None:
            self._compaction = CompactionPage(self._adjustable.automatic_compaction)
            self._compaction.automatic_chosen.connect(self._on_automatic_chosen)
            pages.append(Page("compaction", "compact", tr("Compaction"), self._compaction))
        theme = current()
        appearance = AppearancePage(theme.appearance, theme.serif_family)
        appearance.appearance_chosen.connect(self._on_appearance_chosen)
        pages.append(Page("appearance", "palette", tr("Appearance"), appearance))
        if self._adjustable is not None:
            data = DataPage(self._adjustable.data_folder)
            data.show_requested.connect(self.link_requested)
            pages.append(Page("data", "folder", tr("Data"), data))
        return pages

    def _providers_page(self, presenter: SettingsPresenter) -> ProvidersPage:
        page = ProvidersPage(presenter.presets)
        fields, models = page.fields, page.models
        presenter.lines_changed.connect(page.list.show_lines)
        presenter.form_changed.connect(page.show_form)
        presenter.address_changed.connect(fields.show_address)
        presenter.keys.changed.connect(fields.show_key)
        presenter.keys.taken.connect(fields.clear_key)
        presenter.models_changed.connect(models.show_models)
        presenter.test_changed.connect(fields.show_test)
        presenter.default_changed.connect(page.show_default)
        presenter.said.connect(fields.say)
        page.list.chosen.connect(self._on_chosen)
        page.add_requested.connect(self._on_add)
        page.default_chosen.connect(presenter.set_default)
        fields.edited.connect(self._on_edited)
        fields.save_requested.connect(self._on_save)
        fields.test_requested.connect(self._on_test)
        fields.test_stopped.connect(presenter.stop_test)
        fields.keep_requested.connect(presenter.keep_key)
        fields.forget_requested.connect(presenter.forget_key)
        fields.remove_requested.connect(presenter.remove)
        fields.key_page_requested.connect(self.link_requested)
        models.window_set.connect(presenter.set_window)
        models.added.connect(presenter.add_model)
        models.removed.connect(presenter.remove_model)
        return page

    # -- what is wished

    def _on_edited(self) -> None:
        if self.presenter is not None and self._providers is not None:
            self.presenter.edit(self._providers.fields.typed())

    def _on_save(self) -> None:
        if self.presenter is not None and self._providers is not None and self._providers.fields.dirty:
            self.presenter.save(self._providers.fields.typed())

    def _on_test(self) -> None:
        if self.presenter is not None and self._providers is not None:
            self.presenter.test(self._providers.fields.typed())

    def _on_chosen(self, id: str) -> None:
        if self.presenter is not None:
            self._save_then(partial(self.presenter.choose, id))

    def _on_add(self, preset: str) -> None:
        if self.presenter is not None:
            self._save_then(partial(self.presenter.add, preset))

    def _on_done(self) -> None:
        self._save_then(self._close)

    def _on_leave(self) -> None:
        """What was typed and not saved goes only at a second Esc."""
        page, dialog = self._providers, self._dialog
        if dialog is None:
            return
        typed = page.fields.typed() if page is not None and page.fields.touched else None
        if page is None or typed is None or typed == self._sure:
            dialog.leave()
            return
        self._sure = typed
        dialog.show_page("providers")
        page.fields.say(tr("This is not saved yet. Done saves it; Esc once more discards it."), "warn")

    def _save_then(self, after: Callable[[], object]) -> None:
        """What was typed is saved first; where that fails, nothing else happens and the page says why."""
        page = self._providers
        if self.presenter is None or page is None or not page.fields.touched:
            after()
            return
        if self._dialog is not None:
            self._dialog.show_page("providers")
        self.presenter.save(page.fields.typed(), after)

    def _close(self) -> None:
        if self._dialog is not None:
            self._dialog.accept()

    def _on_closed(self) -> None:
        self._dialog = self._providers = self._compaction = self._sure = None
        if self.presenter is not None:
            self.presenter.leave()

    def _on_automatic_chosen(self, automatic: bool) -> None:
        if self._adjustable is None or self._compaction is None:
            return
        failed = ""
        try:
            self._adjustable.set_automatic_compaction(automatic)
        except UserError as error:
            failed = error.text
        self._compaction.show_automatic(self._adjustable.automatic_compaction, failed)

    def _on_appearance_chosen(self, appearance: Appearance) -> None:
        current().set_appearance(appearance)
        if self._keep is not None:
            self._keep(appearance)
