"""The one place that knows httpx and httpx2: clients, proxies, TLS, timeouts, and what their failures mean to
a person.

Loopback never goes through a proxy, everything else follows the system's proxy settings; certificates are
always verified; plain http leaves the machine only where the caller allows it. Headers, bodies and
addresses beyond the host's name never enter an error.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
import ssl
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import httpx2

from bibgenie_desktop.domain.errors import BadAnswer, ProviderError, RateLimited, StreamCut, Unreachable

CONNECT_SECONDS = 15.0
IDLE_SECONDS = 120.0
LOCAL_IDLE_SECONDS = 600.0
"""A model on this machine may read a long prompt for minutes before its first byte."""

PATIENCE = 10.0
STRAY_SIGNS = "Nothing was sent: the key has characters that no key has."
CHECK_CONNECTION = "Check the internet connection and the provider's address, then try again."

_LAYERS = 10
"""Turns of the loop in which the library's nested generators end, one after another, when a body is left
early."""


@dataclass(frozen=True, slots=True)
class Route:
    """How a provider is reached.

    `proxy`: empty for the system's settings, `direct` for none, else its address; loopback never goes through
    one. `ca_file`: certificates to trust besides the system's, as PEM.
    """

    proxy: str = ""
    ca_file: str = ""


SYSTEM = Route()
DIRECT = "direct"


class Response:
    """An answer whose body is still arriving. `headers` has lower-case names."""

    def __init__(self, response: httpx.Response, host: str, idle: float) -> None:
        self._response = response
        self._raw = response.aiter_raw()
        self._host = host
        self._idle = idle
        self._ended = False

    @property
    def status(self) -> int:
        return self._response.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        return {name.lower(): value for name, value in self._response.headers.items()}

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes, cut anywhere. Raises `StreamCut` when it breaks off."""
        return self

    def __aiter__(self) -> Response:
        return self

    async def __anext__(self) -> bytes:
        # Not a generator: one that is left early would be ended by the garbage collector, some time later.
        try:
            return await anext(self._raw)
        except StopAsyncIteration:
            self._ended = True
            raise
        except httpx.HTTPError as error:
            raise _broken(error, self._host, self._idle) from error

    async def read(self, limit: int) -> bytes:
        """At most `limit` bytes of the body; what lies beyond is not read."""
        content = bytearray()
        async for data in self:
            content += data
            if len(content) >= limit:
                break
        return bytes(content[:limit])

    async def aclose(self) -> None:
        await self._response.aclose()
        if not self._ended and isinstance(self._raw, AsyncGenerator):
            await self._raw.aclose()
            for _ in range(_LAYERS):
                await asyncio.sleep(0)


class Http:
    """Every connection of the application. Made at start without any I/O; belongs to one event loop once
    used."""

    def __init__(
        self,
        *,
        user_agent: str = "BibGenie",
        connect_seconds: float = CONNECT_SECONDS,
        idle_seconds: float = IDLE_SECONDS,
        local_idle_seconds: float = LOCAL_IDLE_SECONDS,
    ) -> None:
        self._user_agent = user_agent
        self._connect = connect_seconds
        self._idle = idle_seconds
        self._local_idle = local_idle_seconds
        self._clients: dict[tuple[bool, bool, Route], httpx.AsyncClient] = {}
        self._lock = asyncio.Lock()

    def post_stream(
        self,
        url: str,
        headers: Mapping[str, str],
        content: bytes,
        *,
        allow_plain_http: bool = False,
        route: Route = SYSTEM,
    ) -> AbstractAsyncContextManager[Response]:
        """POST `content`; leaving the block ends the request. Raises `Unreachable` before there is an
        answer."""
        return self._stream("POST", url, headers, content, allow_plain_http, route)

    def get_stream(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        allow_plain_http: bool = False,
        route: Route = SYSTEM,
    ) -> AbstractAsyncContextManager[Response]:
        """GET, otherwise as `post_stream`."""
        return self._stream("GET", url, headers, None, allow_plain_http, route)

    @asynccontextmanager
    async def _stream(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes | None,
        allow_plain_http: bool,
        route: Route,
    ) -> AsyncIterator[Response]:
        target = _parsed(url, allow_plain_http)
        host, local = _shown(target), is_loopback(target.host)
        idle = self._local_idle if local else self._idle
        client = await self._client(local=local, tls=target.scheme == "https", route=route)
        timeout = httpx.Timeout(connect=self._connect, read=idle, write=idle, pool=self._connect)
        try:
            request = client.build_request(
                method, target, headers=dict(headers), content=content, timeout=timeout
            )
            response = await client.send(request, stream=True)
        except (httpx.LocalProtocolError, UnicodeEncodeError):
            # Not `from error`: the library's message quotes the header, which may be the key.
            raise Unreachable(
                f"The request to {host} could not be written.", "Check the key for stray characters."
            ) from None
        except httpx.HTTPError as error:
            raise _unreachable(error, host, self._connect, idle) from error
        answer = Response(response, host, idle)
        try:
            yield answer
        finally:
            await answer.aclose()

    async def aclose(self) -> None:
        """End every connection."""
        async with self._lock:
            clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.aclose()

    async def _client(self, *, local: bool, tls: bool, route: Route) -> httpx.AsyncClient:
        async with self._lock:
            key = (local, tls or not local, route)
            if key not in self._clients:
                # Reading the certificates takes a tenth of a second: not on the loop, and not for plain
                # loopback.
                verified = key[1]
                context = (
                    await asyncio.to_thread(_verifying, route.ca_file) if verified else _trusting_nobody()
                )
                self._clients[key] = self._new_client(local, context, route.proxy)
            return self._clients[key]

    def _new_client(self, local: bool, context: ssl.SSLContext, proxy: str) -> httpx.AsyncClient:
        # Uncompressed: a proxy that compresses a stream also holds it back.
        headers = {"User-Agent": self._user_agent, "Accept-Encoding": "identity"}
        own = proxy if proxy != DIRECT and not local else ""
        try:
            return httpx.AsyncClient(
                verify=context,
                trust_env=not local and not proxy,
                proxy=own or None,
                headers=headers,
                follow_redirects=False,
            )
        except (ValueError, ImportError, httpx.InvalidURL):
            # Not `from error`: an address of a proxy may hold a password.
            if own:
                raise Unreachable(
                    "The proxy set for this provider cannot be used.",
                    "It looks like http://host:8080; check it in the settings.",
                ) from None
            raise Unreachable(
                "The proxy set on this computer cannot be used.",
                "Check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, or the system's proxy settings.",
            ) from None


