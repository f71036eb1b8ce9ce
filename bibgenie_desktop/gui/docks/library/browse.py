"""The page “Browse”: search field, tree, list and preview, one below the other with borders to drag."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QSplitter, QWidget

from bibgenie_desktop.gui.components import (
    Chip,
    Elided,
    Flow,
    Menu,
    box,
    column,
    icon_button,
    label,
    push,
    row,
)
from bibgenie_desktop.gui.docks.library.items import ItemList
from bibgenie_desktop.gui.docks.library.places import PlaceTree
from bibgenie_desktop.gui.docks.library.preview import Preview
from bibgenie_desktop.gui.docks.library.values import ListHead
from bibgenie_desktop.gui.theme import icons, px
from bibgenie_desktop.gui.tr import number, tr
from bibgenie_desktop.services.library.browsing import Order
from bibgenie_desktop.services.library.item_details import ItemDetails

ORDERS: tuple[tuple[Order, str], ...] = (
    ("added", "Newest first"),
    ("modified", "Changed last"),
    ("title", "By title"),
    ("creator", "By creator"),
    ("year", "By year"),
)
BEST = "Best first"
LIST_LEAST, TREE_SHARE, PREVIEW_SHARE = 120, 0.3, 0.42


class SearchField(QLineEdit):
    """↓ goes on to the list; Esc empties the field first."""

    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        words = tr("Search Zotero")
        self.setObjectName("librarySearch")
        self.setPlaceholderText(words)
        self.setAccessibleName(words)
        self.setProperty("quiet", True)
        self.setClearButtonEnabled(True)
        self.addAction(icons.icon("search", "text3"), QLineEdit.ActionPosition.LeadingPosition)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Down:
            self.left.emit()
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)


class BrowsePage(QFrame):
    search_changed = Signal(str)
    order_chosen = Signal(object)
    tags_requested = Signal()
    tag_removed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.field = SearchField()
        self.tree, self.list, self.preview = PlaceTree(), ItemList(), Preview()
        self._head = ListHead("", None, None)
        self._name = Elided("", "caption", "2")
        self._total = label("", "caption", "3")
        self._order = push("", "link", dense=True, object_name="libraryOrder")
        self._tags = icon_button("tag", tr("Filter by tag"), size=24, role="text3", object_name="libraryTags")
        self._note = label("", "small", "3", wrap=True)
        self._note_box = box(column(self._note, margins=(16, 6, 16, 6)))
        self._chips = QWidget()
        self._chips.hide()
        head = row(
            self._name, self._total, self._order, self._tags, spacing=6, margins=(16, 6, 10, 2), grow=0
        )
        self._listed = column(head, self._chips, self._note_box, self.list, spacing=2, grow=3)
        self.split = QSplitter(Qt.Orientation.Vertical)
        for widget in (self.tree, box(self._listed), self.preview):
            self.split.addWidget(widget)
        self.split.setHandleWidth(1)
        self.split.setChildrenCollapsible(False)
        self.tree.setMinimumHeight(px(50))
        self.list.setMinimumHeight(px(50))
        self.preview.setMinimumHeight(px(80))
        self.split.setStretchFactor(1, 1)
        self.preview.hide()
        self._moved = False
        field = box(column(self.field, margins=(10, 2, 10, 8)))
        self.setLayout(column(field, self.split, spacing=0, grow=1))
        self._connect()
        self.show_head(self._head)

    def _connect(self) -> None:
        self.field.textChanged.connect(self.search_changed)
        self.field.left.connect(self.focus_list)
        self.field.returnPressed.connect(self.focus_list)
        self.list.typed.connect(self._on_typed)
        self._order.clicked.connect(self._on_order_clicked)
        self._tags.clicked.connect(self.tags_requested)
        self.split.splitterMoved.connect(self._on_moved)

    # -- what is shown

    def show_head(self, head: ListHead) -> None:
        if [t.name for t in head.tags] != [t.name for t in self._head.tags]:
            self._show_chips(head)
        self._head = head
        self._name.setText(head.name)
        self._total.setText("" if head.total is None else number(head.total))
        default = tr(BEST) if head.searching else tr(ORDERS[0][1])
        words = next((tr(w) for o, w in ORDERS if o == head.order), default)
        self._order.setText(words)
        self._order.setAccessibleName(tr("Order: {0}").format(words))
        self._note.setText(head.note)
        self._note_box.setVisible(bool(head.note))

    def _show_chips(self, head: ListHead) -> None:
        old = self._chips
        chips = [Chip(t.name, "tag", key=t.name) for t in head.tags]
        for chip in chips:
            chip.removed.connect(self.tag_removed)
        self._chips = QWidget()
        flow = Flow(chips)
        flow.setContentsMargins(px(14), 2, px(10), 4)
        self._chips.setLayout(flow)
        self._listed.replaceWidget(old, self._chips)
        old.hide()
        old.deleteLater()
        self._chips.setVisible(bool(chips))

    def show_details(self, details: ItemDetails | None) -> None:
        before = self.preview.isVisibleTo(self)
        self.preview.show_details(details)
        self.preview.setVisible(details is not None)
        if before != (details is not None):
            self.share_room()

    @property
    def tags_button(self) -> QWidget:
        return self._tags

    def focus_list(self) -> None:
        self.list.choose_first()
        self.list.setFocus(Qt.FocusReason.TabFocusReason)

    # -- room

    def share_room(self) -> None:
        """Tree and preview get what they need up to their share; the list gets the rest."""
        if self._moved:
            return
        high = max(1, self.split.height())
        tree = min(self.tree.wanted_height(), round(high * TREE_SHARE))
        preview = round(high * PREVIEW_SHARE) if self.preview.isVisibleTo(self) else 0
        self.split.setSizes([tree, max(1, high - tree - preview), preview])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.share_room()

    def _on_moved(self) -> None:
        self._moved = True

    # -- wishes

    def _on_typed(self, text: str) -> None:
        self.field.setFocus()
        self.field.setText(self.field.text() + text)

    def _on_order_clicked(self) -> None:
        menu = Menu(self)
        if self._head.searching:
            menu.entry(tr(BEST), partial(self.order_chosen.emit, None), object_name="order_best")
        for order, words in ORDERS:
            reason = None
            if self._head.searching and order in ("modified", "creator"):
                reason = tr("A search can be ordered by relevance, date or title.")
            menu.entry(
                tr(words), partial(self.order_chosen.emit, order), reason=reason, object_name=f"order_{order}"
            )
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self._order.mapToGlobal(QPoint(0, self._order.height())))
