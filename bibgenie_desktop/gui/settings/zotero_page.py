"""The page on Zotero: the library in use, others that can be, and whether the Zotero here can be reached."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.gui.components import Elided, Flow, Glyph, box, column, label, push, repolish, row
from bibgenie_desktop.gui.settings.zotero_values import LiveView
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.gui.welcome import LibraryCard, LibraryOffer


class ZoteroPage(QFrame):
    """`library_chosen` carries a folder, empty for the sample library."""

    library_chosen = Signal(str)
    folder_requested = Signal()
    web_requested = Signal()
    look_requested = Signal()

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
        self._web = push(tr("Zotero web library…"), icon="globe", object_name="chooseWebLibrary")
        self._web.setToolTip(tr("For a library that is not on this computer: read from zotero.org."))
        for button in (self._folder, self._web):
            button.setAutoDefault(False)
        others = QWidget()
        others.setLayout(Flow((self._folder, self._web)))
        self._failed = label("", "small", "bad", wrap=True)
        self._failed.setObjectName("libraryFailed")
        self._failed.hide()
        said = tr("The library is only read, never changed; answers cite its pages.")
        self.setLayout(
            column(
                label(tr("Zotero"), "title"),
                self._in_use,
                self._offered,
                others,
                self._failed,
                label(said, "small", "3", wrap=True),
                6,
                label(tr("Zotero on this computer"), "caption", "3"),
                self._live_card(),
                None,
                spacing=14,
            )
        )
        self._folder.clicked.connect(self.folder_requested)
        self._web.clicked.connect(self.web_requested)
        self._look.clicked.connect(self.look_requested)

    def _live_card(self) -> QWidget:
        self._live_glyph = Glyph("clock", "text3", 18)
        self._live = label("", "strong", wrap=True)
        self._live.setObjectName("zoteroState")
        self._fix = label("", "small", "2", wrap=True)
        self._fix.setObjectName("zoteroFix")
        self._look = push(tr("Check again"), dense=True, object_name="lookForZotero")
        self._look.setAutoDefault(False)
        words = column(self._live, self._fix, spacing=2)
        return box(
            row(
                column(self._live_glyph, None),
                words,
                column(self._look, None),
                margins=(14, 10, 10, 12),
                spacing=10,
                grow=1,
            ),
            card="true",
        )

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
        self._web.setEnabled(not card.busy)

    def show_error(self, error: UserError) -> None:
        """Why a library was not taken; the one in use stays."""
        self._failed.setText(error.text)
        self._failed.show()

    def show_live(self, view: LiveView) -> None:
        icons = {"ok": "check", "warn": "warn", "bad": "warn"}
        colors = {"ok": "ok", "warn": "warn", "bad": "bad"}
        self._live_glyph.show_icon(icons.get(view.tone, "clock"), colors.get(view.tone, "text3"))
        self._live.setText(view.text)
        self._fix.setText(view.fix)
        self._fix.setVisible(bool(view.fix))
        self._look.setEnabled(not view.looking)
        repolish(self._fix)

    def focus_first(self) -> None:
        self._folder.setFocus()

    def _on_use(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.library_chosen.emit(str(sender.property("path")))
