"""What one open session shows, kept up to date by its events whether or not it is in front."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.messages import AssistantMessage, Message
from bibgenie_desktop.domain.parts import Draft, Part, ReasoningPart, TextPart, text_of
from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.domain.topology import Placeholder
from bibgenie_desktop.gui.conversation.rows import Row, Siblings
from bibgenie_desktop.gui.docks.outline import Tree
from bibgenie_desktop.gui.presenters.cost_words import answer_words
from bibgenie_desktop.gui.presenters.proposals import Proposals
from bibgenie_desktop.gui.presenters.transcript import Entry, Facts, live_row, rows_of
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.services import events
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.services.library.citing import CheckedCitation
from bibgenie_desktop.services.workspace import Workspace

BEGINNINGS = (SessionState.PREFLIGHT, SessionState.COMPACTING)
"""The states with which an operation of the person starts."""
COALESCE_MS = 60
"""Streamed words reach the view at most this often, and more seldom the longer the answer is."""
SLOWER_FROM = 100_000
SLOWEST_MS = 1_000
CHECK_AT_ONCE = 12
"""Answers whose quotes are looked up when a branch is shown; older ones when they are scrolled to."""


class Conversation(QObject):
    """Signals carry the session's id first, so that a presenter can tell who speaks."""

    rows_changed = Signal(str)
    row_changed = Signal(str, object)
    began = Signal(str)
    announced = Signal(str, object)
    """Every event of the chat, after the conversation has taken it in."""

    def __init__(self, chat: Chat, workspace: Workspace, tasks: Tasks, parent: QObject) -> None:
        super().__init__(parent)
        self.chat = chat
        self.notice: events.Notice | None = None
        self.resting = True
        self.progress: events.CompactionProgress | None = None
        self.waiting: events.ReplyWaiting | None = None
        """A provider that is busy, and when it is asked again."""
        self.in_flight: Draft | None = None
        """A follow-up that was taken from the queue and is being sent."""
        self.at_beginning = chat.whole
        self._workspace, self._tasks = workspace, tasks
        self._older: tuple[Entry, ...] = ()
        self._loading = False
        self._live: MessageId | None = None
        self._parts: list[Part] = []
        self._fresh: list[str] = []
        """Words of the last part that are not joined to it yet: joining each would copy the whole again."""
        self._length = 0
        self._tree = Tree(())
        self._versions: Mapping[MessageId, Siblings] = {}
        self._citations: dict[MessageId, Mapping[str, CheckedCitation]] = {}
        self._spent: dict[MessageId, str] = {}
        """What each answer cost, until the prices are others."""
        self._queue: tuple[Draft, ...] = chat.queued
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_timeout)
        self.proposals = Proposals(chat, workspace, tasks, self)
        self.proposals.changed.connect(self._on_proposals_changed)
        self._unsubscribe = chat.subscribe(self._on_event)
        self._load_proposals()

    def close(self) -> None:
        self._timer.stop()
        self._unsubscribe()
        self.proposals.close()

    # -- what is shown

    @property
    def id(self) -> str:
        return self.chat.session_id

    @property
    def entries(self) -> tuple[Entry, ...]:
        chat = self.chat
        shown = chat.damaged.readable if chat.damaged is not None else chat.path
        return (*self._older, *shown)

    @property
    def empty(self) -> bool:
        return not self.entries and self._live is None

    def rows(self) -> list[Row]:
        chat = self.chat
        facts = Facts(
            now=self._workspace.clock(),
            label=self.model_label,
            versions=self._versions,
            citations=self._citations,
            read_only=chat.damaged is not None,
            spent=self._spent_on,
        )
        rows: list[Row] = []
        for row in rows_of(self.entries, facts):
            rows += [row, *self.proposals.rows_after(row.id)]
        if self._live is not None:
            rows += [self._live_row(), *self.proposals.rows_after(self._live)]
        return [*rows, *self.proposals.waiting_rows()]

    def _spent_on(self, answer: AssistantMessage) -> str:
        if answer.id not in self._spent:
            self._spent[answer.id] = answer_words(self._workspace.costs.of(answer.usage))
        return self._spent[answer.id]

    def entry(self, message_id: str) -> Entry | None:
        return next((e for e in self.entries if e.id == message_id), None)

    def model_label(self, ref: str) -> str:
        found = next((p.label for p in self._workspace.profiles() if p.ref == ref), None)
        return found or ref.partition("/")[2] or ref

    def take_tree(self, tree: Tree) -> None:
        """Counts the versions of what is shown."""
        self._tree = tree
        before = self._versions
        self._count_versions()
        if self._versions != before:
            self.rows_changed.emit(self.id)

    def _count_versions(self) -> None:
        """By the tree as it was read last: right for all but what has just been added."""
        tree = self._tree
        versions: dict[MessageId, Siblings] = {}
        for entry in self.entries:
            node = tree.nodes.get(entry.id)
            if node is None or isinstance(entry, Placeholder):
                continue
            found = tree.versions(node)
            if len(found) > 1 and node.id in found:
                versions[node.id] = (found.index(node.id) + 1, len(found))
        self._versions = versions

    # -- older messages

    def load_older(self) -> None:
        """Fetches the page before the oldest message that is there."""
        first = next((e for e in self.entries if not isinstance(e, Placeholder)), None)
        if self.at_beginning or self._loading or first is None or self.entries[0].id != first.id:
            return
        self._loading = True
        self._tasks.start(self._load_older(first), "older messages")

    async def _load_older(self, first: Message) -> None:
        try:
            page = await self._workspace.older(first)
        finally:
            self._loading = False
        if not self.entries or self.entries[0].id != first.id:
            return
        self.at_beginning = not page or isinstance(page[0], Placeholder) or page[0].parent_id is None
        if page:
            self._older = (*page, *self._older)
            self._count_versions()
            self.rows_changed.emit(self.id)
            self._load_proposals()
            self.check_citations()

    # -- citations

    def check_citations(self) -> None:
        """Looks up the quotes of the newest answers that were not looked up yet."""
        waiting = [
            e
            for e in reversed(self.entries)
            if isinstance(e, AssistantMessage) and e.id not in self._citations and "[[" in text_of(e.parts)
        ][:CHECK_AT_ONCE]
        if waiting:
            self._tasks.start(self._check(waiting), "citations")

    def forget_citations(self) -> None:
        """Another library is in use: what was found in the old one says nothing any more."""
        self._citations.clear()
        self.rows_changed.emit(self.id)
        self.check_citations()

    async def _check(self, answers: list[AssistantMessage]) -> None:
        for answer in answers:
            if answer.id in self._citations:
                continue
            self._citations[answer.id] = {}  # one look-up at a time for an answer
            try:
                found = await self._workspace.check_citations(text_of(answer.parts))
            except BaseException:
                self._citations.pop(answer.id, None)
                raise
            self._citations[answer.id] = found
            row = next((r for r in self.rows() if r.id == answer.id), None)
            if row is not None:
                self.row_changed.emit(self.id, row)

    # -- events

    def _on_event(self, event: events.ChatEvent) -> None:
        match event:
            case events.StateChanged():
                if event.state in BEGINNINGS and self.resting:
                    self.notice = None  # it spoke of what was tried before
                    self.began.emit(self.id)
                self.resting = event.state is SessionState.IDLE
                if self.resting:
                    self.waiting = None
            case events.ReplyStarted():
                self._live, self._parts, self._fresh, self._length = event.message_id, [], [], 0
                self.notice = None
                self.rows_changed.emit(self.id)
            case events.ReplyWaiting():
                self.waiting = event
            case events.ReplyWaitOver():
                self.waiting = None
            case events.ReplyText():
                self._add(TextPart(event.text, event.step))
            case events.ReplyReasoning():
                self._add(ReasoningPart(event.text, event.step))
            case events.ToolStarted():
                self._join()
                self._parts.append(event.part)
                self._timer.start(COALESCE_MS)
            case events.ToolEnded():
                self._end_tool(event)
            case events.ReplyEnded():
                self._timer.stop()
                self.waiting = None
                self._live, self._parts, self._fresh = None, [], []
                self.rows_changed.emit(self.id)
                self.proposals.ended(event.message.id)
                self.check_citations()
            case events.CardOpened():
                self.proposals.opened(event.call_id, event.card)
                self.rows_changed.emit(self.id)
            case events.CardClosed():
                self.proposals.closed(event.call_id)
                self.rows_changed.emit(self.id)
            case events.MessageAppended():
                self.rows_changed.emit(self.id)
            case events.BranchLoaded():
                self._reloaded()
            case events.CompactionProgress():
                self.progress, self.waiting = event, None
            case events.CompactionEnded():
                self.progress = self.waiting = None
            case events.ContextChanged():
                self._spent.clear()
            case events.Notice():
                self.notice = event
            case events.QueueChanged():
                if len(event.drafts) < len(self._queue):
                    gone = [d for d in self._queue if d not in event.drafts]
                    self.in_flight = gone[0] if gone else None
                self._queue = event.drafts
        self.announced.emit(self.id, event)

    def _reloaded(self) -> None:
        """Keeps older pages that still lead up to what is shown now."""
        chat = self.chat
        shown = chat.damaged.readable if chat.damaged is not None else chat.path
        known = [e.id for e in self._older]
        if shown and shown[0].id in known:
            self._older = self._older[: known.index(shown[0].id)]
        elif not (shown and self._older and _parent(shown[0]) == self._older[-1].id):
            self._older = ()
            self.at_beginning = chat.whole
        self._count_versions()
        self.rows_changed.emit(self.id)
        self._load_proposals()
        self.check_citations()

    def _load_proposals(self) -> None:
        self.proposals.load_new([(e.id, e.parts) for e in self.entries if isinstance(e, AssistantMessage)])

    def _on_proposals_changed(self) -> None:
        self.rows_changed.emit(self.id)

    def _add(self, part: TextPart | ReasoningPart) -> None:
        last = self._parts[-1] if self._parts else None
        if isinstance(last, TextPart | ReasoningPart) and type(last) is type(part) and last.step == part.step:
            self._fresh.append(part.text)
        else:
            self._join()
            self._parts.append(part)
        self._length += len(part.text)
        if not self._timer.isActive():
            self._timer.start(min(SLOWEST_MS, COALESCE_MS * (1 + self._length // SLOWER_FROM)))

    def _join(self) -> None:
        last = self._parts[-1] if self._parts else None
        if self._fresh and isinstance(last, TextPart | ReasoningPart):
            self._parts[-1] = replace(last, text=last.text + "".join(self._fresh))
        self._fresh = []

    def _end_tool(self, event: events.ToolEnded) -> None:
        self._join()
        known = [i for i, p in enumerate(self._parts) if getattr(p, "id", None) == event.part.id]
        if known:
            self._parts[known[0]] = event.part
        else:
            self._parts.append(event.part)
        self._timer.start(COALESCE_MS)

    def _live_row(self) -> Row:
        assert self._live is not None
        self._join()
        return live_row(self._live, self._parts, None)

    def _on_timeout(self) -> None:
        if self._live is not None:
            self.row_changed.emit(self.id, self._live_row())


def _parent(entry: Entry) -> MessageId | None:
    return None if isinstance(entry, Placeholder) else entry.parent_id
