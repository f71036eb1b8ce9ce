"""A running llama.cpp server as tests use it: its address, a provider for it, and what it is doing."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.parts import TextPart
from bibgenie_desktop.domain.projection import ProjectedMessage, Projection
from bibgenie_desktop.net.client import Http
from bibgenie_desktop.providers.base import Event, Provider, Request
from bibgenie_desktop.providers.factory import http_provider
from tests.local.llama_server import MODEL

SCRIPT = Path(__file__).with_name("llama_server.py")


@dataclass(frozen=True, slots=True)
class LlamaServer:
    address: str
    window: int

    @property
    def base_url(self) -> str:
        return f"{self.address}/v1"

    def request(self, text: str, most: int | None = None) -> Request:
        profile = ModelProfile("llama", MODEL, self.base_url, self.window, "provider", tools=False)
        message = ProjectedMessage(MessageId("q"), "user", (TextPart(text),))
        return Request(profile, "You answer briefly.", (), Projection((message,)), most)

    @property
    def busy(self) -> bool:
        with urllib.request.urlopen(f"{self.address}/slots") as answer:
            return any(slot["is_processing"] for slot in json.load(answer))

    async def until(self, *, busy: bool) -> None:
        while await asyncio.to_thread(lambda: self.busy) is not busy:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.02)


@contextmanager
def running(window: int) -> Iterator[LlamaServer]:
    """A ready server in a process of its own, on a port it chose."""
    command = [sys.executable, str(SCRIPT), str(window)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        ready = process.stdout.readline()
        try:
            if not ready.startswith("ready "):
                pytest.fail(f"the model server ended with {process.wait(10)} before it was ready")
            yield LlamaServer(ready.removeprefix("ready ").strip(), window)
        finally:
            process.kill()


@asynccontextmanager
async def provider(server: LlamaServer) -> AsyncIterator[Provider]:
    http = Http()
    try:
        yield http_provider("openai-chat", "llama", server.base_url, _no_key, http)
    finally:
        await http.aclose()


async def answered(server: LlamaServer, request: Request) -> list[Event]:
    async with provider(server) as asked, aclosing(asked.stream(request)) as events:
        return [event async for event in events]


async def _no_key() -> str | None:
    return None
