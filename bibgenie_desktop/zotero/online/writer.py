"""Writing one change through one of Zotero's interfaces, and taking it back. Everything here blocks.

An item is read, changed and written under the version that was read; where somebody was faster it is read
again, and written only if the change still means something. What was sent and not answered can be looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyzotero import Zotero

from bibgenie_desktop.zotero.online.attempts import Attempt
from bibgenie_desktop.zotero.online.changes import (
    Change,
    CollectionChange,
    Done,
    NoteChange,
    RouteName,
    TagsChange,
    digest_of,
)
from bibgenie_desktop.zotero.online.client import translated
from bibgenie_desktop.zotero.online.errors import (
    ZoteroConflict,
    ZoteroError,
    ZoteroKeyRefused,
    ZoteroRefused,
    ZoteroUnclear,
)
from bibgenie_desktop.zotero.online.exchange import ATTEMPTS, Exchange, Sender


@dataclass(frozen=True, slots=True)
class _Lists:
    """What an item has of something, before and after."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    automatic: frozenset[str] = frozenset()

    @property
    def added(self) -> tuple[str, ...]:
        return tuple(v for v in self.after if v not in self.before)

    @property
    def removed(self) -> tuple[str, ...]:
        return tuple(v for v in self.before if v not in self.after)


class Writer:
    """`client` is for the library of the changes it gets; `user_id` is 0 where no account is known.

    Another account than that is never written to. `record` keeps each write before it is sent.
    """

    def __init__(
        self,
        client: Zotero,
        route: RouteName,
        send: Sender,
        user_id: int = 0,
        record: Callable[[Attempt], None] = lambda _: None,
    ) -> None:
        self._client = client
        self._route: RouteName = route
        self._exchange = Exchange(client, route, send, user_id, record)

    def apply(self, change: Change) -> Done:
        """Writes. Raises `ZoteroError`; where it is not `sure`, what was recorded may have been written.

        An earlier attempt that may have arrived is looked for with `settle` before.
        """
        with translated(self._route):
            if isinstance(change, NoteChange):
                return self._create(change)
            return self._revise(change, change.add, change.remove)

    def settle(self, attempt: Attempt, others: Container[str]) -> Done | None:
        """What came of an earlier write: what it did, None where it did not arrive.

        `others` are keys of notes that other proposals have written. Raises `ZoteroError` where nobody can
        tell.
        """
        with translated(self._route):
            if isinstance(attempt.change, NoteChange):
                return self._settled_note(attempt, attempt.change, others)
            return self._settled_lists(attempt, attempt.change)

    def undo(self, change: Change, done: Done) -> Done:
        """Takes back what was done: a note goes to the trash, tags and membership become what they were.

        Raises `ZoteroConflict` where the note was changed since.
        """
        with translated(self._route):
            if self._exchange.item(done.key) is None:
                return replace(done, gone=True)
            if isinstance(change, NoteChange):
                return self._trash(done)
            return self._revise(change, done.removed, done.added, done.automatic)

    # -- notes

    def _create(self, change: NoteChange) -> Done:
        if change.parent:
            self._exchange.require(self._exchange.item(change.parent), "item")
        elif change.collection:
            self._exchange.require_collection(change.collection)
        else:
            for found in self._client.top(limit=1):
                self._exchange.see(found)
        html = self._exchange.addressed(change.html)
        digest = digest_of(html)
        attempt = self._exchange.attempt(
            change, digest=digest, twins=tuple(str(n["key"]) for n in self._same(change, digest))
        )
        note: dict[str, Any] = {"itemType": "note", "note": html, "tags": [], "relations": {}}
        if change.parent:
            note["parentItem"] = change.parent
        elif change.collection:
            note["collections"] = [change.collection]
        keyed = {**note, "key": change.key, "version": 0} if change.key else note
        answer = self._exchange.sent(attempt, lambda: self._client.create_items([keyed]))
        failure = _failure(answer)
        if failure == 412 and change.key and (found := self._exchange.item(change.key)) is not None:
            if digest_of(str(found["data"].get("note") or "")) != digest:
                raise _taken()
            return self._already(change, found, digest)
        if failure == 400 and change.key:
            # An interface that wants to choose the key itself.
            answer = self._exchange.sent(attempt, lambda: self._client.create_items([note]))
            failure = _failure(answer)
        if failure is not None:
            raise _refused(failure)
        made = answer["successful"]["0"]
        return self._exchange.done(change.library, str(made["key"]), int(made["version"]), digest=digest)

    def _settled_note(self, attempt: Attempt, change: NoteChange, others: Container[str]) -> Done | None:
        """Under its own key; else the same words among its siblings, where an interface chose the key."""
        found = self._exchange.item(change.key) if change.key else None
        if found is not None:
            return self._already(change, found, attempt.digest)
        for twin in self._same(change, attempt.digest):
            if twin["key"] not in attempt.twins and twin["key"] not in others:
                return self._already(change, twin, attempt.digest)
        return None

    def _same(self, change: NoteChange, digest: str) -> list[dict[str, Any]]:
        """Notes with these words, among its siblings or the newest notes."""
        newest = {"sort": "dateAdded", "direction": "desc", "limit": 50}
        if change.parent:
            found = self._client.children(change.parent, itemType="note", **newest)
        else:
            found = self._client.top(itemType="note", **newest)
        return [n for n in found if digest_of(str(n["data"].get("note") or "")) == digest]

    def _already(self, change: NoteChange, found: Mapping[str, Any], digest: str) -> Done:
        """A note with our key is ours; `digest` are the words that we gave it."""
        if found["data"].get("itemType") != "note":
            raise _taken()
        return self._exchange.done(
            change.library,
            str(found["key"]),
            int(found["version"]),
            digest=digest,
            already=True,
            trashed=bool(found["data"].get("deleted")),
        )

    def _trash(self, done: Done) -> Done:
        for attempt in range(ATTEMPTS):
            found = self._exchange.item(done.key)
            if found is None:
                return replace(done, gone=True)
            if found["data"].get("deleted"):
                return self._exchange.done(done.library, done.key, int(found["version"]), already=True)
            if done.digest and digest_of(str(found["data"].get("note") or "")) != done.digest:
                raise ZoteroConflict(
                    "The note was changed in Zotero since.", "Move it to the trash there if you want it gone."
                )
            if self._exchange.update(found, {"deleted": 1}, attempt):
                return self._exchange.done(done.library, done.key, self._exchange.version())
        raise _overtaken()

    # -- tags and collections

    def _revise(
        self,
        change: TagsChange | CollectionChange,
        add: tuple[str, ...],
        remove: tuple[str, ...],
        automatic: tuple[str, ...] = (),
    ) -> Done:
        tags = isinstance(change, TagsChange)
        if not tags:
            for collection in add:
                self._exchange.require_collection(collection)
        for attempt in range(ATTEMPTS):
            found = self._exchange.require(self._exchange.item(change.item), "item")
            lists = _revised(found, tags, add, remove)
            if lists.before == lists.after:
                return self._exchange.done(change.library, change.item, int(found["version"]), already=True)
            own = lists.automatic | set(automatic)
            value: list[Any] = (
                [{"tag": t, "type": 1} if t in own else {"tag": t} for t in lists.after]
                if tags
                else list(lists.after)
            )
            doing = self._exchange.attempt(
                change,
                added=lists.added,
                removed=lists.removed,
                automatic=tuple(t for t in lists.removed if t in lists.automatic),
            )
            if self._exchange.update(found, {"tags" if tags else "collections": value}, attempt, doing):
                return self._exchange.done(
                    change.library,
                    change.item,
                    self._exchange.version(),
                    added=doing.added,
                    removed=doing.removed,
                    automatic=doing.automatic,
                )
        raise _overtaken()

    def _settled_lists(self, attempt: Attempt, change: TagsChange | CollectionChange) -> Done | None:
        """What the item did not have before and has now came with this write."""
        found = self._exchange.item(change.item)
        if found is None:
            return None  # gone, with whatever was changed on it
        has = _revised(found, isinstance(change, TagsChange), (), ()).before
        added = tuple(v for v in attempt.added if v in has)
        removed = tuple(v for v in attempt.removed if v not in has)
        if not added and not removed:
            return None
        automatic = tuple(v for v in attempt.automatic if v in removed)
        version = int(found["version"])
        return self._exchange.done(
            change.library, change.item, version, added=added, removed=removed, automatic=automatic
        )


