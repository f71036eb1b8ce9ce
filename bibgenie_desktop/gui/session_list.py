"""The sessions list: a model of lines, a delegate that paints them, and the view with its menu and keys."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QListView, QStyledItemDelegate, QStyleOptionViewItem

from bibgenie_desktop.gui.components import Menu
from bibgenie_desktop.gui.components.list_rows import paint_ground, scroll_calmly
from bibgenie_desktop.gui.session_rows import STATE_WORDS, Line, SectionLine, SessionLine
from bibgenie_desktop.gui.theme import current, icons
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.gui.when import exact

LINE = Qt.ItemDataRole.UserRole
Index = QModelIndex | QPersistentModelIndex
STATE_ICONS = {
    "draft": ("edit", "text3"),
    "streaming": ("dot", "accent"),
    "compacting": ("compact", "accent"),
    "damaged": ("warn", "bad"),
}


class SessionModel(QAbstractListModel):
    """Lines, with everything that is painted also said in words."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: tuple[Line, ...] = ()

    @property
    def lines(self) -> tuple[Line, ...]:
        return self._lines

    def show_lines(self, lines: Sequence[Line]) -> None:
        """Shows other lines; the same places with new contents keep selection and scroll position."""
        new = tuple(lines)
        if new == self._lines:
            return
        if [_key(a) for a in new] == [_key(b) for b in self._lines]:
            self._lines = new
            self.dataChanged.emit(self.index(0), self.index(len(new) - 1))
            return
        self.beginResetModel()
        self._lines = new
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self._lines)

    def flags(self, index: Index) -> Qt.ItemFlag:
        line = self._lines[index.row()]
        if isinstance(line, SectionLine):
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        line = self._lines[index.row()]
        if role == LINE:
            return line
        if role == Qt.ItemDataRole.DisplayRole:
            return line.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return _spoken(line)
        if role == Qt.ItemDataRole.ToolTipRole and isinstance(line, SessionLine):
            return "\n".join(t for t in (line.title, line.preview, exact(line.updated)) if t)
        return None

    def row_of(self, session_id: str) -> int:
        """Where a session stands, -1 where it is not shown."""
        found = (i for i, x in enumerate(self._lines) if isinstance(x, SessionLine) and x.id == session_id)
        return next(found, -1)


def _key(line: Line) -> str:
    return line.id if isinstance(line, SessionLine) else f"section {line.title}"


def _spoken(line: Line) -> str:
    if isinstance(line, SectionLine):
        return line.title
    parts = [line.title, tr("fork") if line.depth else "", tr("pinned") if line.pinned else ""]
    parts += [tr(STATE_WORDS[line.state]) if line.state else "", line.when, line.preview]
    return ", ".join(part for part in parts if part)


