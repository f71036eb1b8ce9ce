"""Where the person writes: attached things, text, context ring, send or stop.

`Composer` shows a `ComposerState` that a presenter computes and reports wishes. It decides nothing but
whether there is something to send.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF, QTimer, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QWidget

from bibgenie_desktop.gui.components import (
    Glyph,
    Ring,
    column,
    fixed,
    gate,
    icon_button,
    label,
    push,
    row,
)
from bibgenie_desktop.gui.composer_chips import AttachedChips
from bibgenie_desktop.gui.composer_edit import ComposerEdit
from bibgenie_desktop.gui.conversation.rows import AttachmentView
from bibgenie_desktop.gui.pictures.thumbnails import Thumbnails
from bibgenie_desktop.gui.theme import current, gap, icons
from bibgenie_desktop.gui.tr import percent, tr

DRAFT_MS = 300


@dataclass(frozen=True, slots=True)
class ComposerState:
    """What the session allows now.

    `send_reason`: why nothing can be sent, else None. `streaming`: Stop takes the place of Send, and Enter
    queues. `frozen`: a text waits to be sent, and why. `read_only`: nothing can be written at all, and why.
    `share`: of the safe limit, draft included; None when unknown.
    """

    send_reason: str | None = None
    streaming: bool = False
    stop_reason: str | None = None
    frozen: str = ""
    read_only: str = ""
    share: float | None = None
    queue_reason: str | None = None


class ContextButton(QToolButton):
    """Ring and percent; a click shows what fills the context."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("contextRing")
        self._ring, self._words = Ring(), label("", "small", "2")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(gap(5), 0, gap(5), 0)
        self._row.setSpacing(gap(6))
        self._row.addWidget(self._ring)
        self._row.addWidget(self._words)
        fixed(self, height=30)
        self.setToolTip(tr("Context in use"))
        self.set_share(None)

    def set_share(self, share: float | None) -> None:
        self.setVisible(share is not None)
        if share is not None:
            self._ring.set_share(share)
            self._words.setText(percent(share))
            self.setAccessibleName(self._ring.accessibleName())
            self.setFixedWidth(self._row.sizeHint().width())


