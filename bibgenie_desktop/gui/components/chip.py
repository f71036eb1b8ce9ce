"""An attached Zotero item, file or image: kind, short title, remove."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QSizePolicy

from bibgenie_desktop.gui.components.buttons import icon_button
from bibgenie_desktop.gui.components.labels import Elided, Glyph
from bibgenie_desktop.gui.components.layouts import Entry, fixed, most, row
from bibgenie_desktop.gui.tr import tr


class Chip(QFrame):
    """`removed` carries the chip's key; `opened` follows a click or Enter when the chip leads somewhere."""

    removed = Signal(str)
    opened = Signal(str)

    def __init__(
        self, text: str, icon: str = "article", *, key: str = "", tip: str = "", removable: bool = True
    ) -> None:
        super().__init__()
        self.setProperty("card", "true")
        self._key = key or text
        self._label = Elided(text, "small")
        self._label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        entries: list[Entry] = [Glyph(icon, "text2", 14), self._label]
        if removable:
            button = icon_button("close", tr("Remove {0}").format(text), size=22, role="text3")
            button.clicked.connect(self._on_remove_clicked)
            entries.append(button)
        self.setLayout(row(*entries, margins=(8, 1, 2 if removable else 8, 1), spacing=5))
        fixed(self, height=26)
        most(self, 320)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setToolTip(tip)
        self.setAccessibleName(text)

    @property
    def key(self) -> str:
        return self._key

    @property
    def text(self) -> str:
        return self._label.text()

    def _on_remove_clicked(self) -> None:
        self.removed.emit(self._key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit(self._key)
        else:
            super().keyPressEvent(event)
