"""The proposals of one session: a turn waits for the person's word on a card, one card at a time."""

from __future__ import annotations

import asyncio

from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.services import events
from bibgenie_desktop.services.open_session import OpenSession
from bibgenie_desktop.services.tools.base import Card, Decision


class Cards:
    def __init__(self, chat: OpenSession) -> None:
        self._chat = chat
        self._turn = asyncio.Lock()
        self._decision: asyncio.Future[Decision] | None = None

    async def ask(self, call_id: str, card: Card) -> Decision:
        """Shows a card and waits. The session streams again afterwards, whatever the end."""
        chat = self._chat
        async with self._turn:
            self._decision = asyncio.get_running_loop().create_future()
            chat.set_state(SessionState.AWAITING_APPROVAL, "Waiting for you")
            chat.announce(events.CardOpened(call_id, card))
            try:
                return await self._decision
            finally:
                self._decision = None
                chat.announce(events.CardClosed(call_id))
                if chat.state is SessionState.AWAITING_APPROVAL:
                    chat.set_state(SessionState.STREAMING, "Answering")

    def answer(self, decision: Decision) -> None:
        if self._decision is not None and not self._decision.done():
            self._decision.set_result(decision)
