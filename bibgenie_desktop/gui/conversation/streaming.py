"""A text while it is being written.

What no longer changes is kept in finished pieces; only the last block is rendered again with each update,
so that the cost of an update does not grow with the text. The whole is rendered once, by others, when the
text is complete.
"""

from collections.abc import Callable, Mapping
from typing import Final

from PySide6.QtWidgets import QVBoxLayout, QWidget

from bibgenie_desktop.gui.conversation.rows import CitationView
from bibgenie_desktop.gui.render.markdown_view import MarkdownView
from bibgenie_desktop.gui.render.source import clean, settled_length
from bibgenie_desktop.gui.theme import current

PIECE: Final = 3000
MOST_SETTLED: Final = 60_000
"""Beyond this many characters an answer grows unseen, but for its end."""
MOST_TAIL: Final = 6_000
"""Characters that are rendered again with each update."""


class StreamingText(QWidget):
    """`make` builds a connected `MarkdownView`."""

    def __init__(self, make: Callable[[], MarkdownView]) -> None:
        super().__init__()
        self._make = make
        self._text = ""
        self._settled = 0
        self._pieces: list[MarkdownView] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(round(current().reading_font().pixelSize() * 0.72))
        self._tail = self._add()
        self._tail.set_caret(True)

    @property
    def text(self) -> str:
        return self._text

    def _add(self) -> MarkdownView:
        view = self._make()
        self._layout.addWidget(view)
        return view

    def has_selection(self) -> bool:
        return any(view.textCursor().hasSelection() for view in (*self._pieces, self._tail))

    def set_text(self, text: str, citations: Mapping[str, CitationView] | None = None) -> None:
        """Show the text so far. Usually it continues what was shown; if not, all is set anew."""
        if self._settled < MOST_SETTLED and len(text) < 2 * MOST_SETTLED:
            text = clean(text)
        if not text.startswith(self._text[: self._settled]):
            self._restart()
        self._text = text
        rest = text[self._settled :]
        if len(rest) > MOST_TAIL and (self._settled >= MOST_SETTLED or len(rest) > 2 * MOST_SETTLED):
            self._tail.set_text("… " + clean(rest[-MOST_TAIL:]), citations, streaming=True)
            return
        cut = settled_length(rest)
        if cut:
            self._settle(rest[:cut], citations)
            self._settled += cut
            rest = rest[cut:]
        if len(rest) > MOST_TAIL:
            rest = "… " + rest[-MOST_TAIL:]
        self._tail.set_text(rest, citations, streaming=True)

    def _settle(self, text: str, citations: Mapping[str, CitationView] | None) -> None:
        piece = self._pieces[-1] if self._pieces else None
        if piece is None or len(piece.text) + len(text) > PIECE or piece.textCursor().hasSelection():
            piece = self._make()
            self._layout.insertWidget(len(self._pieces), piece)
            self._pieces.append(piece)
            piece.set_text(text, citations)
        else:
            piece.set_text(piece.text + text, citations)

    def _restart(self) -> None:
        for piece in self._pieces:
            piece.hide()
            piece.deleteLater()
        self._pieces, self._settled = [], 0
