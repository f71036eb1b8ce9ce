"""The ring around what the keyboard is in."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QWidget

from bibgenie_desktop.gui.theme import current


def paint_focus_ring(widget: QWidget, radius: float, *, below: int = 0) -> None:
    """For a `paintEvent`, after everything else; `below` leaves pixels at the foot outside."""
    if not widget.hasFocus():
        return
    painter = QPainter(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(current().color("accent"), 2))
    painter.drawRoundedRect(QRectF(widget.rect()).adjusted(1, 1, -1, -1 - below), radius, radius)
