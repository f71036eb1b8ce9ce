"""The one owner of background work: every coroutine the window starts is named, watched and ended here."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

_log = logging.getLogger(__name__)

Work = Coroutine[Any, Any, Any]


class Tasks:
    """Nothing is fire-and-forget. `on_error` gets what a task raised, except its being cancelled."""

    def __init__(self, on_error: Callable[[BaseException], None]) -> None:
        self._on_error = on_error
        self._running: set[asyncio.Task[Any]] = set()
        self._closed = False

    def start(self, work: Work, name: str) -> asyncio.Task[Any] | None:
        """Runs a coroutine; after `cancel_all` nothing is started any more, and the answer is None."""
        if self._closed:
            work.close()
            return None
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._finished)
        return task

    def names(self) -> tuple[str, ...]:
        """What is running now."""
        return tuple(task.get_name() for task in self._running)

    async def settle(self, seconds: float, *, but: str = "") -> bool:
        """Waits until nothing runs any more, but for tasks of one name; False where something still does."""
        try:
            async with asyncio.timeout(seconds):
                while left := [task for task in self._running if task.get_name() != but]:
                    await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            return False
        return True

    async def cancel_all(self, seconds: float = 5.0) -> bool:
        """Ends everything, for good; False where something still holds out after that time."""
        self._closed = True
        end = asyncio.get_running_loop().time() + seconds
        while self._running:
            running = tuple(self._running)
            for task in running:
                task.cancel()
            await asyncio.wait(running, timeout=0.5)
            if asyncio.get_running_loop().time() > end:
                _log.warning("still running at the end: %s", ", ".join(sorted(self.names())))
                return False
        return True

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            _log.debug("task %s ended with %s", task.get_name(), type(error).__name__)
            self._on_error(error)
