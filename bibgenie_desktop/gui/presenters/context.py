"""How large the next request is: the meter, the Context dock, and the verdict of each model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from bibgenie_desktop.domain.checkpoint import SectionDiff, diff_sections, sections_of
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.locators import LedgerEntry
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Path, UserMessage
from bibgenie_desktop.domain.parts import Draft, ToolPart, title_of
from bibgenie_desktop.domain.projection import DRAFT_ID, ProjectedMessage
from bibgenie_desktop.domain.tokens import estimate_text
from bibgenie_desktop.gui.docks.checkpoints import CheckpointLine
from bibgenie_desktop.gui.docks.context import ContextView, SeenLine
from bibgenie_desktop.gui.docks.trial import Trial
from bibgenie_desktop.gui.presenters.cost_words import compact_warning, cost_view, model_warning
from bibgenie_desktop.gui.presenters.transcript import checkpoint_title
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.gui.when import ago
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.services.planner import Plan
from bibgenie_desktop.services.preview import DryRun
from bibgenie_desktop.services.spending.costs import money
from bibgenie_desktop.services.spending.prompt_cache import Cached, WarmCache, cached, warm_cache
from bibgenie_desktop.services.workspace import Workspace

WAIT_MS = 250
"""How long typing must pause before the request is measured again."""


class ContextPresenter(QObject):
    context_changed = Signal(object)
    verdicts_ready = Signal(object)
    request_ready = Signal(object)
    trial_ready = Signal(object)
    """A `Trial`; None when it no longer says the truth."""
    pinned_changed = Signal(object, bool)
    """An entry, and whether it is pinned now."""
    failed = Signal(object)
    """A `UserError`, such as a model that is not set up any more."""

    def __init__(self, workspace: Workspace, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace, self._tasks = workspace, tasks
        self._chat: Chat | None = None
        self._draft = Draft()
        self._diffs: dict[tuple[str, str], tuple[SectionDiff, ...]] = {}
        self._points: tuple[str, tuple[Checkpoint, ...]] = ("", ())
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_timeout)

    def show_chat(self, chat: Chat, draft: Draft) -> None:
        self._chat, self._draft = chat, draft
        self._timer.start(0)

    def show_draft(self, draft: Draft) -> None:
        self._draft = draft
        self._timer.start(WAIT_MS)

    def refresh(self) -> None:
        self._timer.start(0)

    def ask_verdicts(self) -> None:
        """Answered with `verdicts_ready`: what each model would say to the draft now."""
        if self._chat is not None:
            self._tasks.start(self._judge(self._chat, self._draft), "verdicts")

    def ask_request(self) -> None:
        """Answered with `request_ready`: the exact body that Send would send."""
        if self._chat is not None:
            self._tasks.start(self._encode(self._chat, self._draft), "request")

    def ask_trial(self) -> None:
        """Answered with `trial_ready`: what Compact would do now. Nothing is changed, no model asked."""
        if self._chat is not None:
            self._tasks.start(self._try(self._chat), "dry run")

    def pin(self, entry: LedgerEntry) -> None:
        """Pins a place or a sentence; one that does not fit is refused at once."""
        if self._chat is not None:
            self._tasks.start(self._pin(self._chat, entry, self._workspace.pin_entry), "pin")

    def pin_sentence(self, words: str) -> None:
        self.pin(LedgerEntry(None, " ".join(words.split()), 0, 0, pinned=True))

    def unpin(self, entry: LedgerEntry) -> None:
        if self._chat is not None:
            self._tasks.start(self._pin(self._chat, entry, self._workspace.unpin_entry), "unpin")

    async def _pin(
        self, chat: Chat, entry: LedgerEntry, do: Callable[[Chat, LedgerEntry], Awaitable[None]]
    ) -> None:
        try:
            await do(chat, entry)
        except UserError as error:
            self.failed.emit(error)
            return
        self.pinned_changed.emit(entry, do == self._workspace.pin_entry)
        await self._measure(chat, self._draft)

    async def _try(self, chat: Chat) -> None:
        try:
            run = await self._workspace.dry_run(chat)
        except UserError as error:
            self.failed.emit(error)
            return
        # What is shown becomes that of now first: a measurement begun earlier would take the answer away.
        await self._measure(chat, self._draft)
        if chat is self._chat:
            lost = compact_warning(self.warm, self._workspace.clock(), run.after)
            self.trial_ready.emit(replace(trial_of(run, chat.path), cache=lost))

    def _on_timeout(self) -> None:
        if self._chat is not None:
            self._tasks.start(self._measure(self._chat, self._draft), "measure")

    async def _measure(self, chat: Chat, draft: Draft) -> None:
        if chat.damaged is not None:
            return
        try:
            plan = await chat.plan(draft)
            points = await self._checkpoints(chat)
            pins = tuple(await self._workspace.pins(chat))
            cost = await self._workspace.costs.session(chat.session_id)
        except UserError as error:
            self.failed.emit(error)
            return
        if chat is self._chat:
            now = self._workspace.clock()
            view = replace(
                context_of(plan, now),
                checkpoints=_lines(points, plan.path[-1].id if plan.path else "", now, self._diffs),
                pins=pins,
                cost=cost_view(cost, self._cached(chat), self._label),
                compact_tip=compact_warning(self.warm, now),
            )
            self.context_changed.emit(view)

    async def _checkpoints(self, chat: Chat) -> tuple[Checkpoint, ...]:
        """All of the branch, also those behind the part that is loaded; read once for each end of it."""
        if chat.whole or not chat.path:
            return tuple(m for m in chat.path if isinstance(m, Checkpoint))
        leaf = chat.path[-1].id
        if self._points[0] != leaf:
            self._points = leaf, tuple(await self._workspace.checkpoints(chat))
        return self._points[1]

    @property
    def warm(self) -> WarmCache | None:
        """What the provider holds in its prompt cache of the branch in front, as far as that is known."""
        return self.warm_of(self._chat) if self._chat is not None else None

    def warm_of(self, chat: Chat) -> WarmCache | None:
        """The same of the branch that a chat is on."""
        return warm_cache(chat.path, self._workspace.costs.price)

    @property
    def model_warning(self) -> str:
        """What to say beside a choice of models; empty where nothing is lost."""
        return model_warning(self.warm, self._workspace.clock())

    def _cached(self, chat: Chat) -> Cached | None:
        answers = (m for m in reversed(chat.path) if isinstance(m, AssistantMessage))
        newest = next((a for a in answers if not all(usage.refused for usage in a.usage)), None)
        return cached(newest.usage, self._workspace.costs.price) if newest is not None else None

    def _label(self, ref: str) -> str:
        return next((p.label for p in self._workspace.profiles() if p.ref == ref), ref.partition("/")[2])

    async def _judge(self, chat: Chat, draft: Draft) -> None:
        verdicts = await chat.verdicts(draft)
        if chat is self._chat:
            self.verdicts_ready.emit(verdicts)

    async def _encode(self, chat: Chat, draft: Draft) -> None:
        try:
            body: Mapping[str, Any] = await self._workspace.body(chat, draft)
        except UserError as error:
            self.failed.emit(error)
            return
        self.request_ready.emit(body)


def context_of(plan: Plan, now: int) -> ContextView:
    """A plan as the meter and the dock show it.

    Reported usage counts whole requests: what it holds beyond our estimates is put to the recent messages.
    """
    system = estimate_text(plan.fixed.system)
    tools = max(0, plan.fixed.tokens - system)
    checkpoint = plan.tokens[0] if plan.projection.checkpoint is not None else 0
    draft = plan.draft_tokens
    recent = max(0, plan.occupancy.tokens - system - tools - checkpoint - draft)
    reported = plan.occupancy.source == "reported"
    source = (
        tr("Counted from what the provider reported for the last answer.")
        if reported
        else tr("Estimated, leaning high.")
    )
    return ContextView(
        used=plan.occupancy.tokens,
        safe_limit=plan.limits.safe_limit,
        trigger=plan.limits.trigger,
        window=plan.limits.window,
        reserve=plan.limits.reserve,
        parts=(system, tools, checkpoint, recent, draft),
        source=source,
        assumed=plan.limits.assumed,
        reported=reported,
        seen=_seen(plan),
        checkpoints=(),
    )


def _seen(plan: Plan) -> tuple[SeenLine, ...]:
    count = len(plan.fixed.tools)
    fixed = tr("System prompt and {0} tools").format(count) if count else tr("System prompt")
    lines = [SeenLine("lock", fixed, plan.fixed.tokens)]
    for message, tokens in zip(plan.projection.messages, plan.tokens, strict=True):
        lines.append(_seen_line(message, tokens))
    return tuple(lines)


def _seen_line(message: ProjectedMessage, tokens: int) -> SeenLine:
    match message.kind:
        case "checkpoint":
            return SeenLine("compact", tr("Checkpoint"), tokens, message.id, "kind_checkpoint")
        case "user":
            words = title_of(message.parts) or tr("Attached items")
            glyph = "edit" if message.id == DRAFT_ID else "chevron-right"
            text = tr("Draft: {0}").format(words) if message.id == DRAFT_ID else words
            return SeenLine(glyph, text, tokens, message.id)
        case "assistant":
            calls = sum(isinstance(p, ToolPart) for p in message.parts)
            text = tr("Answer with {0} tool results").format(calls) if calls else tr("Answer")
            return SeenLine("spark", text, tokens, message.id)


def _lines(
    found: Sequence[Checkpoint], leaf: str, now: int, diffs: dict[tuple[str, str], tuple[SectionDiff, ...]]
) -> tuple[CheckpointLine, ...]:
    """The newest first; each with what changed against the one before it."""
    newest = found[-1].id if found else None
    before = [None, *found][: len(found)]
    for old, new in pairwise(found):
        if (old.id, new.id) not in diffs:
            diffs[old.id, new.id] = diff_sections(old.summary, new.summary)
    return tuple(
        CheckpointLine(
            id=m.id,
            title=checkpoint_title(m),
            when=ago(m.created_at, now),
            sections=sections_of(m.summary),
            in_use=m.id == newest,
            at_end=m.id == leaf,
            changes=diffs[old.id, m.id] if old is not None else None,
            resources=m.ledger,
            summary=m.summary,
        )
        for old, m in reversed(list(zip(before, found, strict=True)))
    )


def trial_of(run: DryRun, path: Path) -> Trial:
    """A dry run as people read it: turns by their questions."""
    if run.outcome == "nothing":
        return Trial(nothing=run.reason)
    goes, stays = set(run.span), set(run.tail)
    asked = [
        title_of(m.parts) or tr("Attached items") for m in path if isinstance(m, UserMessage) and m.id in goes
    ]
    kept = sum(isinstance(m, UserMessage) and m.id in stays for m in path)
    return Trial(
        turns=len(asked),
        first=asked[0] if asked else "",
        last=asked[-1] if asked else "",
        kept=kept,
        before=run.before,
        after=run.after,
        cost=run.cost,
        dollars=tr("about {0}").format(money(run.dollars)) if run.dollars else "",
        pays_after=run.pays_after,
        cache_lost=run.cache_lost,
    )
