"""The follow-ups of one session: texts that wait for the answer under way, kept in the store as well.

What is sent next is decided elsewhere; here nothing is lost between the queue, the composer and the store.
"""

from __future__ import annotations

from bibgenie_desktop.domain.parts import Draft
from bibgenie_desktop.services import events
from bibgenie_desktop.services.open_session import OpenSession
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.worker import StoreWorker


class FollowUps:
    def __init__(self, chat: OpenSession, store: StoreWorker) -> None:
        self._chat, self._store = chat, store
        self.queued: tuple[Draft, ...] = ()
        self._kept = True
        self._sending: Draft | None = None

    async def add(self, draft: Draft) -> None:
        """At the end of the queue, and stored before this returns."""
        self.queued = (*self.queued, draft)
        self._announce()
        await self._store.run(Store.save_draft, self._chat.session_id, None, draft)
        await self._store.run(Store.keep_queue, self._chat.session_id, self.queued)

    def take_back(self, index: int) -> Draft | None:
        """Out of the queue, to be written on; `keep` stores it once the text is kept elsewhere."""
        if not 0 <= index < len(self.queued):
            return None
        taken = self.queued[index]
        self._kept = False
        self.queued = (*self.queued[:index], *self.queued[index + 1 :])
        self._announce()
        return taken

    async def keep(self) -> None:
        """Stores the queue where a follow-up was taken back; one that is being sent belongs to it still."""
        if not self._kept:
            self._kept = True
            sending = self._sending
            under_way = (sending,) if sending is not None and self._chat.on_its_way is sending else ()
            await self._store.run(Store.keep_queue, self._chat.session_id, (*under_way, *self.queued))

    async def next(self) -> Draft:
        """The first one, out of the queue to be sent; the store has it until it is a question."""
        await self.keep()
        first, self.queued = self.queued[0], self.queued[1:]
        self._sending = first
        self._announce()
        return first

    async def back_to_draft(self, draft: Draft) -> None:
        """One that was not sent stands in the composer again; both are stored at once."""
        await self._store.run(Store.keep_queue, self._chat.session_id, self.queued, draft)

    def _announce(self) -> None:
        self._chat.announce(events.QueueChanged(self.queued))
