"""Kept pictures small, for chips and messages: asked for by content hash, there at once or a moment later."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, QSize, Qt, Signal
from PySide6.QtGui import QImage, QImageReader

EDGE: Final = 640
"""Pixels: the largest thumbnail at the largest text on a fine screen."""
MOST_BYTES: Final = 48 << 20


def small(data: bytes, edge: int = EDGE) -> QImage:
    """A kept picture, its longer edge at most so many pixels; null where it cannot be read. For a thread."""
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    size = reader.size()
    if size.isValid() and max(size.width(), size.height()) > edge:
        reader.setScaledSize(size.scaled(QSize(edge, edge), Qt.AspectRatioMode.KeepAspectRatio))
    image = reader.read()
    reader.setDevice(None)  # type: ignore[arg-type]  # some read once more at their end
    return image


class Thumbnails(QObject):
    """Whoever shows one asks with `get` and listens to `ready`; `wanted` tells who can bring it."""

    wanted = Signal(str)
    ready = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._known: OrderedDict[str, QImage] = OrderedDict()
        self._asked: set[str] = set()
        self._bytes = 0

    def get(self, key: str) -> QImage | None:
        """None while it is fetched; a null image where there is none."""
        image = self._known.get(key)
        if image is not None:
            self._known.move_to_end(key)
        elif key not in self._asked:
            self._asked.add(key)
            self.wanted.emit(key)
        return image

    def knows(self, key: str) -> bool:
        return key in self._known

    def put(self, key: str, image: QImage) -> None:
        self._asked.discard(key)
        old = self._known.pop(key, None)
        self._bytes += image.sizeInBytes() - (old.sizeInBytes() if old is not None else 0)
        self._known[key] = image
        while self._bytes > MOST_BYTES and len(self._known) > 1:
            _, dropped = self._known.popitem(last=False)
            self._bytes -= dropped.sizeInBytes()
        self.ready.emit(key)
