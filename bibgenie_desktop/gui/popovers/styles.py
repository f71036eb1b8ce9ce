"""The sheet of citation styles that Zotero has installed, for copies and bibliographies."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QRectF,
    QSize,
    QStringListModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from bibgenie_desktop.gui.components import Glyph, Popover, box, column, label, row, rule
from bibgenie_desktop.gui.components.find_field import FindField
from bibgenie_desktop.gui.theme import current, px
from bibgenie_desktop.gui.theme.tokens import RADIUS
from bibgenie_desktop.gui.tr import harmless, tr
from bibgenie_desktop.services.library.referencing import StyleName

LINE = 28
Index = QModelIndex | QPersistentModelIndex


class _Delegate(QStyledItemDelegate):
    """A quiet line, as everywhere else in popovers."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, current().px(LINE))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme = current()
        area = QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("hover"))
            painter.drawRoundedRect(area, RADIUS["control"], RADIUS["control"])
        words = area.adjusted(theme.gap(8), 0, -theme.gap(8), 0)
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("text"))
        title = QFontMetrics(painter.font()).elidedText(
            harmless(str(index.data())), Qt.TextElideMode.ElideRight, int(words.width())
        )
        painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter), title)
        painter.restore()


class StyleChooser(Popover):
    """`style_chosen` carries the id; the sheet then closes. The style used last stands first."""

    style_chosen = Signal(str)

    def __init__(self, styles: Sequence[StyleName], used: str, title: str, parent: QWidget) -> None:
        self._styles = sorted(styles, key=lambda s: s.id != used)
        self._shown = list(self._styles)
        self._find = FindField(tr("Find a style"))
        self._names = QStringListModel()
        self._list = QListView()
        self._names.setParent(self._list)
        self._list.setObjectName("styleList")
        self._list.setModel(self._names)
        self._list.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self._list.setAccessibleName(tr("Citation styles"))
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setUniformItemSizes(True)
        self._list.setMouseTracking(True)
        self._list.setItemDelegate(_Delegate(self._list))
        high = px(LINE) * max(1, len(self._styles)) + 2
        self._list.setFixedHeight(min(high, px(320)))
        few = label(tr("More styles appear here when they are installed in Zotero."), "fine", "3", wrap=True)
        head = box(row(label(title, "strong", wrap=True), margins=(14, 10, 14, 2)))
        search = box(row(Glyph("search", "text3", 16), self._find, margins=(12, 6, 12, 8), spacing=8))
        foot = box(column(few, margins=(14, 4, 14, 8)))
        super().__init__(
            column(head, search, rule(), box(column(self._list, margins=(8, 4, 8, 0))), foot, spacing=0),
            360,
            parent,
        )
        self.setObjectName("styleSheet")
        few.setVisible(len(styles) < 2)
        self._find.textChanged.connect(self._narrow)
        self._find.returnPressed.connect(self._on_return_pressed)
        self._find.stepped.connect(self._on_stepped)
        self._list.clicked.connect(self._on_return_pressed)
        self._narrow("")
        self._find.setFocus()

    @property
    def titles(self) -> tuple[str, ...]:
        return tuple(s.title for s in self._shown)

    def _narrow(self, words: str) -> None:
        wanted = words.casefold().split()
        self._shown = [s for s in self._styles if all(w in s.title.casefold() for w in wanted)]
        self._names.setStringList([s.title for s in self._shown])
        self._list.setCurrentIndex(self._names.index(0))

    def _on_stepped(self, step: int) -> None:
        at = max(0, min(self._list.currentIndex().row() + step, len(self._shown) - 1))
        self._list.setCurrentIndex(self._names.index(at))

    def _on_return_pressed(self) -> None:
        at = self._list.currentIndex().row()
        if 0 <= at < len(self._shown):
            chosen = self._shown[at].id
            self.close()
            self.style_chosen.emit(chosen)
