"""The sheet of tags: those of what is listed, coloured ones first, to be chosen with a click or Enter."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from bibgenie_desktop.gui.components import Glyph, Popover, box, column, label, row, rule
from bibgenie_desktop.gui.components.find_field import FindField
from bibgenie_desktop.gui.theme import current, icons, px
from bibgenie_desktop.gui.theme.tokens import RADIUS
from bibgenie_desktop.gui.tr import harmless, number, plural, tr
from bibgenie_desktop.services.library.browsing import TagRow

TAG = Qt.ItemDataRole.UserRole
CHOSEN = Qt.ItemDataRole.UserRole + 1
Index = QModelIndex | QPersistentModelIndex


class TagModel(QAbstractListModel):
    def __init__(self, tags: Sequence[TagRow], chosen: Sequence[str]) -> None:
        super().__init__()
        self._all = tuple(tags)
        self.shown = self._all
        self._chosen = frozenset(chosen)

    def narrow(self, words: str) -> None:
        wanted = words.casefold().split()
        self.beginResetModel()
        self.shown = tuple(t for t in self._all if all(w in t.name.casefold() for w in wanted))
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self.shown)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self.shown):
            return None
        tag = self.shown[index.row()]
        if role == TAG:
            return tag
        if role == CHOSEN:
            return tag.name in self._chosen
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return tag.name
        if role == Qt.ItemDataRole.AccessibleTextRole:
            count = plural(tag.count, tr("{0} item"), tr("{0} items"))
            return ", ".join(
                t for t in (tag.name, count, tr("chosen") if tag.name in self._chosen else "") if t
            )
        return None


class TagDelegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, current().px(28))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, tag = current(), index.data(TAG)
        area = QRectF(option.rect).adjusted(theme.gap(6), 0, -theme.gap(6), 0)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if option.state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            painter.setBrush(theme.color("hover"))
            painter.drawRoundedRect(area, RADIUS["control"], RADIUS["control"])
        side, middle = theme.px(14), area.center().y()
        mark = QRectF(area.left() + theme.gap(6), middle - side / 2, side, side)
        color = QColor(tag.color) if tag.color else QColor()
        if index.data(CHOSEN):
            icons.paint(painter, "check", mark, theme.color("accent"))
        elif color.isValid():
            painter.setBrush(color)
            painter.drawEllipse(mark.center(), side / 3.5, side / 3.5)
        else:
            icons.paint(painter, "tag", mark, theme.color("text3"))
        words = area.adjusted(side + theme.gap(14), 0, -theme.gap(8), 0)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text3"))
        count = number(tag.count)
        painter.drawText(words, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), count)
        taken = QFontMetrics(painter.font()).horizontalAdvance(count) + theme.gap(8)
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("text"))
        room = max(0, int(words.width() - taken))
        name = QFontMetrics(painter.font()).elidedText(harmless(tag.name), Qt.TextElideMode.ElideRight, room)
        painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter), name)
        painter.restore()


class TagSheet(Popover):
    """`tag_toggled` carries a name; the sheet then closes."""

    tag_toggled = Signal(str)

    def __init__(self, tags: Sequence[TagRow], chosen: Sequence[str], parent: QWidget) -> None:
        self._find = FindField(tr("Find a tag"))
        self._model = TagModel(tags, chosen)
        self._list = QListView()
        self._model.setParent(self._list)
        self._list.setModel(self._model)
        self._list.setItemDelegate(TagDelegate(self._list))
        self._list.setUniformItemSizes(True)
        self._list.setMouseTracking(True)
        self._list.setAccessibleName(tr("Tags"))
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setFixedHeight(min(max(1, len(tags)) * px(28) + 2, px(320)))
        none = label(tr("Nothing here has a tag."), "small", "3")
        body: QWidget = self._list if tags else box(column(none, margins=(14, 4, 14, 6)))
        search = box(row(Glyph("search", "text3", 16), self._find, margins=(12, 8, 12, 8), spacing=8))
        listed = box(column(body, margins=(0, 4, 0, 6)))
        super().__init__(column(search, rule(), listed, spacing=0), 280, parent)
        self.setObjectName("tagSheet")
        self._find.textChanged.connect(self._on_text_changed)
        self._find.returnPressed.connect(self._on_return_pressed)
        self._find.stepped.connect(self._on_stepped)
        self._list.clicked.connect(self._on_clicked)
        self._to(0)
        self._find.setFocus()

    def _to(self, at: int) -> None:
        if self._model.shown:
            self._list.setCurrentIndex(self._model.index(max(0, min(at, len(self._model.shown) - 1))))

    def _on_text_changed(self, words: str) -> None:
        self._model.narrow(words)
        self._to(0)

    def _on_stepped(self, step: int) -> None:
        self._to(self._list.currentIndex().row() + step)

    def _on_return_pressed(self) -> None:
        self._on_clicked(self._list.currentIndex())

    def _on_clicked(self, index: QModelIndex) -> None:
        tag = index.data(TAG) if index.isValid() else None
        if isinstance(tag, TagRow):
            self.close()
            self.tag_toggled.emit(tag.name)
