"""The page on compaction."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from bibgenie_desktop.gui.components import column, label, repolish
from bibgenie_desktop.gui.settings.check import Check
from bibgenie_desktop.gui.tr import tr


class CompactionPage(QFrame):
    automatic_chosen = Signal(bool)

    def __init__(self, automatic: bool) -> None:
        super().__init__()
        self._automatic = Check(tr("Compact automatically"))
        self._automatic.setObjectName("automaticCompaction")
        self._automatic.setChecked(automatic)
        said = tr("Before a context is full its earlier part is summed up. No message is deleted.")
        more = tr("Turned off, you are told when a question does not fit any more.")
        self._failed = label("", "small", "bad", wrap=True)
        self._failed.hide()
        self.setLayout(
            column(
                label(tr("Compaction"), "title"),
                self._automatic,
                label(f"{said} {more}", "small", "2", wrap=True),
                self._failed,
                None,
                spacing=12,
            )
        )
        self._automatic.toggled.connect(self.automatic_chosen)

    def show_automatic(self, automatic: bool, failed: str) -> None:
        """What counts now, and why it is not what was wished."""
        self._automatic.blockSignals(True)
        self._automatic.setChecked(automatic)
        self._automatic.blockSignals(False)
        self._failed.setText(failed)
        self._failed.setVisible(bool(failed))
        repolish(self._failed)

    def focus_first(self) -> None:
        self._automatic.setFocus()
