"""Lengths that follow the text scale while windows are open.

A layout or a widget with a fixed size keeps the unscaled numbers as a dynamic property; when the scale
changes, the theme walks the open windows and sets them anew. Nobody has to rebuild a window for a larger
font.
"""

from collections.abc import Callable, Iterable
from typing import Final

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QAbstractButton, QLayout, QWidget

Length = Callable[[float], int]
# Not "base…": QWidget has a property called baseSize, which Qt would take silently.
SIZE: Final = "unscaledSize"
MOST: Final = "unscaledMaximumWidth"
LEAST: Final = "unscaledMinimumSize"
ICON: Final = "unscaledIconSize"
MARGINS: Final = "unscaledMargins"
SPACING: Final = "unscaledSpacing"


def _numbers(owner: QWidget | QLayout, name: str) -> list[float] | None:
    value = owner.property(name)
    return [float(v) for v in value] if isinstance(value, list | tuple) else None


def scale_widget(widget: QWidget, px: Length) -> None:
    """Set the sizes that the widget carries as base numbers."""
    if size := _numbers(widget, SIZE):
        if size[0] > 0:
            widget.setFixedWidth(px(size[0]))
        if size[1] > 0:
            widget.setFixedHeight(px(size[1]))
    if most := _numbers(widget, MOST):
        widget.setMaximumWidth(px(most[0]))
    if least := _numbers(widget, LEAST):
        widget.setMinimumSize(px(least[0]), px(least[1]))
    if (icon := _numbers(widget, ICON)) and isinstance(widget, QAbstractButton):
        widget.setIconSize(QSize(px(icon[0]), px(icon[0])))


def scale_layout(layout: QLayout, gap: Length) -> None:
    """Set margins and spacing that the layout carries as base numbers."""
    if margins := _numbers(layout, MARGINS):
        layout.setContentsMargins(*(gap(m) for m in margins))
    if spacing := _numbers(layout, SPACING):
        layout.setSpacing(gap(spacing[0]))


def rescale(roots: Iterable[QWidget], px: Length, gap: Length) -> None:
    """Bring everything below these windows to the current scale."""
    for root in roots:
        for widget in (root, *root.findChildren(QWidget)):
            scale_widget(widget, px)
        for layout in root.findChildren(QLayout):
            scale_layout(layout, gap)
