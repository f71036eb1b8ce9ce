"""What is attached to the text being written, as chips: pictures, items, notes, annotations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from bibgenie_desktop.gui.components import Chip, Flow, label
from bibgenie_desktop.gui.conversation.rows import AttachmentView
from bibgenie_desktop.gui.pictures.chip import PictureChip
from bibgenie_desktop.gui.pictures.thumbnails import Thumbnails
from bibgenie_desktop.gui.theme import gap


class AttachedChips(QWidget):
    """`removed` carries a key, `opened` key and name of a picture; `left`: the keyboard's chip is gone.

    `before`: what the keyboard leaves for the first chip.
    """

    removed = Signal(str)
    opened = Signal(str, str)
    left = Signal()

    def __init__(self, before: QWidget) -> None:
        super().__init__()
        self._before = before
        self._views: tuple[AttachmentView, ...] = ()
        self._thumbnails: Thumbnails | None = None
        self._note = label("", "fine", "2", wrap=True)
        self._note.setObjectName("attachedNote")
        self._note.hide()
        self._chips = QWidget()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(gap(5))
        self._column.addWidget(self._chips)
        self._column.addWidget(self._note)
        self.hide()

    @property
    def views(self) -> tuple[AttachmentView, ...]:
        return self._views

    def set_thumbnails(self, thumbnails: Thumbnails) -> None:
        self._thumbnails = thumbnails

    def set_note(self, words: str) -> None:
        """A line below the chips; empty: none."""
        self._note.setText(words)
        self._note.setVisible(bool(words))

    def show_views(self, views: Sequence[AttachmentView]) -> None:
        if tuple(views) == self._views:
            return
        at = self._focused()
        self._views = tuple(views)
        old, self._chips = self._chips, QWidget()
        chips = [self._chip(view) for view in views]
        self._chips.setLayout(Flow(chips))
        self._column.replaceWidget(old, self._chips)
        old.hide()
        old.deleteLater()
        self.setVisible(bool(chips))
        for before, after in pairwise((self._before, *chips)):
            QWidget.setTabOrder(before, after)
        if at is not None:
            pictures = [c for c in chips[at:] + chips[:at][::-1] if isinstance(c, PictureChip)]
            if pictures:
                pictures[0].setFocus(Qt.FocusReason.OtherFocusReason)
            else:
                self.left.emit()

    def chips(self) -> list[QWidget]:
        return [w for w in self._chips.findChildren(QWidget) if isinstance(w, Chip | PictureChip)]

    def set_open(self, opened: bool) -> None:
        """Whether chips can be taken away."""
        for chip in self.chips():
            chip.setEnabled(opened)

    def _chip(self, view: AttachmentView) -> QWidget:
        if view.is_picture:
            picture = PictureChip(view, self._thumbnails)
            picture.removed.connect(self.removed)
            picture.opened.connect(self.opened)
            return picture
        chip = Chip(view.text, view.icon, key=view.key, tip=view.tip)
        chip.removed.connect(self.removed)
        return chip

    def _focused(self) -> int | None:
        """The place of the chip that has the keyboard."""
        focus = self.window().focusWidget()
        for at, chip in enumerate(self.chips()):
            if focus is not None and (focus is chip or chip.isAncestorOf(focus)):
                return at
        return None
