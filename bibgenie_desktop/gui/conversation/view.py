"""The conversation: a column of messages of which only the visible ones are widgets.

`ConversationView` keeps rows and their heights (measured where seen, estimated elsewhere) and an anchor:
the lower end, or a row and its place. Whatever changes, what the reader looks at stays where it is. Widgets
that hold a selection or the focus are kept. Actions are wishes; see the signals.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QEvent, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from bibgenie_desktop.gui.components import Menu, Popover, push
from bibgenie_desktop.gui.conversation.answer import AnswerMessage
from bibgenie_desktop.gui.conversation.citation_card import make_popover
from bibgenie_desktop.gui.conversation.copying import copied_text
from bibgenie_desktop.gui.conversation.factory import make_message
from bibgenie_desktop.gui.conversation.heights import Heights, estimate
from bibgenie_desktop.gui.conversation.intents import Intents, Surroundings
from bibgenie_desktop.gui.conversation.layout import Anchor, Frame, walk
from bibgenie_desktop.gui.conversation.menu import message_menu
from bibgenie_desktop.gui.conversation.message import BLEED, MessageWidget, copy_to_clipboard
from bibgenie_desktop.gui.conversation.rows import Allowed, AnswerRow, CitationView, Row, VerbatimRow
from bibgenie_desktop.gui.render.math import MathRenderer
from bibgenie_desktop.gui.theme import current, gap, px
from bibgenie_desktop.gui.tr import tr

READING_WIDTH: Final = 720
MOST_WIDGETS: Final = 40
STREAM_MS: Final = 50
AWAY: Final = -30_000  # where kept widgets wait; hiding them would take their focus


class ConversationView(QAbstractScrollArea):
    """See the module.

    `set_rows`, `append`, `prepend`, `update_row`, `remove`, `stream`; all ids are row ids.
    """

    retry_requested = Signal(str)
    retry_with_requested = Signal(str)
    edit_requested = Signal(str)
    fork_requested = Signal(str)
    sibling_requested = Signal(str, int)
    copy_requested = Signal(str, str)
    """Only for the form "citations": the others are copied by the view itself."""
    quote_requested = Signal(str)
    citation_opened = Signal(object)
    """A `CitationView` whose page is to be opened in Zotero."""
    citation_page_requested = Signal(object)
    """A `CitationView` whose page is to be shown here."""
    link_opened = Signal(str)
    checkpoint_toggled = Signal(str, bool)
    compare_requested = Signal(str)
    older_requested = Signal()
    following_changed = Signal(bool)
    notice = Signal(str)

    def __init__(self, parent: QWidget | None = None, *, math: MathRenderer | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("conversationView")
        self.setAccessibleName(tr("Conversation"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("surface", "canvas")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._math = math or MathRenderer(self)
        self._intents = Intents(self)
        self._shared = Surroundings(self._intents, self._math)
        self._rows: list[Row] = []
        self._index: dict[str, int] = {}
        self._heights = Heights([], gap(24))
        self._measured: set[str] = set()
        self._live: dict[str, MessageWidget] = {}
        self._anchor: Anchor | None = None
        self._older, self._older_asked = 0, False
        self._column = self._value = 0
        self._busy = False
        self._current = ""
        self._newest = ""
        self._hover_card: Popover | None = None
        self._pending: str | None = None
        self._stream_clock = self._clock(STREAM_MS, self._on_stream_timeout)
        self._place_clock = self._clock(0, self._place)
        self._pill = push(tr("New text"), "pill", icon="arrow-down", object_name="newTextPill")
        self._pill.setParent(self)
        self._pill.hide()
        self._pill.clicked.connect(self.scroll_to_end)
        self.viewport().setAutoFillBackground(False)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.verticalScrollBar().rangeChanged.connect(self._on_range_changed)
        current().changed.connect(self._on_theme_changed)
        self._connect_intents()

    def _clock(self, milliseconds: int, slot) -> QTimer:  # type: ignore[no-untyped-def]
        clock = QTimer(self)
        clock.setSingleShot(True)
        clock.setInterval(milliseconds)
        clock.timeout.connect(slot)
        return clock

    def _connect_intents(self) -> None:
        wishes = self._intents
        for name in ("retry", "retry_with", "edit", "fork", "sibling", "quote", "compare"):
            getattr(wishes, f"{name}_requested").connect(getattr(self, f"{name}_requested"))
        for name in ("citation_opened", "link_opened", "checkpoint_toggled", "notice"):
            getattr(wishes, name).connect(getattr(self, name))
        wishes.copy_requested.connect(self._on_copy_requested)
        wishes.card_requested.connect(self._on_card_requested)
        wishes.menu_requested.connect(self._on_menu_requested)

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

    def set_allowed(self, allowed: Allowed | None) -> None:
        """Who says which action can be done with which row, and why not."""
        self._intents.set_allowed(allowed)

    def refresh_actions(self) -> None:
        """The session's state changed: ask again what can be done."""
        for message in self._live.values():
            refresh = getattr(message, "refresh_actions", None)
            if refresh is not None:
                refresh()

    def set_rows(self, rows: Sequence[Row], *, older: int = 0, keep: str = "") -> None:
        """Show other rows, from the end; `keep` names a row that stays where it is on the screen.

        `older`: how many messages there are before the first row.
        """
        held = self._top_of(keep)
        self._flush_stream()
        self._rows = list(rows)
        self._reindex()
        self._heights = Heights([self._estimate(row) for row in self._rows], gap(24))
        self._measured.clear()
        self._older, self._older_asked = older, False
        for row_id, message in list(self._live.items()):
            place = self._index.get(row_id)
            if place is None or not message.update_row(self._rows[place]):
                self._drop(row_id)
        self._anchor = Anchor(self._index[keep], held) if held is not None and keep in self._index else None
        self._current = self._current if self._current in self._index else ""
        self._pill.hide()
        self._place()

    def append(self, row: Row) -> None:
        """A row after the last one."""
        self._flush_stream()
        self._index[row.id] = len(self._rows)
        self._rows.append(row)
        self._heights.append(self._estimate(row))
        self._offer_pill()
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
        if isinstance(row, AnswerRow) and self._pending is not None and place == self._streaming_index():
            self._pending = None
            self._stream_clock.stop()
        self._rows[place] = row
        self._measured.discard(row.id)
        message = self._live.get(row.id)
        if message is not None and not message.update_row(row):
            self._drop(row.id)
        self._offer_pill()
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

    def stream(self, text: str) -> None:
        """The whole text so far of the answer that is being written.

        At most 20 updates a second are shown.
        """
        self._pending = text
        if not self._stream_clock.isActive():
            self._show_stream()
            self._stream_clock.start()

    def message_widget(self, row_id: str) -> MessageWidget | None:
        """The widget of a row, if it is live."""
        return self._live.get(row_id)

    # streaming

    def _streaming_index(self) -> int | None:
        for place in range(len(self._rows) - 1, max(-1, len(self._rows) - 20), -1):
            row = self._rows[place]
            if isinstance(row, AnswerRow) and row.streaming:
                return place
        return None

    def _on_stream_timeout(self) -> None:
        if self._pending is not None:
            self._show_stream()
            self._stream_clock.start()

    def _show_stream(self) -> None:
        text, self._pending = self._pending, None
        place = self._streaming_index()
        if text is None or place is None:
            return
        row = self._rows[place]
        if not isinstance(row, AnswerRow) or row.text == text:
            return
        row = replace(row, text=text)
        self._rows[place] = row
        message = self._live.get(row.id)
        if isinstance(message, AnswerMessage):
            message.stream_text(text, row)
        self._measured.discard(row.id)
        self._offer_pill()
        self._place()

    def _flush_stream(self) -> None:
        self._stream_clock.stop()
        self._show_stream()

    def _offer_pill(self) -> None:
        if not self.is_following and self.isVisible():
            self._pill.show()
            self._place_pill()

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
            message = make_message(row, self._shared)
            message.size_changed.connect(self._on_size_changed)
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
            self._place_messages()
        finally:
            self._busy = False
        self._ask_for_older()

    def _place_messages(self) -> None:
        page, pad = self.viewport().height(), gap(24)
        width = self._column_width()
        if width != self._column:
            self._column = width
            self._measured.clear()
        frame = Frame(page, pad, gap(24))
        tops = walk(self._anchor, len(self._rows), frame, self._measure)
        left = (self.viewport().width() - width) // 2 - gap(BLEED)
        for place, top in tops.items():
            message = self._message(place)
            high = round(self._heights[place])
            message.setGeometry(QRect(left, round(top), width + 2 * gap(BLEED), high))
            number, total = self._number(place)
            message.set_position(number, total)
        self._put_away({self._rows[place].id for place in tops})
        self._mark_newest()
        self._set_scroll_bar(tops, page, pad)

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
            was = self.is_following
            # Everything in view also means that the end is.
            self._anchor = None if at_end else Anchor(first, tops[first])
            value = most if at_end else min(value, max(0, most - 1))
            if at_end:
                self._pill.hide()
            if was != at_end:
                self.following_changed.emit(at_end)
        bar.setRange(0, most)
        bar.setValue(value)
        self._value = bar.value()

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

    def _on_theme_changed(self) -> None:
        self._measured.clear()
        self._heights = Heights([self._estimate(row) for row in self._rows], gap(24))
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
        self._place_pill()
        if self._busy:
            self._place_clock.start()
        else:
            self._place()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._place()

    def _place_pill(self) -> None:
        size = self._pill.sizeHint()
        x = self.viewport().x() + (self.viewport().width() - size.width()) // 2
        self._pill.setGeometry(x, self.height() - size.height() - gap(12), size.width(), size.height())
        self._pill.raise_()

    # scrolling

    def _on_scrolled(self, value: int) -> None:
        if self._busy or not self._rows:
            return
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
        self._anchor = None
        self._pill.hide()
        self._place()

    def scroll_to(self, row_id: str) -> bool:
        """Bring a row to the upper edge; False when it is not among the rows."""
        place = self._index.get(row_id)
        if place is None:
            return False
        self._anchor = Anchor(place, gap(24))
        self._place()
        return True

    def place(self) -> tuple[str, int] | None:
        """What to remember of where the reader is; None: at the end."""
        if self._anchor is None or not self._rows:
            return None
        return self._rows[self._anchor.index].id, round(self._anchor.y)

    def restore(self, place: tuple[str, int] | None) -> None:
        """Go back to a remembered place, if its row is still there."""
        index = self._index.get(place[0]) if place is not None else None
        self._anchor = Anchor(index, place[1]) if index is not None and place is not None else None
        self._place()

    def _show_row(self, place: int) -> None:
        """Scroll just as far as is needed to see a row."""
        message = self._live.get(self._rows[place].id)
        page, pad = self.viewport().height(), gap(24)
        if message is not None and message.y() != AWAY:
            if message.y() >= pad / 2 and message.y() + message.height() <= page:
                return
            if message.y() > 0 and message.height() < page - pad:
                self._anchor = Anchor(place, page - pad - message.height())
                self._place()
                return
        self._anchor = Anchor(place, pad)
        self._place()

    # keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, bar = event.key(), self.verticalScrollBar()
        alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        message = self._live.get(self._current)
        if alt and key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and message is not None:
            siblings = getattr(message.row, "siblings", None)
            step = -1 if key == Qt.Key.Key_Left else 1
            if siblings is not None and 1 <= siblings[0] + step <= siblings[1]:
                self.sibling_requested.emit(self._current, step)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._step(-1 if key == Qt.Key.Key_Up else 1)
        elif key == Qt.Key.Key_Home:
            self._anchor = Anchor(0, gap(24))
            self._place()
        elif key == Qt.Key.Key_End:
            self.scroll_to_end()
        elif key == Qt.Key.Key_PageUp:
            bar.setValue(self._value - bar.pageStep())
        elif key == Qt.Key.Key_PageDown:
            bar.setValue(self._value + bar.pageStep())
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and message is not None and message.toggle_fold():
            pass
        elif key == Qt.Key.Key_Menu and message is not None:
            self._on_menu_requested(self._current)
        else:
            super().keyPressEvent(event)

    def _step(self, by: int) -> None:
        """Move the focus to the next message or the one before."""
        if not self._rows:
            return
        place = self._index.get(self._current)
        if place is None:
            first = self._first_visible()
            place = len(self._rows) - 1 if first is None or self.is_following else first[0]
        else:
            place += by
        place = max(0, min(len(self._rows) - 1, place))
        self.focus_row(self._rows[place].id)

    def focus_row(self, row_id: str) -> None:
        """Give a message the keyboard focus, in view."""
        place = self._index.get(row_id)
        if place is None:
            return
        self._current = row_id
        self._show_row(place)
        message = self._live.get(row_id)
        if message is not None:
            message.setFocus(Qt.FocusReason.OtherFocusReason)

    # menus, cards, copying

    def row_id_of(self, widget: QWidget | None) -> str:
        """The row that a widget belongs to."""
        while widget is not None and widget is not self:
            if isinstance(widget, MessageWidget):
                return widget.row_id
            widget = widget.parentWidget()
        return ""

    def context_menu(self, row_id: str) -> Menu | None:
        """The menu of a message, not yet shown."""
        message = self._live.get(row_id)
        return message_menu(message, self._intents, self) if message is not None else None

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        place = self.viewport().mapFromGlobal(event.globalPos())
        row_id = self.row_id_of(self.viewport().childAt(place))
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            row_id = self._current or row_id
        menu = self.context_menu(row_id)
        if menu is not None:
            menu.aboutToHide.connect(menu.deleteLater)
            menu.popup(event.globalPos())

    def _on_menu_requested(self, row_id: str) -> None:
        menu, message = self.context_menu(row_id), self._live.get(row_id)
        if menu is not None and message is not None:
            menu.aboutToHide.connect(menu.deleteLater)
            corner = message.rect().bottomLeft()
            button = message.findChild(QWidget, "moreButton")
            if button is not None and button.isVisible():
                menu.popup(button.mapToGlobal(button.rect().bottomLeft()))
            else:
                menu.popup(message.mapToGlobal(corner))

    def _on_copy_requested(self, row_id: str, form: str) -> None:
        place, message = self._index.get(row_id), self._live.get(row_id)
        if place is None or message is None:
            return
        if form == "citations":
            self.copy_requested.emit(row_id, form)
            return
        text = copied_text(self._rows[place], message, form)
        if form == "quote":
            self.quote_requested.emit(message.selected_text() or text)
        else:
            copy_to_clipboard(text)
            self.notice.emit(tr("Copied"))

    def _on_card_requested(self, citation: CitationView, place: QRect, by_keyboard: bool) -> None:
        if self._hover_card is not None:
            self._hover_card.close()
        sheet, card = make_popover(citation, self, hover=not by_keyboard)
        card.open_requested.connect(self.citation_opened)
        card.page_requested.connect(self.citation_page_requested)
        card.open_requested.connect(sheet.close)
        card.page_requested.connect(sheet.close)
        card.copied.connect(self._on_copied)
        sheet.closed.connect(self._on_card_closed)
        self._hover_card = sheet
        sheet.open_at(place)

    def _on_card_closed(self) -> None:
        self._hover_card = None

    def _on_copied(self) -> None:
        self.notice.emit(tr("Copied"))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Hide and self._hover_card is not None:
            self._hover_card.close()
        return super().event(event)

    def close_math(self) -> None:
        """Let the formula thread end; called before the window goes."""
        self._math.close()
