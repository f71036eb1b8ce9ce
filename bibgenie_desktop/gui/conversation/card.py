"""A proposal of the model: what would be written, where, what can be done with it, and what came of it.

`ProposalCard` shows a `CardView` and says what was decided; it writes nothing. It stands in the conversation
through a `WidgetRow`; a card whose state changed comes as a new version of its row.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QPushButton

from bibgenie_desktop.gui.components import Flow, Glyph, box, column, label, push, row
from bibgenie_desktop.gui.conversation.presses import Presses
from bibgenie_desktop.gui.conversation.rows import CitationView
from bibgenie_desktop.gui.render.markdown_view import MarkdownView
from bibgenie_desktop.gui.theme import current, gap
from bibgenie_desktop.gui.tr import tr

CardState = Literal[
    "waiting", "writing", "written", "declined", "copied", "unanswered", "failed", "unknown", "undone", "kept"
]
"""`unknown`: it may have been written; `kept`: it is in Zotero, and could not be taken back."""
OPEN: Final = frozenset({"waiting", "writing", "unanswered", "failed", "unknown"})
"""States in which the whole proposal is in sight; later its text can be opened."""
LEAST_LINES: Final = 4
MOST_LINES: Final = 16


@dataclass(frozen=True, slots=True)
class CardView:
    """A proposal. `title` is the question, `content` exactly what would be written, `target` where.

    `verb` is what the button that accepts says. `add` and `remove` are tags or collections; `content` is then
    for editing alone. `refusal` says why it cannot be written now: it can be copied. `words` say what came of
    it, `link` leads to it in Zotero.
    """

    call_id: str
    title: str
    target: str
    content: str
    icon: str = "note"
    verb: str = ""
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    can_edit: bool = True
    state: CardState = "waiting"
    refusal: str = ""
    words: str = ""
    link: str = ""
    citations: Mapping[str, CitationView] = field(default_factory=dict)

    @property
    def is_text(self) -> bool:
        return not (self.add or self.remove)


class ProposalCard(QFrame):
    """Nothing is preselected: Enter does what the button that has the focus says, and nothing else."""

    accepted = Signal(str)
    edited = Signal(str, str)
    """Accepted with another text."""
    declined = Signal(str)
    copied = Signal(str, str)
    """The text, as it stands in the card."""
    proposed_again = Signal(str)
    undo_requested = Signal(str)
    show_requested = Signal(str)
    """The link to what was written."""
    link_opened = Signal(str)
    """A link in the text: its target is not ours."""

    def __init__(self, card: CardView, presses: Presses | None = None) -> None:
        super().__init__()
        self._card = card
        self._presses = presses or Presses()
        self._editor: ContentEditor | None = None
        self._edit: QPushButton | None = None
        self.setProperty("card", "true")
        self.setObjectName("proposalCard")
        words, tone = _state_words(card.state)
        head = row(
            column(Glyph(card.icon, "accent", 18), None),
            label(card.title, "strong", wrap=True),
            column(label(words, badge=tone), None),
            spacing=10,
            grow=1,
        )
        self._shown = self._make_content()
        self._shown.setVisible(card.state in OPEN and bool(card.content))
        self._body = column(head, label(card.target, "small", "2", wrap=True), self._shown, spacing=10)
        if not card.is_text:
            changes = [label(f"+ {name}", badge="ok") for name in card.add]
            changes += [label(f"− {name}", badge="bad") for name in card.remove]
            self._body.addLayout(Flow(changes, spacing=8))
        for said, kind in ((card.words, _tone_of(card.state)), (card.refusal, "warn")):
            if said:
                self._body.addWidget(label(said, "small", kind, wrap=True))
        self._buttons = self._make_buttons()
        if self._buttons:
            self._body.addLayout(Flow(self._buttons, spacing=8))
        self._body.setContentsMargins(gap(16), gap(14), gap(16), gap(14))
        self.setLayout(self._body)
        said = f" {card.words or card.refusal}".rstrip()
        self.setAccessibleName(f"{card.title} {words}. {card.target}.{said}")

    @property
    def card(self) -> CardView:
        return self._card

    @property
    def is_editing(self) -> bool:
        return self._editor is not None

    def is_held(self) -> bool:
        """Whether there is an edited text here that would be lost."""
        return self._editor is not None

    def _make_content(self) -> QFrame:
        card = self._card
        if not card.is_text:
            return box(column())
        view = MarkdownView(card.content, card.citations)
        view.setAccessibleName(tr("What will be written"))
        view.link_opened.connect(self.link_opened)
        return box(column(view, margins=(14, 12, 14, 12)), card="sunken")

    def _make_buttons(self) -> list[QPushButton]:
        card = self._card
        accept, copy = self._on_accept_clicked, self._on_copy_clicked
        match card.state:
            case "waiting" if card.refusal:
                buttons = [
                    self._button(tr("Copy"), "primary", "copyButton", copy),
                    self._button(tr("Try again"), "", "acceptButton", accept),
                    self._button(tr("Decline"), "quiet", "declineButton", self._on_decline_clicked),
                ]
            case "waiting":
                buttons = [
                    self._button(card.verb or tr("Save"), "primary", "acceptButton", accept),
                    *self._edit_button(),
                    self._button(tr("Decline"), "quiet", "declineButton", self._on_decline_clicked),
                    self._button(tr("Copy"), "quiet", "copyButton", copy),
                ]
            case "failed":
                buttons = [
                    self._button(tr("Retry"), "", "acceptButton", accept),
                    *self._edit_button(),
                    self._button(tr("Copy"), "quiet", "copyButton", copy),
                    self._button(tr("Decline"), "quiet", "declineButton", self._on_decline_clicked),
                ]
            case "unknown":
                buttons = [
                    self._button(tr("Look again"), "", "acceptButton", accept),
                    self._button(tr("Copy"), "quiet", "copyButton", copy),
                    self._button(tr("Decline"), "quiet", "declineButton", self._on_decline_clicked),
                ]
            case "unanswered":
                again = self._on_again_clicked
                buttons = [self._button(tr("Propose again"), "", "proposeAgainButton", again)]
            case "written" | "kept":
                buttons = [self._button(tr("Undo"), "quiet", "undoButton", self._on_undo_clicked)]
                if card.link:
                    show = self._button(tr("Show in Zotero"), "", "showButton", self._on_show_clicked)
                    buttons.insert(0, show)
            case _:
                buttons = []
        if card.state not in OPEN and card.is_text and card.content:
            self._fold = self._button(tr("Show text"), "quiet", "textButton", self._on_text_clicked)
            buttons.append(self._fold)
        return buttons

    def _edit_button(self) -> list[QPushButton]:
        if not self._card.can_edit:
            return []
        self._edit = self._button(tr("Edit first…"), "", "editFirstButton", self._on_edit_clicked)
        return [self._edit]

    def _button(self, text: str, kind: str, name: str, pressed: Callable[[], None]) -> QPushButton:
        made = push(text, kind, object_name=name)
        # In a dialog Enter would otherwise press whichever comes first.
        made.setAutoDefault(False)
        made.clicked.connect(pressed)
        made.installEventFilter(self)
        return made

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A double click on one button does not press what comes in its place."""
        pressed = (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick)
        if isinstance(event, QMouseEvent) and event.type() in pressed:
            return self._presses.repeats(event.globalPosition())
        return super().eventFilter(watched, event)

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

    def _on_copy_clicked(self) -> None:
        text = self._editor.toPlainText() if self._editor is not None else self._card.content
        self.copied.emit(self._card.call_id, text)

    def _on_undo_clicked(self) -> None:
        self._settle()
        self.undo_requested.emit(self._card.call_id)

    def _on_show_clicked(self) -> None:
        self.show_requested.emit(self._card.link)

    def _on_text_clicked(self) -> None:
        shown = self._shown.isHidden()
        self._shown.setVisible(shown)
        self._fold.setText(tr("Hide text") if shown else tr("Show text"))
        self._body.invalidate()

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
        if self._edit is not None:
            self._edit.setText(tr("Discard changes"))
        self._editor.setFocus()
        self._body.invalidate()

    def _on_editor_left(self) -> None:
        self._stop_editing()
        if self._edit is not None:
            self._edit.setFocus()

    def _stop_editing(self) -> None:
        if self._editor is None:
            return
        self._body.removeWidget(self._editor)
        self._editor.hide()
        self._editor.deleteLater()
        self._editor = None
        self._shown.setVisible(self._card.is_text)
        if self._edit is not None:
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


def _tone_of(state: CardState) -> str:
    return {"failed": "bad", "unknown": "warn", "kept": "warn"}.get(state, "2")


def _state_words(state: CardState) -> tuple[str, str]:
    """The badge: words and tone."""
    match state:
        case "waiting":
            return tr("Waiting for you"), "accent"
        case "writing":
            return tr("Being written…"), "accent"
        case "written" | "kept":
            return tr("In Zotero"), "ok"
        case "declined":
            return tr("Declined"), "true"
        case "copied":
            return tr("Copied"), "true"
        case "unanswered":
            return tr("Not answered"), "warn"
        case "failed":
            return tr("Not written"), "bad"
        case "unknown":
            return tr("Not known"), "warn"
        case "undone":
            return tr("Taken back"), "true"
