"""The proposals of one session: a turn waits for the person's word on a card, one card at a time.

A proposal that is kept is recorded before it is shown, so that it can be answered after a crash too.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.services import events
from bibgenie_desktop.services.open_session import OpenSession
from bibgenie_desktop.services.tools.base import Card, Decision
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.worker import StoreWorker


class Cards:
    def __init__(self, chat: OpenSession, store: StoreWorker) -> None:
        self._chat = chat
        self._store = store
        self._turn = asyncio.Lock()
        self._decision: asyncio.Future[Decision] | None = None

    async def ask(self, call_id: str, card: Card) -> Decision:
        """Shows a card and waits. The session streams again afterwards, whatever the end."""
        chat = self._chat
        async with self._turn:
            if card.kept:
                facts = {"kind": card.kind, "library": card.library, "target": card.target_id}
                content = replace(card, call_id=call_id).to_json()
                await self._store.run(Store.propose, call_id, chat.session_id, content, facts)
            self._decision = asyncio.get_running_loop().create_future()
            chat.set_state(SessionState.AWAITING_APPROVAL, "Waiting for you")
            chat.announce(events.CardOpened(call_id, card))
            try:
                decision = await self._decision
            finally:
                self._decision = None
                chat.announce(events.CardClosed(call_id))
                if chat.state is SessionState.AWAITING_APPROVAL:
                    chat.set_state(SessionState.STREAMING, "Answering")
            if card.kept and (kind := decision.kind) in ("declined", "copied"):
                await self._store.run(Store.journal_entry, call_id, chat.session_id, kind)
            return decision

    def answer(self, decision: Decision) -> None:
        if self._decision is not None and not self._decision.done():
            self._decision.set_result(decision)
