"""What is painted behind the text of a document: code frames, citation chips, bars beside quotes.

Geometry is computed once per layout; painting only looks at what the exposed rectangle touches.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QTextDocument, QTextFormat

from bibgenie_desktop.gui.render.blocks import MOST_LANGUAGE, fragments
from bibgenie_desktop.gui.render.code import LANGUAGE, is_code
from bibgenie_desktop.gui.render.inline import citation_number
from bibgenie_desktop.gui.theme import Theme, icons

QUOTE: Final = QTextFormat.Property.BlockQuoteLevel
MARKS: Final = {
    "verified": ("check", "ok"),
    "paraphrase": ("approx", "warn"),
    "missing": ("warn", "bad"),
    "unverified": ("quote", "text3"),
}


@dataclass(frozen=True, slots=True)
class CodeFrame:
    """A block of code: its frame, what language it says it is, and where its copy button is."""

    area: QRectF
    button: QRectF
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class ChipPiece:
    """A chip, or one line's part of it; the icon is in the first."""

    number: int
    area: QRectF
    first: bool


@dataclass(frozen=True, slots=True)
class Decor:
    """Everything that is painted behind one document."""

    code: tuple[CodeFrame, ...] = ()
    chips: tuple[ChipPiece, ...] = ()
    quotes: tuple[QRectF, ...] = ()


def measure(document: QTextDocument, width: float, theme: Theme) -> Decor:
    """Where the decorations of a document stand."""
    layout, block = document.documentLayout(), document.begin()
    em = float(document.defaultFont().pixelSize())
    code: list[CodeFrame] = []
    chips: list[ChipPiece] = []
    quotes: list[QRectF] = []
    metrics = QFontMetricsF(theme.font("small", "medium"))
    while block.isValid():
        if is_code(block):
            language = str(block.blockFormat().stringProperty(LANGUAGE))
            area, lines = layout.blockBoundingRect(block), [block.text()]
            following = block.next()
            while is_code(following) and following.blockFormat().stringProperty(LANGUAGE) == language:
                block = following
                area = area.united(layout.blockBoundingRect(block))
                lines.append(block.text())
                following = block.next()
            # A line of fixed height holds its text low: more room below makes both look equal.
            pad, side = em * 0.8, theme.px(15)
            frame = QRectF(0.5, area.top() - em * 0.66, width - 1, area.height() + em * 1.66)
            button = QRectF(frame.right() - pad - side, frame.top() + theme.gap(6), side, side)
            code.append(CodeFrame(frame, button, language, "\n".join(lines)))
        else:
            level = block.blockFormat().intProperty(QUOTE)
            if level:
                area = layout.blockBoundingRect(block)
                bars = [
                    QRectF(em * 1.1 * i + 1, area.top() + em * 0.25, 2.5, area.height()) for i in range(level)
                ]
                quotes += bars
            text = block.text()
            if "\u00a0" in text:
                origin = layout.blockBoundingRect(block).topLeft()
                for fragment in fragments(block):
                    number = citation_number(fragment.charFormat())
                    if number is None:
                        continue
                    start = fragment.position() - block.position()
                    chips += _pieces(block.layout(), origin, number, start, fragment.length(), metrics)
        block = block.next()
    return Decor(tuple(code), tuple(chips), tuple(quotes))


def _pieces(layout, origin, number, start, length, metrics) -> list[ChipPiece]:  # type: ignore[no-untyped-def]
    """A chip is one rectangle for each line that it runs over."""
    pieces: list[ChipPiece] = []
    at, end = start, start + length
    while at < end:
        line = layout.lineForTextPosition(at)
        if not line.isValid():
            break
        stop = min(end, line.textStart() + line.textLength())
        if stop <= at:
            break
        left, right = (cast("tuple[float, int]", line.cursorToX(p))[0] for p in (at, stop))
        base = line.y() + line.ascent()
        top = origin.y() + base - metrics.ascent() - 2
        area = QRectF(origin.x() + left, top, right - left, metrics.height() + 3)
        pieces.append(ChipPiece(number, area, at == start))
        at = stop
    return pieces


def paint(
    painter: QPainter,
    decor: Decor,
    exposed: QRectF,
    states: Mapping[int, str],
    theme: Theme,
    hot: int | None,
) -> None:
    """Paint what lies behind the text. `hot`: the chip under the pointer or the focus."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for frame in decor.code:
        if frame.area.intersects(exposed):
            _paint_code(painter, frame, theme)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("line_strong"))
    for bar in decor.quotes:
        if bar.intersects(exposed):
            painter.drawRect(bar)
    for piece in decor.chips:
        if not piece.area.intersects(exposed):
            continue
        glyph, role = MARKS.get(states.get(piece.number, "unverified"), MARKS["unverified"])
        plain = "hover" if theme.is_dark else "sunken"
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("selected" if piece.number == hot else plain))
        painter.drawRoundedRect(piece.area, 5, 5)
        if piece.first:
            side = piece.area.height() * 0.72
            top = piece.area.y() + (piece.area.height() - side) / 2
            place = QRectF(piece.area.x() + 4, top, side, side)
            icons.paint(painter, glyph, place, theme.color(role))


def _paint_code(painter: QPainter, frame: CodeFrame, theme: Theme) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("sunken"))
    painter.drawRoundedRect(frame.area, 8, 8)
    if frame.language:
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.color("text3"))
        corner = frame.area.adjusted(
            0, theme.gap(7), frame.button.left() - frame.area.right() - theme.gap(8), 0
        )
        flags = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
        painter.drawText(corner, flags, frame.language[:MOST_LANGUAGE])
    icons.paint(painter, "copy", frame.button, theme.color("text3"))
