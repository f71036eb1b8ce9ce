"""The top of the Library dock: which library is in use, how fresh it is, how far its texts are read."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QProgressBar

from bibgenie_desktop.gui.components import Elided, box, column, icon_button, label, push, row
from bibgenie_desktop.gui.docks.library.values import LibraryFacts, Texts
from bibgenie_desktop.gui.tr import tr


class StateLine(QFrame):
    choose_requested = Signal()
    texts_cancelled = Signal()
    texts_resumed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._title = label("", "small", wrap=True)
        self._detail = label("", "fine", "3", wrap=True)
        self._place = Elided("", "fine", "3", middle=True)
        self._choose = push(tr("Choose a library…"), dense=True, object_name="chooseLibrary")
        self._choose.clicked.connect(self.choose_requested)
        self._words = Elided("", "fine", "3")
        self._bar = QProgressBar()
        self._bar.setRange(0, 1000)
        self._bar.setTextVisible(False)
        self._cancel = icon_button(
            "close", tr("Stop reading texts"), size=22, role="text3", object_name="cancelTexts"
        )
        self._resume = push(tr("Go on"), "link", dense=True, object_name="resumeTexts")
        self._cancel.clicked.connect(self.texts_cancelled)
        self._resume.clicked.connect(self.texts_resumed)
        line = row(self._words, self._resume, self._cancel, spacing=6, grow=0)
        self._texts = box(column(line, self._bar, spacing=2))
        self._texts.setObjectName("textsLine")
        self._texts.hide()
        chosen = row(self._choose, None)
        self.setLayout(
            column(
                self._title, self._detail, self._place, self._texts, chosen, spacing=2, margins=(16, 0, 14, 8)
            )
        )

    def show_facts(self, facts: LibraryFacts) -> None:
        self._title.setText(facts.title)
        self._detail.setText(facts.detail)
        self._place.setText(facts.place)
        self._place.setVisible(bool(facts.place))
        self._choose.setVisible(facts.missing and not facts.busy)

    def show_texts(self, texts: Texts) -> None:
        running = texts.share is not None
        self._words.setText(texts.words)
        self._bar.setValue(round((texts.share or 0.0) * 1000))
        self._bar.setVisible(running)
        self._bar.setAccessibleName(texts.words)
        self._cancel.setVisible(running)
        self._resume.setVisible(texts.can_resume)
        self._texts.setVisible(bool(texts.words))
