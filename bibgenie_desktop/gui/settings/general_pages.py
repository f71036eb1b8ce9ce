"""The pages on compaction and on where the data are."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtWidgets import QFrame

from bibgenie_desktop import __version__
from bibgenie_desktop.gui.components import column, label, push, repolish, row
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


class DataPage(QFrame):
    """`show_requested` carries the folder as an address."""

    show_requested = Signal(str)

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        where = label(str(folder), wrap=True)
        where.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        where.setAccessibleName(tr("Data folder: {0}").format(folder))
        self._show = push(tr("Show data folder"), object_name="showDataFolder")
        self._show.setAutoDefault(False)
        said = tr(
            "Conversations, settings and the library's index are kept in this folder, on this computer."
        )
        more = tr(
            "Keys of providers are in the system's keyring. To move or keep everything, quit and copy it."
        )
        self.setLayout(
            column(
                label(tr("Data"), "title"),
                where,
                row(self._show, None),
                label(f"{said} {more}", "small", "2", wrap=True),
                label(tr("BibGenie Desktop {0}").format(__version__), "small", "3"),
                None,
                spacing=12,
            )
        )
        self._show.clicked.connect(self._on_show_clicked)

    def _on_show_clicked(self) -> None:
        self.show_requested.emit(QUrl.fromLocalFile(str(self._folder)).toString())

    def focus_first(self) -> None:
        self._show.setFocus()
