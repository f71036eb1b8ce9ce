"""The page on appearance: theme, text size and reading font, applied at once and kept."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QSlider

from bibgenie_desktop.gui.components import Tabs, column, label, most, row
from bibgenie_desktop.gui.theme import Appearance, Mode
from bibgenie_desktop.gui.tr import percent, tr

MODES: Final[tuple[Mode, ...]] = ("system", "light", "dark")
STEP: Final = 10


class AppearancePage(QFrame):
    """`appearance_chosen` carries what is chosen now, after every change."""

    appearance_chosen = Signal(object)

    def __init__(self, appearance: Appearance, serif_family: str) -> None:
        super().__init__()
        self._appearance = appearance
        self._modes = Tabs(
            [("settings", tr("System")), ("eye", tr("Light")), ("palette", tr("Dark"))],
            MODES.index(appearance.mode),
        )
        self._scale = most(QSlider(Qt.Orientation.Horizontal), 420)
        self._scale.setObjectName("textSize")
        self._scale.setRange(80 // STEP, 200 // STEP)
        self._scale.setValue(round(appearance.scale * 100 / STEP))
        self._scale.setPageStep(1)
        self._scale.setAccessibleName(tr("Text size"))
        self._said = label(percent(appearance.scale), "small", "2")
        self._fonts = Tabs(
            [("book", tr("Serif")), ("article", tr("Interface font"))], 0 if appearance.serif else 1
        )
        if not serif_family:
            self._fonts.setEnabled(False)
            self._fonts.setToolTip(tr("No good serif font is installed on this system."))
        self.setLayout(
            column(
                label(tr("Appearance"), "title"),
                label(tr("Colours"), "caption", "3"),
                self._modes,
                row(label(tr("Text size"), "caption", "3"), self._said, None),
                self._scale,
                label(tr("Conversation text"), "caption", "3"),
                self._fonts,
                None,
                spacing=10,
            )
        )
        self._modes.chosen.connect(self._on_changed)
        self._fonts.chosen.connect(self._on_changed)
        self._scale.valueChanged.connect(self._on_scale_changed)
        self._scale.sliderReleased.connect(self._on_changed)

    def focus_first(self) -> None:
        self._scale.setFocus()

    def _on_scale_changed(self, value: int) -> None:
        self._said.setText(percent(value * STEP / 100))
        if not self._scale.isSliderDown():  # while dragging the page must not grow under the pointer
            self._on_changed()

    def _on_changed(self) -> None:
        chosen = Appearance(
            mode=MODES[self._modes.current],
            scale=self._scale.value() * STEP / 100,
            serif=self._fonts.current == 0,
            reduced_motion=self._appearance.reduced_motion,
            interface_family=self._appearance.interface_family,
        )
        if chosen != self._appearance:
            self._appearance = chosen
            self.appearance_chosen.emit(chosen)
