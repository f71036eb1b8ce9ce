"""The compactions of one open session: whether one is wanted, its summary, its commit, and what is said of
it."""

from __future__ import annotations

from typing import Literal

from bibgenie_desktop.domain.boundary import Compaction
from bibgenie_desktop.domain.errors import Cancelled, StaleBranch, UserError
from bibgenie_desktop.domain.messages import Checkpoint, Head, Trigger
from bibgenie_desktop.domain.parts import Draft
from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.services import events
from bibgenie_desktop.services.compactor import Compactor
from bibgenie_desktop.services.open_session import OpenSession
from bibgenie_desktop.services.planner import Plan, Planner, without_draft
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.worker import StoreWorker

Outcome = Literal["done", "nothing", "failed", "cancelled", "stale"]

CANCELLED = "Compaction cancelled. Nothing was changed."
STALE = "The session was changed meanwhile, so the summary was not used. It has been reloaded."


class CompactionFlow:
    """Announces how each attempt ends. `automatic` False turns both automatic ways off."""

    def __init__(
        self,
        chat: OpenSession,
        store: StoreWorker,
        planner: Planner,
        compactor: Compactor,
        *,
        automatic: bool,
    ) -> None:
        self.automatic = automatic
        self._chat = chat
        self._store = store
        self._planner = planner
        self._compactor = compactor
        self._tried: tuple[tuple[Head, str, Draft], ...] = ()

    def wanted(self, plan: Plan) -> Compaction | None:
        """The preflight compaction that a request wants, once for the same head, model and draft.

        None as well where the request would not fit even then: no summary is paid for in vain.
        """
        held_back = self._chat.undone and not plan.overshoot
        if held_back or not (self.automatic and plan.above_trigger and plan.path):
            return None
        decision = self._planner.decide(plan, "preflight")
        if isinstance(decision, Compaction) and plan.overshoot > decision.gain:
            return None
        return self._once(plan, decision)

    def tried_in_vain(self, plan: Plan) -> bool:
        """Whether the compaction that this request wants was tried already: then the person has the word."""
        if self._chat.undone or not (self.automatic and plan.above_trigger and plan.path):
            return False
        tried = self._attempt(plan) in self._tried
        return tried and isinstance(self._planner.decide(plan, "preflight"), Compaction)

    def offers(self, plan: Plan) -> tuple[events.Offer, ...]:
        """What helps against a request that is too large; Compact only where it has something to do."""
        decision = self._planner.decide(without_draft(plan), "manual") if plan.path else None
        return ("choose_model", "compact") if isinstance(decision, Compaction) else ("choose_model",)

    def wanted_after_answer(self, plan: Plan) -> Compaction | None:
        """The compaction that an answer which left the context above its trigger wants."""
        if not (self.automatic and plan.above_trigger and plan.path):
            return None
        return self._once(plan, self._planner.decide(plan, "automatic"))

    def _once(self, plan: Plan, decision: object) -> Compaction | None:
        attempt = self._attempt(plan)
        if attempt in self._tried or not isinstance(decision, Compaction):
            return None
        here = (tried for tried in self._tried if tried[0] == attempt[0])  # at another head all begins anew
        self._tried = (*here, attempt)
        return decision

    def _attempt(self, plan: Plan) -> tuple[Head, str, Draft]:
        return self._chat.session.head, plan.profile.ref, plan.draft

    async def run(self, plan: Plan, decision: Compaction, trigger: Trigger) -> Outcome:
        """Summary and commit at the head the session has now."""
        checkpoint = await self.summarise(plan, decision, trigger)
        return "failed" if checkpoint is None else await self.commit(checkpoint)

    async def summarise(self, plan: Plan, decision: Compaction, trigger: Trigger) -> Checkpoint | None:
        """The checkpoint, not written yet; None after saying why there is none."""
        chat = self._chat
        chat.set_state(SessionState.COMPACTING, "Compacting earlier context")
        chat.announce(events.CompactionProgress(0, plan.limits.summary_budget))
        pins = await self._store.run(Store.pins, chat.session_id)
        try:
            return await self._compactor.checkpoint(
                plan, decision, chat.session.head, trigger, pins, chat.token, chat.announce
            )
        except Cancelled:
            chat.announce(events.CompactionEnded("cancelled", CANCELLED))
        except UserError as error:
            chat.announce(events.CompactionEnded("failed", error.text))
        return None

    async def commit(self, checkpoint: Checkpoint) -> Outcome:
        """Writes a checkpoint at the head it was made for, and shows the stored state."""
        chat = self._chat
        head = Head(checkpoint.head_leaf_id, checkpoint.head_revision)
        outcome: Outcome = "done"
        said = ""
        try:
            await self._store.run(
                Store.commit_checkpoint, chat.session_id, head, checkpoint, cancelled=chat.token
            )
        except Cancelled:
            outcome, said = "cancelled", CANCELLED
        except StaleBranch:
            outcome, said = "stale", STALE
        except UserError as error:
            outcome, said = "failed", error.text
        await chat.reload()
        sizes = (checkpoint.tokens_before, checkpoint.tokens_after) if outcome == "done" else (0, 0)
        chat.announce(events.CompactionEnded(outcome, said, *sizes))
        return outcome
