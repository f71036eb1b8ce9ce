"""Markdown on the screen: `TypesetView` parses, typesets and paints one message and is exactly as high as it.

It never scrolls and loads nothing: no picture from disk or network, only formulas drawn here. What a person
does with the text is `markdown_view`'s business.
"""

import math
from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, QUrl, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QImage,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

from bibgenie_desktop.gui.conversation.rows import CitationView
from bibgenie_desktop.gui.render import decor, inline, plain, tables
from bibgenie_desktop.gui.render.blocks import typeset
from bibgenie_desktop.gui.render.code import is_code
from bibgenie_desktop.gui.render.math import MathKey, MathRenderer
from bibgenie_desktop.gui.render.source import Formula, extract
from bibgenie_desktop.gui.theme import current

UNDERLINE: Final = 0x4000  # Qt's GitHub dialect reads _x_ and __x__ as underlined
FRONT_MATTER: Final = 0x100000  # and swallows what stands between two rules at the beginning
FEATURES: Final = QTextDocument.MarkdownFeature(
    (QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML).value
    & ~(UNDERLINE | FRONT_MATTER)
)
MOST_MARKDOWN: Final = (
    400_000  # beyond that a message is shown as plain text: parsing would hold up the window
)


class TypesetView(QTextBrowser):
    """Shows Markdown with formulas, code and citation chips; what is under the pointer is its subclass's."""

    height_changed = Signal()

    def __init__(
        self,
        text: str = "",
        citations: Mapping[str, CitationView] | None = None,
        *,
        math: MathRenderer | None = None,
        reading: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._text, self._citations = "", dict(citations or {})
        self._math, self._reading = math, reading
        self._formulas: tuple[Formula, ...] = ()
        self._markers: tuple[str, ...] = ()
        self._keys: dict[int, MathKey] = {}
        self._decor: decor.Decor | None = None
        self._caret = self._streaming = self._has_tables = False
        self._fitted = 0  # the width that tables were made to fit
        self._hot: int | None = None
        self._set_up()
        self.document().documentLayout().documentSizeChanged.connect(self._on_size_changed)
        current().changed.connect(self._on_theme_changed)
        if math is not None:
            math.ready.connect(self._on_math_ready)
        self.set_text(text)

    def _set_up(self) -> None:
        self.setOpenLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUndoRedoEnabled(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Not Fixed: that would hold it at the height of whatever width it had when it was asked first.
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.viewport().setAutoFillBackground(False)
        self.viewport().setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.document().setDocumentMargin(0)
        self._take_font()

    def _take_font(self) -> None:
        theme = current()
        self._font = theme.reading_font() if self._reading else theme.font("read")
        self.document().setDefaultFont(self._font)

    # text

    @property
    def text(self) -> str:
        return self._text

    def set_text(
        self, text: str, citations: Mapping[str, CitationView] | None = None, *, streaming: bool = False
    ) -> None:
        """Show another text. While `streaming`, half-written citations are left out."""
        if citations is not None:
            self._citations = dict(citations)
        self._text, self._streaming = text, streaming
        self._render()

    def shows(self, citations: Mapping[str, CitationView]) -> bool:
        """Whether these citations are the ones that are shown."""
        return self._citations == dict(citations)

    def set_caret(self, shown: bool) -> None:
        """Show the steady caret of a text that is being written."""
        if shown != self._caret:
            self._caret = shown
            self.viewport().update()

    def selected_text(self) -> str:
        cursor = self.textCursor()
        return plain.selected_text(cursor, self._formulas) if cursor.hasSelection() else ""

    def plain_text(self, start: int = 0, end: int | None = None) -> str:
        """What the message says without marks: formulas as TeX, citations by their labels."""
        stop = self.document().characterCount() if end is None else end
        return plain.plain_text(self.document(), start, stop, self._formulas)

    def code_texts(self) -> list[str]:
        """The blocks of code."""
        return [frame.text for frame in self._decoration().code]

    def citations_shown(self) -> list[CitationView]:
        """The citations in order of appearance."""
        return [self._citation(n) for n in range(len(self._markers))]

    def _citation(self, number: int) -> CitationView:
        marker = self._markers[number]
        return self._citations.get(marker) or CitationView(
            label=marker.strip("[]").split(' "')[0].split(" “")[0]
        )

    def _render(self) -> None:
        document, theme = self.document(), current()
        source = extract(self._text, streaming=self._streaming)
        self._formulas, self._markers, self._keys = source.formulas, source.markers, {}
        if len(source.markdown) > MOST_MARKDOWN:
            document.setPlainText(source.markdown)
            self._after_change()
            return
        document.setMarkdown(source.markdown, FEATURES)
        typeset(document, self._font, theme)
        tables.set_tables(document, theme)
        if self._markers:
            labels = {n: self._citation(n).label for n in range(len(self._markers))}
            inline.set_chips(document, labels, theme)
        if self._formulas:
            self._place_formulas(None)
        self._after_change()

    def _after_change(self) -> None:
        self._decor, self._fitted = None, 0
        self._has_tables = bool(self.document().rootFrame().childFrames())
        links = "](" in self._text or "://" in self._text or bool(self._markers)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if links else Qt.FocusPolicy.ClickFocus)
        self.updateGeometry()
        self.viewport().update()

    # formulas

    def _place_formulas(self, only: MathKey | None) -> None:
        """Set pictures for all formulas, or for those that look like `only`."""
        document, theme = self.document(), current()
        em, ratio = float(self._font.pixelSize()), self.devicePixelRatioF()
        descent = QFontMetricsF(self._font).descent()
        cursor = QTextCursor(document)
        cursor.beginEditBlock()
        for run in reversed(inline.formula_runs(document)):
            if run.number >= len(self._formulas):
                continue
            formula = self._formulas[run.number]
            key = MathKey(formula.tex, formula.display, em * 1.06, theme.colors.text, ratio)
            if only is not None and key != only:
                continue
            self._keys[run.number] = key
            drawn = self._math.get(key) if self._math is not None else None
            if drawn is None and (self._math is None or self._math.failed(key)):
                inline.show_raw(document, run, formula, theme)
                continue
            picture = drawn or inline.waiting_picture(formula, em, ratio)
            inline.set_formula(document, run, picture, QUrl(f"math:{run.number}"), descent)
        cursor.endEditBlock()

    def _on_math_ready(self, key: MathKey) -> None:
        if key in self._keys.values():
            self._place_formulas(key)
            self._after_change()
            self.height_changed.emit()

    def loadResource(self, kind: int, name: QUrl | str) -> QImage:
        """Nothing from disk or network, ever: an empty picture, which also ends the asking."""
        empty = QImage(1, 1, QImage.Format.Format_ARGB32_Premultiplied)
        empty.fill(Qt.GlobalColor.transparent)
        return empty

    # size

    def hasHeightForWidth(self) -> bool:
        return True

    def _lay_out(self, width: int) -> None:
        document = self.document()
        if abs(document.textWidth() - width) > 0.5:
            document.setTextWidth(width)
            self._decor = None
        if self._has_tables and self._fitted != width:
            tables.fit(document, width, current())
            self._decor, self._fitted = None, width

    def heightForWidth(self, width: int) -> int:
        self._lay_out(width)
        document = self.document()
        # A code frame reaches below its last line, and a document ends with its last line.
        tail = self._font.pixelSize() if is_code(document.lastBlock()) else 2
        return math.ceil(document.size().height()) + tail

    def sizeHint(self) -> QSize:
        width = max(1, self.width())
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        return QSize(1, 1)

    def _on_size_changed(self) -> None:
        self._decor = None

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # Layouts ask for the heights of other widths in between.
        self._lay_out(self.viewport().width())
        self._decor = None

    def _on_theme_changed(self) -> None:
        self._take_font()
        self._render()
        self.height_changed.emit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            # The sheet's font is for the interface; the text keeps its own.
            self.document().setDefaultFont(self._font)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.DevicePixelRatioChange and self._formulas:
            self._render()
        return super().event(event)

    # painting

    def _decoration(self) -> decor.Decor:
        if self._decor is None:
            self._decor = decor.measure(self.document(), self.viewport().width(), current())
        return self._decor

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        states = {n: self._citation(n).state for n in range(len(self._markers))}
        decor.paint(painter, self._decoration(), QRectF(event.rect()), states, current(), self._hot)
        painter.end()
        super().paintEvent(event)
        if self._caret:
            self._paint_caret()

    def _paint_caret(self) -> None:
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        rect, em = self.cursorRect(cursor), self._font.pixelSize()
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(current().color("accent"))
        left = min(rect.x() + 2.0, self.viewport().width() - em * 0.42)
        painter.drawRoundedRect(QRectF(left, rect.bottom() - em * 1.08, em * 0.42, em * 1.02), 2, 2)

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Never scrolls: it is as high as its text."""
