"""Formulas as pictures, made off the event loop by ziamath and kept by what they look like.

`MathRenderer` belongs to one window. It answers at once from its cache, else with nothing, and says `ready`
later.
"""

from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Final
from xml.etree import ElementTree

from PySide6.QtCore import QByteArray, QObject, QRectF, QSize, Qt, QThreadPool, QTimer, Signal
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

KEPT: Final = 512
MOST_PIXELS: Final = 8_000_000


@dataclass(frozen=True, slots=True)
class MathKey:
    """All that decides what a formula looks like."""

    tex: str
    display: bool
    size: float
    color: str
    ratio: float


@dataclass(frozen=True, slots=True)
class MathImage:
    """A drawn formula: its picture, and how far it reaches above and below the base line, in logical
    pixels.
    """

    image: QImage
    ascent: float
    descent: float


def draw(key: MathKey) -> MathImage | None:
    """Draw a formula; None if it is not TeX that can be read. Safe in any thread."""
    try:
        # Half a second, and only for who uses formulas.
        from ziamath.config import config
        from ziamath.zmath import Latex

        config.svg2 = False  # QtSvg does not draw glyphs that are only referred to
        svg: str = Latex(key.tex, size=key.size, color=key.color, inline=not key.display).svg()
        box = [float(v) for v in ElementTree.fromstring(svg).attrib["viewBox"].split()]
    except Exception:  # noqa: BLE001 - its parser raises whatever it stumbles over
        return None
    _, top, width, height = box
    if not 0 < width * height * key.ratio**2 < MOST_PIXELS:
        return None
    renderer = QSvgRenderer(QByteArray(svg.encode()))
    size = QSize(max(1, round(width * key.ratio)), max(1, round(height * key.ratio)))
    image = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter, QRectF(0, 0, size.width(), size.height()))
    painter.end()
    image.setDevicePixelRatio(key.ratio)
    return MathImage(image, -top, height + top)


class MathRenderer(QObject):
    """Draws formulas one after the other in a thread of its own. `close()` before the application ends."""

    ready = Signal(object)
    """Carries the `MathKey` that can be had now."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._known: OrderedDict[MathKey, MathImage | None] = OrderedDict()
        self._asked: set[MathKey] = set()
        # The thread never touches a QObject: it puts results here, and the timer takes them out.
        self._results: SimpleQueue[tuple[MathKey, MathImage | None]] = SimpleQueue()
        self._pool = QThreadPool()
        self._pool.setMaxThreadCount(1)
        pool = self._pool

        def finish() -> None:
            with suppress(RuntimeError):  # at the end of the program the pool may have gone first
                pool.clear()
                pool.waitForDone()

        self.destroyed.connect(finish)
        self._timer = QTimer(self)
        self._timer.setInterval(15)
        self._timer.timeout.connect(self._on_timeout)

    def get(self, key: MathKey) -> MathImage | None:
        """The drawn formula. None: not yet, or never; see `failed`."""
        found = self._known.get(key)
        if found is not None:
            self._known.move_to_end(key)
        elif key not in self._known and key not in self._asked:
            self._ask(key)
        return found

    def failed(self, key: MathKey) -> bool:
        """Whether this formula cannot be drawn."""
        return key in self._known and self._known[key] is None

    def close(self) -> None:
        """Give up what waits and let the running one finish."""
        self._timer.stop()
        self._pool.clear()
        self._pool.waitForDone()
        self._asked.clear()

    def _ask(self, key: MathKey) -> None:
        results = self._results

        def job() -> None:
            results.put((key, draw(key)))

        self._asked.add(key)
        self._pool.start(job)
        self._timer.start()

    def _on_timeout(self) -> None:
        with suppress(Empty):
            while True:
                key, result = self._results.get_nowait()
                self._asked.discard(key)
                self._known[key] = result
                while len(self._known) > KEPT:
                    self._known.popitem(last=False)
                self.ready.emit(key)
        if not self._asked:
            self._timer.stop()
