"""The Library dock: its state, a switch between browsing and what this conversation used, and all wishes."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from bibgenie_desktop.gui.components import Tabs, box, column, gate, icon_button
from bibgenie_desktop.gui.docks.library.browse import BrowsePage
from bibgenie_desktop.gui.docks.library.menus import item_menu, piece_menu
from bibgenie_desktop.gui.docks.library.state import StateLine
from bibgenie_desktop.gui.docks.library.tags import TagSheet
from bibgenie_desktop.gui.docks.library.used import UsedPage
from bibgenie_desktop.gui.docks.library.values import LibraryFacts, ListHead, PlaceRow, Texts, UsedSource
from bibgenie_desktop.gui.docks.panel import Panel
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.services.library.browsing import Page, Scope, TagRow
from bibgenie_desktop.services.library.item_details import ItemDetails, Piece


class LibraryPanel(Panel):
    refresh_requested = Signal()
    choose_requested = Signal()
    """There is no library: another one is wanted."""
    search_changed = Signal(str)
    place_chosen = Signal(object)
    place_toggled = Signal(object)
    order_chosen = Signal(object)
    tags_requested = Signal()
    tag_toggled = Signal(str)
    page_wanted = Signal(int)
    item_chosen = Signal(str)
    item_requested = Signal(str)
    """An item to be looked for and shown, wherever it lies."""
    wished = Signal(str, object)
    """From menus and buttons: `add`, `ask`, `open`, `link`, `sessions`, `style`, `text` or `copy:FORM`, with
    the ids (of `link` and `text`: the link or the words)."""
    bibliography_requested = Signal(str, bool)
    texts_cancelled = Signal()
    texts_resumed = Signal()

    def __init__(self) -> None:
        self._refresh = icon_button("retry", tr("Read the Zotero library again"))
        super().__init__(tr("Library"), "libraryPanel", self._refresh)
        self._style = ""
        self.state, self.browse, self.used = StateLine(), BrowsePage(), UsedPage()
        self._tabs = Tabs([("", tr("Browse")), ("", tr("Used here"))])
        self._pages = QStackedWidget()
        for page in (self.browse, self.used):
            self._pages.addWidget(page)
        self.add(self.state)
        self.add(box(column(self._tabs, margins=(8, 0, 8, 6))))
        self.add(self._pages, 1)
        self._rest = QWidget()  # takes the room where there is nothing to browse
        self._rest.hide()
        self.add(self._rest, 1)
        self._connect()

    def _connect(self) -> None:
        state, browse, used = self.state, self.browse, self.used
        self._refresh.clicked.connect(self.refresh_requested)
        self._tabs.chosen.connect(self._pages.setCurrentIndex)
        state.choose_requested.connect(self.choose_requested)
        state.texts_cancelled.connect(self.texts_cancelled)
        state.texts_resumed.connect(self.texts_resumed)
        browse.search_changed.connect(self.search_changed)
        browse.order_chosen.connect(self.order_chosen)
        browse.tags_requested.connect(self.tags_requested)
        browse.tag_removed.connect(self.tag_toggled)
        browse.tree.place_chosen.connect(self.place_chosen)
        browse.tree.fold_toggled.connect(self.place_toggled)
        browse.list.item_chosen.connect(self.item_chosen)
        browse.list.items.page_wanted.connect(self.page_wanted)
        browse.list.add_requested.connect(self._on_add_requested)
        browse.list.ask_requested.connect(self._on_ask_requested)
        browse.list.menu_requested.connect(self._on_item_menu)
        browse.preview.add_requested.connect(self._on_add_requested)
        browse.preview.open_requested.connect(self._on_open_requested)
        browse.preview.more_requested.connect(self._on_more_requested)
        browse.preview.piece_menu_requested.connect(self._on_piece_menu)
        browse.preview.place_chosen.connect(self.place_chosen)
        used.item_requested.connect(self.item_requested)
        used.bibliography_requested.connect(self.bibliography_requested)

    def focus_first(self) -> None:
        if self._pages.currentWidget() is self.browse:
            self.browse.field.setFocus()
        else:
            self._tabs.setFocus()
            self._refresh.setFocus()

    # -- what is shown

    def show_facts(self, facts: LibraryFacts) -> None:
        self.state.show_facts(facts)
        gate(self._refresh, tr("The library is being read.") if facts.busy else None)
        shown = not facts.missing or facts.busy
        for widget in (self._tabs, self._pages):
            widget.setVisible(shown)
        self._rest.setVisible(not shown)

    def show_texts(self, texts: Texts) -> None:
        self.state.show_texts(texts)

    def show_sources(self, sources: Sequence[UsedSource]) -> None:
        self.used.show_sources(sources)

    def show_style(self, title: str) -> None:
        """The citation style that copies are made in."""
        self._style = title

    def show_places(self, rows: Sequence[PlaceRow], chosen: Scope) -> None:
        count = len(self.browse.tree.rows)
        self.browse.tree.show_rows(rows, chosen)
        if len(rows) != count:
            self.browse.share_room()

    def show_head(self, head: ListHead) -> None:
        self.browse.show_head(head)

    def show_list(self, page: Page, keep: str) -> None:
        self.browse.list.show_first(page, keep)

    def show_page(self, page: Page) -> None:
        self.browse.list.show_page(page)

    def show_details(self, details: ItemDetails | None) -> None:
        self.browse.show_details(details)

    def show_words(self, words: str) -> None:
        """What is searched for, without announcing it."""
        self.browse.field.blockSignals(True)
        self.browse.field.setText(words)
        self.browse.field.setCursorPosition(0)
        self.browse.field.blockSignals(False)

    def show_browsing(self) -> None:
        self._tabs.choose(0)
        self._pages.setCurrentIndex(0)

    def ask_tags(self, tags: Sequence[TagRow], chosen: Sequence[str]) -> None:
        sheet = TagSheet(tags, chosen, self)
        sheet.tag_toggled.connect(self.tag_toggled)
        sheet.open_below(self.browse.tags_button, "right")

    # -- wishes

    def _wish(self, what: str, ids: tuple[str, ...]) -> None:
        self.wished.emit(what, ids)

    def _on_add_requested(self, ids: tuple[str, ...]) -> None:
        self._wish("add", ids)

    def _on_ask_requested(self, ids: tuple[str, ...]) -> None:
        self._wish("ask", ids)

    def _on_open_requested(self, link: str) -> None:
        self._wish("link", (link,))

    def _on_item_menu(self, ids: tuple[str, ...], at: QPoint) -> None:
        item_menu(ids, self._style, self._wish, self).popup(at)

    def _on_more_requested(self, at: QPoint) -> None:
        details = self.browse.preview.details
        if details is not None:
            self._on_item_menu((details.id,), at)

    def _on_piece_menu(self, piece: Piece, at: QPoint) -> None:
        piece_menu(piece, self._wish, self).popup(at)
