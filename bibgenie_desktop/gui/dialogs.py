"""The few dialogs there are: a new name, and what to say when something broke. All are opened, none runs a
loop."""

from __future__ import annotations

import re
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QLineEdit, QPlainTextEdit, QWidget

from bibgenie_desktop.gui.components import box, column, label, push, row
from bibgenie_desktop.gui.theme import px
from bibgenie_desktop.gui.tr import tr

LONGEST_LINE: Final = 2_000


class RenameDialog(QDialog):
    """`named` carries the new title; it is never empty."""

    named = Signal(str)

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("renameDialog")
        self.setWindowTitle(tr("Rename session"))
        self._field = QLineEdit(title)
        self._field.setAccessibleName(tr("Title"))
        self._field.selectAll()
        self._save = push(tr("Rename"), "primary")
        self._save.setDefault(True)
        cancel = push(tr("Cancel"), "quiet")
        self.setLayout(
            column(
                label(tr("Rename session"), "title"),
                self._field,
                row(None, cancel, self._save),
                margins=(20, 16, 20, 16),
                spacing=14,
            )
        )
        self.resize(px(380), self.sizeHint().height())
        self._field.textChanged.connect(self._on_text_changed)
        self._save.clicked.connect(self._on_save_clicked)
        cancel.clicked.connect(self.reject)

    def _on_text_changed(self, text: str) -> None:
        self._save.setEnabled(bool(text.strip()))

    def _on_save_clicked(self) -> None:
        if self._field.text().strip():
            self.named.emit(self._field.text())
            self.accept()


class PageDialog(QDialog):
    """The text of a page as it was read, with the quoted words marked by selecting them."""

    def __init__(self, title: str, text: str, quote: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("pageDialog")
        self.setWindowTitle(title)
        page = QPlainTextEdit(text)
        page.setReadOnly(True)
        words = quote.strip('“”"„«» ')
        if words:
            page.find(words)
            page.ensureCursorVisible()
        close = push(tr("Close"), "primary")
        close.clicked.connect(self.accept)
        said = tr("The text as it was read from the file; line breaks and columns may differ from the page.")
        self.setLayout(
            column(
                label(title, "title", wrap=True),
                label(said, "small", "2", wrap=True),
                box(column(page, margins=(12, 10, 6, 10)), card="sunken"),
                row(None, close),
                margins=(20, 16, 20, 16),
                spacing=10,
                grow=2,
            )
        )
        room = parent.window().size()
        self.resize(min(px(620), room.width() - 64), min(px(560), room.height() - 64))


class WholeTextDialog(QDialog):
    """A text of any length as it was written; endless lines are broken, they take too long to lay out."""

    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("wholeTextDialog")
        self.setWindowTitle(tr("The whole text"))
        self.text = QPlainTextEdit(re.sub(rf"([^\n]{{{LONGEST_LINE}}})(?!\n)", r"\1\n", text))
        self.text.setReadOnly(True)
        close = push(tr("Close"), "primary")
        close.clicked.connect(self.accept)
        self.setLayout(
            column(
                label(tr("The whole text"), "title"),
                box(column(self.text, margins=(12, 10, 6, 10)), card="sunken"),
                row(None, close),
                margins=(20, 16, 20, 16),
                spacing=10,
                grow=1,
            )
        )
        room = parent.window().size()
        self.resize(min(px(760), room.width() - 64), min(px(640), room.height() - 64))


class FaultDialog(QDialog):
    """A fault of ours: what it means for the person, and the details for a report."""

    def __init__(self, details: str, log: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("faultDialog")
        self.setWindowTitle(tr("Something went wrong"))
        text = QPlainTextEdit(details)
        text.setReadOnly(True)
        text.setMinimumHeight(px(140))
        close = push(tr("Continue"), "primary")
        close.clicked.connect(self.accept)
        said = tr("This is a fault in BibGenie. Your sessions and what you were writing are kept.")
        where = tr("The details are in {0}.").format(log) if log else ""
        self.setLayout(
            column(
                label(tr("Something went wrong"), "title"),
                label(f"{said} {where}".strip(), wrap=True),
                box(column(text, margins=(10, 8, 6, 8)), card="sunken"),
                row(None, close),
                margins=(20, 16, 20, 16),
                spacing=12,
                grow=2,
            )
        )
        self.resize(px(520), px(340))
