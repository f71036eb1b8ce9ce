"""One answer: requests to the model, tool calls between them, and what of it is saved while it is under way.

Every way out of `TurnRunner.run` ends the pending reply as an assistant message (I10).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Final

from bibgenie_desktop.domain.errors import (
    Cancelled,
    ContextOverflow,
    Overloaded,
    RateLimited,
    UserError,
    sentences,
)
from bibgenie_desktop.domain.ids import Clock, MessageId
from bibgenie_desktop.domain.messages import Path, PendingReply, Status
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.parts import Part, ToolPart, ToolState
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.providers import base
from bibgenie_desktop.services.cancel import CancelToken
from bibgenie_desktop.services.estimates import Estimates
from bibgenie_desktop.services.events import (
    ChatEvent,
    Notice,
    Offer,
    ReplyReasoning,
    ReplyText,
    ReplyWaiting,
    ReplyWaitOver,
    ToolEnded,
    ToolStarted,
)
from bibgenie_desktop.services.images import keep, pictures_of
from bibgenie_desktop.services.models import LEARNED_WINDOW, Models
from bibgenie_desktop.services.planner import Plan, Planner, blobs_of, request_of
from bibgenie_desktop.services.reply import Endless, Reply
from bibgenie_desktop.services.results import LEAST_RESULT, fit_result, for_model, handle, pictures_cost
from bibgenie_desktop.services.tools.base import Card, Decision, ProposingTool, Tool, ToolResult
from bibgenie_desktop.services.tools.toolbox import Toolbox
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.values import Finished
from bibgenie_desktop.storage.worker import StoreWorker

MOST_STEPS: Final = 24
SAVE_EVERY_MS: Final = 2_000
RESULTS_SHARE: Final = 0.5
"""How much of what is left one step's results may take: the next step needs room as well."""

LIMIT_REACHED = f"This turn has reached its limit of {MOST_STEPS} tool steps."
NO_ROOM = "The model's context is full."
ANSWER_NOW = "The call was not run. Answer now from what you have, and say what is missing."
NO_ANSWER = "The model gave no answer."
GO_ON = "Send “Go on” to let it continue from what it has found."
OUTPUT_FULL = "The answer reached the model's output limit and may end early."
WINDOW_FULL = "The answer filled the model's window and may end early. Compact before you go on."
DECLINED = "The person declined this proposal. Nothing was changed."
COPIED = "Not written to Zotero: the person copied it to the clipboard instead."
KEPT = "What had arrived is kept, and so is what you are writing."
FILTERED = "The provider's content filter ended this answer."

_CUT_SHORT: Final = (LIMIT_REACHED, NO_ROOM, OUTPUT_FULL)


def ended_early(said: str) -> bool:
    """Whether what an answer ended with says that there was more to find or to say."""
    return said.startswith(_CUT_SHORT)


Announce = Callable[[ChatEvent], None]


