"""How a reader moves through the column: the scroll bar, going to a row, remembering a place.

Going to a row is a short motion, so that one sees where it went; whatever the reader does meanwhile ends it.
"""

from typing import Final

from PySide6.QtCore import QEasingCurve, QVariantAnimation
from PySide6.QtWidgets import QWidget

from bibgenie_desktop.gui.conversation.layout import Anchor
from bibgenie_desktop.gui.conversation.virtual_column import AWAY, VirtualColumn
from bibgenie_desktop.gui.theme import current, gap

GLIDE_MS: Final = 180


class ScrollingColumn(VirtualColumn):
    """A column that can be scrolled and gone to. All ids are row ids."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self._gliding = ""
        self._motion = QVariantAnimation(self)
        self._motion.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._motion.valueChanged.connect(self._on_glided)
        self._motion.finished.connect(self.stop_gliding)

    def _on_scrolled(self, value: int) -> None:
        if self._busy or not self._rows:
            return
        self.stop_gliding()
        by = value - self._value
        bar = self.verticalScrollBar()
        if value >= bar.maximum():
            self._anchor = None
        elif abs(by) <= 2 * self.viewport().height() and (place := self._first_visible()) is not None:
            self._anchor = Anchor(place[0], place[1] - by)
        else:
            at = value - gap(24)
            place_at = self._heights.index_at(at)
            self._anchor = Anchor(place_at, self._heights.top(place_at) - at)
        self._place()

    def _first_visible(self) -> tuple[int, float] | None:
        if self._anchor is not None:
            return self._anchor.index, self._anchor.y
        for place in range(len(self._rows) - 1, -1, -1):
            message = self._live.get(self._rows[place].id)
            if message is None or message.y() == AWAY:
                return None
            if message.y() <= 0 or place == 0:
                return place, float(message.y())
        return None

    def scroll_to_end(self) -> None:
        self.stop_gliding()
        self._anchor = None
        self._place()

    def scroll_to_start(self) -> None:
        self.stop_gliding()
        self._anchor = Anchor(0, gap(24))
        self._place()

    def scroll_to(self, row_id: str) -> bool:
        """Bring a row to the upper edge; False when it is not among the rows."""
        place = self._index.get(row_id)
        if place is None:
            return False
        self.stop_gliding()
        start, end = self._distance(place), float(gap(24))
        duration = current().duration(GLIDE_MS) if self.isVisible() and start != end else 0
        # Further away than a page nothing is gained by seeing it pass.
        page = float(self.viewport().height())
        start = max(end - page, min(end + page, start)) if duration else end
        self._anchor = Anchor(place, start)
        self._place()
        if duration:
            self._motion.setDuration(duration)
            self._motion.setStartValue(start)
            self._motion.setEndValue(end)
            self._gliding = row_id  # only now: it speaks while it is set up
            self._motion.start()
        return True

    def _distance(self, place: int) -> float:
        """About where the top of a row is now, from the upper edge."""
        message = self._live.get(self._rows[place].id)
        if message is not None and message.y() != AWAY:
            return float(message.y())
        return self._heights.top(place) + gap(24) - self._value

    def _on_glided(self, y: float) -> None:
        place = self._index.get(self._gliding)
        if place is None:
            self.stop_gliding()
            return
        self._anchor = Anchor(place, y)
        self._place()

    def stop_gliding(self) -> None:
        """Stay where one is."""
        self._gliding = ""
        self._motion.stop()

    def _on_rows_reset(self) -> None:
        self.stop_gliding()

    def place(self) -> tuple[str, int] | None:
        """What to remember of where the reader is; None: at the end."""
        if self._anchor is None or not self._rows:
            return None
        return self._rows[self._anchor.index].id, round(self._anchor.y)

    def restore(self, place: tuple[str, int] | None) -> None:
        """Go back to a remembered place, if its row is still there."""
        self.stop_gliding()
        index = self._index.get(place[0]) if place is not None else None
        self._anchor = Anchor(index, place[1]) if index is not None and place is not None else None
        self._place()

    def _show_row(self, place: int) -> None:
        """Scroll just as far as is needed to see a row."""
        self.stop_gliding()
        message = self._live.get(self._rows[place].id)
        page, pad = self.viewport().height(), gap(24)
        if message is not None and message.y() != AWAY:
            high = message.height() - message.overhang
            if message.y() >= pad / 2 and message.y() + high <= page:
                return
            if message.y() > 0 and high < page - pad:
                self._anchor = Anchor(place, page - pad - high)
                self._place()
                return
        self._anchor = Anchor(place, pad)
        self._place()
