"""The proposals of one session as cards: the one a turn waits for, and those that were made before.

It turns what a card says into calls of the service and keeps the cards true. What was answered after its turn
goes as a resource into the next message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.parts import Part, ToolPart
from bibgenie_desktop.domain.states import Action
from bibgenie_desktop.gui.conversation.card import CardState, CardView, ProposalCard
from bibgenie_desktop.gui.conversation.presses import Presses
from bibgenie_desktop.gui.conversation.rows import Row, WidgetRow
from bibgenie_desktop.gui.presenters.transcript import citation_views
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.services.library.citing import CheckedCitation
from bibgenie_desktop.services.tools.base import Card, Decision
from bibgenie_desktop.services.workspace import Workspace
from bibgenie_desktop.services.zotero_changes.attempting import Settled
from bibgenie_desktop.services.zotero_changes.standing import Proposal

PROPOSING = "propose_change"
ICONS = {"note": "note", "tags": "tag", "collection": "folder"}


class Proposals(QObject):
    """`said`: a title and a sentence for a toast."""

    changed = Signal()
    show_requested = Signal(str)
    link_opened = Signal(str)
    said = Signal(str, str)
    news = Signal(str, object)
    """Session, and what its next message is to tell."""

    def __init__(self, chat: Chat, workspace: Workspace, tasks: Tasks, parent: QObject) -> None:
        super().__init__(parent)
        self._chat, self._workspace, self._tasks = chat, workspace, tasks
        self._waiting: tuple[str, Card] | None = None
        self._known: dict[MessageId, tuple[Proposal, ...]] = {}
        self._reopened: set[str] = set()
        """Proposals that were not answered and are open again."""
        self._presses = Presses()
        self._answered: dict[str, tuple[Card | None, CardState]] = {}
        """What the person has just said, until it is known what came of it; the card where a turn waited."""
        self._citations: dict[str, Mapping[str, CheckedCitation]] = {}
        self._shown: dict[str, tuple[CardView, int]] = {}
        """Each card as it was shown last, and its version."""
        changes = workspace.changes
        self._unsubscribe = changes.subscribe(self._on_settled) if changes is not None else None

    def close(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()

    # -- what is shown

    def opened(self, call_id: str, card: Card) -> None:
        """A turn waits for the person."""
        self._waiting = call_id, card
        self._look_up(call_id, card.content)

    def closed(self, call_id: str) -> None:
        self._waiting = None
        self.load([_answer_of(call_id)])

    def ended(self, message_id: MessageId) -> None:
        """The turn is over: nothing of this answer waits for its result any more."""
        self._forget(c for c in list(self._answered) if _answer_of(c) == message_id)
        self.load([message_id])

    def _forget(self, call_ids: Iterable[str]) -> None:
        for call_id in call_ids:
            self._answered.pop(call_id, None)

    def waiting_rows(self) -> list[Row]:
        """The card that the turn waits for, after the answer under way."""
        if self._waiting is None:
            return []
        call_id, card = self._waiting
        return [self._row(self._view(call_id, card, "waiting", refusal=card.refusal))]

    def rows_after(self, message_id: str) -> list[Row]:
        """The cards of an answer, but the one that waits."""
        waiting = self._waiting[0] if self._waiting is not None else ""
        found = self._known.get(MessageId(message_id), ())
        rows = [self._row(self._view_of(p)) for p in found if p.call_id != waiting]
        known = {waiting, *(p.call_id for p in found)}
        for call_id, (card, state) in self._answered.items():
            if card is not None and call_id not in known and _answer_of(call_id) == message_id:
                rows.append(self._row(replace(self._view(call_id, card, state), words=_said_of(state))))
        return rows

    def load(self, message_ids: Sequence[MessageId]) -> None:
        """Reads the proposals of these answers again."""
        if self._workspace.changes is not None and message_ids:
            self._tasks.start(self._load(tuple(message_ids)), "proposals")

    def load_new(self, answers: Sequence[tuple[MessageId, Sequence[Part]]]) -> None:
        """Reads the proposals of answers that made some and are not known yet."""
        made = [i for i, parts in answers if i not in self._known and any(map(_proposes, parts))]
        self.load(made)

    async def _load(self, message_ids: tuple[MessageId, ...]) -> None:
        changes = self._workspace.changes
        if changes is None:
            return
        found = await changes.proposals(message_ids)
        for message_id in message_ids:
            self._known[message_id] = tuple(p for p in found if p.message_id == message_id)
        for proposal in found:
            self._look_up(proposal.call_id, proposal.card.edited or proposal.card.content)
        self.changed.emit()

    def _look_up(self, call_id: str, text: str) -> None:
        if call_id not in self._citations and "[[" in text:
            self._citations[call_id] = {}
            self._tasks.start(self._check(call_id, text), "citations of a proposal")

    async def _check(self, call_id: str, text: str) -> None:
        self._citations[call_id] = await self._workspace.check_citations(text)
        self.changed.emit()

    # -- cards

    def _view_of(self, proposal: Proposal) -> CardView:
        state: CardState
        words = proposal.words
        match proposal.state:
            case _ if proposal.busy:
                state, words = "writing", _said_of("writing")
            case "proposed" if proposal.call_id in self._answered:
                state = self._answered[proposal.call_id][1]
                words = _said_of(state)
            case "proposed" if proposal.call_id in self._reopened:
                state = "waiting"
            case "proposed":
                state = "unanswered"
            case "undo":
                state, words = (
                    "kept",
                    tr("BibGenie ended before Zotero had answered. Undo looks there first."),
                )
            case "written" | "declined" | "copied" | "failed" | "undone" | "unknown":
                state = proposal.state
            case "kept":
                state, words = "kept", tr("Could not be taken back. {0}").format(words)
            case "accepted" | "edited" | "sending":  # `proposal_of` says what they come to
                state = "unknown"
        view = self._view(proposal.call_id, proposal.card, state)
        return replace(view, words=words, link=proposal.link)

    def _view(self, call_id: str, card: Card, state: CardState, *, refusal: str = "") -> CardView:
        return CardView(
            call_id,
            _title(card, state) if card.kept else card.title,
            card.target,
            card.edited or card.content,
            ICONS[card.kind],
            _verb(card) if card.kept else "",
            card.add,
            card.remove,
            state=state,
            refusal=refusal,
            citations=citation_views(self._citations.get(call_id, {})),
        )

    def _row(self, view: CardView) -> Row:
        before = self._shown.get(view.call_id)
        version = 0 if before is None else before[1] + (before[0] != view)
        self._shown[view.call_id] = view, version
        name = tr("proposal: {0}").format(view.title)
        return WidgetRow(f"card {view.call_id}", _Maker(self, view.call_id), name, version)

    def make(self, call_id: str) -> QWidget:
        """The widget of a card as it is now."""
        shown = ProposalCard(self._shown[call_id][0], self._presses)
        shown.accepted.connect(self._on_accepted)
        shown.edited.connect(self._on_edited)
        shown.declined.connect(self._on_declined)
        shown.copied.connect(self._on_copied)
        shown.proposed_again.connect(self._on_proposed_again)
        shown.undo_requested.connect(self._on_undo_requested)
        shown.show_requested.connect(self.show_requested)
        shown.link_opened.connect(self.link_opened)
        return shown

    # -- what the person says

    def _on_accepted(self, call: str) -> None:
        self._decide(call, Decision("accepted"))

    def _on_edited(self, call: str, content: str) -> None:
        self._decide(call, Decision("edited", content))

    def _on_declined(self, call: str) -> None:
        if not self._answer(call, Decision("declined")):
            self._start(self._decline(call), call)

    def _on_copied(self, call: str, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.said.emit(tr("Copied"), tr("It is on the clipboard."))
        if self._waiting is not None and self._waiting[0] == call and self._waiting[1].refusal:
            self._answer(call, Decision("copied"))

    def _on_proposed_again(self, call: str) -> None:
        self._reopened.add(call)
        self.changed.emit()

    def _on_undo_requested(self, call: str) -> None:
        self._start(self._undo(call), call)

    def _decide(self, call: str, decision: Decision) -> None:
        if not self._answer(call, decision):
            self._answered[call] = None, _state_after(decision)
            self.changed.emit()
            self._start(self._accept(call, decision), call)

    def _answer(self, call: str, decision: Decision) -> bool:
        """Tells the turn that waits; False where none waits for this."""
        waits = self._waiting is not None and self._waiting[0] == call
        if waits and self._chat.refusal(Action.ANSWER_CARD) is None:
            card = self._waiting[1] if self._waiting is not None else None
            if card is not None and card.kept:
                self._answered[call] = card, _state_after(decision)
            self._chat.answer_card(decision)
        return waits

    def _start(self, work: object, call: str) -> None:
        self._tasks.start(self._said_if_refused(work, call), "proposal")

    async def _said_if_refused(self, work: object, call: str) -> None:
        try:
            await work  # type: ignore[misc]
        except UserError as error:
            self.said.emit(error.title, error.advice)
        finally:
            await self._load((_answer_of(call),))
            self._forget([call])
            self.changed.emit()

    async def _accept(self, call: str, decision: Decision) -> None:
        if (changes := self._workspace.changes) is not None:
            await changes.accept(call, decision, told_in=self._chat.session_id)

    async def _decline(self, call: str) -> None:
        if (changes := self._workspace.changes) is not None:
            await changes.decline(call)

    async def _undo(self, call: str) -> None:
        if (changes := self._workspace.changes) is not None:
            await changes.undo(call, told_in=self._chat.session_id)

    def _on_settled(self, settled: Settled) -> None:
        known = settled.message_id in self._known or settled.session_id == self._chat.session_id
        if known:
            self.load([settled.message_id])
        if settled.news is not None and settled.session_id == self._chat.session_id:
            self.news.emit(self._chat.session_id, settled.news)


class _Maker:
    """Builds a card when its row comes into sight, as it is then."""

    def __init__(self, proposals: Proposals, call_id: str) -> None:
        self._proposals, self._call_id = proposals, call_id

    def __call__(self) -> QWidget:
        return self._proposals.make(self._call_id)


def _answer_of(call_id: str) -> MessageId:
    return MessageId(call_id.rpartition("/")[0])


def _state_after(decision: Decision) -> CardState:
    """What a card says between the person's word and what comes of it."""
    return decision.kind if decision.kind in ("declined", "copied") else "writing"


def _said_of(state: CardState) -> str:
    return tr("If Zotero asks whether BibGenie may write, answer its dialog.") if state == "writing" else ""


def _proposes(part: Part) -> bool:
    return isinstance(part, ToolPart) and part.name == PROPOSING


def _title(card: Card, state: CardState) -> str:
    done = state in ("written", "kept")
    match card.kind:
        case "note":
            return tr("Note saved in Zotero") if done else tr("Save this note in Zotero?")
        case "tags":
            return tr("Tags changed in Zotero") if done else tr("Change tags in Zotero?")
        case "collection":
            return tr("Collections changed in Zotero") if done else tr("Change collections in Zotero?")


def _verb(card: Card) -> str:
    match card.kind:
        case "note":
            return tr("Save note")
        case "tags":
            return tr("Change tags")
        case "collection":
            return tr("Change collections")
