"""How a line of the item list is painted: icon, title, who and when, and signs for what belongs to it."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from bibgenie_desktop.gui.components.list_rows import paint_ground
from bibgenie_desktop.gui.theme import current, icons
from bibgenie_desktop.gui.tr import harmless, number, tr
from bibgenie_desktop.services.library.browsing import ItemRow

ROW = Qt.ItemDataRole.UserRole
HIGH = 44
Index = QModelIndex | QPersistentModelIndex


class ItemDelegate(QStyledItemDelegate):
    """Two lines; a row that has not come yet is two grey bars."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, current().px(HIGH))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, row = current(), index.data(ROW)
        area = QRectF(option.rect).adjusted(theme.gap(8), 1, -theme.gap(8), -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not isinstance(row, ItemRow):
            self._paint_waiting(painter, area)
            painter.restore()
            return
        chosen = paint_ground(painter, option, area)
        side = theme.px(16)
        inner = area.adjusted(theme.gap(8), theme.px(4), -theme.gap(8), -theme.px(4))
        first = QRectF(inner.left(), inner.top(), inner.width(), inner.height() / 2)
        icon = QRectF(first.left(), first.center().y() - side / 2, side, side)
        icons.paint(painter, row.icon, icon, theme.color("text2"))
        words = first.adjusted(side + theme.gap(8), 0, 0, 0)
        taken = self._paint_retracted(painter, words) if row.retracted else 0.0
        painter.setFont(theme.font("body", "medium" if chosen else "regular"))
        painter.setPen(theme.color("text"))
        title = harmless(row.title) or tr("Untitled")
        self._line(painter, words.adjusted(0, 0, -taken, 0), title)
        second = words.translated(0, first.height())
        taken = self._paint_signs(painter, row, second)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text2" if chosen else "text3"))
        self._line(painter, second.adjusted(0, 0, -taken, 0), harmless(row.byline))
        painter.restore()

    def _line(self, painter: QPainter, area: QRectF, text: str) -> None:
        room = max(0, int(area.width()))
        shown = QFontMetrics(painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, room)
        painter.drawText(area, int(Qt.AlignmentFlag.AlignVCenter), shown)

    def _paint_retracted(self, painter: QPainter, area: QRectF) -> float:
        side = current().px(14)
        place = QRectF(area.right() - side, area.center().y() - side / 2, side, side)
        icons.paint(painter, "warn", place, current().color("bad"))
        return side + current().gap(6)

    def _paint_signs(self, painter: QPainter, row: ItemRow, area: QRectF) -> float:
        """From the right: annotations, notes, a PDF; returns the room they take."""
        theme, side, right = current(), current().px(13), area.right()
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text3"))
        metrics = QFontMetrics(painter.font())
        for icon, count in (("highlight", row.annotations), ("note", row.notes), ("page", int(row.pdf))):
            if not count:
                continue
            if icon != "page":
                said = number(count)
                wide = metrics.horizontalAdvance(said)
                place = QRectF(right - wide, area.top(), wide + 1, area.height())
                painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter), said)
                right -= wide + theme.gap(3)
            mark = QRectF(right - side, area.center().y() - side / 2, side, side)
            icons.paint(painter, icon, mark, theme.color("text3"))
            right -= side + theme.gap(7)
        return area.right() - right

    def _paint_waiting(self, painter: QPainter, area: QRectF) -> None:
        theme = current()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("hover"))
        left, high = area.left() + theme.gap(16) + theme.px(16), theme.px(8)
        for share, y in ((0.6, 0.3), (0.35, 0.7)):
            top = area.top() + area.height() * y - high / 2
            painter.drawRoundedRect(QRectF(left, top, area.width() * share, high), 4, 4)
