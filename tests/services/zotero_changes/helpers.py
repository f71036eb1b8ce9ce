"""A session over the sample library whose proposals go to a Zotero on loopback that has the same works."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bibgenie_desktop.domain.parts import ToolPart
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.services.zotero_changes.attempting import Settled
from bibgenie_desktop.services.zotero_changes.executor import ZoteroChanges
from bibgenie_desktop.services.zotero_changes.standing import Proposal
from bibgenie_desktop.settings.resources import sample_library
from bibgenie_desktop.storage.journal import JournalEntry
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.zotero.model.library import Contents
from bibgenie_desktop.zotero.online.writing import ZoteroWriting
from bibgenie_desktop.zotero.service import ZoteroLibrary
from tests.scripted_server import ScriptedServer
from tests.services.desk import Desk, desk
from tests.zotero.helpers import opened_library
from tests.zotero.online.helpers import NOWHERE, MemoryKeyring, writing
from tests.zotero.online.zotero_server import ZoteroServer

PAPER = "u-FQ3D7P4Y"
PDF = "u-3Z63DMR5"
"""Walker et al. 2002, and its PDF with two pages that carry marks."""
FOLDER = "u-92C6IZP8"


class Workbench:
    """`settled` holds what the changes have told."""

    def __init__(self, on: Desk, library: ZoteroLibrary, changes: ZoteroChanges, ways: ZoteroWriting) -> None:
        self.on = on
        self.ways = ways
        self.library = library
        self.changes = changes
        self.settled: list[Settled] = []
        changes.subscribe(self.settled.append)

    async def proposals(self, chat: Chat) -> tuple[Proposal, ...]:
        return await self.changes.proposals([m.id for m in chat.path])

    async def journal(self) -> tuple[JournalEntry, ...]:
        return await self.on.store.run(Store.journal)

    async def kinds(self) -> list[str]:
        return [e.kind for e in await self.journal()]


@asynccontextmanager
async def workbench(
    folder: Path,
    server: ScriptedServer,
    zotero: ZoteroServer | None,
    keyring: MemoryKeyring | None = None,
    forbidden: str = "",
    closing_s: float = 5.0,
    ways: ZoteroWriting | None = None,
) -> AsyncIterator[Workbench]:
    library = opened_library(sample_library(), folder / "private")
    await library.ensure_loaded()
    ways = ways or writing(keyring, local=zotero.local if zotero is not None else NOWHERE)
    try:
        async with desk(folder, server) as on:
            changes = ZoteroChanges(on.store, lambda: ways, lambda _: forbidden, closing_s)
            on.workspace.use_changes(changes)
            on.workspace.use_library(library)
            try:
                yield Workbench(on, library, changes, ways)
            finally:
                await changes.close()
    finally:
        await library.close()


def put_into(zotero: ZoteroServer, contents: Contents) -> None:
    """The works and collections of the person's own library."""
    for collection in contents.collections:
        lib, _, key = collection.id.partition("-")
        zotero.seed("collections", key, lib, name=collection.name)
    for item in contents.items.values():
        tags = [{"tag": t.name} for t in item.tags]
        where = [c.id.partition("-")[2] for c in item.collections]
        zotero.seed(
            "items",
            item.key,
            item.library.id,
            itemType=item.type,
            title=item.title,
            tags=tags,
            collections=where,
        )


def call_of(chat: Chat) -> ToolPart:
    """The first call of the newest answer."""
    part: Any = next(p for p in chat.path[-1].parts if isinstance(p, ToolPart))  # type: ignore[union-attr]
    assert isinstance(part, ToolPart)
    return part
