"""Tokens are readable, and the theme reaches what is already open."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontDatabase
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

import bibgenie_desktop.gui
from bibgenie_desktop.gui import theme
from bibgenie_desktop.gui.components import box, column, fixed, icon_button, label
from bibgenie_desktop.gui.theme import icons
from bibgenie_desktop.gui.theme.icon_paths import PATHS
from bibgenie_desktop.gui.theme.tokens import DARK, LIGHT, PAIRS, Colors, contrast


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("front", "back", "least"), PAIRS, ids=[f"{f} on {b}" for f, b, _ in PAIRS])
def test_pair_is_readable(colors: Colors, front: str, back: str, least: float) -> None:
    assert contrast(getattr(colors, front), getattr(colors, back)) >= least


def test_all_pairs_of_the_look_are_checked() -> None:
    assert len(PAIRS) * 2 >= 142


def test_no_widget_has_a_style_sheet_of_its_own() -> None:
    package = Path(bibgenie_desktop.gui.__file__).parent
    calls = [
        f"{path.relative_to(package)}:{n}"
        for path in package.rglob("*.py")
        for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if "setStyleSheet(" in line
    ]
    assert [c.split(":")[0] for c in calls] == ["theme/theme.py"]


def test_open_window_follows_a_change_of_mode(qtbot: QtBot, light_theme: theme.Theme) -> None:
    text = label("words")
    frame = box(column(text), surface="canvas")
    qtbot.addWidget(frame)
    frame.show()
    assert frame.grab().toImage().pixelColor(1, 1) == QColor(LIGHT.canvas)
    with qtbot.waitSignal(light_theme.changed):
        light_theme.set_mode("dark")
    assert frame.grab().toImage().pixelColor(1, 1) == QColor(DARK.canvas)
    assert text.palette().color(text.foregroundRole()) == QColor(DARK.text)


def test_system_mode_follows_the_colour_scheme_of_the_system(
    qapp: QApplication, light_theme: theme.Theme
) -> None:
    hints = qapp.styleHints()
    light_theme.set_mode("system")
    hints.setColorScheme(Qt.ColorScheme.Dark)
    try:
        qapp.processEvents()
        assert light_theme.is_dark == (hints.colorScheme() == Qt.ColorScheme.Dark)
    finally:
        hints.unsetColorScheme()


@pytest.mark.parametrize("scale", [0.8, 1.0, 1.5, 2.0])
def test_open_window_follows_the_text_scale(qtbot: QtBot, light_theme: theme.Theme, scale: float) -> None:
    button = icon_button("plus", "Add")
    bar = fixed(QLabel("x"), 100, 20)
    frame = box(column(button, bar, margins=(8, 8, 8, 8), spacing=4))
    qtbot.addWidget(frame)
    frame.show()
    light_theme.set_scale(scale)
    assert button.width() == light_theme.px(28)
    assert bar.width() == light_theme.px(100)
    assert frame.layout().contentsMargins().left() == light_theme.gap(8)
    assert abs(bar.fontInfo().pixelSize() - light_theme.font().pixelSize()) <= 1


def test_scale_stays_within_its_limits(light_theme: theme.Theme) -> None:
    light_theme.set_scale(9)
    assert light_theme.scale == 2.0
    light_theme.set_scale(0.1)
    assert light_theme.scale == 0.8


def test_reading_font_is_a_good_serif_or_the_interface_font(light_theme: theme.Theme) -> None:
    family = light_theme.reading_font().families()[0]
    assert family == light_theme.serif_family or family == light_theme.font().families()[0]
    assert "DejaVu Serif" not in family
    if light_theme.serif_family:
        assert light_theme.serif_family in QFontDatabase.families()


def test_reduced_motion_leaves_no_time_for_animations(light_theme: theme.Theme) -> None:
    assert light_theme.duration(120) == 0
    light_theme.set_appearance(theme.Appearance(mode="light"))
    assert light_theme.duration(120) == 120


@pytest.mark.parametrize("name", sorted(PATHS))
def test_icon_is_drawn_in_the_colour_of_its_role(qapp: QApplication, name: str) -> None:
    image = icons.icon(name, "bad").pixmap(32, 32).toImage()
    inked = [
        image.pixelColor(x, y) for x in range(32) for y in range(32) if image.pixelColor(x, y).alpha() > 240
    ]
    assert inked, f"{name} draws nothing"
    assert all(abs(c.red() - QColor(LIGHT.bad).red()) < 24 for c in inked)
