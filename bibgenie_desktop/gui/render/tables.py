"""What tables look like, and how wide their columns are: as wide as they like while there is room, else so
that words stay whole as long as that can be had.

A table never reaches over the width of its text: there is nothing to scroll, and nothing is hidden.
"""

import re
from typing import Final

from PySide6.QtGui import (
    QBrush,
    QFont,
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextLength,
    QTextTable,
    QTextTableCell,
    QTextTableCellFormat,
    QTextTableFormat,
)

from bibgenie_desktop.gui.render.blocks import OBJECT, fragments, resize, select
from bibgenie_desktop.gui.theme import Theme

TIGHT: Final = QTextFormat.Property.UserProperty.value + 1
SLACK: Final = 2.0  # Qt measures a hair wider than the sum of the words
ROUNDING: Final = 1.01
MOST_CELLS: Final = 4000
LONGEST_WORD: Final = 9.0  # em; addresses and the like may break, words hardly are longer
NUMBERS: Final = re.compile(r"[\d\s.,:%±+−–—<>=()\[\]/-]{1,24}")
LEAST: Final = 2.2  # em; narrower columns cannot be read


def fit(document: QTextDocument, width: float, theme: Theme) -> None:
    """Set the columns of every table for a width."""
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable) and frame.rows() * frame.columns() <= MOST_CELLS:
            _fit(frame, width, theme)


def widths(natural: list[float], words: list[float], room: float, least: float) -> list[float] | None:
    """Widths of columns whose text is `natural` wide, and its longest word `words`; None: as they like.

    Every column gets its longest word, then what is left goes where the most is missing. Where not even the
    words fit, the widest columns give way first and break theirs.
    """
    if sum(natural) <= room:
        return None
    if sum(words) > room:
        low, high = 0.0, max(words)
        for _ in range(30):
            cap = (low + high) / 2
            if sum(min(w, cap) for w in words) > room:
                high = cap
            else:
                low = cap
        cap = max(low, min(least, room / len(words)))
        return [min(w, cap) for w in words]
    missing = [n - w for n, w in zip(natural, words, strict=True)]
    share = (room - sum(words)) / sum(missing)
    return [w + m * share for w, m in zip(words, missing, strict=True)]


def _fit(table: QTextTable, width: float, theme: Theme) -> None:
    columns = table.columns()
    body, small, head = theme.font("body"), theme.font("small"), theme.font("small", "semibold")
    longest = LONGEST_WORD * body.pixelSize()
    dress(table, theme, tight=False)
    pads = [_padding(table, k) for k in range(columns)]
    natural, words = _measure(table, body, head, longest)
    if sum(words) > width - sum(pads) - SLACK:
        dress(table, theme, tight=True)
        pads = [_padding(table, k) for k in range(columns)]
        natural, words = _measure(table, small, head, longest)
    chosen = widths(natural, words, width - sum(pads) - SLACK, LEAST * body.pixelSize())
    kind = QTextLength.Type
    lengths = (
        [QTextLength(kind.VariableLength, 0)] * columns
        if chosen is None
        else [QTextLength(kind.FixedLength, w + p) for w, p in zip(chosen, pads, strict=True)]
    )
    shape = table.format()
    shape.setColumnWidthConstraints(lengths)
    table.setFormat(shape)


def _padding(table: QTextTable, column: int) -> float:
    look = table.cellAt(0, column).format().toTableCellFormat()
    return look.leftPadding() + look.rightPadding()


