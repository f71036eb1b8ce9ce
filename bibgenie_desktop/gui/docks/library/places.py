"""The tree of libraries and collections: a flat list of lines that fold, with their counts."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QListView, QStyledItemDelegate, QStyleOptionViewItem

from bibgenie_desktop.gui.components.list_rows import paint_ground, scroll_calmly
from bibgenie_desktop.gui.docks.library.values import PlaceRow
from bibgenie_desktop.gui.theme import current, icons
from bibgenie_desktop.gui.tr import harmless, number, plural, tr
from bibgenie_desktop.services.library.browsing import Scope

ROW = Qt.ItemDataRole.UserRole
STEP = 14
DEEPEST = 8
Index = QModelIndex | QPersistentModelIndex


class PlaceModel(QAbstractListModel):
    def __init__(self) -> None:
        super().__init__()
        self.rows: tuple[PlaceRow, ...] = ()

    def show_rows(self, rows: Sequence[PlaceRow]) -> None:
        new = tuple(rows)
        if [r.place.scope for r in new] == [r.place.scope for r in self.rows]:
            self.rows = new
            if new:
                self.dataChanged.emit(self.index(0), self.index(len(new) - 1))
            return
        self.beginResetModel()
        self.rows = new
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.rows[index.row()]
        if role == ROW:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return row.name
        if role == Qt.ItemDataRole.AccessibleTextRole:
            place = row.place
            folded = (tr("unfolded") if row.unfolded else tr("folded")) if place.children else ""
            level = tr("level {0}").format(place.depth + 1) if place.depth else ""
            count = plural(place.count, tr("{0} item"), tr("{0} items"))
            return ", ".join(t for t in (row.name, count, level, folded) if t)
        return None


class PlaceDelegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, current().px(24))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, row = current(), index.data(ROW)
        area = QRectF(option.rect).adjusted(theme.gap(8), 0, -theme.gap(8), 0)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        chosen = paint_ground(painter, option, area)
        x, middle, side = self.start(area.left(), row), area.center().y(), theme.px(15)
        if row.place.children:
            sign = "chevron-down" if row.unfolded else "chevron-right"
            fold = theme.px(13)
            icons.paint(painter, sign, QRectF(x, middle - fold / 2, fold, fold), theme.color("text3"))
        x += theme.px(17)
        tint = theme.color("accent" if chosen else "text2")
        icons.paint(painter, row.icon, QRectF(x, middle - side / 2, side, side), tint)
        words = area.adjusted(x - area.left() + side + theme.gap(6), 0, -theme.gap(8), 0)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text3"))
        count = number(row.place.count)
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(words, right, count)
        taken = QFontMetrics(painter.font()).horizontalAdvance(count) + theme.gap(8)
        painter.setFont(theme.font("body", "medium" if chosen else "regular"))
        painter.setPen(theme.color("text"))
        name = QFontMetrics(painter.font()).elidedText(
            harmless(row.name), Qt.TextElideMode.ElideRight, max(0, int(words.width() - taken))
        )
        painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter), name)
        painter.restore()

    def start(self, left: float, row: PlaceRow) -> float:
        """Where the fold sign of a line stands."""
        theme = current()
        return left + theme.gap(4) + min(row.place.depth, DEEPEST) * theme.px(STEP)


class PlaceTree(QListView):
    """↑↓ go to a place and show it, ←→ fold and unfold."""

    place_chosen = Signal(object)
    fold_toggled = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("libraryTree")
        self.setAccessibleName(tr("Libraries and collections"))
        self._places = PlaceModel()
        self._places.setParent(self)
        self.setModel(self._places)
        self._delegate = PlaceDelegate(self)
        self.setItemDelegate(self._delegate)
        self.setUniformItemSizes(True)
        scroll_calmly(self)
        current().changed.connect(self._on_theme_changed)

    @property
    def rows(self) -> tuple[PlaceRow, ...]:
        return self._places.rows

    def show_rows(self, rows: Sequence[PlaceRow], chosen: Scope) -> None:
        """Shows other lines and which one is the current place, without announcing it."""
        self._places.show_rows(rows)
        at = next((i for i, r in enumerate(self.rows) if r.place.scope == chosen), -1)
        if at != self.currentIndex().row():
            self.selectionModel().blockSignals(True)
            self.setCurrentIndex(self._places.index(at) if at >= 0 else QModelIndex())
            self.selectionModel().blockSignals(False)
        self.viewport().update()

    def row_at(self, at: QPoint) -> PlaceRow | None:
        row = self.indexAt(at).data(ROW)
        return row if isinstance(row, PlaceRow) else None

    @property
    def chosen(self) -> PlaceRow | None:
        row = self.currentIndex().data(ROW) if self.currentIndex().isValid() else None
        return row if isinstance(row, PlaceRow) else None

    def wanted_height(self) -> int:
        return len(self.rows) * current().px(24) + 2

    def mousePressEvent(self, event: QMouseEvent) -> None:
        row = self.row_at(event.position().toPoint())
        if row is not None and row.place.children:
            sign = self._delegate.start(current().gap(8), row)
            if sign - 4 <= event.position().x() <= sign + current().px(17):
                self.fold_toggled.emit(row.place.scope)
                return
        super().mousePressEvent(event)
        if row is not None and event.button() == Qt.MouseButton.LeftButton:
            self.place_chosen.emit(row.place.scope)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row, key = self.chosen, event.key()
        if row is not None and key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            if row.place.children and row.unfolded == (key == Qt.Key.Key_Left):
                self.fold_toggled.emit(row.place.scope)
            elif key == Qt.Key.Key_Left and row.place.parent is not None:
                self.place_chosen.emit(row.place.parent)
            return
        super().keyPressEvent(event)
        moved = self.chosen
        if moved is not None and (row is None or moved.place.scope != row.place.scope):
            self.place_chosen.emit(moved.place.scope)

    def _on_theme_changed(self) -> None:
        self.scheduleDelayedItemsLayout()
        self.viewport().update()
