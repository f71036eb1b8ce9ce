"""What a document or a selection in it says as plain text: formulas as TeX, chips by their labels, tables as
rows with tabs.
"""

from typing import Any

from PySide6.QtGui import QTextBlock, QTextCursor, QTextDocument

from bibgenie_desktop.gui.render.blocks import OBJECT, fragments
from bibgenie_desktop.gui.render.inline import NBSP, citation_number, formula_number, raw
from bibgenie_desktop.gui.render.source import Formula


def plain_text(document: QTextDocument, start: int, end: int, formulas: tuple[Formula, ...]) -> str:
    """The text between two positions."""
    said: list[str] = []
    row: list[str] = []
    place: tuple[int, int, int] | None = None
    block = document.findBlock(start)
    while block.isValid() and block.position() < max(end, start + 1):
        before, place = place, _cell(block)
        text = _block_text(block, start, end, formulas)
        if before is not None and (place is None or place[:2] != before[:2]):
            said.append("\t".join(row))
            row = []
        if place is None:
            said.append(text)
        elif before is not None and place == before:
            row[-1] = f"{row[-1]} {text}"
        else:
            row.append(text)
        block = block.next()
    if place is not None:
        said.append("\t".join(row))
    return "\n".join(said)


def selected_text(cursor: QTextCursor, formulas: tuple[Formula, ...]) -> str:
    """What is selected; of a table, the cells that are."""
    table = cursor.currentTable()
    if not cursor.hasComplexSelection() or table is None:
        return plain_text(cursor.document(), cursor.selectionStart(), cursor.selectionEnd(), formulas)
    # Its stub still asks for pointers.
    cells_of: Any = cursor.selectedTableCells
    top, rows, left, columns = cells_of()
    lines = []
    for r in range(top, top + rows):
        cells = [table.cellAt(r, k) for k in range(left, left + columns)]
        ends = [(c.firstPosition(), c.lastPosition()) for c in cells]
        lines.append(
            "\t".join(plain_text_of_cell(cursor.document(), first, last, formulas) for first, last in ends)
        )
    return "\n".join(lines)


def plain_text_of_cell(document: QTextDocument, first: int, last: int, formulas: tuple[Formula, ...]) -> str:
    return plain_text(document, first, last, formulas) if last > first else ""


def _cell(block: QTextBlock) -> tuple[int, int, int] | None:
    """Which table, row and column a block stands in."""
    cursor = QTextCursor(block)
    table = cursor.currentTable()
    if table is None:
        return None
    cell = table.cellAt(cursor)
    return table.firstPosition(), cell.row(), cell.column()


def _block_text(block: QTextBlock, start: int, end: int, formulas: tuple[Formula, ...]) -> str:
    parts = []
    for fragment in fragments(block):
        low = max(start, fragment.position())
        high = min(end, fragment.position() + fragment.length())
        if low >= high:
            continue
        style = fragment.charFormat()
        number = formula_number(style)
        if number is not None and number < len(formulas):
            parts.append(raw(formulas[number]) * (high - low))
            continue
        text = fragment.text()
        if fragment.position() < start or fragment.position() + fragment.length() > end:
            utf16 = text.encode("utf-16-le", "surrogatepass")
            cut = utf16[(low - fragment.position()) * 2 : (high - fragment.position()) * 2]
            text = cut.decode("utf-16-le", "replace")
        if citation_number(style) is not None:
            text = text.strip(NBSP).replace(NBSP, " ").replace("\u2011", "-")
        parts.append(text.replace(OBJECT, "").replace("\u2028", "\n"))
    return "".join(parts)