def _measure(table: QTextTable, body: QFont, head: QFont, most: float) -> tuple[list[float], list[float]]:
    """Per column: the widest line, and the widest word, or `most` if it is wider.

    Numbers with their signs and ranges count as one word.
    """
    natural, words = [0.0] * table.columns(), [0.0] * table.columns()
    for r in range(table.rows()):
        plain = QFontMetricsF(head if r == 0 else body)
        strong = QFont(body)
        strong.setWeight(QFont.Weight.DemiBold)
        bold = QFontMetricsF(strong)
        for k in range(table.columns()):
            block = table.cellAt(r, k).firstCursorPosition().block()
            line, longest = 0.0, 0.0
            for fragment in fragments(block):
                style = fragment.charFormat()
                if style.isImageFormat():
                    wide = style.toImageFormat().width() * fragment.length()
                    line, longest = line + wide, max(longest, wide)
                    continue
                own = style.fontFixedPitch() or style.isAnchor() or style.fontItalic()
                heavy = style.fontWeight() >= QFont.Weight.DemiBold
                metrics = QFontMetricsF(style.font()) if own else bold if heavy and r else plain
                text = fragment.text().replace(OBJECT, "")
                line += metrics.horizontalAdvance(text)
                parts = (metrics.horizontalAdvance(word) for word in text.split(" "))
                longest = max(longest, *parts)
            if NUMBERS.fullmatch(block.text()):
                longest = line
            natural[k] = max(natural[k], line * ROUNDING + 2)
            words[k] = max(words[k], min(most, longest * ROUNDING + 2))
    return natural, words


def set_tables(document: QTextDocument, theme: Theme) -> None:
    """Scholarly tables: hairlines between rows only, heads in the interface font."""
    for table in document.rootFrame().childFrames():
        if not isinstance(table, QTextTable):
            continue
        frame = QTextTableFormat()
        frame.setBorder(0)
        frame.setBorderCollapse(True)
        frame.setCellPadding(0)
        frame.setCellSpacing(0)
        frame.setWidth(QTextLength(QTextLength.Type.VariableLength, 0))
        frame.setTopMargin(0)
        frame.setBottomMargin(theme.gap(8))
        table.setFormat(frame)
        for k in range(table.columns() if table.rows() > 1 else 0):
            # The head stands as its column does.
            align = QTextBlockFormat()
            align.setAlignment(table.cellAt(1, k).firstCursorPosition().blockFormat().alignment())
            _whole(table.cellAt(0, k)).mergeBlockFormat(align)
        dress(table, theme, tight=False)


def dress(table: QTextTable, theme: Theme, *, tight: bool) -> None:
    """Fonts, paddings and hairlines of the cells; `tight` where room is short."""
    shape = table.format()
    if shape.hasProperty(TIGHT) and shape.boolProperty(TIGHT) == tight:
        return
    shape.setProperty(TIGHT, tight)
    table.setFormat(shape)
    body, head = theme.font("small" if tight else "body"), theme.font("small", "semibold")
    between = (theme.gap(6), theme.gap(8)) if tight else (theme.gap(12), theme.gap(16))
    last = table.columns() - 1
    for r in range(table.rows()):
        text = QTextCharFormat()
        resize(text, head if r == 0 else body, QFont.Weight.DemiBold if r == 0 else None)
        if r == 0:
            text.setForeground(theme.color("text2"))
        for k in range(table.columns()):
            look = QTextTableCellFormat()
            look.setTopPadding(theme.gap(5))
            look.setBottomPadding(theme.gap(5))
            look.setLeftPadding(0 if k == 0 else between[0])
            look.setRightPadding(between[1] if k < last else between[0])
            look.setBottomBorder(1)
            look.setBottomBorderStyle(QTextTableFormat.BorderStyle.BorderStyle_Solid)
            look.setBottomBorderBrush(QBrush(theme.color("line_strong" if r == 0 else "line")))
            cell = table.cellAt(r, k)
            cell.setFormat(look)
            cursor = _whole(cell)
            for fragment in fragments(cursor.block()):
                style = fragment.charFormat()
                if style.fontFixedPitch() or style.anchorHref().startswith("cite:"):
                    continue  # code and chips have sizes of their own
                select(cursor, fragment.position(), fragment.length())
                cursor.mergeCharFormat(text)


def _whole(cell: QTextTableCell) -> QTextCursor:
    cursor = cell.firstCursorPosition()
    cursor.setPosition(cell.lastCursorPosition().position(), QTextCursor.MoveMode.KeepAnchor)
    return cursor
