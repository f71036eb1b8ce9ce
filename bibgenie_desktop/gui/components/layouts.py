"""Rows, columns, frames, and lengths that follow the text scale.

All numbers given here are unscaled; the theme scales them now and again whenever the person changes the
text size.
"""

from collections.abc import Sequence
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLayout, QSizePolicy, QVBoxLayout, QWidget

from bibgenie_desktop.gui.theme import current, lengths

# A widget, a layout, a space of that many pixels, or None for all the room that is left.
Entry = QWidget | QLayout | int | float | None
Margins = tuple[float, float, float, float]
W = TypeVar("W", bound=QWidget)


def props(widget: QWidget, **values: object) -> None:
    """Set the dynamic properties that the style sheet selects on. Empty values are left unset."""
    for key, value in values.items():
        if value:
            widget.setProperty(key, value)


def repolish(widget: QWidget, **values: object) -> None:
    """Change dynamic properties of a widget that is already shown."""
    for key, value in values.items():
        widget.setProperty(key, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)
    widget.update()


def fixed(widget: W, width: float = 0, height: float = 0) -> W:
    """Fix width or height, or both; zero leaves that side free."""
    widget.setProperty(lengths.SIZE, [float(width), float(height)])
    lengths.scale_widget(widget, current().px)
    return widget


def most(widget: W, width: float) -> W:
    """Limit the width."""
    widget.setProperty(lengths.MOST, [float(width)])
    lengths.scale_widget(widget, current().px)
    return widget


def least(widget: W, width: float = 0, height: float = 0) -> W:
    """Keep the widget at least this large."""
    widget.setProperty(lengths.LEAST, [float(width), float(height)])
    lengths.scale_widget(widget, current().px)
    return widget


def fill(
    layout: QBoxLayout,
    entries: Sequence[Entry],
    margins: Margins = (0, 0, 0, 0),
    spacing: float = 8,
    grow: int | None = None,
) -> QBoxLayout:
    """Put entries into a box layout; the one at index `grow` takes the spare room."""
    layout.setProperty(lengths.MARGINS, [float(m) for m in margins])
    layout.setProperty(lengths.SPACING, [float(spacing)])
    lengths.scale_layout(layout, current().gap)
    for entry in entries:
        if entry is None:
            layout.addStretch(1)
        elif isinstance(entry, QWidget):
            layout.addWidget(entry)
        elif isinstance(entry, QLayout):
            layout.addLayout(entry)
        else:
            layout.addSpacing(current().gap(entry))
    if grow is not None:
        layout.setStretch(grow, 1000)
    return layout


def row(
    *entries: Entry, margins: Margins = (0, 0, 0, 0), spacing: float = 8, grow: int | None = None
) -> QBoxLayout:
    """Entries side by side."""
    return fill(QHBoxLayout(), entries, margins, spacing, grow)


def column(
    *entries: Entry, margins: Margins = (0, 0, 0, 0), spacing: float = 8, grow: int | None = None
) -> QBoxLayout:
    """Entries below each other."""
    return fill(QVBoxLayout(), entries, margins, spacing, grow)


def box(layout: QLayout, *, card: str = "", surface: str = "", object_name: str = "") -> QFrame:
    """A frame around a layout, styled as a card or a plain surface."""
    frame = QFrame()
    frame.setLayout(layout)
    props(frame, card=card, surface=surface)
    if object_name:
        frame.setObjectName(object_name)
    return frame


def rule(direction: str = "h") -> QFrame:
    """A hairline."""
    line = QFrame()
    props(line, rule=direction)
    line.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    if direction == "h":
        line.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    else:
        line.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
    return line
