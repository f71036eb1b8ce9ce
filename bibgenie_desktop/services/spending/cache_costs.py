"""How much of a request a prompt cache cannot help with: the sizes of what two requests share, and do not."""

from __future__ import annotations

import asyncio

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.messages import Path
from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.domain.parts import Draft
from bibgenie_desktop.services.models import Models
from bibgenie_desktop.services.open_session import OpenSession
from bibgenie_desktop.services.planner import Planner
from bibgenie_desktop.services.tools.toolbox import Toolbox
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.worker import StoreWorker


class CacheCosts:
    """Estimates only: reads, sums, sends nothing."""

    def __init__(self, store: StoreWorker, planner: Planner, models: Models, toolbox: Toolbox) -> None:
        self._store, self._planner, self._models, self._toolbox = store, planner, models, toolbox

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """What stands before every conversation. Another set resets every cache."""
        return self._toolbox.specs

    async def before(self, chat: OpenSession, question: MessageId) -> int:
        """Tokens of a request that ends where a question began."""
        path = await self._store.run(Store.path_to, question)
        return await self._size(chat, path[:-1])

    async def apart(self, chat: OpenSession, leaf: MessageId) -> int:
        """Tokens of the next request that the branch ending at `leaf` does not share with it."""
        here = await self._store.run(Store.path_to, chat.path[-1].id)
        there = {m.id for m in await self._store.run(Store.path_to, leaf)}
        shared = tuple(m for m in here if m.id in there)
        return max(0, await self._size(chat, here) - await self._size(chat, shared))

    async def _size(self, chat: OpenSession, path: Path) -> int:
        profile = self._models.profile(chat.session.model)
        plan = await asyncio.to_thread(self._planner.plan, path, Draft(), profile)
        return plan.occupancy.tokens