class BlockingHttp(httpx2.Client):
    """Connections for a library that blocks, from one thread; a server's wish to wait is respected.

    `local`: for this machine only, past any proxy and without redirects. A longer pause than `PATIENCE` is
    told as `RateLimited`, in place of a thread that sleeps; `stop` ends a pause.
    """

    def __init__(self, *, local: bool, seconds: float = 30.0, stop: threading.Event | None = None) -> None:
        super().__init__(
            verify=_trusting_nobody() if local else _verifying(),
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
    return min(float(asked), 3600.0) if asked.strip().isdigit() else 60.0


def _not_answered(error: httpx2.HTTPError, host: str) -> Unreachable:
    if isinstance(error, httpx2.TimeoutException):
        return Unreachable(f"{host} did not answer in time.", CHECK_CONNECTION)
    return Unreachable(f"{host} could not be reached.", CHECK_CONNECTION)


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def _verifying(ca_file: str = "") -> ssl.SSLContext:
    context = httpx.create_ssl_context()
    # The system's own authorities too: firms and universities install theirs there.
    context.load_default_certs()
    if ca_file:
        try:
            context.load_verify_locations(cafile=os.path.expanduser(ca_file))
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            raise Unreachable(
                "The certificate file set for this provider cannot be read.",
                "It must exist and hold certificates as text (PEM); check it in the settings.",
            ) from error
    return context


def _trusting_nobody() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _parsed(url: str, allow_plain_http: bool) -> httpx.URL:
    try:
        target = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise Unreachable(
            "The provider's address is not a web address.", "Check it in the settings."
        ) from error
    if target.scheme not in {"http", "https"} or not target.host:
        raise Unreachable("The provider's address is not a web address.", "It must start with https:// .")
    if target.scheme == "http" and not allow_plain_http and not is_loopback(target.host):
        raise Unreachable(
            f"{_shown(target)} would be reached without encryption.",
            "Use an https:// address, or allow plain http for this provider in the settings.",
        )
    return target


def _shown(url: httpx.URL) -> str:
    host = f"[{url.host}]" if ":" in url.host else url.host
    return host if url.port is None else f"{host}:{url.port}"


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _unreachable(error: httpx.HTTPError, host: str, connect: float, idle: float) -> ProviderError:
    causes = tuple(_causes(error))
    match error:
        case httpx.ConnectTimeout() | httpx.PoolTimeout():
            return Unreachable(f"{host} did not answer within {connect:g} seconds.", CHECK_CONNECTION)
        case httpx.TimeoutException():
            return Unreachable(f"{host} sent nothing for {idle:g} seconds.", "Try again in a moment.")
        case httpx.ProxyError():
            return Unreachable(
                f"The proxy refused to connect to {host}.", "Check the proxy settings of this computer."
            )
        case httpx.UnsupportedProtocol():
            return Unreachable(
                "The provider's address is not a web address.", "It must start with https:// ."
            )
        case httpx.RemoteProtocolError() | httpx.ReadError() | httpx.WriteError():
            return Unreachable(f"{host} closed the connection without an answer.", "Try again in a moment.")
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return Unreachable(
            f"The certificate of {host} could not be verified.",
            "Nothing was sent. If a proxy or virus scanner stands in between, install its certificate.",
        )
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return Unreachable(f"No secure connection to {host} could be made.", "Is it an http:// address?")
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return Unreachable(f"The address {host} was not found.", CHECK_CONNECTION)
    if is_loopback(host.rpartition(":")[0] or host):
        return Unreachable(f"Nothing answers at {host}.", "Start the model server, or check its port.")
    return Unreachable(f"{host} could not be reached.", CHECK_CONNECTION)


def _broken(error: httpx.HTTPError, host: str, idle: float) -> ProviderError:
    if isinstance(error, httpx.TimeoutException):
        return StreamCut(
            f"{host} stopped sending for {idle:g} seconds.", "What had arrived is kept; you can retry."
        )
    if isinstance(error, httpx.DecodingError):
        return BadAnswer(f"The answer of {host} could not be decoded.")
    return StreamCut(f"The connection to {host} broke off.", "What had arrived is kept; you can retry.")
