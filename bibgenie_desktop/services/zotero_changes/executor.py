"""Accepted changes: each is written once, with what was said and what came of it in the journal.

A write that has begun goes on when nobody waits for it any more. What was accepted and has no result, because
the application ended in between, is looked for in Zotero before it is written again.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from bibgenie_desktop.domain.errors import Cancelled, StoreUnavailable, UserError
from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.locators import Locator
from bibgenie_desktop.domain.parts import ResourcePart
from bibgenie_desktop.services.tools.arguments import BadArguments
from bibgenie_desktop.services.tools.base import Card, Decision, card_from_json
from bibgenie_desktop.services.zotero_changes.building import ChangeBuilder
from bibgenie_desktop.storage.journal import EntryKind, StoredProposal
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.worker import StoreWorker
from bibgenie_desktop.zotero.online.changes import (
    Change,
    Done,
    Home,
    NoteChange,
    change_from_json,
    change_to_json,
    digest_of,
    done_from_json,
    done_to_json,
    home_of,
    with_key,
)
from bibgenie_desktop.zotero.service import ZoteroLibrary

log = logging.getLogger(__name__)

CLOSING_S: Final = 5.0
"""How long quitting waits for what is being written."""
NO_LIBRARY: Final = "No Zotero library is in use."
STOPPED: Final = "It was stopped before anything was sent to Zotero."


class Writing(Protocol):
    """What is used of the ways into Zotero."""

    async def refusal(self, library: str, home: Home) -> str: ...

    async def apply(self, change: Change, stop: threading.Event, *, again: bool, home: Home) -> Done: ...

    async def undo(self, change: Change, done: Done, stop: threading.Event) -> Done: ...


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal as it stands. `link` opens in Zotero what was written; `words` say what came of it."""

    call_id: str
    message_id: MessageId
    card: Card
    state: EntryKind
    words: str = ""
    link: str = ""
    busy: bool = False
    """It is being written, or taken back, just now."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an accepted change. `words` are for the person and the model."""

    written: bool
    words: str
    content: str = ""
    """What was written, where the person had edited it."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A proposal stands otherwise now. `news` is for the next message, where the turn has ended before."""

    call_id: str
    message_id: MessageId
    session_id: SessionId | None
    news: ResourcePart | None = None


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
        return tuple(self._shown(p) for p in found)

    # -- what the person says

    async def accept(self, call_id: str, decision: Decision, *, told_in: SessionId | None = None) -> Outcome:
        """Writes what was accepted or edited, once. `told_in`: its turn has ended, this session tells of it.

        Cancelling the wait ends what was not sent yet; what was sent is recorded and told later.
        """
        stop = threading.Event()
        task = asyncio.ensure_future(self._accept(call_id, decision, stop, told_in))
        return await self._followed(task, stop, call_id)

    async def decline(self, call_id: str) -> None:
        """A word on a proposal that was not answered in its turn."""
        stored = await self._stored(call_id)
        if stored.newest in ("proposed", "failed", "accepted", "edited"):
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
            standing = _written(stored)
            if standing is not None:
                return Outcome(True, _said(standing))
            card = card_from_json(stored.content)
            content = decision.content if decision.kind == "edited" else card.edited or card.content
            if decision.kind == "edited" and content != card.edited:
                card = replace(card, edited=content)
                await self._store.run(Store.revise_proposal, call_id, card.to_json())
            before = stored.last("accepted", "edited")
            try:
                change = self._prepared(card, content, before.content if before is not None else {})
            except BadArguments as error:
                return await self._failed(stored, str(error))
            facts = (
                {"key": change.key, "digest": digest_of(change.html)}
                if isinstance(change, NoteChange)
                else {}
            )
            kind: EntryKind = "edited" if content != card.content else "accepted"
            await self._enter(stored, kind, facts)
            again = before is not None and bool(facts) and before.content.get("key") == facts["key"]
            with self._working(stored):
                done, reason = await _attempt(self._apply(change, stop, again))
            if done is None:
                return await self._failed(stored, reason)
            await self._enter(stored, "written", {**done_to_json(done), "change": _wordless(change)})
            edited = content if kind == "edited" else ""
            words = _said(done)
            late = told_in is not None or stop.is_set()
            self._tell(stored, _news(done, change, words, edited) if late else None, told_in)
            return Outcome(True, words, edited)

    async def _apply(self, change: Change, stop: threading.Event, again: bool) -> Done:
        if self._library is not None and (reason := self._forbidden(self._library)):
            raise UserError(reason)
        return await (await self._ways()).apply(change, stop, again=again, home=self._home())

    def _prepared(self, card: Card, content: str, before: Any) -> Change:
        change = self.builder.change(card.kind, card.target_id, content)
        same = isinstance(change, NoteChange) and before.get("digest") == digest_of(change.html)
        return with_key(change, str(before.get("key") or "") if same else "")

    async def _undo(self, call_id: str, stop: threading.Event, told_in: SessionId | None) -> Outcome:
        async with self._locks[call_id]:
            stored = await self._stored(call_id)
            done = _written(stored)
            entry = stored.last("written")
            if done is None or entry is None:
                return Outcome(False, "There is nothing to take back.")
            try:
                change = change_from_json(entry.content.get("change") or {})
            except ValueError:
                return Outcome(False, "What was written is not known well enough to take it back.")
            await self._enter(stored, "undo")
            with self._working(stored):
                undone, reason = await _attempt((await self._ways()).undo(change, done, stop))
            if undone is None:
                return await self._failed(stored, reason, "kept")
            await self._enter(stored, "undone", done_to_json(undone))
            words = "Taken back. The note is in Zotero's trash." if done.digest else "Taken back."
            self._tell(stored, _news(done, change, f"{words} The person undid it.", ""), told_in)
            return Outcome(True, words)

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
            if kind in ("accepted", "edited", "undo"):
                raise  # nothing is written that was not recorded first
            log.warning("the journal could not record %s", kind)

    def _tell(
        self, stored: StoredProposal, news: ResourcePart | None = None, told_in: SessionId | None = None
    ) -> None:
        session = told_in or (stored.entries[0].session_id if stored.entries else None)
        for listener in tuple(self._listeners):
            listener(Settled(stored.call_id, stored.message_id, session, news))

    def _shown(self, stored: StoredProposal) -> Proposal:
        done, state = _written(stored), stored.newest
        if done is not None and state in ("accepted", "edited", "failed"):
            state = "written"
        reason = stored.last("failed", "kept") if state in ("failed", "kept") else None
        words = str(reason.content.get("reason") or "") if reason is not None else ""
        return Proposal(
            stored.call_id,
            stored.message_id,
            card_from_json(stored.content),
            state,
            words or (_said(done) if done is not None else ""),
            _link(done) if done is not None else "",
            stored.call_id in self._busy,
        )


