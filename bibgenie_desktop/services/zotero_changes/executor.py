"""Accepted changes: each is written once, with what was said and what came of it in the journal.

A write that has begun goes on when nobody waits for it any more. Each is recorded before it is sent; what was
not answered is looked for in Zotero before anything else is written, and until then nobody claims to know.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any, Final

from bibgenie_desktop.domain.errors import StoreUnavailable, UserError
from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.parts import ResourcePart
from bibgenie_desktop.services.tools.arguments import BadArguments
from bibgenie_desktop.services.tools.base import Card, Decision, card_from_json
from bibgenie_desktop.services.zotero_changes.attempting import Outcome, Settled, Writing, attempted
from bibgenie_desktop.services.zotero_changes.building import ChangeBuilder
from bibgenie_desktop.services.zotero_changes.homes import home_name, same_home
from bibgenie_desktop.services.zotero_changes.standing import (
    MAY_BE_THERE,
    TRASHED,
    Proposal,
    changed,
    done_of,
    key_sent_before,
    news_of,
    proposal_of,
    said,
    unsettled,
    written_facts,
)
from bibgenie_desktop.storage.journal import EntryKind, StoredProposal
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.worker import StoreWorker
from bibgenie_desktop.zotero.online.attempts import Attempt, attempt_to_json
from bibgenie_desktop.zotero.online.changes import (
    Change,
    Done,
    Home,
    change_from_json,
    done_to_json,
    home_of,
    with_key,
)
from bibgenie_desktop.zotero.service import ZoteroLibrary

log = logging.getLogger(__name__)

CLOSING_S: Final = 5.0
"""How long quitting waits for what is being written."""
GONE: Final = "It is not in Zotero any more."
MAY_BE_BACK: Final = "It may have been taken back. Undo looks there first."
_OPEN: Final = frozenset({"proposed", "failed", "accepted", "edited"})
NO_LIBRARY: Final = "No Zotero library is in use."


class ZoteroChanges:
    """`make_writing` opens the ways into Zotero at the first need. `forbidden` says why a library may not be
    written to, whatever is open; empty for a person's own."""

    def __init__(
        self,
        store: StoreWorker,
        make_writing: Callable[[], Writing],
        forbidden: Callable[[ZoteroLibrary], str] = lambda _: "",
        closing_s: float = CLOSING_S,
    ) -> None:
        self._closing_s = closing_s
        self._store, self._make_writing, self._forbidden = store, make_writing, forbidden
        self._made: Writing | None = None
        self._library: ZoteroLibrary | None = None
        self._listeners: list[Callable[[Settled], None]] = []
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._busy: set[str] = set()
        self._tasks: set[asyncio.Task[Outcome]] = set()
        self._stops: set[threading.Event] = set()

    def use_library(self, library: ZoteroLibrary | None) -> None:
        """The library that proposals are about from now on."""
        self._library = library

    def subscribe(self, listener: Callable[[Settled], None]) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    @property
    def builder(self) -> ChangeBuilder:
        """Raises `UserError` without a library."""
        if self._library is None:
            raise UserError(NO_LIBRARY, "Choose one on the first page.")
        return ChangeBuilder(self._library)

    async def refusal(self, library: str) -> str:
        """Why nothing can be written now, with what to switch on. Asks this computer only."""
        reason = self._forbidden(self._library) if self._library is not None else NO_LIBRARY
        return reason or await (await self._ways()).refusal(library, self._home())

    def _home(self) -> Home:
        if self._library is None:
            return Home()
        return home_of(self._library.contents.account, web=self._library.status.kind == "web")

    async def _ways(self) -> Writing:
        if self._made is None:
            # What it needs takes a tenth of a second to import.
            self._made = await asyncio.to_thread(self._make_writing)
        return self._made

    async def proposals(self, message_ids: Collection[MessageId]) -> tuple[Proposal, ...]:
        """The proposals of these answers, in order."""
        found = await self._store.run(Store.proposals, message_ids)
        return tuple(proposal_of(p, busy=p.call_id in self._busy) for p in found)

    # -- what the person says

    async def accept(self, call_id: str, decision: Decision, *, told_in: SessionId | None = None) -> Outcome:
        """Writes what was accepted or edited, once. `told_in`: its turn has ended, this session tells of it.

        Cancelling the wait ends what was not sent yet; what was sent is recorded and told later.
        """
        stop = threading.Event()
        task = asyncio.ensure_future(self._accept(call_id, decision, stop, told_in))
        return await self._followed(task, stop, call_id)

    async def decline(self, call_id: str) -> None:
        """A word on a proposal that was not answered in its turn.

        Raises `UserError` where it was, or may have been, written before.
        """
        async with self._locks[call_id]:
            stored = await self._stored(call_id)
            with self._working(stored):
                done, unclear = await self._look_back(stored)
            if done is not None:
                await self._arrived(stored, *done, None)
                raise UserError("It had been written before.", "Undo takes it back.")
            if unclear:
                await self._enter(stored, "unknown", {"reason": f"{unclear} {MAY_BE_THERE}"})
                self._tell(stored)
                raise UserError("Whether it was written is not known yet.", unclear)
            if (await self._stored(call_id)).newest in _OPEN:
                await self._enter(stored, "declined")
            self._tell(stored)

    async def undo(self, call_id: str, *, told_in: SessionId | None = None) -> Outcome:
        """Takes back what was written; the session tells the model."""
        stop = threading.Event()
        task = asyncio.ensure_future(self._undo(call_id, stop, told_in))
        return await self._followed(task, stop, call_id)

    async def close(self) -> None:
        """Gives what is being written a moment; nothing that was not sent yet is sent."""
        for stop in self._stops:
            stop.set()
        if self._tasks:
            _, left = await asyncio.wait(set(self._tasks), timeout=self._closing_s)
            for task in left:  # Zotero's dialog is still open: the next start says that it is not known
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    async def _followed(self, task: asyncio.Task[Outcome], stop: threading.Event, call_id: str) -> Outcome:
        self._tasks.add(task)
        self._stops.add(stop)

        def ended(done: asyncio.Task[Outcome]) -> None:
            self._tasks.discard(done)
            self._stops.discard(stop)
            if not done.cancelled() and (error := done.exception()) is not None:
                log.info("a change to Zotero ended with %s", type(error).__name__)

        task.add_done_callback(ended)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            stop.set()
            raise

    # -- writing

    async def _accept(
        self, call_id: str, decision: Decision, stop: threading.Event, told_in: SessionId | None
    ) -> Outcome:
        async with self._locks[call_id]:
            stored = await self._stored(call_id)
            standing = done_of(stored)
            if standing is not None:
                return Outcome(True, said(standing))
            with self._working(stored):
                earlier, unclear = await self._look_back(stored)
            if earlier is not None:
                return await self._arrived(stored, *earlier, told_in)
            if unclear:
                return await self._unknown(stored, unclear)
            return await self._write(await self._stored(call_id), decision, stop, told_in)

    async def _look_back(self, stored: StoredProposal) -> tuple[tuple[Done, Change] | None, str]:
        """What came of earlier attempts: what was done and by which, or why nobody can tell."""
        attempts = unsettled(stored)
        if not attempts:
            return None, ""
        journal = await self._store.run(Store.journal)
        others = {
            str(e.content.get("key") or "")
            for e in journal
            if e.kind == "written" and e.call_id != stored.call_id
        }
        for attempt in attempts:
            done, reason, _ = await attempted((await self._ways()).settle(attempt, others))
            if reason:
                return None, reason
            if done is not None:
                return (done, attempt.change), ""
        await self._enter(stored, "failed", {"reason": "It had not arrived in Zotero."})
        return None, ""

    async def _arrived(
        self, stored: StoredProposal, done: Done, change: Change, told_in: SessionId | None
    ) -> Outcome:
        """An earlier attempt turned out to have been carried out."""
        await self._enter(stored, "written", written_facts(done, change))
        words = said(done)
        if done.trashed:
            words = TRASHED
            await self._enter(stored, "undone", {**done_to_json(done), "reason": TRASHED})
        self._tell(stored, news_of(done, change, words), told_in)
        return Outcome(not done.trashed, words)

    async def _write(
        self, stored: StoredProposal, decision: Decision, stop: threading.Event, told_in: SessionId | None
    ) -> Outcome:
        card = card_from_json(stored.content)
        content = decision.content if decision.kind == "edited" else card.edited or card.content
        if decision.kind == "edited" and content != card.edited:
            card = replace(card, edited=content)
            await self._store.run(Store.revise_proposal, stored.call_id, card.to_json())
        try:
            await self._require_home(card)
            change = self.builder.change(card.kind, card.target_id, content)
            change = with_key(change, key_sent_before(stored, change))
        except BadArguments as error:
            return await self._failed(stored, str(error))
        except UserError as error:
            return await self._failed(stored, error.text)
        kind: EntryKind = "edited" if content != card.content else "accepted"
        await self._enter(stored, kind)
        with self._working(stored):
            done, reason, sure = await attempted(self._apply(stored, change, stop))
        if done is None:
            if not sure and unsettled(await self._stored(stored.call_id)):
                return await self._unknown(stored, reason)
            return await self._failed(stored, reason)
        await self._enter(stored, "written", written_facts(done, change))
        edited = content if kind == "edited" else ""
        words = said(done)
        late = told_in is not None or stop.is_set()
        self._tell(stored, news_of(done, change, words, edited) if late else None, told_in)
        return Outcome(True, words, edited)

    async def _apply(self, stored: StoredProposal, change: Change, stop: threading.Event) -> Done:
        if self._library is not None and (reason := self._forbidden(self._library)):
            raise UserError(reason)
        loop = asyncio.get_running_loop()

        def record(attempt: Attempt) -> None:
            entered = self._enter(stored, "sending", attempt_to_json(attempt))
            asyncio.run_coroutine_threadsafe(entered, loop).result()

        return await (await self._ways()).apply(change, stop, home=self._home(), record=record)

    async def _require_home(self, card: Card) -> None:
        """A proposal belongs to the library that it was made for. Raises `UserError` in another one."""
        if self._library is None:
            raise UserError(NO_LIBRARY, "Choose one on the first page.")
        await self._library.ensure_loaded()
        if card.home and not same_home(card.home, home_name(self._library)):
            raise UserError(
                "This was proposed for another Zotero library than the one in use.",
                "Nothing was written. Open that library again, or ask anew.",
            )

    async def _undo(self, call_id: str, stop: threading.Event, told_in: SessionId | None) -> Outcome:
        async with self._locks[call_id]:
            stored = await self._stored(call_id)
            done = done_of(stored)
            entry = stored.last("written")
            if done is None or entry is None or not changed(done):
                self._tell(stored)
                return Outcome(False, "There is nothing to take back.")
            try:
                change = change_from_json(entry.content.get("change") or {})
            except ValueError:
                return Outcome(False, "What was written is not known well enough to take it back.")
            await self._enter(stored, "undo")
            with self._working(stored):
                undone, reason, sure = await attempted((await self._ways()).undo(change, done, stop))
            if undone is None:
                return await self._failed(stored, reason if sure else f"{reason} {MAY_BE_BACK}", "kept")
            gone = GONE if undone.gone else ""
            await self._enter(stored, "undone", {**done_to_json(undone), "reason": gone})
            words = gone or ("Taken back. The note is in Zotero's trash." if done.digest else "Taken back.")
            self._tell(stored, news_of(done, change, f"{words} The person undid it."), told_in)
            return Outcome(True, words)

    async def _unknown(self, stored: StoredProposal, reason: str) -> Outcome:
        await self._enter(stored, "unknown", {"reason": f"{reason} {MAY_BE_THERE}"})
        self._tell(stored)
        return Outcome(False, reason, unknown=True)

    async def _failed(self, stored: StoredProposal, reason: str, kind: EntryKind = "failed") -> Outcome:
        await self._enter(stored, kind, {"reason": reason})
        self._tell(stored)
        return Outcome(False, reason)

    def _working(self, stored: StoredProposal) -> _Busy:
        return _Busy(self._busy, stored.call_id, lambda: self._tell(stored))

    async def _stored(self, call_id: str) -> StoredProposal:
        found = await self._store.run(Store.proposal, call_id)
        if found is None:
            raise UserError("This proposal is not there any more.", "Ask for it again.")
        return found

    async def _enter(self, stored: StoredProposal, kind: EntryKind, content: Any = None) -> None:
        session = stored.entries[0].session_id if stored.entries else None
        try:
            await self._store.run(Store.journal_entry, stored.call_id, session, kind, content)
        except StoreUnavailable:
            if kind in ("accepted", "edited", "sending", "undo"):
                raise  # nothing is written that was not recorded first
            log.warning("the journal could not record %s", kind)

    def _tell(
        self, stored: StoredProposal, news: ResourcePart | None = None, told_in: SessionId | None = None
    ) -> None:
        session = told_in or (stored.entries[0].session_id if stored.entries else None)
        for listener in tuple(self._listeners):
            listener(Settled(stored.call_id, stored.message_id, session, news))


class _Busy:
    """Marks a proposal as being worked on, and says so at both ends."""

    def __init__(self, busy: set[str], call_id: str, tell: Callable[[], None]) -> None:
        self._busy, self._call_id, self._tell = busy, call_id, tell

    def __enter__(self) -> None:
        self._busy.add(self._call_id)
        self._tell()

    def __exit__(self, *raised: object) -> None:
        self._busy.discard(self._call_id)