class SessionDelegate(QStyledItemDelegate):
    """Two lines for a session, one for a fork."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        line = index.data(LINE)
        tall = isinstance(line, SessionLine) and not line.depth
        return QSize(0, current().px(48 if tall else 30))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, line = current(), index.data(LINE)
        area = option.rect.adjusted(theme.gap(8), 1, -theme.gap(8), -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(line, SectionLine):
            painter.setFont(theme.font("caption", "semibold"))
            painter.setPen(theme.color("text3"))
            place = area.adjusted(theme.gap(10), 0, 0, -theme.gap(4))
            painter.drawText(place, int(Qt.AlignmentFlag.AlignBottom), line.title)
            painter.restore()
            return
        chosen = paint_ground(painter, option, area)
        self._paint_line(painter, line, area.adjusted(theme.gap(10), 0, -theme.gap(10), 0), chosen)
        painter.restore()

    def _paint_line(self, painter: QPainter, line: SessionLine, area: QRect, chosen: bool) -> None:
        theme = current()
        first = QRect(area)
        if line.depth:
            step = theme.gap(20)
            x, middle = area.left() + theme.gap(4) + (line.depth - 1) * step, area.center().y()
            painter.setPen(QPen(theme.color("line_strong"), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawLine(QPointF(x, area.top() - 3), QPointF(x, middle - 3))
            painter.drawArc(QRectF(x, middle - 8, 10, 10), 180 * 16, 90 * 16)
            first = area.adjusted(line.depth * step, 0, 0, 0)
        else:
            first.setTop(area.top() + theme.gap(5))
            first.setHeight(area.height() // 2 - theme.gap(3))
        small = theme.font("small")
        painter.setFont(small)
        painter.setPen(theme.color("text3"))
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(first, right, line.when)
        taken = QFontMetrics(small).horizontalAdvance(line.when) + theme.gap(8)
        taken += self._paint_state(painter, line, first, taken)
        font = theme.font("body", "regular" if line.depth else "medium")
        painter.setFont(font)
        painter.setPen(theme.color("text2" if line.depth and not chosen else "text"))
        title = QFontMetrics(font).elidedText(line.title, Qt.TextElideMode.ElideRight, first.width() - taken)
        painter.drawText(first, int(Qt.AlignmentFlag.AlignVCenter), title)
        if not line.depth:
            below = area.bottom() - first.bottom() - theme.gap(4)
            second = QRect(area.left(), first.bottom(), area.width(), below)
            painter.setFont(small)
            painter.setPen(theme.color("text2" if chosen else "text3"))
            words = QFontMetrics(small).elidedText(line.preview, Qt.TextElideMode.ElideRight, second.width())
            painter.drawText(second, int(Qt.AlignmentFlag.AlignVCenter), words)

    def _paint_state(self, painter: QPainter, line: SessionLine, area: QRect, right: int) -> int:
        found = STATE_ICONS.get(line.state)
        if found is None:
            return 0
        theme = current()
        side = theme.px(14)
        y = area.center().y() - side / 2 + 1
        place = QRectF(area.right() - right - side + 2, y, side, side)
        icons.paint(painter, found[0], place, QColor(theme.color(found[1])))
        return side + theme.gap(4)


class SessionList(QListView):
    """The list with its menu. A click or Enter opens; typing does not jump about."""

    session_chosen = Signal(str)
    rename_requested = Signal(str)
    pin_requested = Signal(str, bool)
    trash_requested = Signal(str)
    restore_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("sessionList")
        self.setAccessibleName(tr("Sessions"))
        self._lines = SessionModel()
        self._lines.setParent(self)
        self.setModel(self._lines)
        self.setItemDelegate(SessionDelegate(self))
        scroll_calmly(self)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu_requested)
        current().changed.connect(self._on_theme_changed)

    @property
    def lines(self) -> tuple[Line, ...]:
        return self._lines.lines

    def show_lines(self, lines: Sequence[Line], chosen: str) -> None:
        self._lines.show_lines(lines)
        self.choose(chosen)

    def choose(self, session_id: str) -> None:
        """Shows a session as the current one without announcing it."""
        row = self._lines.row_of(session_id)
        if row < 0:
            self.setCurrentIndex(QModelIndex())
        elif self.currentIndex().row() != row:
            self.setCurrentIndex(self._lines.index(row))

    def line_at(self, index: QModelIndex) -> SessionLine | None:
        line = index.data(LINE) if index.isValid() else None
        return line if isinstance(line, SessionLine) else None

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        line = self.line_at(self.indexAt(event.position().toPoint()))
        if event.button() == Qt.MouseButton.LeftButton and line is not None:
            self.session_chosen.emit(line.id)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        line = self.line_at(self.indexAt(event.position().toPoint()))
        if line is not None and not line.trashed:
            self.rename_requested.emit(line.id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        line = self.line_at(self.currentIndex())
        if line is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.session_chosen.emit(line.id)
        elif line is not None and event.key() == Qt.Key.Key_F2:
            self.rename_requested.emit(line.id)
        elif line is not None and event.key() == Qt.Key.Key_Delete and not line.trashed:
            self.trash_requested.emit(line.id)
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.scheduleDelayedItemsLayout()

    def _on_theme_changed(self) -> None:
        self.scheduleDelayedItemsLayout()
        self.viewport().update()

    def _on_menu_requested(self, at: QPoint) -> None:
        line = self.line_at(self.indexAt(at))
        if line is None:
            return
        menu = Menu(self)
        session = line.id
        if line.trashed:
            menu.entry(tr("Restore"), lambda: self.restore_requested.emit(session), icon="retry")
        else:
            menu.entry(tr("Rename…"), lambda: self.rename_requested.emit(session), icon="edit")
            words, pinned = (tr("Unpin"), False) if line.pinned else (tr("Pin"), True)
            menu.entry(words, lambda: self.pin_requested.emit(session, pinned), icon="pin")
            menu.addSeparator()
            menu.entry(tr("Move to trash"), lambda: self.trash_requested.emit(session), icon="trash")
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.viewport().mapToGlobal(at))
