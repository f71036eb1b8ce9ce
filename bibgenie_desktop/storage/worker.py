"""The async face of the store: one thread that owns the one connection and runs every call in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path as FilePath
from typing import Concatenate, ParamSpec, TypeVar

from bibgenie_desktop.domain.errors import StoreUnavailable
from bibgenie_desktop.domain.ids import Clock, IdMaker
from bibgenie_desktop.storage.store import Store

P = ParamSpec("P")
T = TypeVar("T")


class StoreWorker:
    """Usage: `await worker.run(Store.send, session_id, expected, parts, reply_id, model)`.

    Cancelling an await does not stop the job: after a cancelled write, reload the head before showing
    anything.
    """

    def __init__(self, path: FilePath, clock: Clock, ids: IdMaker, owner: bool = True) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="store")
        self._make = lambda: Store(path, clock, ids, owner)
        self._store: Store | None = None
        self._closed = False

    async def open(self) -> None:
        """Opens the database on its thread. Raises what `Store` raises; then only `close` is left."""
        self._store = await self._on_thread(self._make)

    async def run(
        self, operation: Callable[Concatenate[Store, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        store = self._store
        if store is None or self._closed:
            raise StoreUnavailable("BibGenie's database is not open.", "Start BibGenie again.")
        return await self._on_thread(lambda: operation(store, *args, **kwargs))

    async def close(self) -> None:
        """Waits for every job that was started, then closes the database."""
        if self._closed:
            return
        self._closed = True
        store = self._store
        try:
            if store is not None:
                await self._on_thread(store.close)
        finally:
            self._executor.shutdown(wait=True)

    async def _on_thread(self, job: Callable[[], T]) -> T:
        # Shielded: a cancelled await must not take a job out of the queue, its effects would depend on luck.
        return await asyncio.shield(asyncio.wrap_future(self._executor.submit(job)))
