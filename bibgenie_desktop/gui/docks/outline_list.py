"""The navigator's list: a model over outline rows and a delegate that paints lanes, dots and badges."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from bibgenie_desktop.gui.components.list_rows import paint_ground
from bibgenie_desktop.gui.docks.outline import Badge, OutlineRow
from bibgenie_desktop.gui.theme import current, icons
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.gui.when import ago, exact

ROW = Qt.ItemDataRole.UserRole
WHEN = Qt.ItemDataRole.UserRole + 1
TEXT = Qt.ItemDataRole.UserRole + 2
Index = QModelIndex | QPersistentModelIndex
BADGES: dict[Badge, tuple[str, str]] = {
    "siblings": ("fork", "text3"),
    "forks": ("external", "text3"),
    "stopped": ("stop", "text3"),
    "streaming": ("dot", "accent"),
    "draft": ("edit", "text3"),
    "archived": ("eye", "text3"),
}
BADGE_WORDS: dict[Badge, str] = {
    "siblings": "has other versions",
    "forks": "another session ends here",
    "stopped": "stopped early",
    "streaming": "being answered",
    "draft": "being edited",
    "archived": "archived",
}


class OutlineModel(QAbstractListModel):
    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[OutlineRow, ...] = ()
        self._now = 0

    @property
    def rows(self) -> tuple[OutlineRow, ...]:
        return self._rows

    def show_rows(self, rows: Sequence[OutlineRow], now: int) -> None:
        self._now = now
        new = tuple(rows)
        if new == self._rows:
            return
        self.beginResetModel()
        self._rows = new
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == ROW:
            return row
        if role in (TEXT, Qt.ItemDataRole.DisplayRole):
            return row_text(row)
        if role == WHEN:
            return self._when(row)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._spoken(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            where = [tr("Also the end of “{0}”").format(t) for t in row.sessions]
            return "\n".join([row_text(row), exact(row.created_at), *where])
        return None

    def _when(self, row: OutlineRow) -> str:
        first = ago(row.created_at, self._now)
        last = ago(row.until, self._now) if row.until else first
        return first if first == last else f"{first} – {last}"

    def _spoken(self, row: OutlineRow) -> str:
        parts = [row_text(row)]
        if row.kind == "run":
            parts.append(tr("unfolded") if row.unfolded else tr("folded"))
        parts += [tr(BADGE_WORDS[b]) for b in row.badges]
        if row.depth:
            parts.append(tr("branch, level {0}").format(row.depth))
        parts.append(tr("you are here") if row.active else "" if row.on_path else tr("not on this branch"))
        parts.append(self._when(row))
        return ", ".join(p for p in parts if p)


def row_text(row: OutlineRow) -> str:
    if row.kind == "run":
        return tr("{0} turns").format(row.count)
    if row.kind == "checkpoint":
        return row.words or tr("Compacted")
    return row.words or tr("No words")


class OutlineDelegate(QStyledItemDelegate):
    """A lane with a dot for each turn; branches leave it in an arc; the leaf's dot is filled."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, current().px(32))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, row = current(), index.data(ROW)
        area = QRectF(option.rect).adjusted(theme.gap(8), 1, -theme.gap(8), -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, option, area)
        trunk, middle = area.left() + theme.gap(12), area.center().y()
        lane = trunk + row.depth * theme.px(18)
        self._lanes(painter, row, trunk, QRectF(option.rect), middle, first=index.row() == 0)
        self._dot(painter, row, QPointF(lane, middle))
        text = area.adjusted(lane - area.left() + theme.gap(14), 0, -theme.gap(10), 0)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text3"))
        when = str(index.data(WHEN))
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(text, right, when)
        taken: float = QFontMetrics(painter.font()).horizontalAdvance(when) + theme.gap(8)
        for badge in row.badges:
            glyph, role = BADGES[badge]
            side = theme.px(14)
            place = QRectF(text.right() - taken - side + 2, middle - side / 2, side, side)
            icons.paint(painter, glyph, place, theme.color(role))
            taken += side + theme.gap(4)
        small = row.kind in ("run", "checkpoint")
        painter.setFont(theme.font("small" if small else "body", "medium" if row.active else "regular"))
        painter.setPen(theme.color("text2" if small or not row.on_path else "text"))
        words = QFontMetrics(painter.font()).elidedText(
            str(index.data(TEXT)), Qt.TextElideMode.ElideRight, int(text.width() - taken)
        )
        painter.drawText(text, int(Qt.AlignmentFlag.AlignVCenter), words)
        painter.restore()

    def _lanes(
        self, painter: QPainter, row: OutlineRow, trunk: float, rect: QRectF, middle: float, *, first: bool
    ) -> None:
        theme, step = current(), current().px(18)
        accent, grey = theme.color("accent"), theme.color("line_strong")
        painter.setBrush(Qt.BrushStyle.NoBrush)
        bottom = rect.bottom() + 1
        for k, goes_on in enumerate(row.lanes):
            x = trunk + k * step
            own = k == row.depth
            lit = k == 0 and row.trunk_on_path
            if own:
                if not row.starts and not first:
                    pen = QPen(accent if row.on_path else grey, 1.6)
                    if row.kind == "run" and not row.unfolded:
                        pen.setStyle(Qt.PenStyle.DotLine)
                    painter.setPen(pen)
                    painter.drawLine(QPointF(x, rect.top()), QPointF(x, middle))
                if goes_on:
                    pen = QPen(accent if lit and row.on_path else grey, 1.6)
                    if row.kind == "run" and not row.unfolded:
                        pen.setStyle(Qt.PenStyle.DotLine)
                    painter.setPen(pen)
                    painter.drawLine(QPointF(x, middle), QPointF(x, bottom))
            elif goes_on:
                painter.setPen(QPen(accent if lit else grey, 1.6))
                painter.drawLine(QPointF(x, rect.top()), QPointF(x, bottom))
        if row.starts and row.depth:
            x = trunk + (row.depth - 1) * step
            painter.setPen(QPen(grey, 1.6))
            painter.drawArc(QRectF(x, middle - 16, 16, 16), 180 * 16, 90 * 16)
            painter.drawLine(QPointF(x + 8, middle), QPointF(trunk + row.depth * step, middle))
            if not row.lanes[row.depth - 1]:
                painter.drawLine(QPointF(x, rect.top()), QPointF(x, middle - 8))

    def _dot(self, painter: QPainter, row: OutlineRow, at: QPointF) -> None:
        theme = current()
        if row.kind == "run":
            return
        if row.kind == "checkpoint":
            side = theme.px(16)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("side"))
            painter.drawEllipse(at, side / 2, side / 2)
            place = QRectF(at.x() - side / 2, at.y() - side / 2, side, side)
            icons.paint(painter, "compact", place, theme.color("kind_checkpoint"))
            if row.active:
                painter.setPen(QPen(theme.color("accent"), 1.6))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawEllipse(at, side / 2 + 1, side / 2 + 1)
            return
        size = theme.px(4.5 if row.active else 3.5)
        painter.setPen(QPen(theme.color("accent" if row.on_path else "outline"), 1.6))
        painter.setBrush(theme.color("accent" if row.active else "side"))
        painter.drawEllipse(at, size, size)
