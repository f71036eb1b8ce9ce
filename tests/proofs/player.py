"""A provider that plays scripts, in the same process: every event is a point at which a proof may step in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import Any

from bibgenie_desktop.providers.base import Event, Request

Script = Iterable[Event | Exception]


class Player:
    """Implements `providers.base.Provider`. `play` gives the script of a request; exceptions are raised."""

    id = "play"

    def __init__(
        self, play: Callable[[Request], Script], point: Callable[[str], Awaitable[None]] | None = None
    ) -> None:
        self.requests: list[Request] = []
        self._play = play
        self._point = point
        self.open = 0
        """How many streams are under way: every one must be closed in the end."""

    def encode(self, request: Request) -> dict[str, Any]:
        return {"messages": [text_of_entry(m) for m in request.projection.messages]}

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        self.requests.append(request)
        self.open += 1
        try:
            for step in self._play(request):
                await self._pause()
                if isinstance(step, Exception):
                    raise step
                yield step
        finally:
            self.open -= 1

    async def _pause(self) -> None:
        if self._point is not None:
            await self._point("event")
        else:
            await asyncio.sleep(0)


def text_of_entry(entry: Any) -> str:
    """What a request carries of one message, flat."""
    return "\n".join(f"{getattr(p, 'text', '')}{getattr(p, 'sent', '')}" for p in entry.parts)
