"""How large the next request is: the meter, the Context dock, and the verdict of each model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from bibgenie_desktop.domain.checkpoint import sections_of
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.messages import Checkpoint
from bibgenie_desktop.domain.parts import Draft, ToolPart, title_of
from bibgenie_desktop.domain.projection import DRAFT_ID, ProjectedMessage
from bibgenie_desktop.domain.tokens import estimate_text
from bibgenie_desktop.gui.docks.context import CheckpointLine, ContextView, SeenLine
from bibgenie_desktop.gui.presenters.transcript import checkpoint_title
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.gui.when import ago
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.services.planner import Plan
from bibgenie_desktop.services.workspace import Workspace

WAIT_MS = 250
"""How long typing must pause before the request is measured again."""


class ContextPresenter(QObject):
    context_changed = Signal(object)
    verdicts_ready = Signal(object)
    request_ready = Signal(object)
    failed = Signal(object)
    """A `UserError`, such as a model that is not set up any more."""

    def __init__(self, workspace: Workspace, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace, self._tasks = workspace, tasks
        self._chat: Chat | None = None
        self._draft = Draft()
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

    def _on_timeout(self) -> None:
        if self._chat is not None:
            self._tasks.start(self._measure(self._chat, self._draft), "measure")

    async def _measure(self, chat: Chat, draft: Draft) -> None:
        if chat.damaged is not None:
            return
        try:
            plan = await chat.plan(draft)
        except UserError as error:
            self.failed.emit(error)
            return
        if chat is self._chat:
            self.context_changed.emit(context_of(plan, self._workspace.clock()))

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
        seen=_seen(plan),
        checkpoints=_checkpoints(plan, now),
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


def _checkpoints(plan: Plan, now: int) -> tuple[CheckpointLine, ...]:
    found = [m for m in plan.path if isinstance(m, Checkpoint)]
    newest = found[-1].id if found else None
    return tuple(
        CheckpointLine(
            m.id, checkpoint_title(m), ago(m.created_at, now), sections_of(m.summary), m.id == newest
        )
        for m in reversed(found)
    )
