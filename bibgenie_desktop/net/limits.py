"""How far an answer is followed: to which places it may be sent on, and how slowly it may come."""

from __future__ import annotations

import time
from typing import Final, Protocol

from bibgenie_desktop.domain.errors import Unreachable
from bibgenie_desktop.net.trust import is_loopback

LEAST_BYTES_A_SECOND: Final = 2_000
WINDOW_S: Final = 30.0
"""Over so long a time an answer must be that fast."""
MOST_S: Final = 1_800.0
"""As long may one answer take in all."""


class Address(Protocol):
    """What is asked of an address; the types of both libraries have it."""

    @property
    def scheme(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int | None: ...


def same_place(one: Address, other: Address) -> bool:
    """The same server, reached in the same way."""
    return (one.scheme, one.host, one.port) == (other.scheme, other.host, other.port)


def may_fetch_from(asked: Address, sent_to: Address) -> bool:
    """Whether a file may come from where the server that was asked for it sends to: from any server with
    encryption, but never from this machine, unless it is this machine that was asked."""
    if is_loopback(asked.host):
        return is_loopback(sent_to.host)
    return sent_to.scheme == "https" and bool(sent_to.host) and not is_loopback(sent_to.host)


class Pace:
    """Follows an answer while it arrives; without it one byte a second would go on for ever."""

    def __init__(self, host: str, window: float = WINDOW_S, most: float = MOST_S) -> None:
        self._host, self._window, self._most = host, window, most
        self._begun = self._since = time.monotonic()
        self._bytes = 0

    def add(self, count: int) -> None:
        """More has come. Raises `Unreachable` where it comes too slowly."""
        self._bytes += count
        now = time.monotonic()
        seconds = now - self._since
        slow = seconds >= self._window and self._bytes < LEAST_BYTES_A_SECOND * seconds
        if slow or now - self._begun > self._most:
            raise Unreachable(f"{self._host} sends too slowly.", "Try again later.")
        if seconds >= self._window:
            self._since, self._bytes = now, 0
