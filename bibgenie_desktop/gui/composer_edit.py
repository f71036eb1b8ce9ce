"""The text field of the composer: keys, input methods, what is pasted or dropped.

It knows no other widget.
"""

import re
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QEvent, QMimeData, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QDropEvent,
    QFocusEvent,
    QImage,
    QInputMethodEvent,
    QKeyEvent,
    QResizeEvent,
    QTextBlock,
    QTextCursor,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy

from bibgenie_desktop.services.library.payloads import Payload, is_zotero, names_resources

MOST_LINES: Final = 8
CODED: Final = ("image/png", "image/jpeg", "image/webp", "image/gif", "image/tiff", "image/bmp")
# Not in an address such as me@home; Chinese puts no blank before it. Several words may follow.
MENTION: Final = re.compile(r"(?<![A-Za-z0-9_.+@-])@((?:[^\s@][^@\n]{0,59})?)$")
ENTER: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
MENTION_KEYS: Final = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Tab, Qt.Key.Key_Escape, *ENTER)


@dataclass(frozen=True, slots=True)
class Dropped:
    """What was pasted or dropped, other than plain text: local files, or a picture, coded where the other
    program gives it so."""

    files: tuple[str, ...] = ()
    image: QImage | bytes | None = None
    text: str = ""


class ComposerEdit(QPlainTextEdit):
    """Grows from one line to eight, then scrolls."""

    send_requested = Signal()
    edit_last_requested = Signal()
    escaped = Signal()
    dropped = Signal(object)
    resources_dropped = Signal(object)
    """A `Payload` that names works, notes or annotations of Zotero; if none is known, its text is meant."""
    mention_changed = Signal(object)
    """What stands after an @ at the cursor; None when there is no @."""
    mention_key = Signal(int)
    """A key that belongs to the open list of mentions."""
    focus_changed = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self._composing = self._dropping = False
        self._mention: str | None = None
        self._mention_open = False
        self.setProperty("type", "read")
        self.document().setDocumentMargin(0)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.textChanged.connect(self._on_text_changed)
        self.cursorPositionChanged.connect(self._look_for_mention)

    @property
    def is_composing(self) -> bool:
        """Whether an input method has not finished a word."""
        return self._composing

    def set_mention_open(self, shown: bool) -> None:
        """While a list of mentions is open, arrows, Enter, Tab and Esc are its keys."""
        self._mention_open = shown

    def take_mention(self) -> None:
        """Remove the @ and what was typed after it."""
        if self._mention is None:
            return
        cursor = self.textCursor()
        step = QTextCursor.MoveOperation.PreviousCharacter
        for _ in range(len(self._mention) + 1):
            cursor.movePosition(step, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()

    def caret_place(self) -> QRect:
        """Where the caret is, on the screen."""
        rect = self.cursorRect()
        return QRect(self.viewport().mapToGlobal(rect.topLeft()), rect.size())

    # height

    def lines(self) -> int:
        """Lines as they are shown."""
        count, block = 0, self.document().begin()
        while block.isValid():
            count += max(1, _line_count(block))
            if count > MOST_LINES:
                break
            block = block.next()
        return max(1, count)

    def fit(self) -> None:
        """As high as the text, up to the limit."""
        lines = self.lines()
        high = round(self.fontMetrics().lineSpacing() * min(lines, MOST_LINES)) + 6
        if high != self.height():
            self.setFixedHeight(high)
        as_needed = Qt.ScrollBarPolicy.ScrollBarAsNeeded
        off = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(as_needed if lines > MOST_LINES else off)
        if lines <= MOST_LINES:
            self.verticalScrollBar().setValue(0)

    def _on_text_changed(self) -> None:
        self.fit()
        self._look_for_mention()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def minimumSizeHint(self) -> QSize:
        return QSize(40, self.fontMetrics().lineSpacing() + 6)

    # keys

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, modifiers = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if self._composing:
            super().keyPressEvent(event)
        elif self._mention_open and key in MENTION_KEYS and not modifiers:
            self.mention_key.emit(key)
        elif key in ENTER and modifiers == Qt.KeyboardModifier.ShiftModifier:
            if not self.isReadOnly():
                self.insertPlainText("\n")  # Qt's own would be a line separator
                self.ensureCursorVisible()
        elif key in ENTER and modifiers in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.ControlModifier,
        ):
            self.send_requested.emit()
        elif key == Qt.Key.Key_Up and not modifiers and not self.toPlainText():
            self.edit_last_requested.emit()
        elif key == Qt.Key.Key_Escape:
            self.escaped.emit()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """The keys of an open list of mentions come before the window's shortcuts."""
        asked = event.type() == QEvent.Type.ShortcutOverride and self._mention_open and not self._composing
        if asked and isinstance(event, QKeyEvent) and event.key() in MENTION_KEYS:
            event.accept()
            return True
        return super().event(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab is a key of the open list of mentions before it leads on."""
        return False if self._mention_open and forward else super().focusNextPrevChild(forward)

    def _look_for_mention(self) -> None:
        cursor = self.textCursor()
        before = cursor.block().text()[: cursor.positionInBlock()]
        found = MENTION.search(before) if not cursor.hasSelection() and not self.isReadOnly() else None
        mention = found[1] if found else None
        if mention != self._mention:
            self._mention = mention
            self.mention_changed.emit(mention)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._composing = False
        self.focus_changed.emit(False)

    # pasting and dropping

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        wanted = source.hasImage() or source.hasUrls() or bool(_zotero_formats(source))
        return wanted or super().canInsertFromMimeData(source)

    def dropEvent(self, event: QDropEvent) -> None:
        self._dropping = True
        try:
            super().dropEvent(event)
        finally:
            self._dropping = False

    def take_dropped(self, source: QMimeData) -> None:
        """What was dropped beside the text."""
        self._dropping = True
        try:
            self.insertFromMimeData(source)
        finally:
            self._dropping = False

    def insertFromMimeData(self, source: QMimeData) -> None:
        payload = _payload(source, dropped=self._dropping)
        if names_resources(payload):
            self.resources_dropped.emit(payload)
            return
        files = tuple(url.toLocalFile() for url in source.urls() if url.isLocalFile())
        picture = _picture(source) if not files else None
        if files or picture is not None:
            self.dropped.emit(Dropped(files, picture, source.text()))
        else:
            self.insertPlainText(payload.text)


def _picture(source: QMimeData) -> QImage | bytes | None:
    """The picture that is meant: one beside words is how another program shows them, and the words count.

    Coded bytes are preferred, for they can be decoded elsewhere and within limits.
    """
    words = source.text().strip()
    if words and (len(words.split()) > 1 or "://" not in words):
        return None
    for name in CODED:
        if source.hasFormat(name) and (data := bytes(source.data(name).data())):
            return data
    image = source.imageData() if source.hasImage() else None
    return image if isinstance(image, QImage) and not image.isNull() else None


def _payload(source: QMimeData, *, dropped: bool) -> Payload:
    return Payload(
        formats=tuple((name, bytes(source.data(name).data())) for name in _zotero_formats(source)),
        text=source.text().replace("\u2029", "\n").replace("\u2028", "\n"),
        html=source.html() if source.hasHtml() else "",
        links=tuple(url.toString() for url in source.urls() if not url.isLocalFile()),
        dropped=dropped,
    )


def _zotero_formats(source: QMimeData) -> list[str]:
    return [name for name in source.formats() if is_zotero(name)]


def _line_count(block: QTextBlock) -> int:
    layout = block.layout()
    return layout.lineCount() if layout is not None else 1
