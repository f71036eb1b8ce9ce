"""Dragging Zotero things out of the dock: their ids for the composer, their names for other programs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QMimeData, QPoint, Qt
from PySide6.QtGui import QDrag, QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget

from bibgenie_desktop.services.library.payloads import IDS_FORMAT


def mime_of(ids: Sequence[str], text: str) -> QMimeData:
    data = QMimeData()
    data.setData(IDS_FORMAT, "\n".join(ids).encode())
    data.setText(text)
    return data


def drag(source: QWidget, ids: Sequence[str], text: str) -> None:
    """Until the button is let go."""
    dragging = QDrag(source)
    dragging.setMimeData(mime_of(ids, text))
    dragging.setPixmap(source.grab())
    dragging.exec(Qt.DropAction.CopyAction)


def far_enough(event: QMouseEvent, pressed: QPoint | None) -> bool:
    """Whether a pressed button has moved so far that something is being dragged."""
    if pressed is None or not event.buttons() & Qt.MouseButton.LeftButton:
        return False
    way = (event.position().toPoint() - pressed).manhattanLength()
    return way >= QApplication.startDragDistance()
