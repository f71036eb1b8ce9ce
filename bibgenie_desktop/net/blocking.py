"""Connections for a library that blocks its thread: pyzotero's."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

import httpx2

from bibgenie_desktop.domain.errors import RateLimited, Unreachable
from bibgenie_desktop.net.failures import CHECK_CONNECTION
from bibgenie_desktop.net.trust import is_loopback, trusting_nobody, verifying

PATIENCE = 10.0
STRAY_SIGNS = "Nothing was sent: the key has characters that no key has."
CONNECT_SECONDS = 15.0


class BlockingHttp(httpx2.Client):
    """Connections for a library that blocks, from one thread; a server's wish to wait is respected.

    `local`: for this machine only, past any proxy and without redirects. A longer pause than `PATIENCE` is
    told as `RateLimited`, in place of a thread that sleeps; `stop` ends a pause.
    """

    def __init__(self, *, local: bool, seconds: float = 30.0, stop: threading.Event | None = None) -> None:
        super().__init__(
            verify=trusting_nobody() if local else verifying(),
            trust_env=not local,
            timeout=httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
            follow_redirects=not local,
        )
        self._local_only = local
        self._stop = stop or threading.Event()
        self._not_before = 0.0

    def build_request(self, *what: Any, **how: Any) -> httpx2.Request:
        try:
            return super().build_request(*what, **how)
        except UnicodeEncodeError:  # quotes the header
            raise Unreachable(STRAY_SIGNS) from None

    def send(self, request: httpx2.Request, **how: Any) -> httpx2.Response:
        host = request.url.host
        if self._local_only and not is_loopback(host):
            raise Unreachable(f"{host} is not this computer.")
        self._pause()
        try:
            response = super().send(request, **how)
        except httpx2.UnsupportedProtocol:
            raise
        except httpx2.HTTPError as error:
            raise _not_answered(error, host) from None
        wanted = _seconds(response.headers)
        if response.status_code in (429, 503):
            response.close()
            raise RateLimited(f"{host} asks to wait.", status=response.status_code, retry_after=wanted)
        if wanted is not None:
            self._not_before = time.monotonic() + wanted
            for name in ("backoff", "retry-after"):  # the library would sleep for it, for however long
                response.headers.pop(name, None)
        return response

    def _pause(self) -> None:
        left = self._not_before - time.monotonic()
        if left > PATIENCE:
            raise RateLimited("The server asks to wait.", retry_after=left)
        if left > 0 and self._stop.wait(left):
            raise Unreachable("The application is closing.")


def _seconds(headers: Mapping[str, str]) -> float | None:
    """What `Backoff` or `Retry-After` ask for; a date counts as a minute."""
    asked = headers.get("backoff") or headers.get("retry-after")
    if not asked:
        return None
    return min(float(asked), 3600.0) if asked.strip().isdecimal() else 60.0


def _not_answered(error: httpx2.HTTPError, host: str) -> Unreachable:
    if isinstance(error, httpx2.TimeoutException):
        return Unreachable(f"{host} did not answer in time.", CHECK_CONNECTION)
    return Unreachable(f"{host} could not be reached.", CHECK_CONNECTION)
