"""A picture attached to what is being written: small, with name and size, to be opened or taken away."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QFrame, QSizePolicy

from bibgenie_desktop.gui.components import Elided, column, fixed, icon_button, label, most, row
from bibgenie_desktop.gui.components.focus import paint_focus_ring
from bibgenie_desktop.gui.conversation.rows import AttachmentView
from bibgenie_desktop.gui.pictures.frame import PictureFrame, size_words
from bibgenie_desktop.gui.pictures.thumbnails import Thumbnails
from bibgenie_desktop.gui.tr import tr

SIDE = 40.0
REMOVING = (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)
OPENING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class PictureChip(QFrame):
    """Tab reaches it; Delete takes the picture away, Enter opens it."""

    removed = Signal(str)
    opened = Signal(str, str)

    def __init__(self, view: AttachmentView, thumbnails: Thumbnails | None) -> None:
        super().__init__()
        self.setObjectName("pictureChip")
        self.setProperty("card", "true")
        self._key, self._name = view.key, view.text
        self._frame = PictureFrame(view, thumbnails, widest=SIDE, highest=SIDE, focusable=False, filled=True)
        self._frame.opened.connect(self.opened)
        remove = icon_button("close", tr("Remove {0}").format(view.text), size=22, role="text3")
        remove.setObjectName("removePicture")
        remove.clicked.connect(self._on_remove_clicked)
        words = column(
            None,
            Elided(view.text, "small", middle=True),
            label(size_words(view), "fine", "3"),
            None,
            spacing=0,
        )
        self.setLayout(row(self._frame, words, remove, margins=(5, 5, 4, 5), spacing=8, grow=1))
        fixed(self, height=SIDE + 10)
        most(self, 240)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setToolTip(view.tip)
        self.setAccessibleName(tr("Picture: {0}").format(f"{view.text}, {size_words(view)}"))
        self.setAccessibleDescription(tr("Enter opens it, Delete removes it"))

    @property
    def key(self) -> str:
        return self._key

    def _on_remove_clicked(self) -> None:
        self.removed.emit(self._key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in REMOVING:
            self.removed.emit(self._key)
        elif event.key() in OPENING:
            self.opened.emit(self._key, self._name)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        paint_focus_ring(self, 7)
