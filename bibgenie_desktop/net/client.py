"""The connections to providers: one client for each way out, proxies, time limits, streamed answers."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import httpx

from bibgenie_desktop.domain.errors import Unreachable
from bibgenie_desktop.net.failures import broken, unreachable, unusable_proxy
from bibgenie_desktop.net.trust import is_loopback, parsed, shown, trusting_nobody, verifying

CONNECT_SECONDS = 15.0
IDLE_SECONDS = 120.0
LOCAL_IDLE_SECONDS = 600.0
"""A model on this machine may read a long prompt for minutes before its first byte."""

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
            raise broken(error, self._host, self._idle) from error

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
        target = parsed(url, allow_plain_http)
        host, local = shown(target), is_loopback(target.host)
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
            raise unreachable(error, host, self._connect, idle) from error
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
                context = await asyncio.to_thread(verifying, route.ca_file) if verified else trusting_nobody()
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
        except (ValueError, ImportError, httpx.InvalidURL) as error:
            # Not `from error`: an address of a proxy may hold a password.
            raise unusable_proxy(error, own=bool(own)) from None
