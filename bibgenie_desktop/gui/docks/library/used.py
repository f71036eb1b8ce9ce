"""The page “Used here”: the works it used, and their bibliography for the clipboard or a file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame

from bibgenie_desktop.gui.components import Glyph, Menu, box, column, label, push, repolish, row
from bibgenie_desktop.gui.docks.library.values import UsedSource
from bibgenie_desktop.gui.docks.panel import scrolling
from bibgenie_desktop.gui.tr import plural, tr

FORMS = (("bibtex", "BibTeX"), ("ris", "RIS"), ("csl-json", "CSL-JSON"))


class SourceLine(QFrame):
    """A click or Enter shows the work in the library."""

    chosen = Signal(str)

    def __init__(self, source: UsedSource) -> None:
        super().__init__()
        self._id = source.id
        words = column(label(source.title, "small", wrap=True), spacing=1)
        if source.pages:
            words.addWidget(label(source.pages, "fine", "3", wrap=True))
        count = label(f"{source.count}×", "small", "3")
        glyph = column(Glyph("article", "text2", 15), None)
        self.setLayout(row(glyph, words, column(count, None), spacing=8, margins=(8, 4, 8, 4), grow=1))
        times = plural(source.count, tr("used once"), tr("used {0} times"))
        self.setAccessibleName(", ".join(t for t in (source.title, source.pages, times) if t))
        if source.id:
            self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            self.setToolTip(tr("Show in the library"))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._id and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(self._id)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._id and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self._id)
        else:
            super().keyPressEvent(event)

    def enterEvent(self, event: object) -> None:
        repolish(self, card="hover" if self._id else "")

    def leaveEvent(self, event: object) -> None:
        repolish(self, card="hover" if self.hasFocus() else "")

    def focusInEvent(self, event: object) -> None:
        repolish(self, card="hover")

    def focusOutEvent(self, event: object) -> None:
        repolish(self, card="")


class UsedPage(QFrame):
    item_requested = Signal(str)
    bibliography_requested = Signal(str, bool)
    """The form, and whether it goes into a file."""

    def __init__(self) -> None:
        super().__init__()
        self._sources: tuple[UsedSource, ...] = ()
        self._none = label(
            tr("Works that the answers read, and those you attach, are listed here."), "small", "3", wrap=True
        )
        self._export = push(tr("Bibliography"), dense=True, icon="export", object_name="bibliographyButton")
        self._export.clicked.connect(self._on_export_clicked)
        self._used = column(spacing=2)
        none = box(column(self._none, margins=(8, 0, 8, 0)))
        content = column(none, self._used, None, spacing=6, margins=(8, 4, 8, 12))
        foot = box(row(self._export, None, margins=(14, 8, 14, 10)))
        self._foot = foot
        self.setLayout(column(scrolling(box(content)), foot, spacing=0, grow=0))
        self._none_box = none
        foot.hide()

    @property
    def sources(self) -> tuple[UsedSource, ...]:
        return self._sources

    def show_sources(self, sources: Sequence[UsedSource]) -> None:
        if tuple(sources) == self._sources:
            return
        self._sources = tuple(sources)
        while (entry := self._used.takeAt(0)) is not None:
            old = entry.widget()
            if old is not None:
                old.hide()
                old.deleteLater()
        for source in self._sources:
            line = SourceLine(source)
            line.chosen.connect(self.item_requested)
            self._used.addWidget(line)
        self._none_box.setVisible(not sources)
        self._foot.setVisible(bool(sources))

    def _on_export_clicked(self) -> None:
        menu = Menu(self)
        menu.entry(
            tr("Copy formatted…"),
            partial(self.bibliography_requested.emit, "bibliography", False),
            icon="copy",
            object_name="bibliography_copy",
        )
        for form, words in FORMS:
            menu.entry(
                tr("Copy {0}").format(words),
                partial(self.bibliography_requested.emit, form, False),
                icon="copy",
                object_name=f"bibliography_copy_{form}",
            )
        menu.addSeparator()
        menu.entry(
            tr("Save formatted…"),
            partial(self.bibliography_requested.emit, "bibliography", True),
            icon="export",
            object_name="bibliography_save",
        )
        for form, words in FORMS:
            menu.entry(
                tr("Save {0}…").format(words),
                partial(self.bibliography_requested.emit, form, True),
                icon="export",
                object_name=f"bibliography_save_{form}",
            )
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self._export.mapToGlobal(QPoint(0, -menu.sizeHint().height())))
