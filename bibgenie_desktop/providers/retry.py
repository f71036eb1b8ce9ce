"""Trying again when a provider is busy: a few times, soon, and only while nothing of an answer has come."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from bibgenie_desktop.domain.errors import Overloaded

FIRST_WAIT: Final = 0.8  # seconds; most overloads of hosted models pass within two or three
GROWTH: Final = 2.5
LONGEST_WAIT: Final = 15.0  # beyond it a person would rather be told


@dataclass(frozen=True, slots=True)
class Backoff:
    """At most `tries` requests. `sleep` and `chance` (0 to 1) are exchanged by tests."""

    tries: int = 4
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random

    def wait_after(self, attempt: int, error: Overloaded) -> float | None:
        """Seconds before the next request after `attempt` ones; None: there is none."""
        if attempt >= self.tries:
            return None
        # Spread out, so that those who were refused together do not come back together.
        wait = FIRST_WAIT * GROWTH ** (attempt - 1) * (0.5 + self.chance())
        if error.retry_after is not None:
            wait = max(wait, error.retry_after)
        return wait if wait <= LONGEST_WAIT else None