def _revised(found: Mapping[str, Any], tags: bool, add: tuple[str, ...], remove: tuple[str, ...]) -> _Lists:
    if not tags:
        before = tuple(str(c) for c in found["data"].get("collections") or ())
        automatic: frozenset[str] = frozenset()
    else:
        entries = [t for t in found["data"].get("tags") or () if isinstance(t, dict) and t.get("tag")]
        before = tuple(str(t["tag"]) for t in entries)
        automatic = frozenset(str(t["tag"]) for t in entries if t.get("type") == 1)
    kept = [v for v in before if v not in remove]
    return _Lists(before, (*kept, *(v for v in dict.fromkeys(add) if v not in kept)), automatic)


def _failure(answer: Any) -> int | None:
    """The code of what the answer says has failed, though it is an answer of success.

    The server's words are left out: they may quote the note or the key.
    """
    failed = answer["failed"]
    return int(next(iter(failed.values())).get("code") or 0) if failed else None


def _refused(code: int) -> ZoteroError:
    if code == 412:
        return _overtaken()
    if code in (401, 403):
        return ZoteroKeyRefused("Zotero does not allow this change.", "The library may be read-only for you.")
    if code == 413:
        return ZoteroRefused("The note is too long for Zotero.", "Shorten it and try again.")
    if 400 <= code < 500:
        return ZoteroRefused(f"Zotero did not take it (error {code}).", "Nothing was written.")
    return ZoteroUnclear(f"Zotero could not carry it out (error {code}).", "Try again in a moment.")


def _taken() -> ZoteroConflict:
    return ZoteroConflict("Zotero has something else under the key of this note.", "Propose it again.")


def _overtaken() -> ZoteroConflict:
    return ZoteroConflict(
        "It is being changed in Zotero by something else.", "Nothing was written. Try again in a moment."
    )
