"""Own icon set: 24 px grid, 1.75 px round strokes, one colour, tinted when painted.

An icon names a colour role, not a colour: it follows the theme and is sharp at every pixel ratio.
"""

from functools import lru_cache

from PySide6.QtCore import QByteArray, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from bibgenie_desktop.gui.theme.current import current
from bibgenie_desktop.gui.theme.icon_paths import PATHS


def svg(name: str, color: str) -> bytes:
    """The drawing as a document of its own."""
    body = PATHS[name]
    style = f"fill='none' stroke='{color}' stroke-width='1.75' stroke-linecap='round' stroke-linejoin='round'"
    if body.startswith("f:"):
        body, style = body[2:], f"fill='{color}'"
    return f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' {style}>{body}</svg>".encode()


@lru_cache(maxsize=512)
def _renderer(name: str, color: str) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(svg(name, color)))


def paint(painter: QPainter, name: str, rect: QRectF, color: str | QColor) -> None:
    """Draw an icon into a rectangle."""
    _renderer(name, color.name() if isinstance(color, QColor) else color).render(painter, rect)


class _Engine(QIconEngine):
    """Draws the icon in its role's colour of the theme that is current when it is painted."""

    def __init__(self, name: str, role: str) -> None:
        super().__init__()
        self._name, self._role = name, role

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        painter.save()
        if mode == QIcon.Mode.Disabled:
            painter.setOpacity(0.4)
        paint(painter, self._name, QRectF(rect), getattr(current().colors, self._role))
        painter.restore()

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        image = QPixmap(size)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        self.paint(painter, QRect(QPoint(), size), mode, state)
        painter.end()
        return image

    def clone(self) -> QIconEngine:
        return _Engine(self._name, self._role)


def icon(name: str, role: str = "text2") -> QIcon:
    """An icon of the set in a colour role."""
    if name not in PATHS:
        raise KeyError(f"no icon is called {name!r}")
    return QIcon(_Engine(name, role))
