"""Finding sessions by what their messages say, on every branch. The index follows the tree by itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

from bibgenie_desktop.domain.errors import StoreUnavailable
from bibgenie_desktop.domain.ids import SessionId
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.text_index import TextIndex
from bibgenie_desktop.storage.worker import StoreWorker

T = TypeVar("T")
log = logging.getLogger(__name__)

STEP: Final = 200
"""Messages read and indexed in one go: the store's thread is free for others in between."""
MOST_FOUND: Final = 300


class TextSearch:
    """`path` None: nothing is indexed or found. The file is opened on first use, in a thread of its own."""

    def __init__(self, store: StoreWorker, path: Path | None) -> None:
        self._store, self._path = store, path
        self._index: TextIndex | None = None
        self._mark: tuple[int, str] | None = None
        self._thread = ThreadPoolExecutor(1, "text-index")
        self._updating = asyncio.Lock()

    async def close(self) -> None:
        if self._index is not None:
            await self._run(self._index.close)
        self._index, self._path = None, None
        self._thread.shutdown()

    async def update(self) -> bool:
        """Takes in what is new and forgets what was purged; False where there is no index."""
        try:
            return await self._update()
        except StoreUnavailable as error:
            log.warning("the index of messages cannot be used: %s", error.title)
            return False

    async def _update(self) -> bool:
        async with self._updating:
            index = await self._opened()
            if index is None:
                return False
            mark = await self._store.run(Store.texts_mark)
            if mark == self._mark:
                return True
            said = await self._store.run(Store.said)
            await self._run(index.remove, index.known - said)
            missing = sorted(said - index.known, reverse=True)  # the newest first: they are looked for most
            for start in range(0, len(missing), STEP):
                texts = await self._store.run(Store.texts, tuple(missing[start : start + STEP]))
                await self._run(index.add, texts)
            self._mark = mark
            return True

    async def find(self, words: str) -> Mapping[SessionId, str]:
        """The sessions in which one message has all of the words, each with a piece of the newest of them.

        A message of no branch that is shown counts for every session of its tree.
        """
        if not words.strip() or not await self.update() or self._index is None:
            return {}
        try:
            found = await self._run(self._index.find, words, MOST_FOUND)
        except StoreUnavailable as error:
            log.warning("the index of messages cannot be used: %s", error.title)
            return {}
        showing = await self._store.run(Store.showing, tuple(message_id for message_id, _ in found))
        pieces: dict[SessionId, str] = {}
        for message_id, piece in found:
            for session_id in showing.get(message_id, ()):
                pieces.setdefault(session_id, piece)
        return pieces

    async def _opened(self) -> TextIndex | None:
        if self._index is None and self._path is not None:
            self._index = await self._run(TextIndex, self._path)
        return self._index

    async def _run(self, do: Callable[..., T], *values: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, do, *values)
