"""The left side: new session, a filter, the sessions, the trash, and what is known of Zotero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QFrame, QLineEdit

from bibgenie_desktop.gui.components import (
    Elided,
    Glyph,
    box,
    column,
    gate,
    icon_button,
    key_cap,
    label,
    push,
    row,
)
from bibgenie_desktop.gui.session_list import SessionList
from bibgenie_desktop.gui.session_rows import Line
from bibgenie_desktop.gui.theme import icons
from bibgenie_desktop.gui.tr import tr


@dataclass(frozen=True, slots=True)
class LibraryLine:
    """The footer: what library is in use and how fresh it is. `busy`: it is being read."""

    title: str
    detail: str
    tone: Literal["ok", "warn", "text3"] = "ok"
    busy: bool = False
    refresh_reason: str | None = None
    reading: bool = False
    """The texts of its files are being read, which can be stopped."""


class Sidebar(QFrame):
    new_requested = Signal()
    filter_changed = Signal(str)
    trash_toggled = Signal(bool)
    refresh_requested = Signal()
    texts_cancelled = Signal()
    all_sessions_requested = Signal()
    settings_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("surface", "side")
        self.setAccessibleName(tr("Sessions"))
        self.list = SessionList()
        self._new = push(tr("New session"), "quiet", icon="plus", role="text", object_name="newSession")
        keys = QKeySequence(QKeySequence.StandardKey.New).toString(QKeySequence.SequenceFormat.NativeText)
        self._field = QLineEdit()
        # The titles and newest words of sessions are looked through; a search over all messages comes with
        # the full-text index and takes this field's place.
        self._field.setPlaceholderText(tr("Find a session"))
        self._field.setAccessibleName(tr("Find a session"))
        self._field.setProperty("quiet", True)
        self._field.setClearButtonEnabled(True)
        self._field.addAction(icons.icon("search", "text3"), QLineEdit.ActionPosition.LeadingPosition)
        self._heading = box(
            row(label(tr("Trash"), "strong"), None, spacing=4, margins=(18, 6, 10, 2)), surface="side"
        )
        self._heading.hide()
        self._only = Elided("", "small", "2")
        every = icon_button(
            "close", tr("Show all sessions"), size=22, role="text3", object_name="allSessions"
        )
        every.clicked.connect(self.all_sessions_requested)
        self._only_box = box(
            row(self._only, every, spacing=4, margins=(18, 4, 12, 4), grow=0), surface="side"
        )
        self._only_box.hide()
        self._empty = label("", "small", "3", wrap=True)
        self._empty_box = box(column(self._empty, margins=(18, 6, 18, 6)))
        self._empty_box.hide()
        top = column(
            row(self._new, None, key_cap(keys), spacing=4, margins=(0, 0, 8, 0)),
            self._field,
            spacing=8,
            margins=(10, 8, 10, 6),
        )
        self.setLayout(
            column(
                top,
                self._heading,
                self._only_box,
                self._empty_box,
                self.list,
                self._footer(),
                spacing=0,
                grow=4,
            )
        )
        self._new.clicked.connect(self.new_requested)
        self._field.textChanged.connect(self.filter_changed)

    def _footer(self) -> QFrame:
        self._glyph = Glyph("library", "text3", 17)
        self._title = Elided("", "small")
        self._detail = Elided("", "fine", "3")
        self._refresh = icon_button("retry", tr("Read the Zotero library again"), role="text3")
        self._trash = icon_button("trash", tr("Trash"), role="text3", checkable=True)
        self._settings = icon_button("settings", tr("Settings"), role="text3", object_name="openSettings")
        self._stop_texts = icon_button(
            "close", tr("Stop reading texts"), role="text3", object_name="stopTexts"
        )
        self._stop_texts.hide()
        self._refresh.clicked.connect(self.refresh_requested)
        self._stop_texts.clicked.connect(self.texts_cancelled)
        self._trash.toggled.connect(self._on_trash_toggled)
        self._settings.clicked.connect(self.settings_requested)
        words = column(self._title, self._detail, spacing=0)
        line = row(
            self._glyph,
            words,
            self._stop_texts,
            self._refresh,
            self._trash,
            self._settings,
            spacing=4,
            margins=(16, 8, 10, 8),
            grow=1,
        )
        return box(line, surface="side")

    def show_lines(self, lines: Sequence[Line], chosen: str, empty: str) -> None:
        """`empty` is what to say where there are none."""
        self.list.show_lines(lines, chosen)
        self._empty.setText("" if lines else empty)
        self._empty_box.setVisible(not lines and bool(empty))

    def show_library(self, line: LibraryLine) -> None:
        self._glyph.show_icon("library", line.tone)
        self._title.setText(line.title)
        self._detail.setText(line.detail)
        gate(self._refresh, tr("The library is being read.") if line.busy else line.refresh_reason)
        self._stop_texts.setVisible(line.reading)
        self._refresh.setVisible(not line.reading)

    def show_only(self, words: str) -> None:
        """Which sessions the list is limited to; empty for all."""
        self._only.setText(words)
        self._only_box.setVisible(bool(words))

    def show_trash(self, shown: bool) -> None:
        """Puts the toggle where it belongs without announcing it."""
        self._trash.blockSignals(True)
        self._trash.setChecked(shown)
        self._trash.blockSignals(False)
        self._heading.setVisible(shown)

    def focus_list(self) -> None:
        self.list.setFocus()

    def _on_trash_toggled(self, shown: bool) -> None:
        self._heading.setVisible(shown)
        self.trash_toggled.emit(shown)
