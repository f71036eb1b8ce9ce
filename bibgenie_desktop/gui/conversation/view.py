"""The conversation as a person uses it: actions, streaming text, keyboard, menus, citation cards.

Rows go in (`set_rows`, `append`, `prepend`, `update_row`, `remove`, `stream`), wishes come out as signals.
Where messages stand is `virtual_column`'s business, how one moves among them `scrolling`'s, what they look
like the message widgets'.
"""

from dataclasses import replace
from typing import Final

from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from bibgenie_desktop.gui.components import Menu, Popover, push
from bibgenie_desktop.gui.conversation.answer import AnswerMessage
from bibgenie_desktop.gui.conversation.citation_card import make_popover
from bibgenie_desktop.gui.conversation.copying import copied_text
from bibgenie_desktop.gui.conversation.factory import make_message
from bibgenie_desktop.gui.conversation.intents import Intents, Surroundings
from bibgenie_desktop.gui.conversation.menu import message_menu
from bibgenie_desktop.gui.conversation.message import MessageWidget, copy_to_clipboard
from bibgenie_desktop.gui.conversation.rows import Allowed, AnswerRow, CitationView, Row
from bibgenie_desktop.gui.conversation.scrolling import ScrollingColumn
from bibgenie_desktop.gui.pictures.thumbnails import Thumbnails
from bibgenie_desktop.gui.render.math import MathRenderer
from bibgenie_desktop.gui.theme import gap
from bibgenie_desktop.gui.tr import tr

STREAM_MS: Final = 50


class ConversationView(ScrollingColumn):
    """See the module.

    `set_rows`, `append`, `prepend`, `update_row`, `remove`, `stream`; all ids are row ids.
    """

    retry_requested = Signal(str)
    retry_with_requested = Signal(str)
    go_on_requested = Signal(str)
    edit_requested = Signal(str)
    fork_requested = Signal(str)
    sibling_requested = Signal(str, int)
    copy_requested = Signal(str, str)
    """Only for the forms that need the library: "citations" in the style used last, "cite_as" in another."""
    quote_requested = Signal(str)
    citation_opened = Signal(object)
    """A `CitationView` whose page is to be opened in Zotero."""
    citation_page_requested = Signal(object)
    """A `CitationView` whose page is to be shown here."""
    link_opened = Signal(str)
    checkpoint_toggled = Signal(str, bool)
    compare_requested = Signal(str)
    whole_text_requested = Signal(str)
    pin_requested = Signal(str)
    picture_requested = Signal(str, str)
    """A picture's key and name, to be shown large."""
    notice = Signal(str)

    def __init__(self, parent: QWidget | None = None, *, math: MathRenderer | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("conversationView")
        self.setAccessibleName(tr("Conversation"))
        self.setProperty("surface", "canvas")
        self._math = math or MathRenderer(self)
        self._intents = Intents(self)
        self._shared = Surroundings(self._intents, self._math)
        self._current = ""
        self._hover_card: Popover | None = None
        self._pending: str | None = None
        self._stream_clock = self._clock(STREAM_MS, self._on_stream_timeout)
        self._pill = push(tr("New text"), "pill", icon="arrow-down", object_name="newTextPill")
        self._pill.setParent(self)
        self._pill.hide()
        self._pill.clicked.connect(self.scroll_to_end)
        self.following_changed.connect(self._on_following_changed)
        self._connect_intents()

    def _connect_intents(self) -> None:
        wishes = self._intents
        names = (
            "retry",
            "retry_with",
            "go_on",
            "edit",
            "fork",
            "sibling",
            "quote",
            "compare",
            "whole_text",
            "pin",
            "picture",
        )
        for name in names:
            getattr(wishes, f"{name}_requested").connect(getattr(self, f"{name}_requested"))
        for name in ("citation_opened", "link_opened", "checkpoint_toggled", "notice"):
            getattr(wishes, name).connect(getattr(self, name))
        wishes.copy_requested.connect(self._on_copy_requested)
        wishes.card_requested.connect(self._on_card_requested)
        wishes.menu_requested.connect(self._on_menu_requested)

    # state

    def set_allowed(self, allowed: Allowed | None) -> None:
        """Who says which action can be done with which row, and why not."""
        self._intents.set_allowed(allowed)

    def set_thumbnails(self, thumbnails: Thumbnails) -> None:
        """Where messages made from now on get their small pictures."""
        self._shared.thumbnails = thumbnails

    def refresh_actions(self) -> None:
        """The session's state changed: ask again what can be done."""
        for message in self._live.values():
            refresh = getattr(message, "refresh_actions", None)
            if refresh is not None:
                refresh()

    def _make(self, row: Row) -> MessageWidget:
        return make_message(row, self._shared)

    def _on_grown(self) -> None:
        self._offer_pill()

    def _on_rows_reset(self) -> None:
        super()._on_rows_reset()
        self._pending = None
        self._stream_clock.stop()
        self._pill.hide()

    def _on_following_changed(self, following: bool) -> None:
        if following:
            self._pill.hide()

    def append(self, row: Row) -> None:
        self._flush_stream()
        super().append(row)

    def update_row(self, row: Row) -> None:
        place = self._index.get(row.id)
        if place is not None and place == self._streaming_index():
            # A whole row says more than the text that still waits.
            self._pending = None
            self._stream_clock.stop()
        super().update_row(row)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_pill()

    # streaming

    def stream(self, text: str) -> None:
        """The whole text so far of the answer that is being written.

        At most 20 updates a second are shown.
        """
        self._pending = text
        if not self._stream_clock.isActive():
            self._show_stream()
            self._stream_clock.start()

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

    def _place_pill(self) -> None:
        size = self._pill.sizeHint()
        x = self.viewport().x() + (self.viewport().width() - size.width()) // 2
        self._pill.setGeometry(x, self.height() - size.height() - gap(12), size.width(), size.height())
        self._pill.raise_()

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
            self.scroll_to_start()
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
        if form in ("citations", "cite_as"):
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
