"""How a parsed document is typeset: line heights, headings, lists, quotes, code, tables, links.

A pass over the blocks of a `QTextDocument` after `setMarkdown`. Formulas and citations are set by others.
"""

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFragment,
)

from bibgenie_desktop.gui.render.code import LANGUAGE, highlight, is_code
from bibgenie_desktop.gui.theme import Theme

Property = QTextFormat.Property
Heights = QTextBlockFormat.LineHeightTypes
PROSE, IN_TABLE, IN_CODE, AFTER = 1.58, 1.3, 1.32, 0.72
HEADINGS: Final = {1: 1.32, 2: 1.18, 3: 1.06}
SCHEMES: Final = ("http", "https", "zotero", "mailto")
HANG: Final = 1.1  # em
MOST_LANGUAGE: Final = 24
OBJECT: Final = "\ufffc"


def fragments(block: QTextBlock) -> list[QTextFragment]:
    """The runs of equal format in a block."""
    result, it = [], block.begin()
    while not it.atEnd():
        result.append(it.fragment())
        it += 1
    return result


def select(cursor: QTextCursor, position: int, length: int) -> None:
    """Select a run of characters."""
    cursor.setPosition(position)
    cursor.setPosition(position + length, QTextCursor.MoveMode.KeepAnchor)


def resize(style: QTextCharFormat, font: QFont, weight: int | None = None) -> None:
    """Give a format a font's families and size; keep what else it says, such as bold and italics."""
    style.clearProperty(Property.FontSizeAdjustment)
    style.setFontFamilies(font.families())
    style.setProperty(Property.FontPixelSize, font.pixelSize())
    if weight is not None:
        style.setFontWeight(weight)


def typeset(document: QTextDocument, font: QFont, theme: Theme) -> None:
    """Typeset the whole document in one layout."""
    em = float(font.pixelSize())
    document.setIndentWidth(em * 1.5)
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    block = document.begin()
    while block.isValid():
        if is_code(block):
            block = _code(cursor, block, em, theme)
        else:
            _prose(cursor, block, em, font, theme)
            block = block.next()
    cursor.endEditBlock()


def corner_width(language: str, theme: Theme) -> float:
    """Room that the name of the language and the copy button take in the corner of a code frame."""
    name = QFontMetricsF(theme.font("caption")).horizontalAdvance(language[:MOST_LANGUAGE])
    return theme.px(15) + theme.gap(10) + (name + theme.gap(8) if language else 0)


def _code(cursor: QTextCursor, first: QTextBlock, em: float, theme: Theme) -> QTextBlock:
    """Set a run of code blocks and colour it; returns the block after it."""
    language = str(first.blockFormat().stringProperty(LANGUAGE))
    lines, block, last = [], first, first
    while is_code(block) and block.blockFormat().stringProperty(LANGUAGE) == language:
        lines.append(block.text())
        last, block = block, block.next()
    layout = QTextBlockFormat()
    layout.setLineHeight(round(em * IN_CODE), Heights.FixedHeight.value)
    # A line that is too long goes on below, further in, so that it is seen to be one.
    layout.setLeftMargin(em + HANG * em)
    layout.setTextIndent(-HANG * em)
    layout.setRightMargin(em)
    layout.setTopMargin(0)
    layout.setBottomMargin(0)
    layout.setNonBreakableLines(False)
    style = QTextCharFormat()
    style.setFont(theme.font("body", mono=True))
    style.setForeground(theme.color("text"))
    cursor.setPosition(first.position())
    cursor.setPosition(last.position() + last.length() - 1, QTextCursor.MoveMode.KeepAnchor)
    cursor.mergeBlockFormat(layout)
    cursor.setCharFormat(style)
    edge = QTextBlockFormat()
    edge.setTopMargin(em * (1.2 if first.previous().isValid() else 0.85))
    edge.setRightMargin(em + corner_width(language, theme))
    cursor.setPosition(first.position())
    cursor.mergeBlockFormat(edge)
    edge = QTextBlockFormat()
    edge.setBottomMargin(em * 1.4 if last.next().isValid() else em * 0.85)
    cursor.setPosition(last.position())
    cursor.mergeBlockFormat(edge)
    highlight(cursor, first, lines, language, theme)
    return block


def _prose(cursor: QTextCursor, block: QTextBlock, em: float, font: QFont, theme: Theme) -> None:
    cursor.setPosition(block.position())
    before, text = block.blockFormat(), block.text()
    in_table = cursor.currentTable() is not None
    level = before.headingLevel()
    quote = before.intProperty(Property.BlockQuoteLevel)
    in_list = block.textList() is not None
    layout = QTextBlockFormat()
    size = em * HEADINGS.get(level, 1.0)
    # Fixed, in em: serif families differ by 40 % in the leading they bring along.
    height = size * (1.3 if level or in_table else PROSE)
    layout.setLineHeight(round(height), Heights.FixedHeight.value)
    layout.setTopMargin(em * 0.5 if level and block.blockNumber() else 0)
    after = 0.0 if in_table else em * (0.3 if level else AFTER)
    if in_list and block.next().textList() is not None:
        after = em * 0.22
    layout.setBottomMargin(after if block.next().isValid() else 0)
    if quote:
        layout.setLeftMargin(quote * em * 1.1)
    if OBJECT in text:
        alone = len(text) == 1 and not in_table
        if alone:
            layout.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            layout.setLineHeight(100, Heights.ProportionalHeight.value)
        else:
            layout.setLineHeight(round(height), Heights.MinimumHeight.value)
    if not text and not in_table and not before.hasProperty(Property.BlockTrailingHorizontalRulerWidth):
        # Qt puts an empty paragraph before and after each table.
        layout.setLineHeight(max(1, round(em * 0.2)), Heights.FixedHeight.value)
        layout.setBottomMargin(0)
    cursor.mergeBlockFormat(layout)
    for fragment in fragments(block):
        style = QTextCharFormat(fragment.charFormat())
        if _restyle(style, level, quote, size, font, theme):
            select(cursor, fragment.position(), fragment.length())
            cursor.setCharFormat(style)


def _restyle(style: QTextCharFormat, level: int, quote: int, size: float, font: QFont, theme: Theme) -> bool:
    """Change the format of a run; False when it can stay as it is."""
    changed = False
    if level:
        big = QFont(font)
        big.setPixelSize(round(size))
        resize(style, big, QFont.Weight.DemiBold)
        changed = True
    elif style.fontWeight() >= QFont.Weight.Bold:
        style.setFontWeight(QFont.Weight.DemiBold)
        changed = True
    if style.fontFixedPitch():
        mono = theme.font("read", mono=True)
        mono.setPixelSize(round(size * 0.87))
        style.setFontFamilies(mono.families())
        style.setProperty(Property.FontPixelSize, mono.pixelSize())
        changed = True
    if quote:
        style.setForeground(theme.color("text2"))
        changed = True
    if style.isAnchor() and not style.isImageFormat():
        scheme = style.anchorHref().partition(":")[0].lower()
        if scheme in SCHEMES:
            style.setForeground(theme.color("accent"))
        elif scheme != "cite":
            style = _unlink(style)
        changed = True
    return changed


def _unlink(style: QTextCharFormat) -> QTextCharFormat:
    """Leave the words of a link that must not be followed."""
    style.setAnchor(False)
    style.clearProperty(Property.AnchorHref)
    style.clearProperty(Property.TextUnderlineStyle)
    style.clearProperty(Property.FontUnderline)
    style.clearForeground()
    return style
