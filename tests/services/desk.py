"""A workspace on a real database, a real HTTP client, and a scripted server as its provider."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from bibgenie_desktop.compose.options import id_maker
from bibgenie_desktop.compose.requests import prompts
from bibgenie_desktop.domain.checkpoint import SECTIONS, in_order
from bibgenie_desktop.domain.ids import SessionId
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.parts import Draft
from bibgenie_desktop.domain.prices import Prices
from bibgenie_desktop.net.client import Http
from bibgenie_desktop.providers.factory import http_provider
from bibgenie_desktop.services import events
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.services.models import Models
from bibgenie_desktop.services.tools.base import Tool
from bibgenie_desktop.services.workspace import Workspace
from bibgenie_desktop.storage.worker import StoreWorker
from tests.fakes import Clock
from tests.scripted_server import ScriptedServer

LARGE, SMALL = "scripted", "small"


def summary_text(note: str = "kept") -> str:
    return in_order(dict.fromkeys(SECTIONS, f"- [user] {note}"))


async def no_key() -> str | None:
    return None


class Desk:
    """`events` holds everything a chat announced since the last `clear`."""

    def __init__(self, workspace: Workspace, store: StoreWorker, server: ScriptedServer) -> None:
        self.workspace = workspace
        self.store = store
        self.server = server
        self.events: list[events.ChatEvent] = []

    async def chat(self, session_id: SessionId | None = None) -> Chat:
        if session_id is None:
            session_id = (await self.workspace.new_session()).id
        chat = await self.workspace.chat(session_id)
        chat.subscribe(self.events.append)
        return chat

    def happened(self, kind: type[Any]) -> list[Any]:
        return [e for e in self.events if isinstance(e, kind)]

    async def until(self, kind: type[Any], count: int = 1) -> None:
        """Waits for so many events of a kind."""
        while len(self.happened(kind)) < count:  # noqa: ASYNC110 - listeners are plain callbacks
            await asyncio.sleep(0.005)

    def messages(self, index: int = -1) -> list[Mapping[str, Any]]:
        """The messages of a request the server got, without the system prompt."""
        return [m for m in self.server.bodies[index]["messages"] if m["role"] != "system"]

    def roles(self, index: int = -1) -> str:
        """`C` for a checkpoint, else the first word of each message."""
        names = []
        for message in self.messages(index):
            content = message.get("content") or ""
            names.append("C" if content.startswith("<checkpoint>") else content.split(" ")[0])
        return " ".join(names)


@asynccontextmanager
async def desk(
    folder: Path,
    server: ScriptedServer,
    *,
    window: int = 100_000,
    small: int = 4_096,
    tools: tuple[Tool, ...] = (),
    automatic: bool = True,
    source: str = "user",
    max_output: int | None = None,
    kind: str = "openai-chat",
    vision: bool = False,
    prices: Prices | None = None,
) -> AsyncIterator[Desk]:
    """`vision`: the large model sees; the small one never does."""
    http = Http()
    provider = http_provider(kind, "test", server.base_url, no_key, http)
    large = ModelProfile("test", LARGE, server.base_url, window, source, max_output, prices=prices)  # type: ignore[arg-type]
    profiles = {p.ref: p for p in (replace(large, vision=vision), replace(large, model=SMALL, window=small))}
    clock = Clock()
    store = StoreWorker(folder / "bibgenie.sqlite", clock, id_maker(clock))
    await store.open()
    workspace = Workspace(
        store=store,
        models=Models(tuple(profiles.values()), profiles.get, {"test": provider}, large.ref),
        prompts=prompts(),
        library=None,
        ids=id_maker(clock),
        clock=clock,
        automatic=automatic,
        text_index=folder / "index" / "messages.sqlite",
    )
    workspace.use_tools(tools)
    try:
        yield Desk(workspace, store, server)
    finally:
        await workspace.search.close()
        await http.aclose()
        await store.close()


def ask(text: str) -> Draft:
    return Draft(text)
