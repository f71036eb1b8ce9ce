"""What every right panel is made of: a head with its name and a way to close it, and a scrolling body."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLineEdit, QScrollArea, QWidget

from bibgenie_desktop.gui.components import box, column, fixed, icon_button, label, row
from bibgenie_desktop.gui.theme import icons
from bibgenie_desktop.gui.tr import tr


class Panel(QFrame):
    """`closed` asks the window to hide it."""

    closed = Signal()

    def __init__(self, title: str, object_name: str, *buttons: QWidget) -> None:
        super().__init__()
        self.setObjectName(object_name)
        self.setProperty("surface", "side")
        self.setAccessibleName(title)
        close = icon_button("close", tr("Close {0}").format(title))
        close.clicked.connect(self.closed)
        self._head = box(
            row(label(title, "strong"), None, *buttons, close, spacing=2, margins=(16, 0, 10, 0))
        )
        fixed(self._head, height=48)
        self._body = column(self._head, spacing=0)
        self.setLayout(self._body)

    def add(self, widget: QWidget, stretch: int = 0) -> None:
        self._body.addWidget(widget, stretch)

    def focus_first(self) -> None:
        """Takes the keyboard, for F6."""
        self.setFocus()


def search_field(hint: str) -> QLineEdit:
    field = QLineEdit()
    field.setPlaceholderText(hint)
    field.setAccessibleName(hint)
    field.setProperty("quiet", True)
    field.setClearButtonEnabled(True)
    field.addAction(icons.icon("search", "text3"), QLineEdit.ActionPosition.LeadingPosition)
    return field


def scrolling(content: QWidget) -> QScrollArea:
    """A column that scrolls up and down only."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    content.setProperty("surface", "side")
    area.setWidget(content)
    return area
