"""Writing one change through one of Zotero's interfaces, and taking it back. Everything here blocks.

An item is read, changed and written under the version that was read; where somebody was faster it is read
again, and written only if the change still means something. What was sent and not answered can be looked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from pyzotero import Zotero
from pyzotero.errors import PreConditionFailedError, ResourceNotFoundError, ServerIDMismatchError

from bibgenie_desktop.domain.numbers import whole_number
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
    ZoteroMissing,
    ZoteroOtherDatabase,
    ZoteroRefused,
    ZoteroUnclear,
)

ATTEMPTS: Final = 3
_NOBODY: Final = re.compile(r"users%2F0%2Fitems%2F")


class Sender(Protocol):
    """Sends a write with the permission it needs, which may mean asking the person first."""

    def __call__(self, client: Zotero, write: Callable[[], Any]) -> Any: ...


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
        self._send = send
        self._user_id = user_id
        self._record = record

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
            if self._item(done.key) is None:
                return replace(done, gone=True)
            if isinstance(change, NoteChange):
                return self._trash(done)
            return self._revise(change, done.removed, done.added, done.automatic)

    # -- notes

    def _create(self, change: NoteChange) -> Done:
        if change.parent:
            self._require(self._item(change.parent), "item")
        elif change.collection:
            self._require_collection(change.collection)
        else:
            for found in self._client.top(limit=1):
                self._see(found)
        html = self._addressed(change.html)
        digest = digest_of(html)
        attempt = self._attempt(
            change, digest=digest, twins=tuple(str(n["key"]) for n in self._same(change, digest))
        )
        note: dict[str, Any] = {"itemType": "note", "note": html, "tags": [], "relations": {}}
        if change.parent:
            note["parentItem"] = change.parent
        elif change.collection:
            note["collections"] = [change.collection]
        keyed = {**note, "key": change.key, "version": 0} if change.key else note
        answer = self._sent(attempt, lambda: self._client.create_items([keyed]))
        failure = _failure(answer)
        if failure == 412 and change.key and (found := self._item(change.key)) is not None:
            if digest_of(str(found["data"].get("note") or "")) != digest:
                raise _taken()
            return self._already(change, found, digest)
        if failure == 400 and change.key:
            # An interface that wants to choose the key itself.
            answer = self._sent(attempt, lambda: self._client.create_items([note]))
            failure = _failure(answer)
        if failure is not None:
            raise _refused(failure)
        made = answer["successful"]["0"]
        return self._done(change.library, str(made["key"]), int(made["version"]), digest=digest)

    def _settled_note(self, attempt: Attempt, change: NoteChange, others: Container[str]) -> Done | None:
        """Under its own key; else the same words among its siblings, where an interface chose the key."""
        found = self._item(change.key) if change.key else None
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
        return self._done(
            change.library,
            str(found["key"]),
            int(found["version"]),
            digest=digest,
            already=True,
            trashed=bool(found["data"].get("deleted")),
        )

    def _trash(self, done: Done) -> Done:
        for attempt in range(ATTEMPTS):
            found = self._item(done.key)
            if found is None:
                return replace(done, gone=True)
            if found["data"].get("deleted"):
                return self._done(done.library, done.key, int(found["version"]), already=True)
            if done.digest and digest_of(str(found["data"].get("note") or "")) != done.digest:
                raise ZoteroConflict(
                    "The note was changed in Zotero since.", "Move it to the trash there if you want it gone."
                )
            if self._update(found, {"deleted": 1}, attempt):
                return self._done(done.library, done.key, self._version())
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
                self._require_collection(collection)
        for attempt in range(ATTEMPTS):
            found = self._require(self._item(change.item), "item")
            lists = _revised(found, tags, add, remove)
            if lists.before == lists.after:
                return self._done(change.library, change.item, int(found["version"]), already=True)
            own = lists.automatic | set(automatic)
            value: list[Any] = (
                [{"tag": t, "type": 1} if t in own else {"tag": t} for t in lists.after]
                if tags
                else list(lists.after)
            )
            doing = self._attempt(
                change,
                added=lists.added,
                removed=lists.removed,
                automatic=tuple(t for t in lists.removed if t in lists.automatic),
            )
            if self._update(found, {"tags" if tags else "collections": value}, attempt, doing):
                return self._done(
                    change.library,
                    change.item,
                    self._version(),
                    added=doing.added,
                    removed=doing.removed,
                    automatic=doing.automatic,
                )
        raise _overtaken()

    def _settled_lists(self, attempt: Attempt, change: TagsChange | CollectionChange) -> Done | None:
        """What the item did not have before and has now came with this write."""
        found = self._item(change.item)
        if found is None:
            return None  # gone, with whatever was changed on it
        has = _revised(found, isinstance(change, TagsChange), (), ()).before
        added = tuple(v for v in attempt.added if v in has)
        removed = tuple(v for v in attempt.removed if v not in has)
        if not added and not removed:
            return None
        automatic = tuple(v for v in attempt.automatic if v in removed)
        version = int(found["version"])
        return self._done(
            change.library, change.item, version, added=added, removed=removed, automatic=automatic
        )

    # -- requests

    def _item(self, key: str) -> dict[str, Any] | None:
        try:
            found = self._client.item(key)
        except ResourceNotFoundError:
            return None
        if isinstance(found, list):
            found = found[0] if found else None
        if not isinstance(found, dict) or not isinstance(found.get("data"), dict):
            return None
        self._see(found)
        return found

    def _see(self, found: Mapping[str, Any]) -> None:
        """Whose library answers: an account that is not the one meant ends it."""
        library = found.get("library")
        if not isinstance(library, dict) or library.get("type") != "user":
            return
        user_id = library.get("id")
        if not isinstance(user_id, int) or not user_id:
            return
        if self._user_id and user_id != self._user_id:
            raise ZoteroOtherDatabase(
                "The Zotero that answers belongs to another account than this library.",
                "Nothing was written. Start the Zotero of this library.",
            )
        self._user_id = user_id

    def _require(self, found: dict[str, Any] | None, what: str) -> dict[str, Any]:
        if found is None:
            raise ZoteroMissing(
                f"{'Zotero' if self._route == 'local' else 'zotero.org'} does not have this {what}.",
                "It may have been deleted, not been synced yet, or belong to another profile.",
            )
        if found["data"].get("deleted"):
            raise ZoteroConflict(f"This {what} is in Zotero's trash.", "Nothing was written.")
        return found

    def _require_collection(self, key: str) -> None:
        try:
            found = self._client.collection(key)
        except ResourceNotFoundError:
            found = None
        if isinstance(found, dict):
            self._see(found)
        self._require(found if isinstance(found, dict) else None, "collection")

    def _attempt(self, change: Change, **more: Any) -> Attempt:
        return Attempt(change, self._route, self._client.server_id or "", self._user_id, **more)

    def _sent(self, attempt: Attempt, write: Callable[[], Any]) -> Any:
        def recorded() -> Any:
            self._record(replace(attempt, server_id=self._client.server_id or ""))
            return write()

        return self._send(self._client, recorded)

    def _update(
        self,
        found: Mapping[str, Any],
        values: Mapping[str, Any],
        attempt: int,
        doing: Attempt | None = None,
    ) -> bool:
        """False where somebody was faster and it is worth another look."""
        payload = {"key": found["key"], "version": found["version"], **values}

        def write() -> Any:
            return self._client.update_item(payload)

        try:
            if doing is not None:
                self._sent(doing, write)
            else:
                self._send(self._client, write)
        except ServerIDMismatchError:
            raise
        except PreConditionFailedError:
            if attempt + 1 >= ATTEMPTS:
                raise
            return False
        return True

    def _version(self) -> int:
        request = self._client.request
        said = request.headers.get("Last-Modified-Version", "") if request is not None else ""
        return whole_number(said) or 0

    def _done(self, library: str, key: str, version: int, **more: Any) -> Done:
        return Done(
            self._route, library, key, version, self._client.server_id or "", user_id=self._user_id, **more
        )

    def _addressed(self, html: str) -> str:
        """Addresses of works carry the account's number, which only Zotero knows."""
        return _NOBODY.sub(f"users%2F{self._user_id}%2Fitems%2F", html) if self._user_id else html


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
