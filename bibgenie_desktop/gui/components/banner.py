"""One line of state with what can be done about it: about the session, the next request, or one answer."""

from collections.abc import Sequence
from typing import Final, Literal

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLabel, QPushButton, QSizePolicy, QWidget

from bibgenie_desktop.gui.components.labels import Glyph, label
from bibgenie_desktop.gui.components.layouts import column, fill, repolish, row
from bibgenie_desktop.gui.theme import gap
from bibgenie_desktop.gui.tr import harmless

Tone = Literal["ok", "warn", "bad", "accent"]
ICONS: Final = {"ok": "check", "warn": "warn", "bad": "warn", "accent": "info"}


class Banner(QFrame):
    """Icon, a bold sentence that says what happened, a second line with what it means, at most two
    actions.
    """

    def __init__(
        self,
        tone: Tone,
        title: str,
        text: str = "",
        actions: Sequence[QPushButton] = (),
        *,
        icon: str = "",
        extra: QWidget | None = None,
        object_name: str = "",
    ) -> None:
        super().__init__()
        self.setProperty("card", tone)
        if object_name:
            self.setObjectName(object_name)
        self._title = label(title, "strong", wrap=True)
        self._text = label(text, "small", "2", wrap=True)
        self._text.setVisible(bool(text))
        words = column(self._title, self._text, spacing=2)
        if extra is not None:
            words.addSpacing(gap(4))
            words.addWidget(extra)
        self._glyph = Glyph(icon or ICONS[tone], tone, 18)
        self._icon = icon
        self._buttons = tuple(actions)
        self._body = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._actions = row(*actions, spacing=6)
        fill(self._body, [words, self._actions], spacing=10, grow=0)
        glyph = column(self._glyph, None)
        self.setLayout(row(glyph, self._body, margins=(12, 10, 12, 10), spacing=10, grow=1))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._name()

    @property
    def title_label(self) -> QLabel:
        return self._title

    def say(self, title: str, text: str = "", *, tone: Tone | None = None) -> None:
        """Change the words; a second line appears only when there is something to say."""
        self._title.setText(harmless(title))
        self._text.setText(harmless(text))
        self._text.setVisible(bool(text))
        if tone is not None and tone != self.property("card"):
            self._glyph.show_icon(self._icon or ICONS[tone], tone)
            repolish(self, card=tone)
        self._name()

    def _name(self) -> None:
        self.setAccessibleName(". ".join(t for t in (self._title.text(), self._text.text()) if t))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Actions go below the words when they would take too much of the width."""
        needed = sum(b.sizeHint().width() + gap(6) for b in self._buttons if not b.isHidden())
        tight = needed > 0.42 * self.width()
        direction = QBoxLayout.Direction.TopToBottom if tight else QBoxLayout.Direction.LeftToRight
        if direction != self._body.direction():
            self._body.setDirection(direction)
        side = Qt.AlignmentFlag.AlignLeft if tight else Qt.AlignmentFlag.AlignVCenter
        self._body.setAlignment(self._actions, side)
        super().resizeEvent(event)
