"""A segmented switch with one line of choices."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QWidget

from bibgenie_desktop.gui.components.buttons import push
from bibgenie_desktop.gui.components.layouts import row


class Tabs(QWidget):
    """`Tabs([(icon, text), …], current)`; `chosen` carries the index."""

    chosen = Signal(int)

    def __init__(self, names: Sequence[tuple[str, str]], current: int = 0) -> None:
        super().__init__()
        self._group = QButtonGroup(self)
        buttons = [push(text, "quiet", icon=icon) for icon, text in names]
        for index, button in enumerate(buttons):
            button.setCheckable(True)
            button.setChecked(index == current)
            self._group.addButton(button, index)
        self._group.idClicked.connect(self.chosen)
        self.setLayout(row(*buttons, None, spacing=2))

    @property
    def current(self) -> int:
        return self._group.checkedId()

    def choose(self, index: int) -> None:
        """Show a tab as chosen without announcing it."""
        self._group.button(index).setChecked(True)
