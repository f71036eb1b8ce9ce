"""The main window: its parts and their places, keyboard, what is remembered of its shape. It decides nothing;
`desk` connects it with what happens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QByteArray, QSettings, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QFrame, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from bibgenie_desktop.gui.components import Toast, column, row, rule
from bibgenie_desktop.gui.components.banner import Tone
from bibgenie_desktop.gui.composer_dock import ComposerDock
from bibgenie_desktop.gui.docks.branches import BranchNavigator
from bibgenie_desktop.gui.docks.context import ContextPanel
from bibgenie_desktop.gui.docks.library import LibraryPanel
from bibgenie_desktop.gui.docks.panel import Panel
from bibgenie_desktop.gui.frame import DOCK_WIDTH, SIDE_WIDTH, Frame
from bibgenie_desktop.gui.sidebar import Sidebar
from bibgenie_desktop.gui.talk import Talk
from bibgenie_desktop.gui.toolbar import Toolbar
from bibgenie_desktop.gui.welcome import Welcome

DEFAULT_SIZE: Final = QSize(1440, 900)
LEAST_SIZE: Final = QSize(720, 480)


class MainWindow(QMainWindow):
    close_requested = Signal()
    """The person wants to leave; the window closes when `leave` is called."""
    new_requested = Signal()
    compact_requested = Signal()
    settings_requested = Signal()
    escaped = Signal()
    """Esc with nothing open over the window."""

    def __init__(self, settings_file: Path | None = None) -> None:
        super().__init__()
        self.setObjectName("mainWindow")
        self.setWindowTitle("BibGenie")
        self._leaving = False
        self._settings_file = settings_file
        self.sidebar = Sidebar()
        self.toolbar = Toolbar()
        self.conversation = Talk()
        self.welcome = Welcome()
        self.bottom = ComposerDock()
        self.composer = self.bottom.composer
        self.branches, self.context, self.library = BranchNavigator(), ContextPanel(), LibraryPanel()
        self._pages = QStackedWidget()
        self._pages.addWidget(self.conversation)
        self._pages.addWidget(self.welcome)
        self._top_banner: QWidget | None = None
        self._top = QVBoxLayout()
        centre = QFrame()
        centre.setProperty("surface", "canvas")
        centre.setLayout(
            column(
                self.toolbar,
                rule(),
                row(self._top, margins=(16, 0, 16, 0)),
                self._pages,
                self.bottom,
                spacing=0,
                grow=3,
            )
        )
        self.frame = Frame(self.sidebar, centre)
        for name, panel in self.panels.items():
            self.frame.add_dock(name, panel)
            panel.closed.connect(self._on_dock_closed)
        self.setCentralWidget(self.frame)
        self.setMinimumSize(LEAST_SIZE)
        self.resize(self._first_size())
        self._save_clock = QTimer(self)
        self._save_clock.setSingleShot(True)
        self._save_clock.setInterval(500)
        self._save_clock.timeout.connect(self.save_shape)
        self._connect()
        self._add_shortcuts()
        self._restore_shape()

    @property
    def panels(self) -> dict[str, Panel]:
        return {"branches": self.branches, "context": self.context, "library": self.library}

    def _connect(self) -> None:
        self.frame.arranged.connect(self._on_arranged)
        self.toolbar.sidebar_toggled.connect(self.frame.open_side)
        self.toolbar.dock_toggled.connect(self._on_dock_toggled)
        self.toolbar.meter_clicked.connect(self.show_context)
        self.composer.context_requested.connect(self.show_context)

    def _add_shortcuts(self) -> None:
        for keys, slot in (
            (QKeySequence(QKeySequence.StandardKey.New), self.new_requested.emit),
            (QKeySequence("Ctrl+B"), self._on_branches_key),
            (QKeySequence("Ctrl+Shift+L"), self._on_library_key),
            (QKeySequence("Ctrl+Shift+K"), self.compact_requested.emit),
            (QKeySequence("Ctrl+L"), self.composer.focus_text),
            (QKeySequence("Ctrl+,"), self.settings_requested.emit),
            (QKeySequence("F6"), self._on_next_part),
            (QKeySequence("Shift+F6"), self._on_previous_part),
            (QKeySequence("Esc"), self._on_escape),
            (QKeySequence("Ctrl+Q"), self.close_requested.emit),
        ):
            self._shortcut(keys, slot)

    def _shortcut(self, keys: QKeySequence, slot: Callable[[], object]) -> None:
        shortcut = QShortcut(keys, self)
        shortcut.setAutoRepeat(False)
        shortcut.activated.connect(slot)

    # -- what is shown

    def show_welcome(self, shown: bool) -> None:
        page: QWidget = self.welcome if shown else self.conversation
        if self._pages.currentWidget() is not page:
            self._pages.setCurrentWidget(page)

    @property
    def welcome_shown(self) -> bool:
        return self._pages.currentWidget() is self.welcome

    def show_top_banner(self, banner: QWidget | None) -> None:
        """What is said about the session, under the toolbar."""
        old, self._top_banner = self._top_banner, banner
        if old is not None:
            self._top.removeWidget(old)
            old.hide()
            old.deleteLater()
        self._top.setContentsMargins(0, 12 if banner is not None else 0, 0, 0)
        if banner is not None:
            self._top.addWidget(banner)

    def toast(
        self,
        title: str,
        text: str = "",
        *,
        tone: Tone = "ok",
        action: str = "",
        on_action: Callable[[], object] | None = None,
    ) -> Toast:
        return self.bottom.toasts.show_toast(title, text, tone=tone, action=action, on_action=on_action)

    def open_dock(self, name: str) -> None:
        self.frame.open_dock(name)
        self._save_clock.start()

    def show_context(self) -> None:
        self.open_dock("context")

    # -- keyboard

    def _on_branches_key(self) -> None:
        shown = self.frame.dock_shown == "branches"
        self.open_dock("" if shown else "branches")
        if not shown:
            self.branches.focus_first()

    def _on_library_key(self) -> None:
        shown = self.frame.dock_shown == "library"
        self.open_dock("" if shown else "library")
        if not shown:
            self.library.focus_first()

    def _parts(self) -> list[tuple[QWidget, Callable[[], None]]]:
        parts: list[tuple[QWidget, Callable[[], None]]] = []
        if self.frame.side_shown:
            parts.append((self.sidebar, self.sidebar.focus_list))
        page = self.welcome if self.welcome_shown else self.conversation
        parts.append((page, self.welcome.focus_first if self.welcome_shown else self.conversation.setFocus))
        parts.append((self.composer, self.composer.focus_text))
        name = self.frame.dock_shown
        if name:
            parts.append((self.panels[name], self.panels[name].focus_first))
        return parts

    def _on_next_part(self) -> None:
        self._to_part(1)

    def _on_previous_part(self) -> None:
        self._to_part(-1)

    def _to_part(self, step: int) -> None:
        parts, focus = self._parts(), QApplication.focusWidget()
        here = next(
            (
                i
                for i, (w, _) in enumerate(parts)
                if focus is not None and (w is focus or w.isAncestorOf(focus))
            ),
            -1 if step > 0 else 0,
        )
        parts[(here + step) % len(parts)][1]()

    def _on_escape(self) -> None:
        if not self.frame.close_overlay():
            self.escaped.emit()

    # -- docks and shape

    def _on_dock_toggled(self, name: str, on: bool) -> None:
        self.open_dock(name if on else "")

    def _on_dock_closed(self) -> None:
        self.open_dock("")

    def _on_arranged(self) -> None:
        """The switches show the truth, not the wish."""
        self.toolbar.show_sidebar(self.frame.side_shown)
        self.toolbar.show_dock(self.frame.dock_shown)
        self.toolbar.fit(self.frame.centre_width)
        self._save_clock.start()

    def _first_size(self) -> QSize:
        screen = self.screen().availableSize()
        return DEFAULT_SIZE.boundedTo(screen).expandedTo(LEAST_SIZE)

    def _settings(self) -> QSettings | None:
        if self._settings_file is None:
            return None
        return QSettings(str(self._settings_file), QSettings.Format.IniFormat)

    def kept(self, name: str) -> str:
        """Something small that is remembered from one start to the next; empty where it is not."""
        kept = self._settings()
        return str(kept.value(f"kept/{name}", "")) if kept is not None else ""

    def keep(self, name: str, value: str) -> None:
        kept = self._settings()
        if kept is not None:
            kept.setValue(f"kept/{name}", value)
            kept.sync()

    def _restore_shape(self) -> None:
        kept = self._settings()
        if kept is None:
            return
        geometry = kept.value("window/geometry")
        if isinstance(geometry, QByteArray):
            self.restoreGeometry(geometry)
        self.frame.restore(
            side=str(kept.value("window/side", "true")) == "true",
            side_width=_number(kept.value("window/side_width"), SIDE_WIDTH),
            dock=str(kept.value("window/dock", "")),
            dock_width=_number(kept.value("window/dock_width"), DOCK_WIDTH),
        )

    def save_shape(self) -> None:
        kept = self._settings()
        if kept is None:
            return
        kept.setValue("window/geometry", self.saveGeometry())
        for name, value in self.frame.state().items():
            kept.setValue(f"window/{name}", str(value).lower() if isinstance(value, bool) else value)
        kept.sync()

    # -- going

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._leaving:
            event.accept()
            return
        event.ignore()
        self.close_requested.emit()

    def leave(self) -> None:
        """Closes for good; what was running has ended."""
        self._leaving = True
        self._save_clock.stop()
        self.save_shape()
        self.bottom.toasts.clear()
        self.conversation.close_math()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        self.close()


def _number(value: object, otherwise: float) -> float:
    try:
        return float(str(value))
    except ValueError:
        return otherwise
