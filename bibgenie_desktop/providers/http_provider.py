"""A provider over HTTP: address, key, codec and connection put together. It knows no dialect and no httpx."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, Protocol

from bibgenie_desktop.domain.errors import AuthError, BadAnswer, Unreachable
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.net import Http, Response
from bibgenie_desktop.providers.base import Event, Request
from bibgenie_desktop.providers.errors import http_error
from bibgenie_desktop.providers.sse import SseEvent, SseReader

MAX_ERROR_BYTES = 64 * 1024
MAX_COMPLETION_BYTES = 32 * 1024 * 1024

KeySource = Callable[[], Awaitable[str | None]]


class Decoder(Protocol):
    """Reads one answer. `done`: the rest of the body is of no interest."""

    done: bool

    def feed(self, event: SseEvent) -> list[Event]: ...

    def feed_object(self, payload: Mapping[str, Any]) -> list[Event]: ...

    def finish(self) -> list[Event]: ...


class Codec(Protocol):
    """One dialect: pure, without I/O."""

    @property
    def path(self) -> str: ...

    def headers(self, key: str) -> dict[str, str]: ...

    def encode(self, request: Request) -> dict[str, Any]: ...

    def decoder(self, profile: ModelProfile) -> Decoder: ...


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
    ) -> None:
        self._id = id
        self._base_url = base_url
        self._key = key
        self._http = http
        self._codec = codec
        self._allow_plain_http = allow_plain_http

    @property
    def id(self) -> str:
        return self._id

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
        headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream, application/json",
            **self._codec.headers(key),
        }
        async with self._http.post_stream(
            self._base_url + self._codec.path, headers, content, allow_plain_http=self._allow_plain_http
        ) as response:
            if response.status != 200:
                refusal = await response.read(MAX_ERROR_BYTES)
                raise http_error(response.status, response.headers, refusal, self._id, secret=key)
            async with aclosing(self._events(response, self._codec.decoder(request.profile))) as events:
                async for event in events:
                    yield event

    async def _events(self, response: Response, decoder: Decoder) -> AsyncGenerator[Event, None]:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "application/json":
            for event in self._whole(await response.read(MAX_COMPLETION_BYTES), decoder):
                yield event
            return
        if "html" in kind:
            raise self._not_a_provider()
        reader = SseReader()
        async for data in response.chunks():
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

    def _whole(self, content: bytes, decoder: Decoder) -> list[Event]:
        """A completion that came as one object although a stream was asked for."""
        try:
            payload = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise BadAnswer(
                f"“{self._id}” sent something that cannot be read.", "Try again in a moment."
            ) from error
        if not isinstance(payload, dict) or not (payload.get("choices") or payload.get("error")):
            raise self._not_a_provider()
        return [*decoder.feed_object(payload), *decoder.finish()]

    def _not_a_provider(self) -> Unreachable:
        return Unreachable(
            f"What answers at the address of “{self._id}” is not a model provider.",
            "A proxy, a login page or a wrong address. Check the connection and the provider's address.",
        )


def encode_body(body: Mapping[str, Any]) -> bytes:
    """The bytes of a body. Half a surrogate pair, as broken PDF text may hold, is replaced: it is no
    UTF-8."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
