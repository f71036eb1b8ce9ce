"""The theme in use: tokens made into a palette, one style sheet, fonts and lengths.

A `Theme` follows the person's choices (`Appearance`) and the system's colour scheme, and says `changed`
when either moves. Widgets that paint themselves ask it for colours by role; all others are styled by the
sheet.
"""

import math
from dataclasses import dataclass, replace
from typing import Final, Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QProxyStyle, QStyle, QStyleOption, QWidget

from bibgenie_desktop.gui.theme import tokens
from bibgenie_desktop.gui.theme.blending import windows_blend
from bibgenie_desktop.gui.theme.contrast import high_contrast_colors
from bibgenie_desktop.gui.theme.lengths import rescale
from bibgenie_desktop.gui.theme.sheet import SHEET
from bibgenie_desktop.gui.theme.tokens import (
    DARK,
    INTERFACE,
    LIGHT,
    MONO,
    RADIUS,
    READING_SERIF,
    TYPE,
    WEIGHT,
    Colors,
)

Mode = Literal["system", "light", "dark"]
GENERIC: Final = ("sans serif", "sans", "sans-serif")
LEAST_SCALE: Final = 0.8
MOST_SCALE: Final = 2.0


@dataclass(frozen=True, slots=True)
class Appearance:
    """What the person chose in the settings."""

    mode: Mode = "system"
    scale: float = 1.0
    serif: bool = True
    reduced_motion: bool = False
    interface_family: str = ""  # empty: the system's; set only for pictures and tests


