"""Colours for the system's high contrast mode: every role taken from the system's own palette."""

from dataclasses import replace

from PySide6.QtGui import QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from bibgenie_desktop.gui.theme.tokens import LIGHT, Colors


def high_contrast_wanted() -> bool:
    """Whether the system asks for high contrast. Qt tells from 6.10 on; older versions never do."""
    accessibility = getattr(QGuiApplication.styleHints(), "accessibility", None)
    if accessibility is None:
        return False
    preference = accessibility().contrastPreference()
    return bool(getattr(preference, "name", "") == "HighContrast")


def high_contrast_colors(app: QApplication) -> Colors | None:
    """The system palette as colour roles, or None when the system does not ask for it."""
    if not high_contrast_wanted():
        return None
    palette = app.style().standardPalette()
    role = QPalette.ColorRole

    def of(target: QPalette.ColorRole) -> str:
        return palette.color(target).name()

    base, text, button = of(role.Base), of(role.WindowText), of(role.Button)
    fill, on_fill, link = of(role.Highlight), of(role.HighlightedText), of(role.Link)
    return replace(
        LIGHT,
        canvas=base, side=base, raised=base, sunken=base, bubble=base, hover=button, pressed=button,
        selected=button, tooltip=base, line=text, line_strong=text, outline=text, text=text, text2=text,
        text3=text, on_tooltip=text, accent=link, accent_fill=fill, accent_fill_hover=fill,
        accent_soft=base, on_accent=on_fill, ok=text, ok_soft=base, warn=text, warn_soft=base, bad=text,
        bad_soft=base, kind_system=text, kind_tools=text, kind_checkpoint=text, kind_tail=fill,
        kind_draft=text, kind_reserve=text, code_keyword=text, code_string=text, code_number=text,
        code_comment=text, code_name=text, selection=button, focus_on_fill=text,
    )  # fmt: skip
