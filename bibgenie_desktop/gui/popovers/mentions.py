"""The list below an @: items to choose from while the keyboard stays in the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QListView, QWidget

from bibgenie_desktop.gui.components import Popover, column, label
from bibgenie_desktop.gui.docks.library.item_delegate import HIGH, ROW, ItemDelegate
from bibgenie_desktop.gui.docks.library.items import spoken
from bibgenie_desktop.gui.theme import px
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.services.library.browsing import ItemRow

Index = QModelIndex | QPersistentModelIndex
CHOOSING: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab)


class _Found(QAbstractListModel):
    def __init__(self) -> None:
        super().__init__()
        self.rows: tuple[ItemRow, ...] = ()

    def show_rows(self, rows: Sequence[ItemRow]) -> None:
        self.beginResetModel()
        self.rows = tuple(rows)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.rows[index.row()]
        if role == ROW:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.title
        return spoken(row) if role == Qt.ItemDataRole.AccessibleTextRole else None


class MentionList(Popover):
    """It never takes the keyboard: the composer hands its keys on to `press`."""

    item_chosen = Signal(object)
    """The `ItemRow`."""
    dismissed = Signal()

    def __init__(self, parent: QWidget) -> None:
        self._found = _Found()
        self.list = QListView()
        self._found.setParent(self.list)
        self.list.setObjectName("mentionList")
        self.list.setAccessibleName(tr("Items to mention"))
        self.list.setModel(self._found)
        self.list.setItemDelegate(ItemDelegate(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setMouseTracking(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._note = label("", "small", "3", wrap=True)
        self._hint = label("", "fine", "3", wrap=True)
        note = column(self._note, margins=(14, 4, 14, 4))
        hint = column(self._hint, margins=(14, 2, 14, 4))
        super().__init__(
            column(self.list, note, hint, spacing=0, margins=(0, 6, 0, 4)), 420, parent, hover=True
        )
        self.setObjectName("mentionSheet")
        self._hint.setText(tr("↑↓ choose · Enter adds it to the question · Esc keeps the text"))
        self.list.clicked.connect(self._on_clicked)

    @property
    def rows(self) -> tuple[ItemRow, ...]:
        return self._found.rows

    def show_rows(self, rows: Sequence[ItemRow], words: str, place: QRect) -> None:
        self._found.show_rows(rows)
        self.list.setVisible(bool(rows))
        self.list.setFixedHeight(max(1, len(rows)) * px(HIGH) + 2)
        none = (
            tr("Nothing in the library has these words.") if words else tr("There is no item to mention yet.")
        )
        self._note.setText("" if rows else none)
        self._note.setVisible(not rows)
        self._hint.setVisible(bool(rows))
        self._go(0)
        self.open_at(place)

    def press(self, key: int) -> None:
        """A key of the composer that belongs to this list."""
        at = self.list.currentIndex().row()
        if key == Qt.Key.Key_Escape:
            self.dismissed.emit()
        elif key == Qt.Key.Key_Down:
            self._go((at + 1) % max(1, len(self.rows)))
        elif key == Qt.Key.Key_Up:
            self._go((at - 1) % max(1, len(self.rows)))
        elif Qt.Key(key) in CHOOSING and 0 <= at < len(self.rows):
            self.item_chosen.emit(self.rows[at])

    def _go(self, at: int) -> None:
        if not self.rows:
            return
        self.list.setCurrentIndex(self._found.index(at))
        # The focus stays in the text, so the line is announced as if it had it.
        event = QAccessibleEvent(self.list, QAccessible.Event.Focus)
        event.setChild(at)
        QAccessible.updateAccessibility(event)

    def _on_clicked(self, index: QModelIndex) -> None:
        if 0 <= index.row() < len(self.rows):
            self.item_chosen.emit(self.rows[index.row()])

    def _on_leave_timeout(self) -> None:
        """It stays where the pointer is not: it belongs to the keyboard."""
