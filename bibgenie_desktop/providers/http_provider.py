"""A provider over HTTP: address, key, codec and connection put together. It knows no dialect and no httpx."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, Protocol

from bibgenie_desktop.domain.errors import (
    AuthError,
    BadAnswer,
    Overloaded,
    ProviderError,
    StreamCut,
    Unreachable,
)
from bibgenie_desktop.net.client import SYSTEM, Http, Response, Route
from bibgenie_desktop.providers.base import Event, Request, Waiting
from bibgenie_desktop.providers.errors import http_error
from bibgenie_desktop.providers.retry import Backoff
from bibgenie_desktop.providers.sse import SseEvent
from bibgenie_desktop.providers.surrogates import settled

MAX_ERROR_BYTES = 64 * 1024
MAX_COMPLETION_BYTES = 32 * 1024 * 1024
MAX_STREAM_BYTES = 512 * 1024 * 1024
"""The longest answers of today have a tenth of this, with all that is sent around each word."""

KeySource = Callable[[], Awaitable[str | None]]


class Reader(Protocol):
    """Splits a body into events."""

    def feed(self, data: bytes) -> list[SseEvent]: ...

    def close(self) -> list[SseEvent]: ...


class Decoder(Protocol):
    """Reads one answer. `done`: the rest of the body is of no interest; `complete`: it may break off."""

    done: bool

    @property
    def complete(self) -> bool: ...

    def feed(self, event: SseEvent) -> list[Event]: ...

    def whole(self, payload: object) -> list[Event] | None: ...

    def finish(self) -> list[Event]: ...


class Codec(Protocol):
    """One dialect: pure, without I/O."""

    def path(self, request: Request) -> str:
        """What follows the base URL; may end in a query."""

    def headers(self, key: str) -> dict[str, str]: ...

    def encode(self, request: Request) -> dict[str, Any]: ...

    def reader(self) -> Reader: ...

    def decoder(self, request: Request) -> Decoder: ...


class HttpProvider:
    """A `Provider`. `key` is asked for at each request, so that a key entered meanwhile counts."""

    def __init__(
        self,
        id: str,
        base_url: str,
        key: KeySource,
        http: Http,
        codec: Codec,
        *,
        allow_plain_http: bool = False,
        route: Route = SYSTEM,
        backoff: Backoff | None = None,
    ) -> None:
        self._id = id
        self._base_url = base_url
        self._key = key
        self._http = http
        self._codec = codec
        self._allow_plain_http = allow_plain_http
        self._route = route
        self._backoff = backoff or Backoff()

    @property
    def id(self) -> str:
        return self._id

    @property
    def base_url(self) -> str:
        """The address in the form that the codec's path is appended to."""
        return self._base_url

    def url(self, request: Request) -> str:
        """Where a request goes."""
        return joined(self._base_url, self._codec.path(request))

    def encode(self, request: Request) -> dict[str, Any]:
        return self._codec.encode(request)

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        content = encode_body(self.encode(request))
        key = (await self._key() or "").strip()
        if not key.isascii() or not key.isprintable():
            raise AuthError(
                f"The key for “{self._id}” holds characters that no key has.",
                "Enter it again in the settings.",
            )
        attempt = 1
        while True:
            begun = False
            try:
                async with aclosing(self._once(request, content, key)) as events:
                    async for event in events:
                        begun = True
                        yield event
            except Overloaded as error:
                wait = None if begun else self._backoff.wait_after(attempt, error)
                if wait is None:
                    raise
                reason = error.title
            else:
                return
            attempt += 1
            yield Waiting(wait, attempt, self._backoff.tries, reason)
            await self._backoff.sleep(wait)

    async def _once(self, request: Request, content: bytes, key: str) -> AsyncGenerator[Event, None]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream, application/x-ndjson, application/json",
            **self._codec.headers(key),
        }
        async with self._http.post_stream(
            self.url(request), headers, content, allow_plain_http=self._allow_plain_http, route=self._route
        ) as response:
            if response.status != 200:
                refusal = await response.read(MAX_ERROR_BYTES)
                raise http_error(
                    response.status, response.headers, refusal, self._id, secret=key, now=time.time()
                )
            try:
                async with aclosing(self._events(response, request)) as events:
                    async for event in events:
                        yield event
            except ProviderError as error:
                _conceal(error, key)
                raise

    async def _events(self, response: Response, request: Request) -> AsyncGenerator[Event, None]:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if "html" in kind:
            raise self._not_a_provider()
        decoder, reader = self._codec.decoder(request), self._codec.reader()
        maybe_whole = kind == "application/json"
        size = 0
        chunks = response.chunks()
        while (data := await _next(chunks, decoder)) is not None:
            size += len(data)
            if size > MAX_STREAM_BYTES:
                raise BadAnswer(f"The answer of “{self._id}” has no end.", "What had arrived is kept.")
            if maybe_whole and data.strip():
                # Some servers call every body that; one value for all is told by how it begins.
                maybe_whole = False
                if data.lstrip()[:1] in (b"{", b"["):
                    content = data + await response.read(MAX_COMPLETION_BYTES)
                    for event in self._whole(content, decoder, reader):
                        yield event
                    return
            for sent in reader.feed(data):
                for event in decoder.feed(sent):
                    yield event
            if decoder.done:
                break
        if not decoder.done:
            for sent in reader.close():
                for event in self._last(sent, decoder):
                    yield event
        for event in decoder.finish():
            yield event

    def _last(self, sent: SseEvent, decoder: Decoder) -> list[Event]:
        """An event without its blank line counts if it is whole; half an event means that the body was
        cut."""
        try:
            return decoder.feed(sent)
        except BadAnswer:
            return []

    def _whole(self, content: bytes, decoder: Decoder, reader: Reader) -> list[Event]:
        """An answer that came as one value although a stream was asked for."""
        try:
            payload = settled(json.loads(content.decode("utf-8-sig", "replace")))
        except (ValueError, RecursionError) as error:
            events = [event for sent in reader.feed(content) for event in decoder.feed(sent)]
            if not events:
                raise BadAnswer(
                    f"“{self._id}” sent something that cannot be read.", "Try again in a moment."
                ) from error
            return [*events, *decoder.finish()]
        events_or_none = decoder.whole(payload)
        if events_or_none is None:
            raise self._not_a_provider()
        return events_or_none

    def _not_a_provider(self) -> Unreachable:
        return Unreachable(
            f"What answers at the address of “{self._id}” is not a model provider.",
            "A proxy, a login page or a wrong address. Check the connection and the provider's address.",
        )


async def _next(chunks: AsyncIterator[bytes], decoder: Decoder) -> bytes | None:
    """More of the body. Some servers hang up without a proper end once all has been said: no cut."""
    try:
        return await anext(chunks)
    except StopAsyncIteration:
        return None
    except StreamCut:
        if not decoder.complete:
            raise
        return None


def joined(base_url: str, path: str) -> str:
    """A base URL, which may carry a query (Azure's api-version), with a path, which may carry one too."""
    base, _, first = base_url.partition("?")
    path, _, second = path.partition("?")
    query = "&".join(part for part in (first, second) if part)
    return f"{base}{path}?{query}" if query else f"{base}{path}"


def encode_body(body: Mapping[str, Any]) -> bytes:
    """The bytes of a body. Half a surrogate pair, as broken PDF text may hold, is replaced: it is no
    UTF-8."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _conceal(error: ProviderError, key: str) -> None:
    """A fault inside a stream may quote the key as well as a refusal may."""
    if key and key in str(error):
        error.title, error.advice = (text.replace(key, "…") for text in (error.title, error.advice))
        error.args = (f"{error.title} {error.advice}".strip(),)
