"""The preview below the list: what the chosen item is, and everything that belongs to it.

What the item is shows at once; what belongs to it follows a few lines at a time, so that an item with a
hundred annotations holds up nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from PySide6.QtCore import QPoint, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QPushButton, QVBoxLayout, QWidget

from bibgenie_desktop.gui.components import Flow, Glyph, box, column, icon_button, label, push, row
from bibgenie_desktop.gui.docks.library.pieces import PieceLine
from bibgenie_desktop.gui.docks.panel import scrolling
from bibgenie_desktop.gui.theme import current
from bibgenie_desktop.gui.tr import plural, tr
from bibgenie_desktop.services.library.browsing import Scope, TagRow
from bibgenie_desktop.services.library.item_details import ItemDetails, Piece, PieceKind

MOST_PIECES: Final = 40
"""Lines of one kind that are made at first; the rest on demand."""
MOST_ABSTRACT: Final = 900
AT_ONCE: Final = 3
"""Lines that are made in one turn of the event loop."""
PAUSE_MS: Final = 4
"""Between two turns: what came meanwhile is seen to."""
HEADS: Final[tuple[tuple[PieceKind, str], ...]] = (
    ("attachment", "Files"),
    ("annotation", "Annotations"),
    ("note", "Notes"),
)


class TagLabel(QFrame):
    """A tag; its colour in Zotero is a dot before it."""

    def __init__(self, tag: TagRow) -> None:
        super().__init__()
        self._color = QColor(tag.color) if tag.color else QColor()
        colored = self._color.isValid()
        words = label(tag.name, badge="true")
        self.setLayout(row(words, margins=(11 if colored else 0, 0, 0, 0), spacing=0))
        self.setAccessibleName(tag.name)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._color.isValid():
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._color)
            side = current().px(7)
            painter.drawEllipse(QRectF(0, (self.height() - side) / 2, side, side))


class Preview(QFrame):
    add_requested = Signal(object)
    open_requested = Signal(str)
    """A link into Zotero."""
    more_requested = Signal(QPoint)
    piece_menu_requested = Signal(object, QPoint)
    place_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("surface", "side")
        self.setAccessibleName(tr("Preview"))
        self._details: ItemDetails | None = None
        self._whole: set[str] = set()
        self._rest: Iterator[None] = iter(())
        self._later = QTimer(self)
        self._later.setInterval(PAUSE_MS)
        self._later.timeout.connect(self._go_on)
        self._content = QFrame()
        self._content_layout = QVBoxLayout(self._content)
        self._content_layout.setContentsMargins(0, 0, 0, 0)
        self._area = scrolling(self._content)
        self._area.setObjectName("libraryPreview")
        self.setLayout(column(self._area, spacing=0))

    @property
    def complete(self) -> bool:
        """Whether everything that belongs to the item is there."""
        return not self._later.isActive()

    @property
    def details(self) -> ItemDetails | None:
        return self._details

    def show_details(self, details: ItemDetails | None) -> None:
        if details == self._details:
            return
        same = details is not None and self._details is not None and details.id == self._details.id
        self._details = details
        if not same:
            self._whole = set()
            self._area.verticalScrollBar().setValue(0)
        self._build()

    def _build(self) -> None:
        while (entry := self._content_layout.takeAt(0)) is not None:
            old = entry.widget()
            if old is not None:
                old.hide()
                old.deleteLater()
        self._later.stop()
        if self._details is not None:
            sheet, self._rest = self._sheet(self._details)
            self._content_layout.addWidget(sheet)
            self._later.start()

    def _go_on(self) -> None:
        if next(self._rest, self) is self:
            self._later.stop()

    def _sheet(self, details: ItemDetails) -> tuple[QWidget, Iterator[None]]:
        """What an item is, and the work of adding what belongs to it, in steps."""
        sheet = column(spacing=6, margins=(16, 12, 14, 14))
        sheet.addWidget(label(details.title or tr("Untitled"), "strong", wrap=True))
        for text in (details.creators, details.facts):
            if text:
                sheet.addWidget(label(text, "small", "2", wrap=True))
        if details.retraction:
            warning = row(
                column(Glyph("warn", "bad", 15), None),
                label(tr("Retracted: {0}").format(details.retraction), "small", "bad", wrap=True),
                margins=(8, 6, 8, 6),
                grow=1,
            )
            sheet.addWidget(box(warning, card="bad", object_name="retraction"))
        sheet.addWidget(self._buttons(details))
        if details.abstract:
            sheet.addWidget(self._abstract(details))
        belonging = column(spacing=6)
        sheet.addLayout(belonging)
        sheet.addStretch(1)
        return box(sheet), self._belongings(belonging, details)

    def _belongings(self, sheet: QBoxLayout, details: ItemDetails) -> Iterator[None]:
        for kind, head in HEADS:
            yield from self._add_pieces(sheet, kind, tr(head), details.of_kind(kind))
        if details.tags:
            tags = QWidget()
            tags.setLayout(Flow([TagLabel(t) for t in details.tags], spacing=5))
            self._section(sheet, tr("Tags"), tags)
            yield
        if details.collections:
            places = [self._place(name, scope) for name, scope in details.collections]
            self._section(sheet, tr("Collections"), *places)
            yield
        facts = [t for t in (details.doi and f"DOI {details.doi}", details.citekey) if t]
        if facts:
            line = label(" · ".join(facts), "fine", "3", wrap=True)
            line.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            sheet.addWidget(line)

    def _buttons(self, details: ItemDetails) -> QWidget:
        add = push(tr("Add to question"), "primary", dense=True, icon="plus", object_name="addToQuestion")
        open_ = push(tr("Open in Zotero"), dense=True, icon="external", object_name="openInZotero")
        more = icon_button("more", tr("More"), size=24, object_name="itemMore")
        add.clicked.connect(self._on_add)
        open_.clicked.connect(self._on_open)
        more.clicked.connect(self._on_more)
        holder = QWidget()
        holder.setLayout(Flow([add, open_, more]))
        open_.setVisible(bool(details.link))  # not before it has a parent: it would be a window of its own
        return holder

    def _abstract(self, details: ItemDetails) -> QWidget:
        text = details.abstract
        cut = len(text) > MOST_ABSTRACT and "abstract" not in self._whole
        shown = text[:MOST_ABSTRACT].rstrip() + "…" if cut else text
        words = label(shown, "small", wrap=True)
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        holder = column(words, spacing=2)
        if cut:
            holder.addWidget(self._more_of("abstract", tr("Show all")), 0, Qt.AlignmentFlag.AlignLeft)
        return box(holder)

    def _add_pieces(
        self, sheet: QBoxLayout, kind: PieceKind, head: str, pieces: Sequence[Piece]
    ) -> Iterator[None]:
        if not pieces:
            return
        most = len(pieces) if kind in self._whole else min(MOST_PIECES, len(pieces))
        body = self._section(sheet, head if len(pieces) == 1 else f"{head} {len(pieces)}")
        for start in range(0, most, AT_ONCE):
            some = column(spacing=2)  # boxes of their own: what has its place is not laid out again
            for piece in pieces[start : min(start + AT_ONCE, most)]:
                line = PieceLine(piece)
                line.add_requested.connect(self._on_piece_added)
                line.menu_requested.connect(self.piece_menu_requested)
                some.addWidget(line)
            body.addWidget(box(some))
            yield
        if len(pieces) > most:
            left = len(pieces) - most
            body.addWidget(self._more_of(kind, plural(left, tr("Show {0} more"), tr("Show {0} more"))))

    def _section(self, sheet: QBoxLayout, head: str, *widgets: QWidget) -> QBoxLayout:
        body = column(label(head, "caption", "2"), spacing=2, margins=(0, 6, 0, 0))
        for widget in widgets:
            body.addWidget(widget)
        sheet.addLayout(body)
        return body

    def _place(self, name: str, scope: Scope) -> QWidget:
        link = push(name, "link", dense=True)
        link.setProperty("scope", scope)
        link.setToolTip(tr("Show this collection"))
        link.clicked.connect(self._on_place_clicked)
        holder = QWidget()
        holder.setLayout(Flow([link]))
        return holder

    def _more_of(self, what: str, words: str) -> QPushButton:
        link = push(words, "link", dense=True)
        link.setProperty("what", what)
        link.clicked.connect(self._on_whole_clicked)
        return link

    # -- what happens

    def _on_add(self) -> None:
        if self._details is not None:
            self.add_requested.emit((self._details.id,))

    def _on_open(self) -> None:
        if self._details is not None:
            self.open_requested.emit(self._details.link)

    def _on_more(self) -> None:
        sender = self.sender()
        if isinstance(sender, QWidget):
            self.more_requested.emit(sender.mapToGlobal(QPoint(0, sender.height())))

    def _on_piece_added(self, full_id: str) -> None:
        self.add_requested.emit((full_id,))

    def _on_place_clicked(self) -> None:
        sender = self.sender()
        scope = sender.property("scope") if sender is not None else None
        if isinstance(scope, Scope):
            self.place_chosen.emit(scope)

    def _on_whole_clicked(self) -> None:
        sender = self.sender()
        if sender is not None:
            self._whole.add(str(sender.property("what")))
            self._build()
