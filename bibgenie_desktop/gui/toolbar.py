"""The bar over the conversation: title, model, Compact, how full the context is, and the docks' switches."""

from __future__ import annotations

from typing import Final, Literal

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QToolButton, QWidget

from bibgenie_desktop.gui.components import (
    Dropdown,
    Elided,
    Meter,
    box,
    column,
    fixed,
    gate,
    icon_button,
    label,
    props,
    push,
    row,
    rule,
)
from bibgenie_desktop.gui.docks.context import ContextView
from bibgenie_desktop.gui.theme import px
from bibgenie_desktop.gui.tr import number, percent, thousands, tr

DockName = Literal["branches", "context", "library"]
DOCKS: Final[tuple[tuple[DockName, str], ...]] = (
    ("branches", "Branches"),
    ("context", "Context"),
    ("library", "Library"),
)
METER_LEAST: Final = 760
WORDS_LEAST: Final = 640


class Title(Elided):
    """The session's name; a double click asks to change it."""

    rename_requested = Signal()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.rename_requested.emit()


class ContextMeter(QFrame):
    """`60 k of 168 k` with a bar; a click opens the Context dock."""

    clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("contextMeter")
        self._meter = Meter()
        self._words = label("", "small", "2")
        self.setLayout(row(self._meter, self._words, spacing=8, margins=(6, 0, 6, 0)))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.view: ContextView | None = None

    def show_context(self, view: ContextView) -> None:
        self.view = view
        self._meter.set_share(view.share)
        words = tr("{0} of {1}").format(thousands(view.used), thousands(view.safe_limit))
        self._words.setText(words)
        lines = [
            tr("{0} of {1} tokens ({2})").format(
                number(view.used), number(view.safe_limit), percent(view.share)
            ),
            view.source,
        ]
        if view.assumed:
            lines.append(tr("The model's window is assumed: nothing is refused or compacted by itself."))
        self.setToolTip("\n".join(lines))
        self.setAccessibleName(tr("Context: {0}").format(". ".join(lines)))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.clicked.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.clicked.emit()
        else:
            super().keyPressEvent(event)


class Toolbar(QFrame):
    sidebar_toggled = Signal(bool)
    dock_toggled = Signal(str, bool)
    rename_requested = Signal()
    models_requested = Signal(QWidget)
    compact_requested = Signal()
    meter_clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("surface", "canvas")
        fixed(self, height=48)
        self._sidebar = icon_button("sidebar", tr("Sidebar"), size=30, checkable=True)
        self._title = Title("", "strong")
        self._origin = Elided("", "fine", "3")
        self._origin.hide()
        self.switcher = Dropdown("", "spark", "modelSwitcher")
        self.compact = push(tr("Compact"), "quiet", icon="compact", object_name="compactAction")
        keys = QKeySequence("Ctrl+Shift+K").toString(QKeySequence.SequenceFormat.NativeText)
        tip = tr("Compact earlier context ({0})").format(keys)
        self._compact_tip = tip
        props(self.compact, ownTip=tip)
        self.compact.setToolTip(tip)
        self.compact.setAccessibleName(tr("Compact"))
        self.meter = ContextMeter()
        self._toggles: dict[str, QToolButton] = {}
        for name, words in DOCKS:
            toggle = icon_button(name, tr(words), checkable=True, size=30, object_name=f"{name}Toggle")
            toggle.clicked.connect(self._on_toggle_clicked)
            self._toggles[name] = toggle
        self._words_shown = True
        head = column(self._title, self._origin, spacing=0)
        self.setLayout(
            row(
                self._sidebar,
                head,
                self.switcher,
                self.compact,
                self.meter,
                rule("v"),
                *self._toggles.values(),
                spacing=6,
                margins=(10, 0, 10, 0),
                grow=1,
            )
        )
        self._sidebar.clicked.connect(self.sidebar_toggled)
        self._title.rename_requested.connect(self.rename_requested)
        self.switcher.clicked.connect(self._on_switcher_clicked)
        self.compact.clicked.connect(self.compact_requested)
        self.meter.clicked.connect(self.meter_clicked)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def show_title(self, title: str, origin: str) -> None:
        self._title.setText(title)
        self._title.setAccessibleDescription(tr("Double click to rename"))
        self._origin.setText(origin)
        self._origin.setVisible(bool(origin))

    def show_model(self, name: str, reason: str | None) -> None:
        self.switcher.setText(name)
        self.switcher.setAccessibleName(tr("Model: {0}").format(name))
        gate(self.switcher, reason)
        if reason is None:
            self.switcher.setToolTip(tr("Choose a model; each says whether your next message fits"))

    def show_compact(self, reason: str | None) -> None:
        gate(self.compact, reason)

    def show_compact_cost(self, said: str) -> None:
        """What Compact would lose now, for its tooltip; empty: nothing."""
        props(self.compact, ownTip="\n".join(t for t in (self._compact_tip, said) if t))
        if self.compact.isEnabled():
            gate(self.compact, None)

    def show_sidebar(self, shown: bool) -> None:
        self._sidebar.setChecked(shown)

    def show_dock(self, name: str) -> None:
        """Which dock is open; empty: none."""
        for each, toggle in self._toggles.items():
            toggle.setChecked(each == name)

    def fit(self, width: int) -> None:
        """Drops what the bar has no room for: first the meter, then the words of Compact."""
        self.meter.setVisible(width >= px(METER_LEAST))
        words = width >= px(WORDS_LEAST)
        if words != self._words_shown:
            self._words_shown = words
            self.compact.setText(tr("Compact") if words else "")

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.fit(self.width())

    def _on_switcher_clicked(self) -> None:
        self.models_requested.emit(self.switcher)

    def _on_toggle_clicked(self, on: bool) -> None:
        sender = self.sender()
        name = next((n for n, t in self._toggles.items() if t is sender), "")
        if name:
            self.dock_toggled.emit(name, on)


def bar_frame(toolbar: Toolbar) -> QFrame:
    """The bar with its hairline."""
    return box(column(toolbar, rule(), spacing=0))
