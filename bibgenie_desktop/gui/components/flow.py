"""A layout that sets its items in lines, like words."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

from bibgenie_desktop.gui.theme import gap


class Flow(QLayout):
    """Rows of buttons and chips that wrap when the room is short."""

    def __init__(self, widgets: Sequence[QWidget] = (), spacing: float = 6) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self._spacing = spacing
        self.setContentsMargins(0, 0, 0, 0)
        for widget in widgets:
            self.addWidget(widget)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def sizeHint(self) -> QSize:
        shown = [item.sizeHint() for item in self._items if not item.isEmpty()]
        total = sum(size.width() for size in shown) + gap(self._spacing) * max(0, len(shown) - 1)
        return QSize(total, max((size.height() for size in shown), default=0))

    def minimumSize(self) -> QSize:
        shown = [item for item in self._items if not item.isEmpty()]
        return QSize(
            max((item.minimumSize().width() for item in shown), default=0),
            max((item.sizeHint().height() for item in shown), default=0),
        )

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, move=True)

    def _arrange(self, rect: QRect, *, move: bool) -> int:
        x, y, tallest, between = rect.x(), rect.y(), 0, gap(self._spacing)
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint()
            if x > rect.x() and x + size.width() > rect.right() + 1:
                x, y, tallest = rect.x(), y + tallest + between, 0
            if move:
                item.setGeometry(QRect(QPoint(x, y), size.boundedTo(QSize(rect.width(), size.height()))))
            x, tallest = x + size.width() + between, max(tallest, size.height())
        return y + tallest - rect.y()
