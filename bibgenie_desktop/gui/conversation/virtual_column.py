"""A column of messages of which only the visible ones are widgets.

`VirtualColumn` keeps rows and their heights (measured where seen, estimated elsewhere) and an anchor: the
lower end, or a row and its place. Whatever changes, what the reader looks at stays where it is. Widgets
that hold a selection or the focus are kept. How the reader moves is `scrolling`'s business; what a row's
widget is and what it asks for, subclasses say.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QRect, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from bibgenie_desktop.gui.conversation.heights import Heights, estimate
from bibgenie_desktop.gui.conversation.layout import Anchor, Frame, walk
from bibgenie_desktop.gui.conversation.message import BLEED, MessageWidget
from bibgenie_desktop.gui.conversation.rows import AnswerRow, Row, VerbatimRow
from bibgenie_desktop.gui.theme import current, gap, px

READING_WIDTH: Final = 720
MOST_WIDGETS: Final = 40
AWAY: Final = -30_000  # where kept widgets wait; hiding them would take their focus


class VirtualColumn(QAbstractScrollArea):
    """Rows and geometry. All ids are row ids."""

    older_requested = Signal()
    """The reader comes near the first row and there are older messages."""
    following_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._rows: list[Row] = []
        self._index: dict[str, int] = {}
        self._heights = Heights([], gap(24))
        self._measured: set[str] = set()
        self._live: dict[str, MessageWidget] = {}
        self._anchor: Anchor | None = None
        self._older, self._older_asked = 0, False
        self._column = self._value = 0
        self._busy, self._was_at_end = False, True
        self._newest = ""
        self._place_clock = self._clock(0, self._place)
        self.viewport().setAutoFillBackground(False)
        self.verticalScrollBar().rangeChanged.connect(self._on_range_changed)
        current().changed.connect(self._on_theme_changed)

    def _clock(self, milliseconds: int, slot: Callable[[], None]) -> QTimer:
        clock = QTimer(self)
        clock.setSingleShot(True)
        clock.setInterval(milliseconds)
        clock.timeout.connect(slot)
        return clock

    # for subclasses

    def _make(self, row: Row) -> MessageWidget:
        """A widget for a row."""
        raise NotImplementedError

    def _on_grown(self) -> None:
        """Something came at the end, or changed."""

    def _on_rows_reset(self) -> None:
        """Other rows are about to be shown."""

    # what is shown

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(self._rows)

    @property
    def is_following(self) -> bool:
        """Whether the end is in view, so that new text is followed."""
        return self._anchor is None

    @property
    def live_widgets(self) -> int:
        return len(self._live)

    def set_rows(self, rows: Sequence[Row], *, older: int = 0, keep: str = "", keep_as: str = "") -> None:
        """Show other rows, from the end; `keep` names a row that stays where it is on the screen, `keep_as`
        the one that takes its place.

        `older`: how many messages there are before the first row.
        """
        held = self._top_of(keep)
        self._on_rows_reset()
        self._rows = list(rows)
        self._reindex()
        self._heights = Heights([self._estimate(row) for row in self._rows], gap(24))
        self._measured.clear()
        self._older, self._older_asked = older, False
        self._busy = True  # what folds by itself meanwhile is measured below, with everything else
        try:
            for row_id, message in list(self._live.items()):
                place = self._index.get(row_id)
                if place is None or not message.update_row(self._rows[place]):
                    self._drop(row_id)
        finally:
            self._busy = False
        place = self._index.get(keep_as or keep)
        self._anchor = Anchor(place, held) if held is not None and place is not None else None
        self._place()

    def append(self, row: Row) -> None:
        """A row after the last one."""
        self._index[row.id] = len(self._rows)
        self._rows.append(row)
        self._heights.append(self._estimate(row))
        self._on_grown()
        self._place()

    def prepend(self, rows: Sequence[Row], *, older: int = 0) -> None:
        """Rows before the first one; what the reader looks at stays in place."""
        self._rows[:0] = rows
        self._heights.prepend([self._estimate(row) for row in rows])
        self._reindex()
        if self._anchor is not None:
            self._anchor = replace(self._anchor, index=self._anchor.index + len(rows))
        self._older, self._older_asked = older, False
        self._place()

    def update_row(self, row: Row) -> None:
        """Show a row anew; an unknown id is appended."""
        place = self._index.get(row.id)
        if place is None:
            self.append(row)
            return
        self._rows[place] = row
        self._measured.discard(row.id)
        message = self._live.get(row.id)
        if message is not None and not message.update_row(row):
            self._drop(row.id)
        self._on_grown()
        self._place()

    def remove(self, row_id: str) -> None:
        """Take a row away."""
        place = self._index.get(row_id)
        if place is None:
            return
        self._drop(row_id)
        del self._rows[place]
        self._heights.remove(place)
        self._reindex()
        if self._anchor is not None and self._anchor.index > place:
            self._anchor = replace(self._anchor, index=self._anchor.index - 1)
        self._place()

    def set_older(self, count: int) -> None:
        """How many messages come before the first row."""
        self._older, self._older_asked = count, False
        self._place()

    def message_widget(self, row_id: str) -> MessageWidget | None:
        """The widget of a row, if it is live."""
        return self._live.get(row_id)

    # geometry

    def _estimate(self, row: Row) -> float:
        width = self._column_width()
        return estimate(row, width, current().font("read").pixelSize())

    def _column_width(self) -> int:
        return max(px(120), min(px(READING_WIDTH), self.viewport().width() - 2 * gap(24)))

    def _reindex(self) -> None:
        self._index = {row.id: place for place, row in enumerate(self._rows)}

    def _top_of(self, row_id: str) -> float | None:
        message = self._live.get(row_id)
        return float(message.y()) if message is not None and message.y() > AWAY else None

    def _message(self, place: int) -> MessageWidget:
        row = self._rows[place]
        message = self._live.pop(row.id, None)
        if message is None:
            message = self._make(row)
            message.size_changed.connect(self._on_size_changed)
            message.fold_moved.connect(self._on_fold_moved)
            message.setParent(self.viewport())
            message.move(0, AWAY)
            message.show()
            self._measured.discard(row.id)
        self._live[row.id] = message  # the most recently used is last
        return message

    def _measure(self, place: int) -> float:
        row_id = self._rows[place].id
        message = self._message(place)
        if row_id not in self._measured:
            width = self._column_width() + 2 * gap(BLEED)
            if message.width() != width:
                message.resize(width, message.height())
            self._heights.set(place, message.height_at(width))
            self._measured.add(row_id)
        return self._heights[place]

    def _place(self) -> None:
        """Put every visible message where it belongs, and let the scroll bar say so."""
        if self._busy or not self.isVisible():
            return
        self._busy = True
        try:
            self._place_clock.stop()
            for _ in range(3):
                # Showing the scroll bar changes the room that is left.
                width = self.viewport().width()
                self._place_messages()
                if self.viewport().width() == width:
                    break
        finally:
            self._busy = False
        self._ask_for_older()

    def _place_messages(self) -> None:
        page, pad = self.viewport().height(), gap(24)
        width = self._column_width()
        if width != self._column:
            self._column = width
            self._measure_anew()
        frame = Frame(page, pad, gap(24))
        tops = walk(self._anchor, len(self._rows), frame, self._measure)
        left = (self.viewport().width() - width) // 2 - gap(BLEED)
        for place, top in tops.items():
            message = self._message(place)
            high = round(self._heights[place])
            message.setGeometry(QRect(left, round(top), width + 2 * gap(BLEED), high + message.overhang))
            number, total = self._number(place)
            message.set_position(number, total)
        self._put_away({self._rows[place].id for place in tops})
        self._mark_newest()
        self._set_scroll_bar(tops, page, pad)

    def _measure_anew(self) -> None:
        """All heights change; the anchor keeps its share of a message that is partly scrolled out."""
        self._measured.clear()
        anchor = self._anchor
        if anchor is not None and anchor.y < 0 and anchor.index < len(self._rows):
            share = anchor.y / max(1.0, self._heights[anchor.index])
            self._anchor = replace(anchor, y=share * self._measure(anchor.index))

    def _number(self, place: int) -> tuple[int, int]:
        marks = [i for i, row in enumerate(self._rows[-200:]) if isinstance(row, VerbatimRow)]
        before = sum(max(0, len(self._rows) - 200) + i < place for i in marks)
        return self._older + place + 1 - before, self._older + len(self._rows) - len(marks)

    def _put_away(self, visible: set[str]) -> None:
        spare = len(self._live) - max(MOST_WIDGETS, len(visible))
        for row_id, message in list(self._live.items()):
            if row_id in visible:
                continue
            if spare > 0 and not message.is_held():
                self._drop(row_id)
                spare -= 1
            elif message.y() != AWAY:
                message.move(message.x(), AWAY)

    def _drop(self, row_id: str) -> None:
        message = self._live.pop(row_id, None)
        self._measured.discard(row_id)
        if message is not None:
            message.hide()
            message.deleteLater()

    def _set_scroll_bar(self, tops: dict[int, float], page: int, pad: int) -> None:
        bar = self.verticalScrollBar()
        total = round(self._heights.total()) + 2 * pad
        most = max(0, total - page)
        bar.setPageStep(max(1, page - px(40)))
        bar.setSingleStep(px(40))
        value = 0
        if tops:
            first = next(iter(tops))
            value = round(pad + self._heights.top(first) - tops[first])
            last = len(self._rows) - 1
            at_end = last in tops and tops[last] + self._heights[last] <= page - pad + 1
            # Everything in view also means that the end is.
            self._anchor = None if at_end else self._held(tops)
            value = most if at_end else min(value, max(0, most - 1))
            if self._was_at_end != at_end:
                self._was_at_end = at_end
                self.following_changed.emit(at_end)
        bar.setRange(0, most)
        bar.setValue(value)
        self._value = bar.value()

    def _held(self, tops: dict[int, float]) -> Anchor:
        """What the reader looks at: the first row of which more than an edge is seen."""
        for place, top in tops.items():
            if top + self._heights[place] > gap(24):
                return Anchor(place, top)
        first = next(iter(tops))
        return Anchor(first, tops[first])

    def _mark_newest(self) -> None:
        newest = ""
        for row in reversed(self._rows[-6:]):
            if isinstance(row, AnswerRow) and not row.streaming:
                newest = row.id
                break
        for row_id in {self._newest, newest}:
            message = self._live.get(row_id)
            if message is not None:
                message.show_as_newest(row_id == newest)
        self._newest = newest

    def _ask_for_older(self) -> None:
        near = self._value < 2 * self.viewport().height()
        if self._older and near and not self._older_asked and self._rows:
            self._older_asked = True
            self.older_requested.emit()

    def _on_size_changed(self, row_id: str) -> None:
        if self._busy:
            return
        self._measured.discard(row_id)
        self._place_clock.start()

    def _on_fold_moved(self, row_id: str) -> None:
        """A message grows or shrinks under the reader's hand: its top stays where it is."""
        place, message = self._index.get(row_id), self._live.get(row_id)
        self._measured.discard(row_id)
        if self._busy or place is None or message is None:
            return
        if message.y() != AWAY:
            self._anchor = Anchor(place, float(message.y()))
        self._place()

    def _on_theme_changed(self) -> None:
        self._heights.gap = gap(24)
        for row_id in list(self._live):
            if not self._live[row_id].is_held():
                self._drop(row_id)
        self._column = 0
        self._place_clock.start()

    def _on_range_changed(self, least: int, most: int) -> None:
        """Keep the column over the composer's middle whether the scroll bar shows or not."""
        self.setViewportMargins(self.verticalScrollBar().sizeHint().width() if most > least else 0, 0, 0, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._busy:
            self._place_clock.start()
        else:
            self._place()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._place()
