"""The pages on Zotero and on compaction."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.gui.components import Elided, Glyph, box, column, label, push, repolish, row
from bibgenie_desktop.gui.settings.check import Check
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.gui.welcome import LibraryCard, LibraryOffer


class ZoteroPage(QFrame):
    """`library_chosen` carries a folder, empty for the sample library."""

    library_chosen = Signal(str)
    folder_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._glyph = Glyph("library", "ok", 18)
        self._title = label("", "strong", wrap=True)
        self._detail = label("", "small", "2", wrap=True)
        self._detail.setObjectName("libraryInUse")
        words = column(self._title, self._detail, spacing=2)
        self._in_use = box(
            row(column(self._glyph, None), words, margins=(14, 12, 12, 12), spacing=10, grow=1), card="true"
        )
        self._offers: list[QWidget] = []
        self._offered = column(spacing=8)
        self._folder = push(tr("Choose another folder…"), icon="folder", object_name="chooseFolder")
        self._folder.setAutoDefault(False)
        self._failed = label("", "small", "bad", wrap=True)
        self._failed.setObjectName("libraryFailed")
        self._failed.hide()
        said = tr("The library is only read, never changed; answers cite its pages.")
        self.setLayout(
            column(
                label(tr("Zotero"), "title"),
                self._in_use,
                self._offered,
                row(self._folder, None),
                self._failed,
                label(said, "small", "3", wrap=True),
                None,
                spacing=14,
            )
        )
        self._folder.clicked.connect(self.folder_requested)

    def show_library(self, card: LibraryCard, offers: Sequence[LibraryOffer]) -> None:
        if card.busy:
            self._failed.hide()
        self._glyph.show_icon("library", card.tone)
        self._title.setText(card.title)
        self._detail.setText(card.detail)
        for old in self._offers:
            self._offered.removeWidget(old)
            old.hide()
            old.deleteLater()
        self._offers = []
        for offer in offers:
            button = push(tr("Use"), dense=True)
            button.setAutoDefault(False)
            button.setObjectName(f"library:{offer.path}")
            button.setProperty("path", offer.path)
            button.setAccessibleName(offer.title)
            button.setEnabled(not card.busy)
            button.clicked.connect(self._on_use)
            words = column(Elided(offer.title), Elided(offer.detail, "small", "3", middle=True), spacing=0)
            line = box(row(words, button, margins=(14, 8, 10, 8), spacing=10, grow=0), card="true")
            self._offers.append(line)
            self._offered.addWidget(line)
        self._folder.setEnabled(not card.busy)

    def show_error(self, error: UserError) -> None:
        """Why a library was not taken; the one in use stays."""
        self._failed.setText(error.text)
        self._failed.show()

    def focus_first(self) -> None:
        self._folder.setFocus()

    def _on_use(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.library_chosen.emit(str(sender.property("path")))


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
