"""Connections for a library that blocks its thread: pyzotero's. And files that are fetched onto the disk."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, BinaryIO

import httpx2

from bibgenie_desktop.domain.errors import RateLimited, Unreachable
from bibgenie_desktop.net.failures import unusable_proxy
from bibgenie_desktop.net.limits import WINDOW_S, Pace, may_fetch_from, same_place
from bibgenie_desktop.net.trust import is_loopback, trusting_nobody, verifying

PATIENCE = 10.0
STRAY_SIGNS = "Nothing was sent: the key has characters that no key has."
CONNECT_SECONDS = 15.0
CHECK_CONNECTION = "Check the internet connection, then try again."
MOST_BYTES = 64 << 20
"""As much may an answer be that is kept in memory."""
MOST_STEPS = 5
"""So often may a server send on to another address."""


@dataclass(frozen=True, slots=True)
class Downloaded:
    """How a download ended. `headers`: of every answer on the way, names in lower case, the last one's last.

    Only with `status` 200 something was written. `cut`: there was more than the limit allows.
    """

    status: int
    headers: tuple[Mapping[str, str], ...]
    cut: bool = False


class BlockingHttp(httpx2.Client):
    """Connections for a library that blocks, from one thread; a server's wish to wait is respected.

    `local`: for this machine only, which is never asked through a proxy by any of them, and without
    redirects; others are followed to the same server only, and never for what is written. A longer pause than
    `PATIENCE` is told as `RateLimited`, in place of a thread that sleeps; `stop` ends a pause. An answer that
    comes too slowly (looked at every `window` seconds) or without an end is given up.
    """

    def __init__(
        self,
        *,
        local: bool,
        seconds: float = 30.0,
        stop: threading.Event | None = None,
        window: float = WINDOW_S,
    ) -> None:
        self._how: dict[str, Any] = {
            "verify": trusting_nobody() if local else verifying(),
            "timeout": httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
        }
        try:
            super().__init__(trust_env=not local, **self._how)
        except (ValueError, ImportError, httpx2.InvalidURL) as error:
            # Not `from error`: an address of a proxy may hold a password.
            raise unusable_proxy(error) from None
        self._local_only = local
        self._on_this_machine: httpx2.Client | None = None
        self._stop = stop or threading.Event()
        self._window = window
        self._not_before = 0.0

    def close(self) -> None:
        super().close()
        if self._on_this_machine is not None:
            self._on_this_machine.close()

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        super().__exit__(exc_type, exc_value, traceback)
        if self._on_this_machine is not None:
            self._on_this_machine.close()

    def build_request(self, *what: Any, **how: Any) -> httpx2.Request:
        try:
            return super().build_request(*what, **how)
        except UnicodeEncodeError:  # quotes the header
            raise Unreachable(STRAY_SIGNS, "Copy the key once more and enter it in the settings.") from None

    def send(self, request: httpx2.Request, **how: Any) -> httpx2.Response:
        """The whole answer. Raises `Unreachable` and `RateLimited`."""
        for _ in range(MOST_STEPS + 1):
            with contextlib.closing(self._begun(request)) as response:
                there = response.next_request
                if there is None or self._local_only:
                    return self._whole(response)
                if request.method not in ("GET", "HEAD") or not same_place(request.url, there.url):
                    raise _sent_away(request.url.host, there.url.host)
            request = self.build_request(request.method, there.url, headers=request.headers)
        raise _sent_away(request.url.host, request.url.host)

    def download(
        self,
        url: str,
        headers: Mapping[str, str],
        file: BinaryIO,
        limit: int,
        arrived: Callable[[int], None] = lambda _: None,
    ) -> Downloaded:
        """Writes what is there into `file`, up to a number of bytes. `headers` go to the first server only.

        `arrived` is called with the size of each piece, and what it raises ends the download. Raises
        `Unreachable`, `RateLimited`, and `OSError` where the file cannot be written.
        """
        request = self.build_request("GET", url, headers=headers)
        asked, answers = request.url, []
        for _ in range(MOST_STEPS + 1):
            with contextlib.closing(self._begun(request)) as response:
                answers.append({name.lower(): value for name, value in response.headers.items()})
                there = response.next_request
                if there is None:
                    cut = response.status_code == 200 and self._written(response, file, limit, arrived)
                    return Downloaded(response.status_code, tuple(answers), cut)
            if not may_fetch_from(asked, there.url):
                raise _sent_away(asked.host, there.url.host)
            known = headers if same_place(asked, there.url) else {}
            request = self.build_request("GET", there.url, headers=known)
        raise _sent_away(asked.host, request.url.host)

    # -- one request

    def _begun(self, request: httpx2.Request) -> httpx2.Response:
        """The head of an answer; its body is still to come."""
        url = request.url
        if self._local_only and not is_loopback(url.host):
            raise Unreachable(f"{url.host} is not this computer.")
        if url.scheme != "https" and not (url.scheme == "http" and is_loopback(url.host)):
            raise Unreachable(f"{url.host} would be reached without encryption.", "Nothing was sent.")
        self._pause()
        try:
            response = self._for(url.host)(request, stream=True, follow_redirects=False)
        except httpx2.HTTPError as error:
            raise _not_answered(error, url.host) from None
        wanted = _seconds(response.headers)
        if response.status_code in (429, 503):
            response.close()
            raise RateLimited(f"{url.host} asks to wait.", status=response.status_code, retry_after=wanted)
        if wanted is not None:
            self._not_before = time.monotonic() + wanted
            for name in ("backoff", "retry-after"):  # the library would sleep for it, for however long
                response.headers.pop(name, None)
        return response

    def _for(self, host: str) -> Callable[..., httpx2.Response]:
        if self._local_only or not is_loopback(host):
            return super().send
        if self._on_this_machine is None:
            self._on_this_machine = httpx2.Client(trust_env=False, **self._how)
        return self._on_this_machine.send

    def _whole(self, response: httpx2.Response) -> httpx2.Response:
        host, content = response.request.url.host, bytearray()
        pace = Pace(host, self._window)
        try:
            for data in response.iter_bytes():
                content += data
                pace.add(len(data))
                if len(content) > MOST_BYTES:
                    raise Unreachable(f"{host} sent more than can be an answer.", "Try again later.")
        except httpx2.HTTPError as error:
            raise _not_answered(error, host) from None
        headers = httpx2.Headers(response.headers)
        for name in ("content-encoding", "content-length", "transfer-encoding"):
            headers.pop(name, None)  # of how it came
        return httpx2.Response(
            response.status_code,
            headers=headers,
            content=bytes(content),
            request=response.request,
        )

    def _written(
        self, response: httpx2.Response, file: BinaryIO, limit: int, arrived: Callable[[int], None]
    ) -> bool:
        """True where there is more than the limit."""
        host, size = response.request.url.host, 0
        told = response.headers.get("content-length", "")
        if told.isdecimal() and len(told) < 20 and int(told) > limit:
            return True
        pace = Pace(host, self._window)
        try:
            for data in response.iter_bytes():
                size += len(data)
                if size > limit:
                    return True
                file.write(data)
                arrived(len(data))
                pace.add(len(data))
        except httpx2.HTTPError as error:
            raise _not_answered(error, host) from None
        return False

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


def _sent_away(host: str, there: str) -> Unreachable:
    return Unreachable(
        f"{host} sends on to another place ({there}), which is not asked.",
        "Is there a sign-in page or a proxy between this computer and the internet?",
    )


def _not_answered(error: httpx2.HTTPError, host: str) -> Unreachable:
    if isinstance(error, httpx2.TimeoutException):
        return Unreachable(f"{host} did not answer in time.", CHECK_CONNECTION)
    return Unreachable(f"{host} could not be reached.", CHECK_CONNECTION)
