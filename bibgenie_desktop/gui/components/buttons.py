"""Buttons: with words, with an icon alone, and those that open a popover.

Buttons take the focus from the keyboard only, so that a click does not pull it away from the text being
written and the focus ring means what it says.
"""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QToolButton, QWidget

from bibgenie_desktop.gui.components.layouts import fixed, props
from bibgenie_desktop.gui.theme import current, gap, icons, lengths, px

TIP = "ownTip"


def _icon_size(button: QPushButton | QToolButton, size: float) -> None:
    button.setProperty(lengths.ICON, [size])
    lengths.scale_widget(button, px)


def icon_button(
    name: str,
    tip: str,
    *,
    size: float = 28,
    role: str = "text2",
    checkable: bool = False,
    object_name: str = "",
) -> QToolButton:
    """An icon with tooltip and accessible name."""
    button = QToolButton()
    button.setIcon(icons.icon(name, role))
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    button.setProperty(TIP, tip)
    button.setCheckable(checkable)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    if object_name:
        button.setObjectName(object_name)
    fixed(button, size, size)
    _icon_size(button, size * 0.62)
    return button


def push(
    text: str,
    kind: str = "",
    *,
    icon: str = "",
    dense: bool = False,
    role: str = "",
    tip: str = "",
    object_name: str = "",
) -> QPushButton:
    """A button with words. `kind`: primary (one per view), quiet, link, fold, or the default."""
    button = QPushButton(text)
    props(button, kind=kind, dense=dense)
    if icon:
        default = {"primary": "on_accent", "link": "accent"}.get(kind, "text2")
        button.setIcon(icons.icon(icon, role or default))
        _icon_size(button, 15)
    if tip:
        button.setToolTip(tip)
        button.setProperty(TIP, tip)
    if object_name:
        button.setObjectName(object_name)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
    return button


def gate(widget: QWidget, reason: str | None) -> None:
    """Enable a widget, or disable it and say why in the tooltip and to screen readers."""
    widget.setEnabled(reason is None)
    widget.setToolTip(reason or str(widget.property(TIP) or ""))
    widget.setAccessibleDescription(reason or "")


class Dropdown(QPushButton):
    """A quiet button that opens a popover: icon, text, chevron."""

    def __init__(self, text: str, icon: str = "", object_name: str = "") -> None:
        super().__init__(text)
        props(self, kind="quiet", dropdown=True)
        self.setObjectName(object_name)
        if icon:
            self.setIcon(icons.icon(icon, "text2"))
            _icon_size(self, 15)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        side = px(15)
        area = QRectF(self.width() - side - gap(6), (self.height() - side) / 2, side, side)
        icons.paint(QPainter(self), "chevron-down", area, current().colors.text3)
