"""A picture from outside becomes one that can be kept: decoded with limits, upright, scaled once, on white,
without whatever else its file held (place, camera, comments).

Runs in a thread: no widgets, no state.
"""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QColorSpace, QImage, QImageReader, QPainter

from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.services.images import (
    MOST_BYTES,
    MOST_FILE_BYTES,
    Picture,
    PictureRefused,
    fitted,
)

FORMATS: Final = frozenset(("png", "jpeg", "gif", "webp", "bmp", "tiff", "heic", "heif", "avif"))
"""As Qt names them; the last three where the system brings a reader for them."""
QUALITIES: Final = (88, 75, 60)
DRAWING_BYTES: Final = 300_000
"""Up to this size a picture is kept without loss whatever it shows."""
DRAWING_FACTOR: Final = 1.5
"""A picture that is hardly smaller as a photo is a drawing, whose letters a photo would blur."""
_HEIF: Final = (b"heic", b"heix", b"heif", b"hevc", b"mif1", b"msf1", b"avif")


def picture_of(source: bytes | QImage, name: str) -> Picture:
    """Raises `PictureRefused` with a sentence for each cause."""
    image = source if isinstance(source, QImage) else _decoded(source)
    if image.isNull():
        raise PictureRefused(tr("This picture is empty."))
    image = _on_white(image, QSize(*fitted(image.width(), image.height())))
    data, mime = _coded(image)
    return Picture(data, mime, image.width(), image.height(), name)


def _decoded(data: bytes) -> QImage:
    """The first frame, turned as the camera was held, at most twice as large as it will be kept."""
    if not data:
        raise PictureRefused(tr("This file is empty."))
    if len(data) > MOST_FILE_BYTES:
        raise PictureRefused(
            tr("This picture has {0:,} MB; at most 60 MB can be taken.").format(len(data) // 1_000_000),
            tr("Make it smaller in a picture program, or attach a part of it."),
        )
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    try:
        return _first_frame(reader, data)
    finally:
        reader.setDevice(None)  # type: ignore[arg-type]  # some read once more at their end


def _first_frame(reader: QImageReader, data: bytes) -> QImage:
    reader.setAutoTransform(True)
    if bytes(reader.format().data()).decode("ascii", "replace") not in FORMATS:
        raise _unknown(data)
    size = reader.size()
    if not size.isValid():
        raise _broken()
    target = fitted(size.width(), size.height())
    if 2 * max(target) < max(size.width(), size.height()):
        room = QSize(target[0] * 2, target[1] * 2)
        reader.setScaledSize(size.scaled(room, Qt.AspectRatioMode.KeepAspectRatio))
    image = reader.read()
    if not image.isNull():
        return image
    if reader.error() is QImageReader.ImageReaderError.InvalidDataError and _too_deep(size):
        raise PictureRefused(
            tr("This picture takes too much memory."),
            tr("Save it with fewer pixels or 8 bits a colour, and attach it again."),
        )
    raise _broken()


def _too_deep(size: QSize) -> bool:
    """Qt refuses what takes more than its own limit once it is decoded, and calls it invalid."""
    limit = QImageReader.allocationLimit()
    return 0 < limit << 20 < 8 * size.width() * size.height()


def _unknown(data: bytes) -> PictureRefused:
    head = data[:1_000].lstrip().lower()
    if head.startswith((b"<svg", b"<?xml", b"<!doctype svg")) and b"<svg" in data[:100_000].lower():
        return PictureRefused(tr("SVG drawings cannot be taken."), tr("Save it as PNG and attach that."))
    if data[4:8] == b"ftyp" and data[8:12] in _HEIF:
        return PictureRefused(
            tr("HEIC and AVIF photos cannot be read on this computer."),
            tr("Save it as JPEG and attach that."),
        )
    return PictureRefused(
        tr("This is not a picture that can be read here."),
        tr("PNG, JPEG, GIF, WebP, BMP and TIFF can be."),
    )


def _broken() -> PictureRefused:
    return PictureRefused(
        tr("This picture is damaged."), tr("Open it in a picture program and save it again.")
    )


def _on_white(image: QImage, size: QSize) -> QImage:
    """In plain colours and without transparency, which models show as black; only the pixels come along."""
    space = image.colorSpace()
    if space.isValid() and space != QColorSpace(QColorSpace.NamedColorSpace.SRgb):
        converted = image.convertedToColorSpace(QColorSpace(QColorSpace.NamedColorSpace.SRgb))
        image = converted if not converted.isNull() else image
    if image.size() != size:
        ignore, smooth = Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
        image = image.scaled(size, ignore, smooth)
    image.setDevicePixelRatio(1)
    plain = QImage(size, QImage.Format.Format_RGB32)
    if plain.isNull():
        raise PictureRefused(tr("This picture takes too much memory."), tr("Attach a smaller one."))
    plain.fill(Qt.GlobalColor.white)
    painter = QPainter(plain)
    painter.drawImage(0, 0, image)
    painter.end()
    return plain


def _coded(image: QImage) -> tuple[bytes, str]:
    """Drawings without loss, photos small; never above the limit."""
    photo = _written(image, "JPEG", QUALITIES[0])
    drawing = _written(image, "PNG", -1)
    if len(drawing) <= min(MOST_BYTES, max(DRAWING_BYTES, DRAWING_FACTOR * len(photo))):
        return drawing, "image/png"
    for quality in QUALITIES:
        photo = _written(image, "JPEG", quality)
        if len(photo) <= MOST_BYTES:
            return photo, "image/jpeg"
    half = image.scaled(image.size() / 2, mode=Qt.TransformationMode.SmoothTransformation)
    return _coded(half)


def _written(image: QImage, form: str, quality: int) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not image.save(buffer, form, quality):  # type: ignore[call-overload]
        raise PictureRefused(tr("This picture cannot be written."), tr("Attach another one."))
    return bytes(buffer.data().data())
