"""Writing one change through one of Zotero's interfaces, and taking it back. Everything here blocks.

An item is read, changed and written under the version that was read; where somebody was faster it is read
again, and written only if the change still means something. The same change twice is done once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from pyzotero import Zotero
from pyzotero.errors import PreConditionFailedError, ResourceNotFoundError, ServerIDMismatchError

from bibgenie_desktop.domain.numbers import whole_number
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
    ZoteroKeyRefused,
    ZoteroMissing,
    ZoteroOtherDatabase,
    ZoteroRefused,
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

    Another account than that is never written to.
    """

    def __init__(self, client: Zotero, route: RouteName, send: Sender, user_id: int = 0) -> None:
        self._client = client
        self._route: RouteName = route
        self._send = send
        self._user_id = user_id

    def apply(self, change: Change, *, again: bool = False) -> Done:
        """Writes. `again`: an earlier attempt may have arrived, so what is there is looked at first.

        Raises `ZoteroError`; then nothing was written, or (`ZoteroUnreachable`) it is not known.
        """
        with translated(self._route):
            if isinstance(change, NoteChange):
                return self._create(change, again)
            return self._revise(change.library, change.item, change, change.add, change.remove)

    def undo(self, change: Change, done: Done) -> Done:
        """Takes back what was done: a note goes to the trash, tags and membership become what they were.

        Raises `ZoteroConflict` where the note was changed since.
        """
        with translated(self._route):
            if isinstance(change, NoteChange):
                return self._trash(change, done)
            return self._revise(done.library, done.key, change, done.removed, done.added, done.automatic)

    # -- notes

    def _create(self, change: NoteChange, again: bool) -> Done:
        if again and (found := self._item(change.key) or self._same(change)) is not None:
            return self._already(change, found)
        if change.parent:
            self._require(self._item(change.parent), "item")
        elif change.collection:
            self._require_collection(change.collection)
        else:
            for found in self._client.top(limit=1):
                self._see(found)
        html = self._addressed(change.html)
        note: dict[str, Any] = {"itemType": "note", "note": html, "tags": [], "relations": {}}
        if change.parent:
            note["parentItem"] = change.parent
        elif change.collection:
            note["collections"] = [change.collection]
        keyed = {**note, "key": change.key, "version": 0} if change.key else note
        answer = self._send(self._client, lambda: self._client.create_items([keyed]))
        failure = _failure(answer)
        if failure is not None and change.key and failure[0] == 412:
            found = self._item(change.key)
            if found is not None:
                return self._already(change, found)
        if failure is not None and change.key and failure[0] == 400:
            # An interface that wants to choose the key itself.
            answer = self._send(self._client, lambda: self._client.create_items([note]))
            failure = _failure(answer)
        if failure is not None:
            raise _refused(*failure)
        made = answer["successful"]["0"]
        return self._done(change.library, str(made["key"]), int(made["version"]), digest=digest_of(html))

    def _same(self, change: NoteChange) -> dict[str, Any] | None:
        """The same note under another key, among its siblings or the newest notes."""
        newest = {"sort": "dateAdded", "direction": "desc", "limit": 50}
        if change.parent:
            found = self._client.children(change.parent, itemType="note", **newest)
        else:
            found = self._client.top(itemType="note", **newest)
        wanted = digest_of(change.html)
        return next((n for n in found if digest_of(str(n["data"].get("note") or "")) == wanted), None)

    def _already(self, change: NoteChange, found: Mapping[str, Any]) -> Done:
        """A note with our key is ours, as long as it says what we said."""
        text = str(found["data"].get("note") or "")
        if found["data"].get("itemType") != "note" or digest_of(text) != digest_of(change.html):
            raise ZoteroConflict("Zotero has something else under the key of this note.", "Propose it again.")
        return self._done(
            change.library, str(found["key"]), int(found["version"]), digest=digest_of(text), already=True
        )

    def _trash(self, change: NoteChange, done: Done) -> Done:
        for attempt in range(ATTEMPTS):
            found = self._item(done.key)
            if found is None:
                raise ZoteroMissing("The note is not in Zotero any more.", "There is nothing to take back.")
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
        library: str,
        key: str,
        change: Change,
        add: tuple[str, ...],
        remove: tuple[str, ...],
        automatic: tuple[str, ...] = (),
    ) -> Done:
        tags = isinstance(change, TagsChange)
        if isinstance(change, CollectionChange):
            for collection in add:
                self._require_collection(collection)
        for attempt in range(ATTEMPTS):
            found = self._require(self._item(key), "item")
            lists = _revised(found, tags, add, remove)
            if lists.before == lists.after:
                return self._done(library, key, int(found["version"]), already=True)
            own = lists.automatic | set(automatic)
            value: list[Any] = (
                [{"tag": t, "type": 1} if t in own else {"tag": t} for t in lists.after]
                if tags
                else list(lists.after)
            )
            if self._update(found, {"tags" if tags else "collections": value}, attempt):
                return self._done(
                    library,
                    key,
                    self._version(),
                    added=lists.added,
                    removed=lists.removed,
                    automatic=tuple(t for t in lists.removed if t in lists.automatic),
                )
        raise _overtaken()

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

    def _update(self, found: Mapping[str, Any], values: Mapping[str, Any], attempt: int) -> bool:
        """False where somebody was faster and it is worth another look."""
        payload = {"key": found["key"], "version": found["version"], **values}
        try:
            self._send(self._client, lambda: self._client.update_item(payload))
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
        return Done(self._route, library, key, version, self._client.server_id or "", **more)

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


def _failure(answer: Any) -> tuple[int, str] | None:
    """Code and words of what the answer says has failed, though it is an answer of success."""
    failed = answer["failed"]
    if not failed:
        return None
    entry = next(iter(failed.values()))
    return int(entry.get("code") or 0), str(entry.get("message") or "")


def _refused(code: int, message: str) -> Exception:
    if code == 412:
        return _overtaken()
    if code in (401, 403):
        return ZoteroKeyRefused("Zotero does not allow this change.", "The library may be read-only for you.")
    if code == 413:
        return ZoteroRefused("The note is too long for Zotero.", "Shorten it and try again.")
    return ZoteroRefused(f"Zotero did not take it (error {code}).", message[:200] or "Nothing was written.")


def _overtaken() -> ZoteroConflict:
    return ZoteroConflict(
        "It is being changed in Zotero by something else.", "Nothing was written. Try again in a moment."
    )
