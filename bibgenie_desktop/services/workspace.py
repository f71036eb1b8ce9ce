"""Everything a window needs, in one place: sessions, open chats, drafts, branches, citations, the library.

Views and presenters know this module and the values it hands out, never the store or a provider.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bibgenie_desktop.domain.capacity import PINS_OF_LEDGER
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.ids import Clock, IdMaker, MessageId, SessionId
from bibgenie_desktop.domain.ledger import pins_cost
from bibgenie_desktop.domain.locators import LedgerEntry
from bibgenie_desktop.domain.messages import Checkpoint, Message, Session
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.parts import Draft, ImagePart
from bibgenie_desktop.domain.states import Action
from bibgenie_desktop.domain.topology import DamagedBranch, Placeholder
from bibgenie_desktop.services import events
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.services.compactor import Compactor
from bibgenie_desktop.services.estimates import Estimates
from bibgenie_desktop.services.images import Picture, keep, pictures_of
from bibgenie_desktop.services.importing import read_export
from bibgenie_desktop.services.library.citing import CheckedCitation, CitationChecker
from bibgenie_desktop.services.library.library_room import LibraryRoom
from bibgenie_desktop.services.models import Models
from bibgenie_desktop.services.planner import Planner, Prompts, blobs_of, request_of
from bibgenie_desktop.services.preview import DryRun, dry_run
from bibgenie_desktop.services.spending.cache_costs import CacheCosts
from bibgenie_desktop.services.spending.costs import Costs
from bibgenie_desktop.services.spending.prompt_cache import warm_cache
from bibgenie_desktop.services.text_search import TextSearch
from bibgenie_desktop.services.tools.base import Tool
from bibgenie_desktop.services.tools.read_result import ReadResult
from bibgenie_desktop.services.tools.registry import library_tools
from bibgenie_desktop.services.tools.toolbox import Toolbox
from bibgenie_desktop.services.zotero_changes.executor import ZoteroChanges
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.values import OutlineNode, SessionRow
from bibgenie_desktop.storage.worker import StoreWorker
from bibgenie_desktop.zotero.service import LibraryStatus, ZoteroLibrary

__all__ = ["LibraryStatus", "OutlineNode", "SessionRow", "Workspace"]

PAGE = 100
"""Messages fetched at a time while scrolling back."""


class Workspace:
    """One data directory at work. Chats stay open, so that an answer goes on while another session is
    shown."""

    def __init__(
        self,
        *,
        store: StoreWorker,
        models: Models,
        prompts: Prompts,
        library: ZoteroLibrary | None,
        ids: IdMaker,
        clock: Clock,
        automatic: bool = True,
        text_index: Path | None = None,
    ) -> None:
        self.clock = clock
        self.models = models
        self._store = store
        self._prompts = prompts
        self._ids = ids
        self._automatic = automatic
        self._chats: dict[SessionId, Chat] = {}
        self._opening = asyncio.Lock()
        self._library: ZoteroLibrary | None = None
        self._citations: CitationChecker | None = None
        self.room: LibraryRoom | None = None
        """The library in use as the window browses it; None while there is none."""
        self.changes: ZoteroChanges | None = None
        """What writes the proposals that the person accepted; None where nothing is written."""
        self._toolbox = Toolbox()
        self.estimates = Estimates(store)
        self.search = TextSearch(store, text_index)
        self.costs = Costs(store, models.price_of)
        self.planner = Planner(prompts, self._toolbox, ReadResult.spec, self.estimates)
        self.cache_costs = CacheCosts(store, self.planner, models, self._toolbox)
        self.use_library(library)

    # -- library --------------------------------------------------------------------------------------------

    def use_library(self, library: ZoteroLibrary | None) -> None:
        """Takes another Zotero library, for open conversations as well. The caller closes the old one."""
        self._library = library
        self._citations = CitationChecker(library) if library is not None else None
        self.room = LibraryRoom(library, self._store) if library is not None else None
        if self.changes is not None:
            self.changes.use_library(library)
        self.use_tools(library_tools(library, self.changes) if library is not None else ())

    def use_changes(self, changes: ZoteroChanges) -> None:
        """Writes accepted proposals from now on."""
        self.changes = changes
        self.use_library(self._library)

    def use_models(self, models: Models) -> None:
        """Takes other providers and models, for open conversations as well."""
        self.models.replace(models)
        self.costs.forget()
        for chat in self._chats.values():
            chat.announce(events.ContextChanged())

    def use_automatic(self, automatic: bool) -> None:
        """Turns automatic compaction on or off, for open conversations as well."""
        self._automatic = automatic
        for chat in self._chats.values():
            chat.use_automatic(automatic)

    def use_tools(self, tools: Sequence[Tool]) -> None:
        """Offers these tools to the model, from the last to go to the first to go."""
        self._toolbox.replace(tools)

    @property
    def library_status(self) -> LibraryStatus | None:
        """None while no library is chosen."""
        return self._library.status if self._library is not None else None

    async def refresh_library(self) -> None:
        """Reads the library again if its files changed. Raises `LibraryUnavailable`."""
        if self._library is not None:
            await self._library.refresh()

    async def check_citations(self, text: str) -> Mapping[str, CheckedCitation]:
        """The citation markers of an answer, by their raw form."""
        return await self._citations.check(text) if self._citations is not None else {}

    async def cited_page(self, marker: str) -> str:
        """The text of the page that a citation marker names. Raises `UserError`."""
        if self._citations is None:
            raise UserError("No Zotero library is in use.", "Choose one on the first page.")
        return await self._citations.page_text(marker)

    # -- sessions -------------------------------------------------------------------------------------------

    async def sessions(self, *, trashed: bool = False) -> Sequence[SessionRow]:
        """Newest first, forks after their origin is left to the view."""
        return await self._store.run(Store.sessions, trashed)

    async def new_session(self, title: str = "", model: str = "") -> Session:
        return await self._store.run(Store.create_session, title, model or self.models.default)

    async def chat(self, session_id: SessionId) -> Chat:
        """The open chat of a session; opens it on first use, once, however many ask at a time."""
        async with self._opening:
            known = self._chats.get(session_id)
            if known is None:
                known = self._new_chat(session_id)
                await known.open()
                self._chats[session_id] = known
            return known

    def _new_chat(self, session_id: SessionId) -> Chat:
        return Chat(
            session_id,
            store=self._store,
            planner=self.planner,
            models=self.models,
            compactor=Compactor(self._prompts, self.models, self._ids, self.clock),
            toolbox=self._toolbox,
            estimates=self.estimates,
            ids=self._ids,
            clock=self.clock,
            automatic=self._automatic,
        )

    def open_chats(self) -> tuple[Chat, ...]:
        return tuple(self._chats.values())

    async def rename(self, session_id: SessionId, title: str) -> None:
        await self._store.run(Store.rename, session_id, title)

    async def pin(self, session_id: SessionId, pinned: bool) -> None:
        await self._store.run(Store.pin, session_id, pinned)

    async def trash(self, session_id: SessionId) -> None:
        await self._store.run(Store.trash, session_id)

    async def restore(self, session_id: SessionId) -> None:
        await self._store.run(Store.restore, session_id)

    async def copy_readable(self, session_id: SessionId) -> Session:
        """A new session with what a damaged one still lets read after its last break."""
        return await self._store.run(Store.copy_readable, session_id)

    async def import_conversation(self, data: bytes) -> Session:
        """A new session with everything an exported one holds. Raises `UserError`."""
        whole = await asyncio.to_thread(read_export, data)
        return await self._store.run(Store.import_whole, whole)

    # -- branches -------------------------------------------------------------------------------------------

    async def outline(self, chat: Chat) -> Sequence[OutlineNode]:
        """All nodes of the chat's tree, light."""
        return await self._store.run(Store.outline, chat.session.tree_id)

    async def archived(self, chat: Chat) -> frozenset[MessageId]:
        """Where the branches begin that the person put out of sight."""
        return await self._store.run(Store.archived, chat.session.tree_id)

    async def archive(self, chat: Chat, message_id: MessageId) -> None:
        """Puts a branch out of sight; it keeps every message. Raises `NotAllowed`."""
        chat.require(Action.ARCHIVE)
        await self._store.run(Store.archive, chat.session_id, message_id)

    async def bring_back(self, message_id: MessageId) -> None:
        """Shows an archived branch again."""
        await self._store.run(Store.bring_back, message_id)

    async def siblings(self, message: Message) -> Sequence[MessageId]:
        """The versions of a message, itself included, oldest first."""
        return await self._store.run(Store.siblings, message)

    async def older(self, message: Message) -> Sequence[Message | Placeholder]:
        """The messages before one, oldest first; empty at the beginning."""
        return await self._store.run(Store.older, message.tree_id, message.id, PAGE)

    async def checkpoints(self, chat: Chat) -> Sequence[Checkpoint]:
        """Those on the chat's branch, oldest first, also where the branch is not loaded."""
        return await self._store.run(Store.checkpoints_to, chat.path[-1].id) if chat.path else ()

    async def check_whole(self, chat: Chat) -> DamagedBranch | None:
        """Checks the part of the path behind the boundary, for the background."""
        return await self._store.run(Store.check_session, chat.session_id)

    async def body(self, chat: Chat, draft: Draft) -> dict[str, Any]:
        """The exact request that Send would make now with this draft."""
        plan = await chat.plan(draft)
        request = request_of(plan, await self._store.run(pictures_of, blobs_of(plan)))
        return self.models.provider(plan.profile).encode(request)

    async def dry_run(self, chat: Chat) -> DryRun:
        """What the Compact action would do now; changes nothing, asks no model."""
        plan = await chat.plan(Draft())
        held = warm_cache(chat.path, self.costs.price)
        # Without prices nothing tells whether there is a cache: then it counts as lost.
        warm = plan.profile.prices is None or (held is not None and self.clock() < held.until)
        return await asyncio.to_thread(partial(dry_run, self.planner, plan, warm=warm))

    # -- pins -----------------------------------------------------------------------------------------------

    async def pins(self, chat: Chat) -> Sequence[LedgerEntry]:
        """What the person pinned in a session: it enters every checkpoint from the next one on."""
        return await self._store.run(Store.pins, chat.session_id)

    async def pin_entry(self, chat: Chat, entry: LedgerEntry) -> None:
        """Pins a place or a sentence. Raises `UserError` where the session's model has no room for it."""
        plan = await chat.plan(Draft())
        room = int(PINS_OF_LEDGER * plan.limits.ledger_budget)
        cost = pins_cost((*await self.pins(chat), entry))
        if cost > room:
            raise UserError(
                f"This pin does not fit: all pins would take {cost:,} of {room:,} tokens.",
                "Unpin something, shorten the sentence, or choose a model with a larger window.",
            )
        await self._store.run(Store.add_pin, chat.session_id, entry)

    async def unpin_entry(self, chat: Chat, entry: LedgerEntry) -> None:
        await self._store.run(Store.remove_pin, chat.session_id, entry)

    # -- drafts ---------------------------------------------------------------------------------------------

    async def draft(self, session_id: SessionId, edits: MessageId | None = None) -> Draft:
        return await self._store.run(Store.draft, session_id, edits)

    async def save_draft(self, session_id: SessionId, edits: MessageId | None, draft: Draft) -> None:
        await self._store.run(Store.save_draft, session_id, edits, draft)
        if (chat := self._chats.get(session_id)) is not None and edits is None:
            await chat.keep_queue()

    async def keep_pictures(self, pictures: Sequence[Picture]) -> tuple[ImagePart, ...]:
        """Keeps pictures; what comes back can be attached to a draft."""
        return await keep(self._store, pictures)

    async def pictures(self, hashes: Sequence[str]) -> Mapping[str, bytes]:
        """The bytes of pictures by content hash, as far as they are there."""
        return await self._store.run(pictures_of, tuple(hashes))

    def profiles(self) -> tuple[ModelProfile, ...]:
        return self.models.profiles
