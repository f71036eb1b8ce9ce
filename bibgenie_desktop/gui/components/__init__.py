"""Small parts everything else is made of: styled by dynamic properties, painted by hand only where QSS
cannot.
"""

from bibgenie_desktop.gui.components.banner import Banner
from bibgenie_desktop.gui.components.buttons import Dropdown, gate, icon_button, push
from bibgenie_desktop.gui.components.chip import Chip
from bibgenie_desktop.gui.components.flow import Flow
from bibgenie_desktop.gui.components.fold import Fold
from bibgenie_desktop.gui.components.labels import Elided, Glyph, key_cap, label
from bibgenie_desktop.gui.components.layouts import (
    box,
    column,
    fill,
    fixed,
    least,
    most,
    props,
    repolish,
    row,
    rule,
)
from bibgenie_desktop.gui.components.menu import Menu
from bibgenie_desktop.gui.components.meters import Meter, Ring, Spinner, StackMeter
from bibgenie_desktop.gui.components.popover import Popover
from bibgenie_desktop.gui.components.tabs import Tabs
from bibgenie_desktop.gui.components.toast import Toast, ToastArea

__all__ = [
    "Banner",
    "Chip",
    "Dropdown",
    "Elided",
    "Flow",
    "Fold",
    "Glyph",
    "Menu",
    "Meter",
    "Popover",
    "Ring",
    "Spinner",
    "StackMeter",
    "Tabs",
    "Toast",
    "ToastArea",
    "box",
    "column",
    "fill",
    "fixed",
    "gate",
    "icon_button",
    "key_cap",
    "label",
    "least",
    "most",
    "props",
    "push",
    "repolish",
    "row",
    "rule",
]
