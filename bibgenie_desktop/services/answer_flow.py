"""One answer of a session: from the stored question to the turn's end and the compaction it may cause."""

from __future__ import annotations

from contextlib import suppress

from bibgenie_desktop.domain.errors import StoreUnavailable
from bibgenie_desktop.domain.messages import AssistantMessage, Path, PendingReply, Session
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.parts import Draft
from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.services import events
from bibgenie_desktop.services.cancel import CancelToken
from bibgenie_desktop.services.compaction_flow import CompactionFlow
from bibgenie_desktop.services.estimates import Estimates
from bibgenie_desktop.services.open_session import OpenSession
from bibgenie_desktop.services.turn import TurnRunner


class AnswerFlow:
    """Works on the session it is given; the caller holds the session's one operation."""

    def __init__(
        self, chat: OpenSession, runner: TurnRunner, flow: CompactionFlow, estimates: Estimates
    ) -> None:
        self._chat, self._runner, self._flow, self._estimates = chat, runner, flow, estimates

    async def run(self, session: Session, path: Path, pending: PendingReply, profile: ModelProfile) -> None:
        """Runs one answer whose question is stored and whose pending reply exists, to the end of the turn."""
        chat = self._chat
        chat.on_its_way = None
        chat.token = CancelToken()
        grown = [m.id for m in path[:-1]] == [m.id for m in chat.path]
        chat.session, chat.path, chat.pending = session, path, pending
        chat.undone = False
        chat.set_state(SessionState.STREAMING, "Answering")
        chat.announce(events.MessageAppended(path[-1]) if grown else events.BranchLoaded(session))
        chat.announce(events.ReplyStarted(pending.message_id, pending.parent_id, profile.ref))
        chat.announce(events.SessionsChanged(chat.session_id))
        try:
            finished = await self._runner.run(pending, path, profile, chat.token)
        finally:
            chat.pending = None
        chat.session = finished.session
        if finished.moved:
            chat.path = (*path, finished.message)
        else:
            await chat.reload()
        chat.announce(events.ReplyEnded(finished.message, finished.moved))
        await self._compact_if_full(finished.message)

    async def _compact_if_full(self, answer: AssistantMessage) -> None:
        """Compacts by itself if the answer left the context above its trigger: still the same operation."""
        chat = self._chat
        with suppress(StoreUnavailable):  # figures that are kept to save work
            await self._estimates.save()
        chat.announce(events.ContextChanged())
        chat.announce(events.SessionsChanged(chat.session_id))
        if answer.status != "complete" or not chat.path or chat.path[-1].id != answer.id:
            return
        plan = await chat.plan(Draft())
        decision = self._flow.wanted_after_answer(plan)
        chat.go_on = decision is None
        if decision is not None:
            chat.token = CancelToken()
            chat.go_on = await self._flow.run(plan, decision, "automatic") == "done"
