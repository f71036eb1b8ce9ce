"""Asks a server which models it has and what they can take. Only on the person's own request: while a
provider is added or tested.

Knows where each kind of server keeps its list; how the lists read is `model_lists`' work. Local servers are
asked a second time for the window that is really loaded, which is the one that counts.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final

from bibgenie_desktop.domain.entries import KnownModel, ProviderEntry
from bibgenie_desktop.domain.errors import AuthError, BadAnswer, ProviderError, Unreachable
from bibgenie_desktop.net.client import Http, Route
from bibgenie_desktop.net.trust import is_loopback
from bibgenie_desktop.providers import model_lists
from bibgenie_desktop.providers.errors import http_error
from bibgenie_desktop.providers.http_provider import joined

MOST_BYTES: Final = 16 * 1024 * 1024
SECONDS: Final = 20.0
"""For one list. A server that is loading a model answers lists all the same."""
MOST_SHOWN: Final = 60
"""Ollama describes one model a request."""


class Prober:
    """One for the application. `seconds` limits each request."""

    def __init__(self, http: Http, seconds: float = SECONDS) -> None:
        self._http = http
        self._seconds = seconds

    async def models(self, entry: ProviderEntry, base_url: str, key: str | None) -> tuple[KnownModel, ...]:
        """All models for conversations that the server of an entry lists; `base_url` is its address in the
        usual form. Raises `ProviderError`."""
        route = Route(entry.proxy, entry.ca_file)
        asked = _Asked(self._http, self._seconds, entry.id, key or "", entry.allow_plain_http, route)
        base = base_url.rstrip("/")
        match entry.kind:
            case "anthropic":
                payload = await asked.get(f"{_root(base)}/v1/models?limit=1000", _anthropic_headers)
                return model_lists.anthropic_models(payload)
            case "gemini":
                payload = await asked.get(f"{_root(base)}/v1beta/models?pageSize=1000", _gemini_headers)
                return model_lists.gemini_models(payload)
            case "ollama":
                return await self._ollama(asked, _root(base))
            case _:
                return await self._openai(asked, base)

    async def _openai(self, asked: _Asked, base: str) -> tuple[KnownModel, ...]:
        payload = await asked.get(joined(base, "/models"), _bearer)
        models = model_lists.openai_models(payload)
        owners, root = model_lists.owners(payload), _root(base)
        nearby = is_loopback(_host(base))
        if "llamacpp" in owners or any(m.trained for m in models):
            with suppress(ProviderError):
                return model_lists.llama_cpp(models, await asked.get(f"{root}/props", _bearer))
        elif "library" in owners:
            with suppress(ProviderError):
                return await self._ollama(asked, root)
        elif nearby and not any(m.window for m in models):
            for path in ("/api/v1/models", "/api/v0/models"):
                with suppress(ProviderError):
                    if found := model_lists.lm_studio(await asked.get(root + path, _bearer)):
                        return found
        return models

    async def _ollama(self, asked: _Asked, root: str) -> tuple[KnownModel, ...]:
        names = model_lists.ollama_names(await asked.get(f"{root}/api/tags", _bearer))
        loaded: Mapping[str, int] = {}
        with suppress(ProviderError):
            loaded = model_lists.ollama_loaded(await asked.get(f"{root}/api/ps", _bearer))
        found = []
        for index, name in enumerate(names):
            show: object = None
            if index < MOST_SHOWN:
                with suppress(ProviderError):
                    show = await asked.post(f"{root}/api/show", {"model": name}, _bearer)
            found.append(model_lists.ollama_model(name, show, loaded.get(name)))
        return tuple(found)


Headers = Callable[[str], dict[str, str]]


class _Asked:
    """One provider being asked: its key goes into headers and nowhere else."""

    def __init__(
        self, http: Http, seconds: float, provider: str, key: str, plain: bool, route: Route
    ) -> None:
        self._http = http
        self._seconds = seconds
        self._provider = provider
        self._key = key
        self._plain = plain
        self._route = route
        if not key.isascii() or not (key.isprintable()):
            raise AuthError(
                f"The key for “{provider}” holds characters that no key has.",
                "Enter it again in the settings.",
            )

    async def get(self, url: str, headers: Headers) -> object:
        return await self._in_time(lambda: self._read(url, headers(self._key), None))

    async def post(self, url: str, body: Mapping[str, object], headers: Headers) -> object:
        content = json.dumps(body).encode()
        sent = headers(self._key) | {"Content-Type": "application/json"}
        return await self._in_time(lambda: self._read(url, sent, content))

    async def _in_time(self, ask: Callable[[], Awaitable[object]]) -> object:
        try:
            async with asyncio.timeout(self._seconds):
                return await ask()
        except TimeoutError:
            raise Unreachable(
                f"“{self._provider}” did not send its list of models within {self._seconds:g} seconds.",
                "Try again in a moment.",
            ) from None

    async def _read(self, url: str, headers: Mapping[str, str], content: bytes | None) -> object:
        headers = {"Accept": "application/json", **headers}
        opened = (
            self._http.get_stream(url, headers, allow_plain_http=self._plain, route=self._route)
            if content is None
            else self._http.post_stream(
                url, headers, content, allow_plain_http=self._plain, route=self._route
            )
        )
        async with opened as response:
            body = await response.read(MOST_BYTES)
            if response.status != 200:
                raise http_error(response.status, response.headers, body, self._provider, secret=self._key)
            kind = response.headers.get("content-type", "")
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            if "html" in kind or body.lstrip()[:1] == b"<":
                raise Unreachable(
                    f"What answers at the address of “{self._provider}” is not a model provider.",
                    "A proxy, a login page or a wrong address. Check the provider's address.",
                ) from None
            raise BadAnswer(
                f"“{self._provider}” sent a list of models that cannot be read.", "Check its address."
            ) from None


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _anthropic_headers(key: str) -> dict[str, str]:
    return {"anthropic-version": "2023-06-01"} | ({"x-api-key": key} if key else {})


def _gemini_headers(key: str) -> dict[str, str]:
    return {"x-goog-api-key": key} if key else {}


def _root(base: str) -> str:
    """The server's own address: without the interface that the base names."""
    return re.sub(r"(/api)?(/v1(beta)?|/api)$", "", base)


def _host(base: str) -> str:
    match = re.match(r"[a-z]+://(\[[^\]]*\]|[^/:]*)", base)
    return match[1] if match else ""
