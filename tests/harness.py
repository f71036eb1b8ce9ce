"""What tests/conftest.py is made of: the network guard, the search for leftovers, the ledger of long proofs.

Fixtures and hooks are in conftest.py; here are the plain functions and classes behind them, tried out by
tests/test_harness.py. Nothing here knows the application.
"""

from __future__ import annotations

import asyncio
import inspect
import ipaddress
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

PATIENCE = 60.0
"""Seconds an `async def` test may take; the marker `patience` says otherwise."""

GRACE = 2.0
"""Seconds that threads get to end after a test: a pool shut down needs a moment on a busy machine."""


class NetworkBlocked(AssertionError):
    """A test tried to leave the machine."""


def is_local(address: object) -> bool:
    """Whether a socket address stays on this machine: loopback, a file-system socket, or nothing yet."""
    if not isinstance(address, tuple):
        return True  # AF_UNIX and the like
    host = str(address[0]).split("%")[0]
    if host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class NetworkGuard:
    """Refuses connections and name look-ups beyond loopback, and remembers them.

    Remembering matters: code that treats every error as "unreachable" would swallow the refusal.
    """

    def __init__(self) -> None:
        self.attempts: list[str] = []

    def refuse(self, what: str) -> None:
        self.attempts.append(what)
        raise NetworkBlocked(f"tests stay on this machine, but this one wanted {what}")

    def install(self, patch: pytest.MonkeyPatch) -> None:
        def guarded(original: Callable[..., Any], at: int) -> Callable[..., Any]:
            def call(sock: socket.socket, *args: Any) -> Any:
                if not is_local(args[at]):
                    self.refuse(f"a connection to {args[at]}")
                return original(sock, *args)

            return call

        patch.setattr(socket.socket, "connect", guarded(socket.socket.connect, 0))
        patch.setattr(socket.socket, "connect_ex", guarded(socket.socket.connect_ex, 0))
        patch.setattr(socket.socket, "sendto", guarded(socket.socket.sendto, -1))
        resolve = socket.getaddrinfo

        def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
            name = host.decode() if isinstance(host, bytes) else host
            if name is not None and not is_local((name,)):
                self.refuse(f"the address of {name}")
            return resolve(host, *args, **kwargs)

        patch.setattr(socket, "getaddrinfo", getaddrinfo)


def leftover_threads(before: set[threading.Thread]) -> list[str]:
    """Names of the non-daemon threads that were not there before and do not end within the grace time."""
    deadline = time.monotonic() + GRACE
    while True:
        new = [t for t in threading.enumerate() if t not in before and not t.daemon and t.is_alive()]
        if not new or time.monotonic() > deadline:
            return sorted(t.name for t in new)
        new[0].join(0.02)


async def watched(test: Callable[..., Awaitable[None]], arguments: dict[str, Any], patience: float) -> None:
    """Run an `async def` test; a test that passes but leaves tasks behind fails, naming them."""
    limit = asyncio.timeout(patience)
    try:
        async with limit:
            await test(**arguments)
    except TimeoutError as error:
        if not limit.expired():
            raise
        pending = sorted(describe(t) for t in asyncio.all_tasks() if t is not asyncio.current_task())
        raise TimeoutError(f"the test did not end within {patience:g} s; pending: {pending}") from error
    for _ in range(5):  # callbacks of what has just been cancelled or closed
        await asyncio.sleep(0)
    left = sorted(describe(task) for task in asyncio.all_tasks() if task is not asyncio.current_task())
    if left:
        pytest.fail("tasks left behind: " + ", ".join(left), pytrace=False)


def describe(task: asyncio.Task[Any]) -> str:
    coro = task.get_coro()
    name = getattr(coro, "__qualname__", None) or (type(coro).__name__ if coro else "?")
    return f"{task.get_name()} ({name})"


@dataclass
class Proof:
    """One long proof: how many cases it ran, of how many, and the seed it stands at."""

    test: str
    count: int = 0
    full: int = 0
    start: int = 0
    reached: int | None = None
    """The seed being tried; None when seeds were not walked through."""
    finished: bool = True

    def line(self) -> str:
        text = (
            f"{self.test}: {self.count} of {self.full}"
            if self.count != self.full
            else f"{self.test}: {self.count}"
        )
        if self.reached is not None and not self.finished:
            end = self.start + self.count
            text += f" – stopped at seed {self.reached}; go on with --seeds {self.reached}:{end}"
        elif self.start:
            text += f" (seeds {self.start} to {self.start + self.count - 1})"
        return text


@dataclass
class Soak:
    """How long a proof may be: short in `make test`, long in `make soak`, or exactly the seeds asked for."""

    test: str
    full: bool
    seeds_asked: tuple[int, int] | None
    ledger: list[Proof] = field(default_factory=list)

    def count(self, reduced: int, full: int) -> int:
        """The number of cases to run now. Printed at the end of the run."""
        return self._proof(reduced, full).count

    def seeds(self, reduced: int, full: int) -> Iterator[int]:
        """The seeds to run now, one by one; a failure or Ctrl-C leaves a note from which seed to go on."""
        proof = self._proof(reduced, full)
        proof.finished = False
        for seed in range(proof.start, proof.start + proof.count):
            proof.reached = seed
            yield seed
        proof.finished = True

    def _proof(self, reduced: int, full: int) -> Proof:
        start, end = self.seeds_asked or (0, full if self.full else reduced)
        proof = Proof(self.test, count=end - start, full=max(full, end - start), start=start)
        self.ledger.append(proof)
        return proof


def parse_seeds(text: str) -> tuple[int, int]:
    """`START:END`, END not included."""
    start, colon, end = text.partition(":")
    if not (colon and start.isdigit() and end.isdigit() and int(start) < int(end)):
        raise pytest.UsageError(f"--seeds wants START:END with START < END, not {text!r}")
    return int(start), int(end)


def is_async(function: object) -> bool:
    return inspect.iscoroutinefunction(function)
