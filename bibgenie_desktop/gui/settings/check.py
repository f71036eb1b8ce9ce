"""A check box whose mark can be seen without its colour."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QCheckBox, QStyle, QStyleOptionButton

from bibgenie_desktop.gui.theme import current, icons


class Check(QCheckBox):
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.isChecked():
            option = QStyleOptionButton()
            self.initStyleOption(option)
            place = self.style().subElementRect(QStyle.SubElement.SE_CheckBoxIndicator, option, self)
            icons.paint(QPainter(self), "check", QRectF(place), current().color("on_accent"))
