"""Cancelling by a person, told apart from the cancelling of a task when the application closes."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from bibgenie_desktop.domain.errors import Cancelled

T = TypeVar("T")


class CancelToken:
    """Set once, by the person. Read by the store right before COMMIT, from its own thread."""

    def __init__(self) -> None:
        self._cancelled = False
        self._task: asyncio.Task[Any] | None = None

    def __call__(self) -> bool:
        """Whether the person cancelled; the store calls this right before COMMIT."""
        return self._cancelled

    def raise_if_cancelled(self) -> None:
        if self._cancelled:
            raise Cancelled

    def cancel(self) -> None:
        self._cancelled = True
        if self._task is not None:
            self._task.cancel()

    async def guard(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs work that ends with `Cancelled` as soon as the token is set.

        Not for database writes: those finish or roll back by themselves and read the token at COMMIT.
        """
        if self._cancelled:
            work.close()
            raise Cancelled
        task = asyncio.ensure_future(work)
        self._task = task
        try:
            return await task
        except asyncio.CancelledError:
            current = asyncio.current_task()
            closing = current is not None and current.cancelling() > 0
            if self() and not closing:
                raise Cancelled from None
            task.cancel()
            raise
        finally:
            self._task = None
