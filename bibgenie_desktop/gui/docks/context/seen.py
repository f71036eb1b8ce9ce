"""The messages of the next request, one a line."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QFrame

from bibgenie_desktop.gui.components import Elided, Glyph, box, label, row
from bibgenie_desktop.gui.docks.context.values import SeenLine
from bibgenie_desktop.gui.tr import number, thousands, tr

MOST_LINES = 60


def shortened(lines: Sequence[SeenLine]) -> list[SeenLine]:
    """Beginning and end of a long list; what lies between is one line."""
    if len(lines) <= MOST_LINES:
        return list(lines)
    head, tail = 2, MOST_LINES - 3
    between = lines[head : len(lines) - tail]
    middle = SeenLine(
        "more", tr("{0} more messages").format(number(len(between))), sum(x.tokens for x in between)
    )
    return [*lines[:head], middle, *lines[len(lines) - tail :]]


def seen_line(line: SeenLine) -> QFrame:
    parts = row(
        Glyph(line.glyph, line.role, 15),
        Elided(line.text, "small"),
        label(thousands(line.tokens, 1), "small", "3"),
        spacing=8,
        margins=(0, 3, 0, 3),
        grow=1,
    )
    frame = box(parts)
    frame.setAccessibleName(tr("{0}, {1} tokens").format(line.text, number(line.tokens)))
    return frame
