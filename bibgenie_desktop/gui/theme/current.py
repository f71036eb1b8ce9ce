"""How a widget reaches the theme.

The theme belongs to the `QApplication`, as Qt's own palette, font and style do: `install()` hangs it there
once, at the start, and `current()` reads it back. Nothing is kept in this module. Handing the theme through
every constructor would only repeat what the application object already is; this is the one place where a
widget asks for something it was not given.
"""

from typing import Final

from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QApplication

from bibgenie_desktop.gui.theme.theme import Appearance, Theme

PROPERTY: Final = "bibgenieTheme"


def install(app: QApplication, appearance: Appearance | None = None) -> Theme:
    """Make the application's theme and apply it. Called once, before the first widget; again, it replaces."""
    before = app.property(PROPERTY)
    if isinstance(before, Theme):
        before.retire()
    theme = Theme(app, appearance or Appearance())
    app.setProperty(PROPERTY, theme)
    theme.apply()
    return theme


def current() -> Theme:
    """The application's theme."""
    app = QApplication.instance()
    theme = app.property(PROPERTY) if app is not None else None
    if not isinstance(theme, Theme):  # a wrong order of calls, not a wrong argument
        raise RuntimeError("theme.install(app) must come before the first widget")  # noqa: TRY004
    return theme


def px(size: float) -> int:
    """A length that holds text; see `Theme.px`."""
    return current().px(size)


def gap(size: float) -> int:
    """A padding or margin; see `Theme.gap`."""
    return current().gap(size)


def color(role: str, alpha: float = 1.0) -> QColor:
    """A colour of the current theme by its role."""
    return current().color(role, alpha)


def font(size: str = "body", weight: str = "regular", **kind: bool) -> QFont:
    """A font of the current theme; `mono`, `serif`, `italic` as in `Theme.font`."""
    return current().font(size, weight, **kind)