class _Busy:
    """Marks a proposal as being worked on, and says so at both ends."""

    def __init__(self, busy: set[str], call_id: str, tell: Callable[[], None]) -> None:
        self._busy, self._call_id, self._tell = busy, call_id, tell

    def __enter__(self) -> None:
        self._busy.add(self._call_id)
        self._tell()

    def __exit__(self, *raised: object) -> None:
        self._busy.discard(self._call_id)


async def _attempt(work: Awaitable[Done]) -> tuple[Done | None, str]:
    """What was done, or why nothing was."""
    try:
        return await work, ""
    except Cancelled:
        return None, STOPPED
    except UserError as error:
        return None, error.text


def _written(stored: StoredProposal) -> Done | None:
    """What stands in Zotero of a proposal; None where nothing does."""
    newest = stored.last("written", "undone")
    if newest is None or newest.kind == "undone":
        return None
    try:
        return done_from_json({k: v for k, v in newest.content.items() if k != "change"})
    except ValueError:
        return None


def _said(done: Done) -> str:
    way = "Zotero" if done.route == "local" else "zotero.org"
    if done.digest:
        return f"Written to {way} as note {done.id}."
    if not done.added and not done.removed:
        return f"{way} has it so already; nothing had to be changed on {done.id}."
    counts = [f"{len(v)} {sign}" for v, sign in ((done.added, "added"), (done.removed, "removed")) if v]
    return f"Written to {way}: {', '.join(counts)} on {done.id}."


def _link(done: Done) -> str:
    where = "library" if done.library == "u" else f"groups/{done.library.removeprefix('g')}"
    return f"zotero://select/{where}/items/{done.key}"


def _wordless(change: Change) -> dict[str, Any]:
    """A change for the journal, without the words of a note."""
    data = change_to_json(change)
    return {**data, "markdown": "", "html": ""} if isinstance(change, NoteChange) else data


def _news(done: Done, change: Change, words: str, edited: str) -> ResourcePart:
    """What the next message tells the model of a proposal that was answered after its turn."""
    kind = "note" if isinstance(change, NoteChange) else "item"
    title = {"note": "Saved note", "tags": "Changed tags", "collection": "Changed collections"}[change.kind]
    sent = f"About the proposal made earlier: the person accepted it. {words}"
    if edited:
        sent += f"\nThey had edited it to:\n{edited}"
    return ResourcePart(
        Locator(done.library, "note" if kind == "note" else "item", item=done.key), title, sent
    )
