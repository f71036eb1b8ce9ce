"""An open session's state and path, and how its operations run: one at a time, every end leading back to
idle."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from bibgenie_desktop.domain.errors import Cancelled, NotAllowed, StaleBranch, UserError
from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.ledger import project_ledger
from bibgenie_desktop.domain.messages import Checkpoint, Message, Path, PendingReply, Session
from bibgenie_desktop.domain.parts import Draft, Part, ToolPart
from bibgenie_desktop.domain.projection import newest_checkpoint
from bibgenie_desktop.domain.states import Action, SessionState, refusal
from bibgenie_desktop.domain.topology import DamagedBranch
from bibgenie_desktop.services import events
from bibgenie_desktop.services.cancel import CancelToken
from bibgenie_desktop.services.estimates import Estimates
from bibgenie_desktop.services.models import Models
from bibgenie_desktop.services.planner import Plan, Planner, Verdict
from bibgenie_desktop.services.results import split_handle
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.worker import StoreWorker

Listener = Callable[[events.ChatEvent], None]
WHOLE_LEDGER = 10**9
UNSTORED = "The end of this answer could not be stored when it came."


class OpenSession:
    """A session that is open. `path` runs from (at least) the boundary to the leaf; see
    `Store.open_branch`."""

    def __init__(
        self,
        session_id: SessionId,
        store: StoreWorker,
        planner: Planner,
        models: Models,
        estimates: Estimates,
    ) -> None:
        self.session_id = session_id
        self.session: Session
        self.path: Path = ()
        self.whole = False
        self.damaged: DamagedBranch | None = None
        self.state = SessionState.IDLE
        self.step = ""
        self.pending: PendingReply | None = None
        self.undone = False
        """The newest checkpoint was just taken back: nothing compacts by itself until a new message."""
        self.token = CancelToken()
        self.on_its_way: Draft | None = None
        """A text between Send and its place in the tree: frozen."""
        self.go_on = False
        """Whether the operation ended so that what waits for it may go out."""
        self._left: PendingReply | None = None
        """An answer that nobody runs any more: its end could not be stored when it came."""
        self._store = store
        self._planner = planner
        self._models = models
        self._estimates = estimates
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Tells `listener` of every event; returns how to stop that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def announce(self, event: events.ChatEvent) -> None:
        for listener in tuple(self._listeners):
            listener(event)

    def refusal(self, action: Action) -> str | None:
        """Why an action is not possible now, None when it is."""
        return refusal(self.state, action)

    def require(self, action: Action) -> None:
        reason = self.refusal(action)
        if reason is not None:
            raise NotAllowed(f"This is not possible now: {action.value}.", reason)

    async def open(self) -> None:
        """Reads the session's path; a damaged one becomes read-only. Unsent follow-ups become the draft."""
        await self._store.run(Store.reclaim_queue, self.session_id)
        await self.reload()
        self.set_state(SessionState.READ_ONLY if self.damaged else SessionState.IDLE)

    async def reload(self) -> None:
        """Takes the stored state in place of the one in memory."""
        opened = await self._store.run(Store.open_branch, self.session_id)
        self.session, self.whole = opened.session, opened.complete
        self._left = opened.pending
        self.damaged = opened.path if isinstance(opened.path, DamagedBranch) else None
        self.path = () if isinstance(opened.path, DamagedBranch) else opened.path
        self.undone = await self._store.run(Store.checkpoint_undone, self.session_id)
        with suppress(UserError):  # a model that is gone: the plan will say so
            await self._estimates.load_path(self.path, self._models.profile(self.session.model))
        self.announce(events.BranchLoaded(self.session))

    async def plan(self, draft: Draft) -> Plan:
        """The request that Send would make now. Raises `UserError` when the session's model is not set up."""
        profile = self._models.profile(self.session.model)
        return await asyncio.to_thread(self._planner.plan, self.path, draft, profile)

    async def verdicts(self, draft: Draft) -> tuple[Verdict, ...]:
        """What sending to each model would mean, changing nothing."""
        path = self.path

        def judge() -> tuple[Verdict, ...]:
            return tuple(self._planner.verdict(path, draft, p) for p in self._models.profiles)

        return await asyncio.to_thread(judge)

    async def message(self, message_id: MessageId) -> Message:
        """A message of the path, or of another branch of the tree."""
        found = next((m for m in self.path if m.id == message_id), None)
        if found is not None:
            return found
        path = await self._store.run(Store.path_to, message_id)
        return path[-1]

    async def read_handle(self, name: str) -> str:
        """The whole text behind a handle on this session's active path; `UserError` if it leads nowhere."""
        if name.strip() == "ledger":
            newest = newest_checkpoint(self.path)
            checkpoint = self.path[newest] if newest is not None else None
            if not isinstance(checkpoint, Checkpoint):
                raise UserError("There is no ledger yet.", "It begins with the first checkpoint.")
            return project_ledger(checkpoint.ledger, WHOLE_LEDGER)
        message_id, index = split_handle(name)
        parts = await self._parts_of(message_id)
        part = parts[index] if index < len(parts) else None
        if not isinstance(part, ToolPart):
            raise UserError(
                f"“{name}” leads to no tool result here.", "Use a handle as a cut result names it."
            )
        return part.result

    async def _parts_of(self, message_id: MessageId) -> tuple[Part, ...]:
        """The parts of an answer on the active path."""
        path = self.path
        if not self.whole and self.path and all(m.id != message_id for m in path):
            path = await self._store.run(Store.path_to, self.path[-1].id)
        found = next((m for m in path if m.id == message_id), None)
        return () if found is None or isinstance(found, Checkpoint) else found.parts

    @asynccontextmanager
    async def working(
        self, state: SessionState, step: str, draft: Draft | None = None
    ) -> AsyncIterator[None]:
        """One operation: a fresh cancel token, errors as notices, and idle at every end.

        `draft` is what it brings into the tree. Whatever broke it off, memory then holds the stored state.
        """
        self.token = CancelToken()
        self.go_on = False
        self.on_its_way = draft
        self.set_state(state, step)
        try:
            await self._settle()
            yield
        except Cancelled:
            self.announce(events.SendEnded(sent=False))
        except StaleBranch as error:
            await self._recall()
            self.announce(events.Notice("warn", error.title, error.advice, (), "session"))
            self.announce(events.SendEnded(sent=False))
        except UserError as error:
            await self._recall()
            self.announce(events.Notice("bad", error.title, error.advice))
            self.announce(events.SendEnded(sent=False))
        except Exception:
            await self._recall()
            raise
        finally:
            self.on_its_way = None
            self.set_state(SessionState.READ_ONLY if self.damaged else SessionState.IDLE)

    async def _recall(self) -> None:
        """Takes the stored state after something went wrong, and ends what that left open, if it can be."""
        self.pending = None
        with suppress(UserError):
            await self.reload()
            await self._settle()

    async def _settle(self) -> None:
        """Ends an answer whose end could not be stored before, on a full disk for instance."""
        left = self._left
        if left is not None:
            await self._store.run(
                Store.finish, self.session_id, "interrupted", UNSTORED, left.parts, left.usage
            )
            await self.reload()

    def set_state(self, state: SessionState, step: str = "") -> None:
        if (state, step) != (self.state, self.step):
            self.state, self.step = state, step
            self.announce(events.StateChanged(state, step))
