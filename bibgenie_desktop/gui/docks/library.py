"""The Library dock: which library is in use, how fresh it is, and which sources this conversation used.

Browsing and searching Zotero takes the place between the two; it is built with the rest of the library's
interface.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from bibgenie_desktop.gui.components import Elided, Glyph, box, column, gate, icon_button, label, row, rule
from bibgenie_desktop.gui.docks.panel import Panel, scrolling
from bibgenie_desktop.gui.tr import tr


@dataclass(frozen=True, slots=True)
class LibraryFacts:
    title: str
    detail: str
    libraries: tuple[tuple[str, str], ...]
    busy: bool
    place: str = ""


@dataclass(frozen=True, slots=True)
class UsedSource:
    """A work that this conversation used, and how often."""

    title: str
    count: int
    pages: str = ""
    link: str = ""


class LibraryPanel(Panel):
    refresh_requested = Signal()

    def __init__(self) -> None:
        self._refresh = icon_button("retry", tr("Read the Zotero library again"))
        super().__init__(tr("Library"), "libraryPanel", self._refresh)
        self._refresh.clicked.connect(self.refresh_requested)
        self._title = label("", "strong", wrap=True)
        self._detail = label("", "small", "2", wrap=True)
        self._place = Elided("", "fine", "3", middle=True)
        self._names = column(spacing=2)
        state = column(
            self._title, self._detail, self._place, self._names, spacing=4, margins=(16, 0, 16, 12)
        )
        self._used_head = label(tr("Used in this conversation"), "strong")
        self._none = label(
            tr("Works that the answers searched and read are listed here."), "small", "3", wrap=True
        )
        self._used = column(spacing=6)
        used = column(self._used_head, self._none, self._used, spacing=6, margins=(16, 12, 16, 12))
        self.add(scrolling(box(column(state, rule(), used, None, spacing=0))), 1)
        self._sources: tuple[UsedSource, ...] = ()

    def focus_first(self) -> None:
        self._refresh.setFocus()

    def show_facts(self, facts: LibraryFacts) -> None:
        self._title.setText(facts.title)
        self._detail.setText(facts.detail)
        self._place.setText(facts.place)
        self._place.setVisible(bool(facts.place))
        gate(self._refresh, tr("The library is being read.") if facts.busy else None)
        _clear(self._names)
        if len(facts.libraries) > 1:
            for name, _ in facts.libraries:
                self._names.addWidget(_named("library", name))

    def show_sources(self, sources: Sequence[UsedSource]) -> None:
        if tuple(sources) == self._sources:
            return
        self._sources = tuple(sources)
        _clear(self._used)
        for source in sources:
            self._used.addWidget(_source(source))
        self._none.setVisible(not sources)


def _clear(layout: object) -> None:
    while layout.count():  # type: ignore[attr-defined]
        old = layout.takeAt(0).widget()  # type: ignore[attr-defined]
        if old is not None:
            old.hide()
            old.deleteLater()


def _named(glyph: str, text: str) -> QFrame:
    return box(row(Glyph(glyph, "text2", 15), Elided(text), spacing=6, grow=1))


def _source(source: UsedSource) -> QFrame:
    words = column(label(source.title, "small", wrap=True), spacing=1)
    if source.pages:
        words.addWidget(label(source.pages, "fine", "3", wrap=True))
    count = label(f"{source.count}×", "small", "3")
    glyph = column(Glyph("article", "text2", 15), None)
    return box(row(glyph, words, column(count, None), spacing=8, grow=1))
