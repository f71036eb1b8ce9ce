"""The card of a citation: what is cited, the quoted words, and whether they were found."""

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QWidget

from bibgenie_desktop.gui.components import Glyph, Popover, box, column, icon_button, label, push, row, rule
from bibgenie_desktop.gui.conversation.message import copy_to_clipboard
from bibgenie_desktop.gui.conversation.rows import CitationView
from bibgenie_desktop.gui.theme import current
from bibgenie_desktop.gui.tr import tr

MARKS: Final = {"verified": ("check", "ok"), "paraphrase": ("approx", "warn"), "missing": ("warn", "bad")}


def check_words(citation: CitationView) -> str:
    """The result of the check as a sentence."""
    if citation.check:
        return citation.check
    match citation.state:
        case "verified":
            if citation.page:
                return tr("Quote found word for word on page {0}").format(citation.page)
            return tr("Quote found word for word")
        case "paraphrase":
            return tr("Not word for word, but close to what the page says")
        case "missing":
            return tr("These words were not found there")
        case _:
            return tr("Not checked")


class CitationCard(QFrame):
    """Title, creators · venue, quote, result of the check, and what can be done."""

    open_requested = Signal(object)
    page_requested = Signal(object)
    copied = Signal()

    def __init__(self, citation: CitationView) -> None:
        super().__init__()
        self._citation = citation
        self.setObjectName("citationCard")
        self.setProperty("surface", "raised")
        heading = column(label(citation.title or citation.label, "strong", wrap=True), spacing=2)
        if citation.byline:
            heading.addWidget(label(citation.byline, "small", "2", wrap=True))
        layout = column(
            row(column(Glyph("article", "text2", 18), None), heading, spacing=12, grow=1), spacing=10
        )
        if citation.quote:
            words = label(f"“{citation.quote.strip('“”')}”", wrap=True)
            words.setFont(current().font("body", serif=current().appearance.serif, italic=True))
            words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            layout.addWidget(box(column(words, margins=(12, 10, 12, 10)), card="sunken"))
        icon, role = MARKS.get(citation.state, ("info", "text3"))
        tone = role if citation.state in MARKS else "3"
        layout.addLayout(
            row(Glyph(icon, role, 16), label(check_words(citation), "small", tone, wrap=True), grow=1)
        )
        layout.addWidget(rule())
        layout.addLayout(self._actions())
        self.setLayout(layout)
        self.setAccessibleName(f"{citation.label}. {check_words(citation)}")

    def _actions(self):  # type: ignore[no-untyped-def]
        words = tr("Open page {0} in Zotero").format(self._citation.page) if self._citation.page else ""
        opener = push(words or tr("Open in Zotero"), "link", icon="external", object_name="openInZotero")
        opener.setEnabled(bool(self._citation.link))
        opener.clicked.connect(self._on_open_clicked)
        copy = icon_button("copy", tr("Copy citation"), size=26)
        copy.clicked.connect(self._on_copy_clicked)
        page = icon_button("eye", tr("Show page"), size=26)
        page.setEnabled(bool(self._citation.link))
        page.clicked.connect(self._on_page_clicked)
        return row(opener, None, copy, page, spacing=4)

    def _on_open_clicked(self) -> None:
        self.open_requested.emit(self._citation)

    def _on_page_clicked(self) -> None:
        self.page_requested.emit(self._citation)

    def _on_copy_clicked(self) -> None:
        quote = f"“{self._citation.quote.strip('“”')}” " if self._citation.quote else ""
        copy_to_clipboard(f"{quote}({self._citation.label})")
        self.copied.emit()


def make_popover(citation: CitationView, parent: QWidget, *, hover: bool) -> tuple[Popover, CitationCard]:
    """The card in its window, not yet shown."""
    card = CitationCard(citation)
    return Popover(column(card, margins=(14, 14, 14, 10)), 340, parent, hover=hover), card