class TurnRunner:
    """Runs the answers of one session."""

    def __init__(
        self,
        store: StoreWorker,
        planner: Planner,
        models: Models,
        toolbox: Toolbox,
        reader: Tool,
        estimates: Estimates,
        clock: Clock,
        announce: Announce,
        ask: Callable[[str, Card], Awaitable[Decision]],
    ) -> None:
        self._store = store
        self._planner = planner
        self._models = models
        self._toolbox = toolbox
        self._reader = reader
        self._estimates = estimates
        self._clock = clock
        self._announce = announce
        self._ask = ask
        self._reply: Reply | None = None

    def parts_of(self, message_id: MessageId) -> tuple[Part, ...] | None:
        """What has arrived of an answer that is under way; None for any other message."""
        reply = self._reply
        return tuple(reply.parts) if reply is not None and reply.pending.message_id == message_id else None

    async def run(
        self, pending: PendingReply, path: Path, profile: ModelProfile, token: CancelToken
    ) -> Finished:
        """Answers the question at the end of `path`; returns what was stored."""
        reply = self._reply = Reply(pending, saved_at=self._clock())
        status: Status = "complete"
        error = ""
        try:
            await token.guard(self._loop(reply, path, profile))
            error = reply.note
        except Cancelled:
            status = "stopped"
        except Endless as endless:
            status, error = "stopped", endless.text
        except UserError as failure:
            status, error = "failed", failure.text
            self._tell_when(failure)
            if isinstance(failure, ContextOverflow) and failure.window is not None:
                await self._learn_window(profile, failure.window)
        except asyncio.CancelledError:
            await asyncio.shield(self._end(reply, "interrupted", "The application was closed."))
            raise
        except BaseException:
            await self._end(reply, "failed", "Something went wrong inside the application.")
            raise
        return await self._end(reply, status, error)

    def _tell_when(self, failure: UserError) -> None:
        """When a provider that named a time can be asked again."""
        wait = failure.retry_after if isinstance(failure, RateLimited | Overloaded) else None
        if wait is not None and wait >= 1:
            at = self._clock() + round(1000 * wait)
            offers: tuple[Offer, ...] = ("retry", "choose_model")
            self._announce(Notice("warn", failure.title, KEPT, offers, "answer", retry_at=at))

    async def _learn_window(self, profile: ModelProfile, window: int) -> None:
        """The provider named its window in a refusal: better than any catalogue."""
        self._models.learn(profile, window)
        await self._store.run(Store.set_model_fact, profile.address, LEARNED_WINDOW, window)

    async def _end(self, reply: Reply, status: Status, error: str) -> Finished:
        session = reply.pending.session_id
        return await self._store.run(
            Store.finish, session, status, error, tuple(reply.parts), tuple(reply.usage)
        )

    async def _loop(self, reply: Reply, path: Path, profile: ModelProfile) -> None:
        asked_to_answer = False
        while True:
            plan = await self._plan(reply, path, profile)
            if plan.overshoot:
                raise UserError(
                    f"{NO_ROOM} {plan.overshoot:,} tokens too many for the next step.",
                    "Compact, then ask again.",
                )
            calls = await self._request(reply, plan)
            if not calls:
                if not reply.spoke:
                    raise UserError(sentences(NO_ANSWER, reply.note), "Retry, or choose another model.")
                return
            after = await self._plan(reply, path, profile)
            room = after.limits.safe_limit - after.occupancy.tokens
            budget = int(RESULTS_SHARE * room) // len(calls)
            refusal = (
                LIMIT_REACHED if reply.step + 1 >= MOST_STEPS else NO_ROOM if budget < LEAST_RESULT else ""
            )
            if after.limits.assumed and refusal == NO_ROOM:
                refusal, budget = "", LEAST_RESULT
            await self._run_calls(reply, calls, after, budget, refusal)
            await self._save(reply)
            if refusal:
                reply.note = f"{refusal} The answer rests on what was found until then."
                if asked_to_answer:
                    raise UserError(f"{refusal} The model wrote no answer.", GO_ON)
                asked_to_answer = True
            reply.step += 1

    async def _plan(self, reply: Reply, path: Path, profile: ModelProfile) -> Plan:
        parts, usage = tuple(reply.parts), tuple(reply.usage)
        return await asyncio.to_thread(
            self._planner.next_step, path, reply.pending.message_id, parts, usage, profile
        )

    async def _request(self, reply: Reply, plan: Plan) -> list[int]:
        """One request; returns the indices of the parts that are calls to be run."""
        request = request_of(plan, await self._store.run(pictures_of, blobs_of(plan)))
        reported: list[Usage] = []
        calls: list[int] = []
        busy = False
        reason: base.FinishReason | None = None
        try:
            async with aclosing(self._models.provider(plan.profile).stream(request)) as events:
                async for event in events:
                    if busy and not isinstance(event, base.Waiting):
                        self._announce(ReplyWaitOver())
                    busy = isinstance(event, base.Waiting)
                    match event:
                        case base.Waiting():
                            self._announce(ReplyWaiting.of(event, self._clock()))
                        case base.TextDelta():
                            reply.add_text(event.text)
                            self._announce(ReplyText(event.text, reply.step))
                        case base.ReasoningDelta():
                            reply.add_reasoning(event.text)
                            self._announce(ReplyReasoning(event.text, reply.step))
                        case base.ReasoningClosed():
                            reply.close_reasoning(event)
                        case base.ToolCalled():
                            calls.append(len(reply.parts))
                            reply.parts.append(reply.call(event))
                        case base.UsageReported():
                            reported.append(replace(event.usage, step=reply.step))
                        case base.Finished():
                            reason = event.reason
                        case base.ToolCallStarted():
                            pass
                    await self._save_if_due(reply)
        except BaseException:
            found = reported or [_estimated(plan, reply)]
            reply.usage += (replace(usage, complete=False) for usage in found)
            raise
        reply.usage += reported or [_estimated(plan, reply)]
        if len(reported) == 1:  # of several passes none is the size of what was sent
            raw = plan.fixed.tokens + round(sum(plan.tokens) / plan.estimator.factor)
            await self._estimates.learn(plan.profile, reported[0], raw)
        if reason in ("content_filter", "refusal"):
            raise UserError(FILTERED, "Ask in other words, or choose another model.")
        if reason == "length":
            reply.note = OUTPUT_FULL
        if reason == "window":
            reply.note = WINDOW_FULL
        return calls

    async def _run_calls(self, reply: Reply, calls: list[int], plan: Plan, budget: int, refusal: str) -> None:
        async def one(index: int) -> None:
            call = reply.parts[index]
            if not isinstance(call, ToolPart):
                raise TypeError("a call is a tool part")
            if refusal:
                text = f"{refusal} {ANSWER_NOW}"
                ended = replace(call, state="denied", result=text, sent=text, note="not run")
            else:
                self._announce(ToolStarted(call))
                result = for_model(await self._run_tool(call, plan.profile), plan, budget)
                name = handle(reply.pending.message_id, index)
                state: ToolState = "denied" if result.denied else "error" if result.error else "done"
                ended = replace(
                    call,
                    state=state,
                    result=result.text,
                    sent=fit_result(
                        result.text, max(LEAST_RESULT, budget - pictures_cost(result, plan)), name
                    ),
                    resources=result.resources,
                    note=result.note,
                    images=await keep(self._store, result.pictures),
                )
            reply.parts[index] = ended
            self._announce(ToolEnded(ended))

        async def in_turn(indices: list[int]) -> None:
            for index in indices:
                await one(index)

        # One card is shown at a time: in the order of the calls, not in that in which they were checked.
        cards = [i for i in calls if self._is_proposal(reply.parts[i])]
        async with asyncio.TaskGroup() as group:
            group.create_task(in_turn(cards))
            for index in calls:
                if index not in cards:
                    group.create_task(one(index))

    def _is_proposal(self, part: Part) -> bool:
        return isinstance(part, ToolPart) and isinstance(self._toolbox.get(part.name), ProposingTool)

    async def _run_tool(self, call: ToolPart, profile: ModelProfile) -> ToolResult:
        if "malformed" in (call.opaque or {}):
            written = str((call.opaque or {})["malformed"])[:200]
            return ToolResult(f"The arguments are not a JSON object: {written}", error=True)
        reader = self._reader
        tool = reader if call.name == reader.spec.name else self._toolbox.get(call.name)
        if tool is None or (tool.spec.needs_vision and not profile.vision):
            offered = [s.name for s in self._toolbox.specs if profile.vision or not s.needs_vision]
            names = ", ".join((*offered, reader.spec.name))
            return ToolResult(f"There is no tool {call.name}. The tools are: {names}.", error=True)
        try:
            if isinstance(tool, ProposingTool):
                return await self._propose(call, tool)
            return await tool.run(call.input)
        except UserError as failure:
            return ToolResult(failure.text, error=True)

    async def _propose(self, call: ToolPart, tool: ProposingTool) -> ToolResult:
        card = await tool.propose(call.input)
        if isinstance(card, ToolResult):
            return card
        decision = await self._ask(call.id, card)
        if decision.kind == "declined":
            return ToolResult(DECLINED, note="declined", denied=True)
        if decision.kind == "copied":
            return ToolResult(f"{COPIED} {card.refusal}".rstrip(), note="copied")
        return await tool.carry_out(replace(card, call_id=call.id), decision)

    async def _save_if_due(self, reply: Reply) -> None:
        if self._clock() - reply.saved_at >= SAVE_EVERY_MS:
            await self._save(reply)

    async def _save(self, reply: Reply) -> None:
        reply.saved_at = self._clock()
        session = reply.pending.session_id
        await self._store.run(Store.save_pending, session, tuple(reply.parts), tuple(reply.usage))


def _estimated(plan: Plan, reply: Reply) -> Usage:
    """A record for a request whose provider reported none."""
    estimator = plan.estimator
    written = sum(estimator.part(p, in_turn=True) for p in reply.parts if p.step == reply.step)
    return Usage(
        provider=plan.profile.provider,
        base_url=plan.profile.base_url,
        model=plan.profile.model,
        input_total=plan.occupancy.tokens,
        output_total=estimator.scaled(written),
        source="estimate",
        step=reply.step,
    )
