"""Pages of a PDF as pictures, inside the worker process: drawn with limits, written as PNG.

Positions are those of Zotero's annotations: points of the page as it lies in the file, from its lower left.
"""

from __future__ import annotations

import base64
import ctypes
import math
import struct
import zlib
from typing import Any, Final

import pypdfium2.raw as pdfium

MOST_EDGE: Final = 2_000
"""Pixels of the longer edge, whatever is asked for."""
MOST_BYTES: Final = 3_000_000
LEAST_DPI, MOST_DPI = 20, 300
MARGIN: Final = 6.0
"""Points around a marked area: its border belongs to what is shown."""
LEAST_AREA: Final = 4.0
MOST_POINTS: Final = 100_000.0
_FINE: Final = 16
"""Steps per point in which a position is turned into one of the page as it is shown."""


def drawing_of(document: Any, request: dict[str, Any]) -> dict[str, Any]:
    """The page `page`, or `area` of it, at `dpi`, its longer edge at most `edge` pixels."""
    page = document[int(request["page"])]
    try:
        wide, high = page.get_size()
        if not (0 < wide < MOST_POINTS and 0 < high < MOST_POINTS):
            raise ValueError("size")
        left, top, right, bottom = _shown(page, wide, high, request.get("area"))
        longer = max(right - left, bottom - top)
        edge = min(MOST_EDGE, max(1, int(request["edge"])))
        dpi = min(MOST_DPI, max(LEAST_DPI, int(request["dpi"])))
        scale = min(dpi / 72, edge / longer)
        crop = (left, high - bottom, wide - right, top)
        data, size = _within_limit(page, scale, crop)
    finally:
        page.close()
    return {"png": base64.b64encode(data).decode("ascii"), "width": size[0], "height": size[1]}


def _within_limit(page: Any, scale: float, crop: tuple[float, ...]) -> tuple[bytes, tuple[int, int]]:
    """Scans in colour make large files: grey first, then smaller."""
    gray = False
    while True:
        bitmap = page.render(scale=scale, crop=crop, may_draw_forms=False, rev_byteorder=True, grayscale=gray)
        try:
            data = _png(bitmap)
            size = (bitmap.width, bitmap.height)
        finally:
            bitmap.close()
        if len(data) <= MOST_BYTES:
            return data, size
        if gray:
            scale *= 0.7
        gray = True


def _shown(page: Any, wide: float, high: float, area: Any) -> tuple[float, float, float, float]:
    """(left, top, right, bottom) in points of the page as it is shown, from its upper left."""
    if not area:
        return 0.0, 0.0, wide, high
    x0, y0, x1, y1 = (float(value) for value in area)
    if not all(math.isfinite(v) and abs(v) < MOST_POINTS for v in (x0, y0, x1, y1)):
        raise ValueError("area")
    corners = [_shown_at(page, wide, high, x, y) for x, y in ((x0, y0), (x1, y1))]
    left, right = sorted(corner[0] for corner in corners)
    top, bottom = sorted(corner[1] for corner in corners)
    left, top = max(0.0, left - MARGIN), max(0.0, top - MARGIN)
    right, bottom = min(wide, right + MARGIN), min(high, bottom + MARGIN)
    if right - left < LEAST_AREA or bottom - top < LEAST_AREA:
        return 0.0, 0.0, wide, high  # marked beside the page: better all of it than nothing
    return left, top, right, bottom


def _shown_at(page: Any, wide: float, high: float, x: float, y: float) -> tuple[float, float]:
    """Where a point of the file lies on the page as shown: turned, and cut to its box."""
    across, down = ctypes.c_int(), ctypes.c_int()
    size = (math.ceil(wide * _FINE), math.ceil(high * _FINE))
    pdfium.FPDF_PageToDevice(page, 0, 0, *size, 0, x, y, ctypes.byref(across), ctypes.byref(down))
    return across.value / _FINE, down.value / _FINE


def _png(bitmap: Any) -> bytes:
    """Written here: the library that would do it is no part of this application. Pages are mostly blank,
    which packs well without filters."""
    wide, high, stride, channels = bitmap.width, bitmap.height, bitmap.stride, bitmap.n_channels
    raw = bytes(bitmap.buffer)
    row = wide * channels
    pixels = raw if stride == row else b"".join(raw[y * stride : y * stride + row] for y in range(high))
    pixels = pixels[: row * high]
    if channels == 3 and pixels[0::3] == pixels[1::3] == pixels[2::3]:
        pixels, channels, row = pixels[0::3], 1, wide
    if channels not in (1, 3):
        raise ValueError("channels")
    lines = b"".join(b"\x00" + pixels[y * row : (y + 1) * row] for y in range(high))
    header = struct.pack(">IIBBBBB", wide, high, 8, 2 if channels == 3 else 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
