"""A proposal of the model that waits for the person: what would be written, where, and what can be done.

`ProposalCard` shows a `CardView` and says what was decided; it writes nothing. It stands in the conversation
through a `WidgetRow`; a card whose state changed comes as a new version of its row.
"""

from dataclasses import dataclass
from typing import Final, Literal

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QLayout, QPlainTextEdit, QPushButton, QWidget

from bibgenie_desktop.gui.components import Flow, Glyph, box, column, label, push, row
from bibgenie_desktop.gui.theme import current, gap
from bibgenie_desktop.gui.tr import tr

CardState = Literal["waiting", "accepted", "edited", "declined", "unanswered", "failed"]
LEAST_LINES: Final = 4
MOST_LINES: Final = 16


@dataclass(frozen=True, slots=True)
class CardView:
    """A proposal. `title` is the question, `content` exactly what would be written, `target` where.

    `verb` is what the button that accepts says; `tags` would be added; a card that is not `waiting` shows
    `outcome` in words and offers nothing, but that an `unanswered` one can be proposed again.
    """

    call_id: str
    title: str
    target: str
    content: str
    icon: str = "note"
    verb: str = ""
    tags: tuple[str, ...] = ()
    can_edit: bool = True
    state: CardState = "waiting"
    outcome: str = ""


class ProposalCard(QFrame):
    """Nothing is preselected: Enter does what the button that has the focus says, and nothing else."""

    accepted = Signal(str)
    edited = Signal(str, str)
    """Accepted with another text."""
    declined = Signal(str)
    proposed_again = Signal(str)

    def __init__(self, card: CardView) -> None:
        super().__init__()
        self._card = card
        self._editor: ContentEditor | None = None
        self.setProperty("card", "true")
        self.setObjectName("proposalCard")
        words, tone = _state_words(card)
        head = row(
            column(Glyph(card.icon, "accent", 18), None),
            label(card.title, "strong", wrap=True),
            column(label(words, badge=tone), None),
            spacing=10,
            grow=1,
        )
        self._shown = box(_content(card.content), card="sunken")
        self._body = column(head, label(card.target, "small", "2", wrap=True), self._shown, spacing=10)
        if card.tags:
            tags = [label(f"+ {tag}", badge="ok") for tag in card.tags]
            self._body.addLayout(row(label(tr("Tags"), "small", "2"), Flow(tags), spacing=8, grow=1))
        self._buttons = self._make_buttons()
        if self._buttons:
            self._body.addLayout(Flow(self._buttons, spacing=8))
        self._body.setContentsMargins(gap(16), gap(14), gap(16), gap(14))
        self.setLayout(self._body)
        self.setAccessibleName(f"{card.title} {words}. {card.target}")

    @property
    def card(self) -> CardView:
        return self._card

    @property
    def is_editing(self) -> bool:
        return self._editor is not None

    def is_held(self) -> bool:
        """Whether there is an edited text here that would be lost."""
        return self._editor is not None

    def _make_buttons(self) -> list[QPushButton]:
        card = self._card
        if card.state == "unanswered":
            again = push(tr("Propose again"), object_name="proposeAgainButton")
            again.clicked.connect(self._on_again_clicked)
            return [again]
        if card.state != "waiting":
            return []
        self._accept = push(card.verb or tr("Save"), "primary", object_name="acceptButton")
        self._edit = push(tr("Edit first…"), object_name="editFirstButton")
        self._decline = push(tr("Decline"), "quiet", object_name="declineButton")
        self._edit.setVisible(card.can_edit)
        self._accept.clicked.connect(self._on_accept_clicked)
        self._edit.clicked.connect(self._on_edit_clicked)
        self._decline.clicked.connect(self._on_decline_clicked)
        buttons = [self._accept, self._edit, self._decline]
        for button in buttons:
            # In a dialog Enter would otherwise press whichever comes first.
            button.setAutoDefault(False)
        return buttons

    # deciding

    def _on_accept_clicked(self) -> None:
        self._settle()
        text = self._editor.toPlainText() if self._editor is not None else self._card.content
        if text == self._card.content:
            self.accepted.emit(self._card.call_id)
        else:
            self.edited.emit(self._card.call_id, text)

    def _on_decline_clicked(self) -> None:
        self._settle()
        self.declined.emit(self._card.call_id)

    def _on_again_clicked(self) -> None:
        self._settle()
        self.proposed_again.emit(self._card.call_id)

    def _settle(self) -> None:
        """Decided once; what came of it is shown by the next version of the card."""
        for button in self._buttons:
            button.setEnabled(False)
        if self._editor is not None:
            self._editor.setReadOnly(True)

    # editing

    def _on_edit_clicked(self) -> None:
        if self._editor is not None:
            self._stop_editing()
            return
        self._editor = ContentEditor(self._card.content, self._shown.height())
        self._editor.left.connect(self._on_editor_left)
        self._body.insertWidget(self._body.indexOf(self._shown), self._editor)
        self._shown.hide()
        self._edit.setText(tr("Discard changes"))
        self._editor.setFocus()
        self._body.invalidate()

    def _on_editor_left(self) -> None:
        self._stop_editing()
        self._edit.setFocus()

    def _stop_editing(self) -> None:
        if self._editor is None:
            return
        self._body.removeWidget(self._editor)
        self._editor.hide()
        self._editor.deleteLater()
        self._editor = None
        self._shown.show()
        self._edit.setText(tr("Edit first…"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses the button that has the focus; anywhere else it decides nothing."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            for button in self._buttons:
                if button.hasFocus():
                    button.click()
            event.accept()
            return
        super().keyPressEvent(event)


class ContentEditor(QPlainTextEdit):
    """As high as its text, within limits and never lower than `least`. Esc gives up."""

    left = Signal()

    def __init__(self, text: str, least: int = 0) -> None:
        super().__init__(text)
        self._least = least
        self.setObjectName("contentEditor")
        self.setAccessibleName(tr("What will be written"))
        self.setProperty("field", "true")
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.document().setDocumentMargin(gap(12))
        self.textChanged.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        line = QFontMetrics(current().font("body")).lineSpacing()
        lines = round(self.document().size().height())
        shown = max(LEAST_LINES, min(MOST_LINES, lines))
        self.setFixedHeight(max(self._least, line * shown + 2 * gap(12) + 4))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        # Shortcuts of the window must not take Esc while one is writing.
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and event.key() == Qt.Key.Key_Escape
        ):
            event.accept()
            return True
        return super().event(event)


def _content(text: str) -> QLayout:
    """The text as it is; the first of several lines is what Zotero shows as a note's title."""
    first, _, rest = text.partition("\n")
    parts: list[QWidget] = []
    if rest.strip():
        parts += [_words(first, "strong"), _words(rest)]
    else:
        parts.append(_words(text))
    return column(*parts, spacing=4, margins=(14, 12, 14, 12))


def _words(text: str, kind: str = "") -> QLabel:
    words = label(text, kind, wrap=True)
    words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return words


def _state_words(card: CardView) -> tuple[str, str]:
    """The badge: words and tone."""
    match card.state:
        case "waiting":
            return tr("Waiting for you"), "accent"
        case "accepted":
            return card.outcome or tr("Accepted"), "ok"
        case "edited":
            return card.outcome or tr("Accepted with changes"), "ok"
        case "declined":
            return card.outcome or tr("Declined"), "true"
        case "unanswered":
            return card.outcome or tr("Not answered"), "warn"
        case "failed":
            return card.outcome or tr("Not written"), "bad"