class Composer(QFrame):
    """See the module. Attachments are shown by the presenter: `set_attachments`."""

    send_requested = Signal(str)
    """The text; attachments are the presenter's. While streaming: to be queued."""
    stop_requested = Signal()
    draft_changed = Signal(str)
    edit_last_requested = Signal()
    edit_cancelled = Signal()
    attach_requested = Signal()
    mention_requested = Signal()
    mention_changed = Signal(object)
    mention_key = Signal(int)
    attachment_removed = Signal(str)
    picture_requested = Signal(str, str)
    """Key and name of an attached picture, to be shown large."""
    dropped = Signal(object)
    resources_dropped = Signal(object)
    context_requested = Signal()
    send_refused = Signal(str)
    """Enter was pressed though nothing can be sent: why."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("composer")
        self._state = ComposerState()
        self._editing = False
        self.edit = ComposerEdit()
        self.edit.setObjectName("composerEdit")
        self.edit.setAccessibleName(tr("Message"))
        self._make_buttons()
        self._strip = self._make_strip()
        self._chips = AttachedChips(self.edit)
        bottom = row(self._attach, self._mention, None, self._context, 2, self._send, self._stop, spacing=4)
        self._column = column(
            self._strip, self._chips, self.edit, bottom, spacing=8, margins=(14, 12, 10, 10)
        )
        self.setLayout(self._column)
        self._draft_clock = QTimer(self)
        self._draft_clock.setSingleShot(True)
        self._draft_clock.setInterval(DRAFT_MS)
        self._draft_clock.timeout.connect(self._on_draft_timeout)
        self._connect()
        self.setAcceptDrops(True)
        self.edit.setFont(current().font("read"))
        current().changed.connect(self._on_theme_changed)
        self.set_state(self._state)

    def _make_buttons(self) -> None:
        self._attach = icon_button("clip", tr("Attach files or images"), size=30, object_name="attachButton")
        self._mention = icon_button("at", tr("Mention a Zotero item"), size=30, object_name="mentionButton")
        self._context = ContextButton()
        self._send = icon_button("send", tr("Send"), size=30, role="on_accent", object_name="sendButton")
        self._stop = icon_button("stop", tr("Stop"), size=30, role="on_accent", object_name="stopButton")
        for button in (self._send, self._stop):
            button.setProperty("kind", "primary")

    def _make_strip(self) -> QWidget:
        strip = QWidget()
        strip.setObjectName("editingStrip")
        cancel = push(tr("Cancel"), "quiet", dense=True, object_name="cancelEditButton")
        cancel.clicked.connect(self.edit_cancelled)
        self._strip_words = label(tr("Editing message"), "small", "2")
        strip.setLayout(row(Glyph("edit", "text2", 14), self._strip_words, None, cancel, spacing=6))
        strip.hide()
        return strip

    def _connect(self) -> None:
        self.edit.textChanged.connect(self._on_text_changed)
        self.edit.send_requested.connect(self._on_send_requested)
        self.edit.edit_last_requested.connect(self._on_edit_last_requested)
        self.edit.escaped.connect(self._on_escaped)
        self.edit.dropped.connect(self.dropped)
        self._chips.removed.connect(self.attachment_removed)
        self._chips.opened.connect(self.picture_requested)
        self._chips.left.connect(self.focus_text)
        self.edit.resources_dropped.connect(self.resources_dropped)
        self.edit.mention_changed.connect(self.mention_changed)
        self.edit.mention_key.connect(self.mention_key)
        self.edit.focus_changed.connect(self._on_focus_changed)
        self._send.clicked.connect(self._on_send_requested)
        self._stop.clicked.connect(self.stop_requested)
        self._attach.clicked.connect(self.attach_requested)
        self._mention.clicked.connect(self.mention_requested)
        self._context.clicked.connect(self.context_requested)

    # what stands here

    @property
    def text(self) -> str:
        return self.edit.toPlainText()

    def set_text(self, text: str) -> None:
        """Put a text without announcing it as a change of the draft; the cursor goes to its end."""
        if text != self.text:
            self.edit.setPlainText(text)
            cursor = self.edit.textCursor()
            cursor.movePosition(cursor.MoveOperation.End)
            self.edit.setTextCursor(cursor)
        self._draft_clock.stop()

    def insert(self, text: str) -> None:
        """Insert at the cursor, as if typed; a quote begins on a line of its own."""
        self.edit.insertPlainText(text)
        self.edit.setFocus()

    def quote(self, text: str) -> None:
        """Put a passage before the cursor as a Markdown quote."""
        lines = "\n".join(f"> {line}".rstrip() for line in text.strip().split("\n"))
        cursor = self.edit.textCursor()
        lead = "\n\n" if cursor.positionInBlock() else ""
        self.insert(f"{lead}{lines}\n\n")

    @property
    def attachments(self) -> tuple[AttachmentView, ...]:
        return self._chips.views

    def set_attachments(self, attachments: Sequence[AttachmentView]) -> None:
        """Show what is attached to the draft."""
        self._chips.show_views(attachments)
        self._chips.set_open(not (self._state.frozen or self._state.read_only))
        self._show_send()

    def set_thumbnails(self, thumbnails: Thumbnails) -> None:
        """Where the chips of pictures get what they show."""
        self._chips.set_thumbnails(thumbnails)

    def set_note(self, words: str) -> None:
        """Say something about what is attached; empty: nothing."""
        self._chips.set_note(words)

    def set_editing(self, editing: bool, words: str = "") -> None:
        """Show the strip "Editing message"; Esc and its Cancel ask to end that."""
        self._editing = editing
        self._strip_words.setText(words or tr("Editing message"))
        self._strip.setVisible(editing)
        self._show_send()

    @property
    def is_editing(self) -> bool:
        return self._editing

    def focus_text(self) -> None:
        self.edit.setFocus()

    def flush_draft(self) -> None:
        """Report an unreported change of the draft now."""
        if self._draft_clock.isActive():
            self._draft_clock.stop()
            self._on_draft_timeout()

    # state

    @property
    def state(self) -> ComposerState:
        return self._state

    def set_state(self, state: ComposerState) -> None:
        """Show what can be done."""
        self._state = state
        closed = bool(state.read_only or state.frozen)
        self.edit.setReadOnly(closed)
        self.edit.setEnabled(not state.read_only)
        self.edit.setProperty("tone", "3" if state.frozen else "")
        self.edit.style().unpolish(self.edit)
        self.edit.style().polish(self.edit)
        hint = tr("Add a follow-up") if state.streaming else tr("Ask about your library")
        self.edit.setPlaceholderText(state.read_only or hint)
        self.edit.setToolTip(state.frozen)
        reason = state.read_only or state.frozen or None
        gate(self._attach, reason)
        gate(self._mention, reason)
        self._chips.set_open(not closed)
        self._context.set_share(state.share)
        gate(self._stop, state.stop_reason)
        self._show_send()
        self.edit.fit()
        self.update()

    def reason_against_sending(self) -> str | None:
        """Why Send does nothing now; None when it sends."""
        state = self._state
        if state.read_only or state.frozen:
            return state.read_only or state.frozen
        if not self.text.strip() and not self._chips.views:
            return tr("Nothing to send yet")
        return state.queue_reason if state.streaming else state.send_reason

    def _show_send(self) -> None:
        state, reason = self._state, self.reason_against_sending()
        self._stop.setVisible(state.streaming)
        self._send.setVisible(not state.streaming)
        gate(self._send, reason)
        role = "on_accent" if reason is None else "text3"
        self._send.setIcon(icons.icon("check" if self._editing else "send", role))
        if reason is None:
            words = tr("Send the edited message") if self._editing else tr("Send")
            self._send.setToolTip(words)
            self._send.setAccessibleName(words)

    # what happens

    def _on_text_changed(self) -> None:
        self._draft_clock.start()
        self._show_send()

    def _on_draft_timeout(self) -> None:
        self.draft_changed.emit(self.text)

    def _on_send_requested(self) -> None:
        reason = self.reason_against_sending()
        if reason is None:
            self.flush_draft()
            self.send_requested.emit(self.text)
        else:
            self.send_refused.emit(reason)

    def _on_edit_last_requested(self) -> None:
        if not (self._editing or self._chips.views or self._state.read_only or self._state.frozen):
            self.edit_last_requested.emit()

    def _on_escaped(self) -> None:
        if self._editing:
            self.edit_cancelled.emit()
        elif self._state.streaming and self._state.stop_reason is None:
            self.stop_requested.emit()

    def _on_focus_changed(self, _focused: bool) -> None:
        self.update()

    def _on_theme_changed(self) -> None:
        self.edit.setFont(current().font("read"))
        self.edit.fit()

    # dropped beside the text

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if not self.edit.isReadOnly() and self.edit.canInsertFromMimeData(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        self.edit.take_dropped(event.mimeData())

    def mention_place(self) -> QRect:
        """Where a list of mentions belongs, on the screen."""
        return self.edit.caret_place()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        focused = self.edit.hasFocus() and not self._state.read_only
        painter.setBrush(theme.color("side" if self._state.frozen else "raised"))
        pen = QPen(theme.color("accent"), 1.5) if focused else QPen(theme.color("line_strong"), 1)
        painter.setPen(pen)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 12, 12)
