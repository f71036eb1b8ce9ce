"""What stands under the conversation: toasts, the banner about the next request, the composer; on one
axis with the text.
"""

from PySide6.QtWidgets import QFrame, QSizePolicy, QVBoxLayout, QWidget

from bibgenie_desktop.gui.components import ToastArea, most, row
from bibgenie_desktop.gui.composer import Composer
from bibgenie_desktop.gui.conversation.virtual_column import READING_WIDTH
from bibgenie_desktop.gui.theme import gap


class ComposerDock(QFrame):
    """`composer`, `toasts`, and a place for banners: `set_banner(name, widget)`."""

    def __init__(self, composer: Composer | None = None) -> None:
        super().__init__()
        self.setProperty("surface", "canvas")
        self.composer = composer or Composer()
        self.toasts = ToastArea()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._banners: dict[str, QWidget] = {}
        self._inner = most(QWidget(), READING_WIDTH + 32)
        self._column = QVBoxLayout(self._inner)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(gap(8))
        self._column.addWidget(self.toasts)
        self._column.addWidget(self.composer)
        self.setLayout(row(None, self._inner, None, margins=(16, 0, 16, 14), spacing=0, grow=1))

    def set_banner(self, name: str, banner: QWidget | None) -> None:
        """Show a banner above the composer under a name, or take it away."""
        old = self._banners.pop(name, None)
        if old is banner and banner is not None:
            self._banners[name] = banner
            return
        if old is not None:
            self._column.removeWidget(old)
            old.hide()
            old.deleteLater()
        if banner is not None:
            self._banners[name] = banner
            self._column.insertWidget(self._column.count() - 1, banner)
            banner.show()

    def banner(self, name: str) -> QWidget | None:
        """The banner that is shown under a name."""
        return self._banners.get(name)
