"""Formulas and citations inside a typeset document: where the placeholders stand, and what takes their
place.

A chip stays real text, so it can be selected, copied and read aloud; what surrounds it is painted behind. A
formula is a picture set on the base line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import (
    QImage,
    QPainter,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFragment,
    QTextImageFormat,
)

from bibgenie_desktop.gui.render.blocks import fragments, select
from bibgenie_desktop.gui.render.math import MathImage
from bibgenie_desktop.gui.render.source import CHIP, Formula
from bibgenie_desktop.gui.theme import Theme

NBSP: Final = "\u00a0"
PAD: Final = NBSP * 6  # room for the state icon; unbreakable
MATH: Final = re.compile(r"math:(\d+)$")
CITE: Final = re.compile(r"cite:(\d+)$")


@dataclass(frozen=True, slots=True)
class Run:
    """A place in a document: which formula or citation, where, how long."""

    number: int
    position: int
    length: int


def _all_fragments(document: QTextDocument) -> Iterator[tuple[QTextBlock, QTextFragment]]:
    block = document.begin()
    while block.isValid():
        for fragment in fragments(block):
            yield block, fragment
        block = block.next()


def formula_number(style: QTextCharFormat) -> int | None:
    """Which formula a format stands for."""
    found = MATH.match(style.toImageFormat().name()) if style.isImageFormat() else None
    return int(found[1]) if found else None


def citation_number(style: QTextCharFormat) -> int | None:
    """Which citation a format belongs to."""
    found = CITE.match(style.anchorHref()) if style.isAnchor() else None
    return int(found[1]) if found else None


def formula_runs(document: QTextDocument) -> list[Run]:
    """Where the formulas stand. Equal neighbours share a fragment: one run each."""
    runs = []
    for _, fragment in _all_fragments(document):
        number = formula_number(fragment.charFormat())
        if number is not None:
            runs += [Run(number, fragment.position() + i, 1) for i in range(fragment.length())]
    return runs


def set_formula(document: QTextDocument, run: Run, drawn: MathImage, url: QUrl, descent: float) -> None:
    """Put a drawn formula on the base line of its text. `descent`: of the text's font."""
    # Qt knows two ways to hang a picture below the line: by the font's descent, or by half of the picture.
    # The picture is padded so that one of them puts its base line exactly on the text's.
    up, down = drawn.ascent, drawn.descent
    middle = down > descent
    half = max(up, down)
    top, bottom = (half - up, half - down) if middle else (0.0, descent - down)
    image = padded(drawn.image, top, bottom)
    document.addResource(QTextDocument.ResourceType.ImageResource.value, url, image)
    style = QTextImageFormat()
    style.setName(url.toString())
    style.setWidth(image.width() / image.devicePixelRatio())
    style.setHeight(image.height() / image.devicePixelRatio())
    alignment = QTextCharFormat.VerticalAlignment
    style.setVerticalAlignment(alignment.AlignMiddle if middle else alignment.AlignBaseline)
    cursor = QTextCursor(document)
    select(cursor, run.position, run.length)
    cursor.setCharFormat(style)


def padded(image: QImage, top: float, bottom: float) -> QImage:
    """The picture with empty room above and below, in logical pixels."""
    ratio = image.devicePixelRatio()
    high = image.height() + max(0, round(top * ratio)) + max(0, round(bottom * ratio))
    result = QImage(image.width(), high, QImage.Format.Format_ARGB32_Premultiplied)
    result.setDevicePixelRatio(ratio)
    result.fill(Qt.GlobalColor.transparent)
    painter = QPainter(result)
    painter.scale(1 / ratio, 1 / ratio)
    plain = QImage(image)
    plain.setDevicePixelRatio(1.0)
    painter.drawImage(0, max(0, round(top * ratio)), plain)
    painter.end()
    return result


def waiting_picture(formula: Formula, em: float, ratio: float) -> MathImage:
    """Empty room of about the size that the formula will take."""
    signs = len(re.sub(r"\\[A-Za-z]+|[{}_^$\\]", "x", formula.tex))
    width = min(40.0, max(1.0, signs * 0.55)) * em
    up, down = (em * 1.4, em) if formula.display else (em * 0.8, em * 0.2)
    size = (max(1, round(width * ratio)), max(1, round((up + down) * ratio)))
    image = QImage(*size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    image.setDevicePixelRatio(ratio)
    return MathImage(image, up, down)


def show_raw(document: QTextDocument, run: Run, formula: Formula, theme: Theme) -> None:
    """What cannot be drawn is shown as it was written."""
    style = QTextCharFormat()
    style.setFont(theme.font("body", mono=True))
    cursor = QTextCursor(document)
    select(cursor, run.position, run.length)
    cursor.insertText(raw(formula), style)


def raw(formula: Formula) -> str:
    """The formula as TeX with its signs."""
    return f"$${formula.tex}$$" if formula.display else f"${formula.tex}$"


def set_chips(document: QTextDocument, labels: dict[int, str], theme: Theme) -> None:
    """Swap each citation's placeholder for its label."""
    runs = []
    for _, fragment in _all_fragments(document):
        number = citation_number(fragment.charFormat())
        if number is not None and set(fragment.text()) == {CHIP}:
            runs.append(Run(number, fragment.position(), fragment.length()))
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    for run in reversed(runs):
        style = QTextCharFormat()
        style.setFont(theme.font("small", "medium"))
        style.setForeground(theme.color("text2"))
        style.setAnchor(True)
        style.setAnchorHref(f"cite:{run.number}")
        style.setFontUnderline(False)
        select(cursor, run.position, run.length)
        label = labels.get(run.number, "?").replace(" ", NBSP).replace("-", "\u2011")
        cursor.insertText(f"{PAD}{label}{NBSP}", style)
    cursor.endEditBlock()