class Theme(QObject):
    """Colours, fonts and lengths of the application; `changed` after every change of them."""

    changed = Signal()

    def __init__(self, app: QApplication, appearance: Appearance) -> None:
        super().__init__(app)
        self._app = app
        self._appearance = appearance
        self._colors = LIGHT
        self._dark = False
        self._fonts: dict[tuple[object, ...], QFont] = {}
        self._system_font, self._base_px = app.font(), 13.0
        self._families = frozenset(QFontDatabase.families())
        self._blends = windows_blend()
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._on_color_scheme_changed)

    def retire(self) -> None:
        """Stop following the system; another theme takes over."""
        QGuiApplication.styleHints().colorSchemeChanged.disconnect(self._on_color_scheme_changed)
        self.deleteLater()

    # what is chosen

    @property
    def appearance(self) -> Appearance:
        return self._appearance

    @property
    def colors(self) -> Colors:
        return self._colors

    @property
    def is_dark(self) -> bool:
        return self._dark

    @property
    def scale(self) -> float:
        return min(MOST_SCALE, max(LEAST_SCALE, self._appearance.scale))

    @property
    def reduced_motion(self) -> bool:
        return self._appearance.reduced_motion

    @property
    def blends(self) -> bool:
        """Whether windows can have shadows and round corners."""
        return self._blends

    @property
    def serif_family(self) -> str:
        """The serif that answers are set in, or nothing when the system has no good one."""
        return next((family for family in READING_SERIF if family in self._families), "")

    def set_appearance(self, appearance: Appearance) -> None:
        """Take over new choices at once, in every open window."""
        if appearance != self._appearance:
            self._appearance = appearance
            self.apply()

    def set_mode(self, mode: Mode) -> None:
        self.set_appearance(replace(self._appearance, mode=mode))

    def set_scale(self, scale: float) -> None:
        self.set_appearance(replace(self._appearance, scale=scale))

    # colours

    def color(self, role: str, alpha: float = 1.0) -> QColor:
        value = QColor(getattr(self._colors, role))
        if alpha < 1:
            value.setAlphaF(alpha)
        return value

    # lengths

    def px(self, size: float) -> int:
        """A length that holds text (row heights, icons, widths): grows with the font."""
        return round(size * self.scale * self._base_px / 13)

    def gap(self, size: float) -> int:
        """A padding or margin: grows half as fast as the font."""
        return round(size * (0.5 + 0.5 * self.scale))

    def duration(self, milliseconds: int) -> int:
        """Length of an animation: nothing under reduced motion."""
        return 0 if self.reduced_motion else milliseconds

    # type

    def font(
        self,
        size: str = "body",
        weight: str = "regular",
        *,
        mono: bool = False,
        serif: bool = False,
        italic: bool = False,
    ) -> QFont:
        key = (size, weight, mono, serif, italic)
        known = self._fonts.get(key)
        if known is None:
            known = self._fonts[key] = self._make_font(size, weight, mono, serif, italic)
        return QFont(known)

    def reading_font(self) -> QFont:
        """What answers are set in: the serif of the person's choice, else the interface font."""
        return self.font("read", serif=self._appearance.serif)

    def _make_font(self, size: str, weight: str, mono: bool, serif: bool, italic: bool) -> QFont:
        result = QFont(self._app.font())
        own = list(result.families())
        factor = TYPE[size]
        if mono:
            result.setFamilies([f for f in MONO if f in self._families] + own)
            result.setStyleHint(QFont.StyleHint.Monospace)
            result.setFeature(QFont.Tag("calt"), 0)  # code is read sign by sign: no ligatures
            factor *= 0.93
        elif serif and self.serif_family:
            result.setFamilies([self.serif_family, *own])
            factor *= 1.03
        result.setPixelSize(max(9, round(self._base_px * self.scale * factor)))
        result.setWeight(QFont.Weight(WEIGHT[weight]))
        result.setItalic(italic)
        return result

    def _interface_font(self) -> tuple[QFont, float]:
        if self._appearance.interface_family:
            return QFont(self._appearance.interface_family), 13.0
        system = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
        if system.family().lower() in GENERIC:
            # No desktop has chosen a font: take a good one before whatever the name falls back to.
            good = next((family for family in INTERFACE if family in self._families), system.family())
            system.setFamilies([good, system.family()])
        size = float(system.pixelSize())
        if size <= 0:
            size = system.pointSizeF() * QGuiApplication.primaryScreen().logicalDotsPerInch() / 72
        return system, float(min(15, max(12, math.floor(size + 0.5))))

    # making it so

    def apply(self) -> None:
        """Put palette, font and style sheet on the application; every open window follows."""
        hints = QGuiApplication.styleHints()
        mode = self._appearance.mode
        self._dark = hints.colorScheme() == Qt.ColorScheme.Dark if mode == "system" else mode == "dark"
        self._colors = high_contrast_colors(self._app) or (DARK if self._dark else LIGHT)
        self._fonts.clear()
        self._system_font, self._base_px = self._interface_font()
        if not isinstance(self._app.style(), Style):
            self._app.setStyle(Style())
        base = QFont(self._system_font)
        base.setPixelSize(round(self._base_px * self.scale))
        base.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        self._app.setFont(base)
        self._app.setPalette(self._palette())
        sheet = self._sheet()
        if sheet != self._app.styleSheet():
            self._app.setStyleSheet(sheet)
        rescale(self._app.topLevelWidgets(), self.px, self.gap)
        self.changed.emit()

    def _on_color_scheme_changed(self, _scheme: Qt.ColorScheme) -> None:
        if self._appearance.mode == "system":
            self.apply()

    def _palette(self) -> QPalette:
        c, role, result = self._colors, QPalette.ColorRole, QPalette()
        for target, value in {
            role.Window: c.side, role.WindowText: c.text, role.Base: c.canvas, role.AlternateBase: c.sunken,
            role.Text: c.text, role.Button: c.raised, role.ButtonText: c.text, role.BrightText: c.bad,
            role.Highlight: c.accent_fill, role.HighlightedText: c.on_accent, role.Link: c.accent,
            role.LinkVisited: c.accent, role.ToolTipBase: c.tooltip, role.ToolTipText: c.on_tooltip,
            role.PlaceholderText: c.text3, role.Accent: c.accent_fill, role.Light: c.raised,
            role.Midlight: c.hover, role.Mid: c.line_strong, role.Dark: c.outline, role.Shadow: "#000000",
        }.items():  # fmt: skip
            result.setColor(target, QColor(value))
        for target in (role.WindowText, role.Text, role.ButtonText):
            result.setColor(QPalette.ColorGroup.Disabled, target, QColor(c.text3))
        return result

    def _sheet(self) -> str:
        values: dict[str, object] = {role: getattr(self._colors, role) for role in tokens.ROLES}
        values |= {f"r_{name}": value for name, value in RADIUS.items()}
        values |= {name: max(9, round(self._base_px * self.scale * v)) for name, v in TYPE.items()}
        values |= {f"g{n}": self.gap(n) for n in (4, 6, 7, 8, 11, 12)}
        values |= {f"c{n}": self.px(n) for n in (14, 20, 22, 24, 28)}
        return SHEET.substitute(values)


class Style(QProxyStyle):
    """Fusion with icons that grow with the font."""

    def __init__(self) -> None:
        super().__init__("Fusion")

    def pixelMetric(
        self,
        metric: QStyle.PixelMetric,
        option: QStyleOption | None = None,
        widget: QWidget | None = None,
    ) -> int:
        if metric in (QStyle.PixelMetric.PM_SmallIconSize, QStyle.PixelMetric.PM_LineEditIconSize):
            # The application's font is the one thing a style can see that has the scale in it.
            return round(16 * QGuiApplication.font().pixelSize() / 13)
        return super().pixelMetric(metric, option, widget)
