"""The list of items: a model that holds only the pages that were looked at, its painting, and the view.

However long the list is, nothing is asked for but what is to be seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import (
    QItemSelection,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    Qt,
    Signal,
)
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QStandardItemModel
from PySide6.QtWidgets import QListView

from bibgenie_desktop.gui.components.list_rows import scroll_calmly
from bibgenie_desktop.gui.docks.library.dragging import mime_of
from bibgenie_desktop.gui.docks.library.item_delegate import ROW, ItemDelegate
from bibgenie_desktop.gui.theme import current
from bibgenie_desktop.gui.tr import plural, tr
from bibgenie_desktop.services.library.browsing import PAGE, ItemRow, Page

Index = QModelIndex | QPersistentModelIndex
BATCH = 4_000
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class ItemModel(QStandardItemModel):
    """`page_wanted` carries the offset of a page that is about to be seen and is not here yet.

    Qt's own model counts the lines, all of them empty: a view asks how many there are once for each line, and
    a hundred thousand answers from Python would hold up the window.
    """

    page_wanted = Signal(int)

    def __init__(self) -> None:
        super().__init__(0, 1)
        self._rows: dict[int, ItemRow] = {}
        self._asked: set[int] = set()

    def show_first(self, page: Page) -> None:
        """Another list begins."""
        self.beginResetModel()
        self._asked = {page.offset}
        self._rows = {page.offset + i: row for i, row in enumerate(page.rows)}
        blocked = self.blockSignals(True)
        self.setRowCount(page.total)
        self.blockSignals(blocked)
        self.endResetModel()

    def add(self, page: Page) -> None:
        """A page that was asked for has come. The view repaints; `dataChanged` would lay out everything."""
        for place, row in enumerate(page.rows, page.offset):
            self._rows[place] = row

    def forget(self, offset: int) -> None:
        """A page could not be had; it is asked for again when it is next seen."""
        self._asked.discard(offset)

    @property
    def held(self) -> int:
        """How many rows are here."""
        return len(self._rows)

    def row_of(self, full_id: str) -> int:
        return next((i for i, row in self._rows.items() if row.id == full_id), -1)

    def ids_in(self, ranges: Iterable[tuple[int, int]]) -> tuple[str, ...]:
        """The lines that are here in some ranges of places, ends included, in their order."""
        wanted = tuple(ranges)
        here = sorted(i for i in self._rows if any(first <= i <= last for first, last in wanted))
        return tuple(self._rows[i].id for i in here)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if index.row() not in self._rows:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsDragEnabled

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row = self._rows.get(index.row())
        if row is None:
            if role == ROW:
                self._ask(index.row())
            return tr("Loading…") if role == Qt.ItemDataRole.AccessibleTextRole else None
        if role == ROW:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join(t for t in (row.title, row.byline) if t)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken(row)
        return None

    def _ask(self, place: int) -> None:
        offset = place - place % PAGE
        if offset not in self._asked:
            self._asked.add(offset)
            self.page_wanted.emit(offset)

    def supportedDragActions(self) -> Qt.DropAction:
        return Qt.DropAction.CopyAction

    def mimeTypes(self) -> list[str]:
        return list(mime_of([], "").formats())

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        rows = [r for i in sorted(indexes, key=lambda i: i.row()) if (r := self._rows.get(i.row()))]
        return mime_of([r.id for r in rows], "\n".join(r.label or r.title for r in rows))


def spoken(row: ItemRow) -> str:
    """Everything that is painted of a line, in words."""
    said = [row.title or tr("Untitled"), row.byline]
    said.append(tr("retracted") if row.retracted else "")
    said.append(tr("with PDF") if row.pdf else "")
    said.append(plural(row.notes, tr("{0} note"), tr("{0} notes")) if row.notes else "")
    marks = plural(row.annotations, tr("{0} annotation"), tr("{0} annotations"))
    said.append(marks if row.annotations else "")
    return ", ".join(t for t in said if t)


class ItemList(QListView):
    """Enter or a double click adds to the question; several can be chosen and dragged together."""

    item_chosen = Signal(str)
    """The one line that is current and chosen; empty where none or several are."""
    add_requested = Signal(object)
    ask_requested = Signal(object)
    menu_requested = Signal(object, QPoint)
    typed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("libraryItems")
        self.setAccessibleName(tr("Items"))
        self._told = ""
        self.items = ItemModel()
        self.items.setParent(self)
        self.setModel(self.items)
        self.setItemDelegate(ItemDelegate(self))
        self.setUniformItemSizes(True)
        self.setLayoutMode(QListView.LayoutMode.Batched)  # a hundred thousand at once would be felt
        self.setBatchSize(BATCH)
        self.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.setDragEnabled(True)
        self.setDragDropMode(QListView.DragDropMode.DragOnly)
        self.setDefaultDropAction(Qt.DropAction.CopyAction)
        scroll_calmly(self)
        current().changed.connect(self._on_theme_changed)

    def show_first(self, page: Page, keep: str = "") -> None:
        """Another list; the line `keep` stays chosen where it is in it, and then the list stays in place."""
        place = self.verticalScrollBar().value()
        self.items.show_first(page)
        at = self.items.row_of(keep) if keep else -1
        if at >= 0:
            self.setCurrentIndex(self.items.index(at, 0))
            self.verticalScrollBar().setValue(place)
        else:
            self.scrollToTop()
            self._tell("")

    def show_page(self, page: Page) -> None:
        self.items.add(page)
        self.viewport().update()

    def chosen_ids(self) -> tuple[str, ...]:
        """Of the lines that are here; when all are chosen, the others are not looked at."""
        chosen = self.selectionModel().selection()
        return self.items.ids_in([(p.top(), p.bottom()) for p in map(chosen.at, range(chosen.count()))])

    def choose_first(self) -> None:
        """For the keyboard: the first line, where none is current."""
        if not self.currentIndex().isValid() and self.items.rowCount():
            self.setCurrentIndex(self.items.index(0, 0))

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        super().selectionChanged(selected, deselected)
        ids = self.chosen_ids()
        self._tell(ids[0] if len(ids) == 1 else "")

    def _tell(self, full_id: str) -> None:
        if full_id != self._told:
            self._told = full_id
            self.item_chosen.emit(full_id)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        row = self.indexAt(event.position().toPoint()).data(ROW)
        if isinstance(row, ItemRow):
            self.add_requested.emit((row.id,))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        ids = self.chosen_ids()
        if event.key() in ENTER and ids:
            asked = event.modifiers() & Qt.KeyboardModifier.ControlModifier
            (self.ask_requested if asked else self.add_requested).emit(ids)
        elif event.text().isprintable() and event.text().strip() and not event.modifiers():
            self.typed.emit(event.text())
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        ids = self.chosen_ids()
        if not ids:
            return
        at = event.globalPos()
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            at = self.viewport().mapToGlobal(self.visualRect(self.currentIndex()).center())
        self.menu_requested.emit(ids, at)

    def _on_theme_changed(self) -> None:
        self.scheduleDelayedItemsLayout()
        self.viewport().update()
