"""What the application looks like: values (`tokens`), the current `Theme`, its style sheet, and icons."""

from bibgenie_desktop.gui.theme.current import color, current, font, gap, install, px
from bibgenie_desktop.gui.theme.theme import Appearance, Mode, Theme

__all__ = ["Appearance", "Mode", "Theme", "color", "current", "font", "gap", "install", "px"]
