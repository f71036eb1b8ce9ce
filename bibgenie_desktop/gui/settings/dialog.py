"""The settings dialog: pages at the left, the chosen one scrolling at the right, over a dimmed window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QButtonGroup, QDialog, QScrollArea, QStackedWidget, QWidget

from bibgenie_desktop.gui.components import box, column, fixed, label, push, row, rule
from bibgenie_desktop.gui.components.popover import rounded
from bibgenie_desktop.gui.theme import current, lengths, px
from bibgenie_desktop.gui.theme.tokens import RADIUS
from bibgenie_desktop.gui.tr import tr

WIDTH: Final = 800
HEIGHT: Final = 800
NARROW_BELOW: Final = 760
NAV: Final = 190
NAV_NARROW: Final = 64


class Focusable(Protocol):
    def focus_first(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the settings; `widget` also has `focus_first()`."""

    id: str
    icon: str
    title: str
    widget: QWidget


class Scrim(QWidget):
    """Dims the window under a dialog and follows its size."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("scrim")
        self.setGeometry(window.rect())
        window.installEventFilter(self)
        self.show()
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self.setGeometry(watched.rect())
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = current()
        dim = theme.color("side", 0.6) if theme.is_dark else theme.color("text", 0.12)
        QPainter(self).fillRect(self.rect(), dim)


class SettingsDialog(QDialog):
    """Opened with `open_over`; `done_requested` follows the Done button, `leave_requested` Esc and the
    window's cross, `closed` however it ends."""

    done_requested = Signal()
    leave_requested = Signal()
    closed = Signal()
    narrowed = Signal(bool)

    def __init__(self, pages: Sequence[Page], first: str, window: QWidget) -> None:
        super().__init__(window, Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if current().blends:
            self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.setObjectName("settingsDialog")
        self.setWindowTitle(tr("Settings"))
        self._pages = tuple(pages)
        self._narrow: bool | None = None
        self._scrim: Scrim | None = None
        self._group = QButtonGroup(self)
        self._stack = QStackedWidget()
        self._title = label(tr("Settings"), "title")
        self._nav = box(self._navigation(), surface="nav")
        close = push(tr("Done"), "primary", object_name="settingsDone")
        close.setAutoDefault(False)
        right = column(
            self._stack,
            rule(),
            row(None, close, margins=(24, 10, 24, 12)),
            spacing=0,
        )
        self.setLayout(row(self._nav, right, margins=(1, 1, 1, 1), spacing=0, grow=1))
        self._group.idClicked.connect(self._on_page)
        close.clicked.connect(self.done_requested)
        self.finished.connect(self._on_finished)
        current().changed.connect(self._refit)
        self.show_page(first)

    def _navigation(self) -> QBoxLayout:
        entries = column(self._title, 4, spacing=2, margins=(12, 18, 12, 14))
        for index, page in enumerate(self._pages):
            button = push(page.title, "quiet", icon=page.icon, object_name=f"page:{page.id}")
            button.setProperty("nav", True)
            button.setCheckable(True)
            button.setAutoDefault(False)
            button.setAccessibleName(page.title)
            self._group.addButton(button, index)
            entries.addWidget(button)
            self._stack.addWidget(_scrolling(page.widget))
        entries.addStretch(1)
        return entries

    # -- opening and size

    def open_over(self) -> None:
        window = self.parentWidget()
        if window is None:
            return
        self._scrim = Scrim(window)
        window.installEventFilter(self)
        self._refit()
        self.open()
        self._refit()
        self._focus_page()

    def reject(self) -> None:
        self.leave_requested.emit()

    def leave(self) -> None:
        """Closes without another question."""
        super().reject()

    def _refit(self) -> None:
        window = self.parentWidget()
        if window is None:
            return
        room = window.size()
        size = QSize(min(px(WIDTH), room.width() - 32), min(px(HEIGHT), room.height() - 32))
        narrow = size.width() < px(NARROW_BELOW)
        if narrow != self._narrow:
            self._narrow = narrow
            self._title.setText("" if narrow else tr("Settings"))
            for button in self._group.buttons():
                page = self._pages[self._group.id(button)]
                button.setText("" if narrow else page.title)
                button.setToolTip(page.title if narrow else "")
            self._nav.setProperty(lengths.SIZE, None)
            fixed(self._nav, NAV_NARROW if narrow else NAV)
            self.narrowed.emit(narrow)
        self.setFixedSize(size)
        corner = window.mapToGlobal(QPoint(0, 0))
        self.move(corner + QPoint((room.width() - size.width()) // 2, (room.height() - size.height()) // 2))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.parentWidget():
            self._refit()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not current().blends:
            self.setMask(rounded(self.rect(), RADIUS["sheet"]))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter, radius = current(), QPainter(self), RADIUS["sheet"]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(theme.color("raised"))
        painter.setPen(QPen(theme.color("line_strong"), 1))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)

    def _on_finished(self) -> None:
        scrim, self._scrim = self._scrim, None
        if scrim is not None:
            scrim.hide()
            scrim.deleteLater()
        self.closed.emit()

    # -- pages

    def show_page(self, id: str) -> None:
        index = next((i for i, page in enumerate(self._pages) if page.id == id), 0)
        self._group.button(index).setChecked(True)
        self._stack.setCurrentIndex(index)

    def _on_page(self, index: int) -> None:
        self._stack.setCurrentIndex(index)

    def _focus_page(self) -> None:
        page = self._pages[self._stack.currentIndex()].widget
        page.focus_first()  # type: ignore[attr-defined]


def _scrolling(page: QWidget) -> QScrollArea:
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    inner = box(column(page, margins=(24, 18, 24, 18)))
    area.setWidget(inner)
    area.viewport().setAutoFillBackground(False)
    inner.setAutoFillBackground(False)
    return area
