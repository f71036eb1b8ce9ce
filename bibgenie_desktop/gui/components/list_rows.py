"""What every list of the window has in common: how it scrolls, and the ground on which a row is painted."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QListView, QStyle, QStyleOptionViewItem

from bibgenie_desktop.gui.theme import current
from bibgenie_desktop.gui.theme.tokens import RADIUS


def scroll_calmly(view: QListView) -> None:
    """By pixels, downwards only, with the row under the pointer known to its delegate."""
    view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.setMouseTracking(True)


def paint_ground(painter: QPainter, option: QStyleOptionViewItem, area: QRect | QRectF) -> bool:
    """Tint of a chosen row or of the one under the pointer, and the focus ring; whether it is chosen."""
    theme, place = current(), QRectF(area)
    chosen = bool(option.state & QStyle.StateFlag.State_Selected)
    if chosen or option.state & QStyle.StateFlag.State_MouseOver:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("selected" if chosen else "hover"))
        painter.drawRoundedRect(place, RADIUS["control"], RADIUS["control"])
    if option.state & QStyle.StateFlag.State_HasFocus:
        painter.setPen(QPen(theme.color("accent"), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(place.adjusted(1, 1, -1, -1), 6, 6)
    return chosen
