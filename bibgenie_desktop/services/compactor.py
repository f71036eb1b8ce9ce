"""From a decision to a checkpoint: serialise, ask, judge, build the ledger. Writes nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from string import Template

from bibgenie_desktop.domain.boundary import Compaction
from bibgenie_desktop.domain.checkpoint import BUDGET_TOLERANCE, SECTIONS, judge, keys_in, strike_unknown_keys
from bibgenie_desktop.domain.errors import ContextOverflow, ProviderError
from bibgenie_desktop.domain.ids import Clock, IdMaker, MessageId
from bibgenie_desktop.domain.ledger import extend_ledger, keys_of, pins_fit, project_ledger
from bibgenie_desktop.domain.locators import LedgerEntry
from bibgenie_desktop.domain.messages import Checkpoint, Head, Trigger
from bibgenie_desktop.domain.parts import TextPart
from bibgenie_desktop.domain.projection import ProjectedMessage, Projection, newest_checkpoint, project
from bibgenie_desktop.domain.serialise import grapheme_border, serialise, serialise_message
from bibgenie_desktop.domain.tokens import estimate_text
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.providers.base import Finished, Request, TextDelta, ToolCalled, UsageReported, Waiting
from bibgenie_desktop.services.cancel import CancelToken
from bibgenie_desktop.services.events import CompactionProgress, Notice, ReplyWaiting
from bibgenie_desktop.services.models import Models
from bibgenie_desktop.services.planner import Plan, Prompts
from bibgenie_desktop.services.summary_faults import CompactionFailed, of_summary, refused

Progress = Callable[[CompactionProgress | ReplyWaiting | Notice], None]

EMPTY_RECORD = "\n".join(f"## {name}\n- [inference] Nothing recorded." for name in SECTIONS)


NOTHING_WRITTEN = "(nothing was written)"
LONGEST_SUMMARY = 4
"""Budgets after which a summary that does not end is broken off."""


@dataclass(frozen=True, slots=True)
class _Stage:
    """One part of a summary, and who is told how it goes."""

    say: Progress
    budget: int
    stage: int
    stages: int

    def wrote(self, tokens: int) -> None:
        self.say(CompactionProgress(tokens, self.budget, self.stage, self.stages))


class Compactor:
    """Makes checkpoints that a store may commit."""

    def __init__(self, prompts: Prompts, models: Models, ids: IdMaker, clock: Clock) -> None:
        self._prompts = prompts
        self._models = models
        self._ids = ids
        self._clock = clock

    async def checkpoint(
        self,
        plan: Plan,
        decision: Compaction,
        head: Head,
        trigger: Trigger,
        pins: tuple[LedgerEntry, ...],
        token: CancelToken,
        progress: Progress,
    ) -> Checkpoint:
        """The checkpoint of a decision, to stand under the plan path's last message.

        Raises `Cancelled`, `CompactionFailed` or the provider's error.
        """
        newest = newest_checkpoint(plan.path)
        previous = plan.path[newest] if newest is not None else None
        known = previous if isinstance(previous, Checkpoint) else None
        ledger = extend_ledger(known.ledger if known else (), decision.span, pins)
        _require_room_for_pins(ledger, plan.limits.ledger_budget)
        spent: list[Usage] = []
        try:
            summary = await token.guard(self._summary(plan, decision, known, progress, spent))
        except ProviderError as error:
            if isinstance(error, ContextOverflow) and error.window is not None:
                self._models.learn(plan.profile, error.window)
            raise of_summary(error) from error
        shown = keys_in(serialise((*decision.span, *decision.tail)) + (known.summary if known else ""))
        summary = _struck(summary, shown | keys_of(ledger), progress)
        built = self._built(plan, head, trigger, decision.first_kept_id, summary, ledger)
        return replace(built, usage=tuple(spent))

    def revised(
        self,
        plan: Plan,
        old: Checkpoint,
        summary: str,
        head: Head,
        pins: tuple[LedgerEntry, ...],
        say: Progress,
    ) -> Checkpoint:
        """The checkpoint `old`, at the plan path's end, with a summary that a person edited.

        Raises `CompactionFailed` where the judge refuses it.
        """
        ledger = extend_ledger(old.ledger, (), pins)
        _require_room_for_pins(ledger, plan.limits.ledger_budget)
        verdict = judge(summary, finished=True, budget=plan.limits.summary_budget, replaces=None)
        if not verdict.accepted:
            raise CompactionFailed("The edited summary cannot be used yet.", " ".join(verdict.faults))
        path = serialise(m for m in plan.path if not isinstance(m, Checkpoint))
        known = keys_in(old.summary) | keys_in(path) | keys_of(ledger)
        struck = _struck(summary.strip(), known, say)
        return self._built(plan, head, "revise", old.first_kept_id, struck, ledger)

    def _built(
        self,
        plan: Plan,
        head: Head,
        trigger: Trigger,
        first_kept_id: MessageId | None,
        summary: str,
        ledger: tuple[LedgerEntry, ...],
    ) -> Checkpoint:
        leaf = plan.path[-1]
        checkpoint = Checkpoint(
            id=MessageId(self._ids()),
            tree_id=leaf.tree_id,
            parent_id=leaf.id,
            depth=leaf.depth + 1,
            first_kept_id=first_kept_id,
            summary=summary,
            ledger=ledger,
            ledger_projected=project_ledger(ledger, plan.limits.ledger_budget),
            trigger=trigger,
            head_leaf_id=head.leaf_id or leaf.id,
            head_revision=head.branch_revision,
            tokens_before=plan.limits.fixed + plan.estimator.projection(project(plan.path)),
            tokens_after=0,
            model=plan.profile.ref,
            created_at=self._clock(),
        )
        after = plan.estimator.projection(project((*plan.path, checkpoint)))
        return replace(checkpoint, tokens_after=plan.limits.fixed + after)

    async def _summary(
        self,
        plan: Plan,
        decision: Compaction,
        known: Checkpoint | None,
        progress: Progress,
        spent: list[Usage],
    ) -> str:
        """The accepted summary; a span too large for one request is folded chunk by chunk.

        `spent` gets the usage of each request.
        """
        budget = plan.limits.summary_budget
        previous = known.summary if known else EMPTY_RECORD
        refresh = not decision.span and not isinstance(plan.path[-1], Checkpoint)
        tail = serialise(decision.tail) if refresh else ""
        blocks = [serialise_message(m) for m in decision.span]
        if known is not None and self._room(plan, previous, tail) < self._least_room(plan):
            # A record made for a larger model: it is folded like a span.
            blocks, previous = [f"[previous record]\n{previous}", *blocks], EMPTY_RECORD
        chunks = self._chunks(plan, blocks, previous, tail) or [""]
        replaced = None
        if not refresh:
            estimator = plan.estimator
            replaced = sum(estimator.message(m) for m in decision.span)
            replaced += estimate_text(known.summary) if known else 0
        for stage, chunk in enumerate(chunks, 1):
            last = stage == len(chunks)
            text = Template(self._prompts.summary_request).safe_substitute(
                budget=budget, previous=previous, span=chunk, tail=_verbatim(tail) if last else ""
            )

            told = _Stage(progress, budget, stage, len(chunks))
            previous = await self._accepted(plan, text, replaced if last else None, told, spent)
        return previous

    async def _accepted(
        self,
        plan: Plan,
        text: str,
        replaces: int | None,
        told: _Stage,
        spent: list[Usage],
    ) -> str:
        budget = plan.limits.summary_budget
        summary, finished = await self._ask(plan, text, told, spent)
        verdict = judge(summary, finished=finished, budget=budget, replaces=replaces)
        if not verdict.accepted:
            repair = Template(self._prompts.summary_repair).safe_substitute(
                faults="\n".join(f"- {f}" for f in verdict.faults),
                summary=summary.strip() or NOTHING_WRITTEN,
                request=text,
                budget=budget,
            )
            if self._size(repair) <= plan.limits.safe_limit:
                summary, finished = await self._ask(plan, repair, told, spent)
                verdict = judge(summary, finished=finished, budget=budget, replaces=replaces)
        if not verdict.accepted:
            raise CompactionFailed(
                "The model wrote no usable summary; nothing was changed.",
                f"{' '.join(verdict.faults)} Try again, or choose another model.",
            )
        return summary.strip()

    async def _ask(self, plan: Plan, text: str, told: _Stage, spent: list[Usage]) -> tuple[str, bool]:
        """The visible text of one answer, and whether the model ended it by itself."""
        message = ProjectedMessage(MessageId("summary"), "user", (TextPart(text),))
        size = self._size(text)
        if size > plan.limits.safe_limit:
            raise CompactionFailed(
                "Even a part of this conversation is too large for this model to summarise.",
                "Choose a model with a larger window and compact again.",
            )
        request = Request(
            profile=plan.profile,
            system=self._prompts.summary_system,
            tools=(),
            projection=Projection((message,)),
            max_output_tokens=plan.limits.output_room(size),
            purpose="summary",
        )
        written: list[str] = []
        tokens, finished = 0, False
        asked = plan.profile
        reported: list[Usage] = []
        most = LONGEST_SUMMARY * max(told.budget, 1_000)
        async with aclosing(self._models.provider(plan.profile).stream(request)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    written.append(event.text)
                    tokens += max(0, estimate_text(event.text) - 1)
                    told.wrote(tokens)
                    if tokens > most:  # it does not stop by itself; the judge will say that it was cut
                        break
                elif isinstance(event, Waiting):
                    told.say(ReplyWaiting.of(event, self._clock()))
                elif isinstance(event, UsageReported):
                    reported.append(event.usage)
                elif isinstance(event, ToolCalled):
                    finished = False
                elif isinstance(event, Finished):
                    finished = event.reason == "stop"
                    if event.reason in ("content_filter", "refusal"):
                        raise refused()
        estimate = Usage(asked.provider, asked.base_url, asked.model, size, tokens, source="estimate")
        spent += (replace(usage, step=len(spent)) for usage in reported or [estimate])
        return "".join(written), finished

    def _size(self, text: str) -> int:
        return estimate_text(self._prompts.summary_system) + estimate_text(text) + 2 * 4

    def _room(self, plan: Plan, previous: str, tail: str) -> int:
        """Tokens of a span that one request has room for; each stage may write as much as the judge takes."""
        written = int(BUDGET_TOLERANCE * plan.limits.summary_budget)
        carried = max(estimate_text(previous), written)
        frame = self._size(self._prompts.summary_request) + carried + estimate_text(_verbatim(tail))
        return plan.limits.safe_limit - frame

    def _least_room(self, plan: Plan) -> int:
        return plan.limits.safe_limit // 8

    def _chunks(self, plan: Plan, blocks: list[str], previous: str, tail: str) -> list[str]:
        """The span in as few pieces as fit the summariser, cut between messages where possible."""
        room = self._room(plan, previous, tail)
        if room < self._least_room(plan):
            raise CompactionFailed(
                "This model's window is too small to summarise this conversation.",
                "Choose a model with a larger window and compact again.",
            )
        chunks: list[list[str]] = [[]]
        used = 0
        for block in blocks:
            for piece, size in _pieces(block, room):
                cost = size + 2
                if chunks[-1] and used + cost > room:
                    chunks.append([])
                    used = 0
                chunks[-1].append(piece)
                used += cost
        return ["\n\n".join(pieces) for pieces in chunks if pieces]


def _pieces(block: str, room: int) -> list[tuple[str, int]]:
    """A block as pieces of at most `room` tokens each, cut at grapheme borders, with their sizes."""
    size = estimate_text(block)
    if size <= room:
        return [(block, size)]
    length = max(1, len(block) * room // size * 9 // 10)
    pieces, start = [], 0
    while start < len(block):
        end = start + length
        piece = block[start : start + grapheme_border(block[start:], length) or end]
        while len(piece) > 1 and estimate_text(piece) > room:
            piece = piece[: max(1, grapheme_border(piece, len(piece) * 3 // 4))]
        pieces.append((piece, estimate_text(piece)))
        start += len(piece)
    return pieces


def _require_room_for_pins(ledger: tuple[LedgerEntry, ...], budget: int) -> None:
    if not pins_fit(ledger, budget):
        raise CompactionFailed(
            "What you pinned does not fit this model's checkpoint; nothing was changed.",
            "Unpin something, or choose a model with a larger window.",
        )


def _verbatim(tail: str) -> str:
    if not tail:
        return ""
    return (
        "\nThe following messages stay word for word beside the record. Do not summarise them; use them only "
        f"to bring progress, decisions and next steps up to date.\n\n<verbatim>\n{tail}\n</verbatim>\n"
    )


def _struck(summary: str, known: frozenset[str], say: Progress) -> str:
    """The summary without keys that nobody has seen; the person is told which were replaced."""
    struck, unknown = strike_unknown_keys(summary, known)
    if unknown:
        title = (
            "A key in the summary occurs nowhere in the conversation and was replaced."
            if len(unknown) == 1
            else f"{len(unknown)} keys in the summary occur nowhere in the conversation and were replaced."
        )
        say(Notice("warn", title, ", ".join(unknown), (), "session"))
    return struck
