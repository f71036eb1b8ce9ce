"""One session as its views use it: every operation a person can start, in the order the design gives.

Checks, compacts, writes and answers; what happens is announced as events.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from bibgenie_desktop.domain.boundary import NothingToDo
from bibgenie_desktop.domain.errors import NotAllowed, StoreUnavailable
from bibgenie_desktop.domain.ids import Clock, IdMaker, MessageId, SessionId
from bibgenie_desktop.domain.messages import (
    AssistantMessage,
    Checkpoint,
    Path,
    Session,
    UserMessage,
)
from bibgenie_desktop.domain.parts import Draft, Part, title_of
from bibgenie_desktop.domain.states import Action, SessionState
from bibgenie_desktop.services import events
from bibgenie_desktop.services.answer_flow import AnswerFlow
from bibgenie_desktop.services.cards import Cards
from bibgenie_desktop.services.compaction_flow import CompactionFlow
from bibgenie_desktop.services.compactor import Compactor
from bibgenie_desktop.services.estimates import Estimates
from bibgenie_desktop.services.follow_ups import FollowUps
from bibgenie_desktop.services.models import Models
from bibgenie_desktop.services.naming import named, within_quotes
from bibgenie_desktop.services.notices import not_compacted, too_large
from bibgenie_desktop.services.open_session import OpenSession
from bibgenie_desktop.services.planner import Plan, Planner
from bibgenie_desktop.services.tools.base import Decision
from bibgenie_desktop.services.tools.read_result import ReadResult
from bibgenie_desktop.services.tools.toolbox import Toolbox
from bibgenie_desktop.services.turn import TurnRunner
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.worker import StoreWorker

CHECKING = "Checking the request"
COMPACTING = "Compacting earlier context"


class Chat(OpenSession):
    """A session that a person works in. One operation runs at a time."""

    def __init__(
        self,
        session_id: SessionId,
        *,
        store: StoreWorker,
        planner: Planner,
        models: Models,
        compactor: Compactor,
        toolbox: Toolbox,
        estimates: Estimates,
        ids: IdMaker,
        clock: Clock,
        automatic: bool,
    ) -> None:
        super().__init__(session_id, store, planner, models, estimates)
        self.waiting: Draft | None = None
        """A text sent while a compaction runs: frozen until that ends."""
        self._follow_ups = FollowUps(self, store)
        self._ids = ids
        self._flow = CompactionFlow(self, store, planner, compactor, automatic=automatic)
        reader = ReadResult(self.read_handle)
        self._compactor = compactor
        self._cards = Cards(self, store)
        self._runner = TurnRunner(
            store, planner, models, toolbox, reader, estimates, clock, self.announce, self._cards.ask
        )
        self._answers = AnswerFlow(self, self._runner, self._flow, estimates)

    def use_automatic(self, automatic: bool) -> None:
        """Whether a full context is compacted without being asked, from the next request on."""
        self._flow.automatic = automatic

    async def send(self, draft: Draft, *, without_compacting: bool = False) -> None:
        """Sends the draft after its preflight. Refused, failed or cancelled: nothing is sent, the draft
        stays.

        While a compaction runs the draft waits for it; while an answer is written it joins the queue.
        """
        if draft.empty or draft in (self.waiting, self.on_its_way):
            return
        if self.state is SessionState.COMPACTING:
            if self.waiting is not None or self.on_its_way is not None:
                raise NotAllowed("A text waits to be sent already.", "Wait for it, or cancel the compaction.")
            self.waiting = draft
            await self._store.run(Store.save_draft, self.session_id, None, draft)
            self.announce(events.ContextChanged())
            return
        if self.refusal(Action.QUEUE) is None:
            await self._follow_ups.add(draft)
            return
        self.require(Action.SEND)
        await self._send(draft, without_compacting=without_compacting)

    @property
    def queued(self) -> tuple[Draft, ...]:
        """The follow-ups, in the order in which they will be sent."""
        return self._follow_ups.queued

    def unqueue(self, index: int) -> Draft | None:
        """Takes a follow-up out of the queue and returns it."""
        return self._follow_ups.take_back(index)

    async def keep_queue(self) -> None:
        """Stores that a follow-up was taken back, once its text is kept elsewhere."""
        await self._follow_ups.keep()

    async def retry(self, answer_id: MessageId, model: str = "") -> None:
        """A new answer to the same question, beside the old one; `model` counts for this answer only."""
        self.require(Action.RETRY)
        async with self.working(SessionState.PREFLIGHT, CHECKING):
            answer = await self.message(answer_id)
            if not isinstance(answer, AssistantMessage):
                raise NotAllowed("Only an answer can be retried.", "Choose an answer, not a checkpoint.")
            profile = self._models.profile(model or self.session.model)
            path = await self._store.run(Store.path_to, answer.parent_id)
            plan = await asyncio.to_thread(self._planner.plan, path, Draft(), profile)
            if plan.overshoot:
                self.announce(too_large(plan, ("edit", "choose_model")))
                return
            self.token.raise_if_cancelled()
            session, _, pending = await self._store.run(
                Store.retry,
                self.session_id,
                self.session.head,
                answer.parent_id,
                MessageId(self._ids()),
                profile.ref,
                cancelled=self.token,
            )
            await self._answers.run(session, path, pending, profile)
        await self._send_waiting()

    async def edit(self, question_id: MessageId, draft: Draft, *, without_compacting: bool = False) -> None:
        """A changed question beside the old one. Whatever stops it leaves the head as it was."""
        self.require(Action.EDIT)
        if draft.empty:
            return
        async with self.working(SessionState.PREFLIGHT, CHECKING, draft):
            await self._store.run(Store.save_draft, self.session_id, question_id, draft)
            question = await self.message(question_id)
            if not isinstance(question, UserMessage):
                raise NotAllowed("Only a question can be edited.", "Choose one of your own messages.")
            profile = self._models.profile(self.session.model)
            parent = question.parent_id
            path: Path = await self._store.run(Store.path_to, parent) if parent else ()
            plan = await asyncio.to_thread(self._planner.plan, path, draft, profile)
            checkpoint: Checkpoint | None = None
            decision = None if without_compacting else self._flow.wanted(plan)
            if decision is None and not without_compacting and self._flow.tried_in_vain(plan):
                self._not_sent(plan)
                return
            if decision is not None:
                checkpoint = await self._flow.summarise(plan, decision, "preflight")
                if checkpoint is None:
                    self._not_sent(plan)
                    return
                path = (*path, checkpoint)
                plan = await asyncio.to_thread(self._planner.plan, path, draft, profile)
            if plan.overshoot:
                self.announce(too_large(plan, ("choose_model",)))
                self.announce(events.SendEnded(sent=False))
                return
            self.token.raise_if_cancelled()
            session, asked, pending = await self._store.run(
                Store.edit,
                self.session_id,
                self.session.head,
                parent,
                draft.parts(),
                MessageId(self._ids()),
                profile.ref,
                checkpoint,
                edits=question_id,
                cancelled=self.token,
            )
            self.announce(events.SendEnded(sent=True))
            if checkpoint is not None:
                sizes = (checkpoint.tokens_before, checkpoint.tokens_after)
                self.announce(events.CompactionEnded("done", "", *sizes))
            path = await self._store.run(Store.path_to, asked.id)
            await self._answers.run(session, path, pending, profile)
        await self._send_waiting()

    async def fork(self, answer_id: MessageId) -> Session:
        """A new session whose leaf is this answer. This session is not changed."""
        self.require(Action.FORK)
        words = await self._question_words(answer_id)
        title = f"from “{within_quotes(words)}”" if words else ""
        session = await self._store.run(Store.fork, self.session_id, answer_id, title)
        self.announce(events.SessionsChanged(session.id))
        return session

    async def switch_to(self, message_id: MessageId) -> None:
        """Goes to the leaf that was last visited at or below a message."""
        self.require(Action.SWITCH_BRANCH)
        leaf = await self._store.run(Store.leaf_below, message_id)
        if leaf == self.session.leaf_id:
            return
        async with self.working(SessionState.PREFLIGHT, "Switching the branch"):
            await self._store.run(Store.switch, self.session_id, self.session.head, leaf)
            await self.reload()

    async def choose_model(self, ref: str) -> None:
        """Makes a model the session's own. Only reports: nothing is sent or compacted."""
        self.require(Action.CHOOSE_MODEL)
        profile = self._models.profile(ref)
        head = self.session.head
        self.session = await self._store.run(Store.set_model, self.session_id, profile.ref)
        if self.session.head != head:
            await self.reload()
        if shortage := self._planner.shortage(profile):
            advice = "Choose a model with a larger window for work with your library."
            self.announce(events.Notice("warn", shortage, advice, ("choose_model",), "session"))
        self.announce(events.ContextChanged())

    async def compact(self) -> None:
        """The Compact action. A text sent meanwhile goes out afterwards, through a preflight of its own."""
        self.require(Action.COMPACT)
        async with self.working(SessionState.COMPACTING, COMPACTING):
            plan = await self.plan(Draft())
            decision = self._planner.decide(plan, "manual")
            if isinstance(decision, NothingToDo):
                self.announce(events.CompactionEnded("nothing", decision.reason))
                self.go_on = not self.token()
            else:
                self.go_on = await self._flow.run(plan, decision, "manual") == "done"
        await self._send_waiting(queue=False)

    async def undo_checkpoint(self) -> None:
        """Takes back the checkpoint that is the leaf; it stays in the tree."""
        self.require(Action.UNDO_CHECKPOINT)
        self._leaf_checkpoint()
        async with self.working(SessionState.PREFLIGHT, "Taking the checkpoint back"):
            await self._store.run(Store.undo_checkpoint, self.session_id, self.session.head)
            await self.reload()

    async def revise_summary(self, summary: str) -> None:
        """An edited summary as a new checkpoint under the one that is the leaf, judged like any other."""
        self.require(Action.REVISE_SUMMARY)
        old = self._leaf_checkpoint()
        async with self.working(SessionState.COMPACTING, "Checking the summary"):
            plan = await self.plan(Draft())
            pins = await self._store.run(Store.pins, self.session_id)
            head = self.session.head
            revised = self._compactor.revised(plan, old, summary, head, pins, self.announce)
            self.go_on = await self._flow.commit(revised) == "done"
        await self._send_waiting(queue=False)

    def _leaf_checkpoint(self) -> Checkpoint:
        leaf = self.path[-1] if self.path else None
        if not isinstance(leaf, Checkpoint):
            raise NotAllowed("There is no checkpoint at the end of this branch.", "Compact first.")
        return leaf

    def answer_card(self, decision: Decision) -> None:
        """The person's word on the proposal that the turn waits for."""
        self.require(Action.ANSWER_CARD)
        self._cards.answer(decision)

    def cancel(self) -> None:
        """Ends a preflight or a compaction; nothing of it is written."""
        if self.refusal(Action.CANCEL) is None:
            self.token.cancel()

    def stop(self) -> None:
        """Ends the answer under way; what has arrived of it is kept."""
        if self.refusal(Action.STOP) is None:
            self.token.cancel()

    async def _parts_of(self, message_id: MessageId) -> tuple[Part, ...]:
        under_way = self._runner.parts_of(message_id)
        return under_way if under_way is not None else await super()._parts_of(message_id)

    async def _question_words(self, answer_id: MessageId) -> str:
        """The beginning of the question that an answer belongs to."""
        answer = await self.message(answer_id)
        question = await self.message(answer.parent_id) if answer.parent_id is not None else answer
        return title_of(question.parts) if isinstance(question, UserMessage) else ""

    async def _send(self, draft: Draft, *, without_compacting: bool = False, queued: bool = False) -> None:
        """`queued`: the text comes from the queue, so the composer may hold another one by now."""
        sent = False
        async with self.working(SessionState.PREFLIGHT, CHECKING, draft):
            if not queued:
                await self._store.run(Store.save_draft, self.session_id, None, draft)
                await self.keep_queue()
            sent = await self._asked(draft, without_compacting=without_compacting)
        if queued and not sent:
            await self._follow_ups.back_to_draft(draft)
        await self._send_waiting()

    async def _asked(self, draft: Draft, *, without_compacting: bool) -> bool:
        """Preflight, question and answer; False where the draft did not become a question."""
        plan = await self.plan(draft)
        decision = None if without_compacting else self._flow.wanted(plan)
        if decision is not None:
            if await self._flow.run(plan, decision, "preflight") != "done":
                self._not_sent(plan)
                return False
            self.set_state(SessionState.PREFLIGHT, CHECKING)
            plan = await self.plan(draft)
        elif not without_compacting and self._flow.tried_in_vain(plan):
            self._not_sent(plan)
            return False
        if plan.overshoot:
            self._not_sent(plan)
            return False
        self.token.raise_if_cancelled()
        session, asked, pending = await self._store.run(
            Store.send,
            self.session_id,
            self.session.head,
            draft.parts(),
            MessageId(self._ids()),
            plan.profile.ref,
            cancelled=self.token,
        )
        self.announce(events.SendEnded(sent=True))
        with suppress(StoreUnavailable):  # a missing title is no reason to leave the answer out
            session = await named(self._store, session, asked)
        await self._answers.run(session, (*self.path, asked), pending, plan.profile)
        return True

    def _not_sent(self, plan: Plan) -> None:
        """Too large as it is, or its compaction came to nothing: said each time, with what helps."""
        self.announce(too_large(plan, self._flow.offers(plan)) if plan.overshoot else not_compacted())
        self.announce(events.SendEnded(sent=False))

    async def _send_waiting(self, *, queue: bool = True) -> None:
        """Sends what waited for the operation that has ended well; follow-ups after an answer only."""
        draft, self.waiting = self.waiting, None
        if draft is not None and not self.go_on:
            self.announce(events.SendEnded(sent=False))
        elif draft is not None:
            await self._send(draft)
        elif queue and self.go_on and self.queued:
            await self._send(await self._follow_ups.next(), queued=True)
