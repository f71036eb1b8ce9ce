"""The next request as it would be sent, to read and copy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from bibgenie_desktop.gui.components import box, column, label, push, row
from bibgenie_desktop.gui.theme import current
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.services.images import abridged


class RequestDialog(QDialog):
    """The exact next request as JSON, to read and copy."""

    def __init__(self, body: Mapping[str, Any], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("requestDialog")
        self.setWindowTitle(tr("The next request"))
        shown = abridged(body)
        text = QPlainTextEdit(json.dumps(shown, ensure_ascii=False, indent=2))
        text.setReadOnly(True)
        text.setFont(current().font("small", mono=True))
        text.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        close = push(tr("Close"), "primary")
        close.clicked.connect(self.accept)
        said = tr("This is sent, byte for byte, when you press Send now. Nothing has been sent.")
        if shown != body:
            said += " " + tr("Of each picture only the beginning of its code is shown here.")
        self.setLayout(
            column(
                label(tr("The next request"), "title"),
                label(said, "small", "2", wrap=True),
                box(column(text, margins=(12, 10, 6, 10)), card="sunken"),
                row(None, close),
                margins=(20, 16, 20, 16),
                spacing=10,
                grow=2,
            )
        )
        self.text = text
        room = parent.window().size()
        self.resize(min(current().px(760), room.width() - 64), min(current().px(640), room.height() - 64))
