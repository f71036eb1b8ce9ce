"""What is asked of and sent to one of Zotero's interfaces about a library: whose it is, versions, permission.

`writer` decides what is written. Everything here blocks, inside a `translated` block.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, Protocol

from pyzotero import Zotero
from pyzotero.errors import PreConditionFailedError, ResourceNotFoundError, ServerIDMismatchError

from bibgenie_desktop.domain.numbers import whole_number
from bibgenie_desktop.zotero.online.attempts import Attempt
from bibgenie_desktop.zotero.online.changes import Change, Done, RouteName
from bibgenie_desktop.zotero.online.errors import ZoteroConflict, ZoteroMissing, ZoteroOtherDatabase

ATTEMPTS: Final = 3
_NOBODY: Final = re.compile(r"users%2F0%2Fitems%2F")


class Sender(Protocol):
    """Sends a write with the permission it needs, which may mean asking the person first."""

    def __call__(self, client: Zotero, write: Callable[[], Any]) -> Any: ...


class Exchange:
    """`user_id` is 0 where no account is known; another one than that is never written to.

    `record` keeps each write before it is sent.
    """

    def __init__(
        self,
        client: Zotero,
        route: RouteName,
        send: Sender,
        user_id: int,
        record: Callable[[Attempt], None],
    ) -> None:
        self._client = client
        self._route: RouteName = route
        self._send = send
        self._user_id = user_id
        self._record = record

    def item(self, key: str) -> dict[str, Any] | None:
        try:
            found = self._client.item(key)
        except ResourceNotFoundError:
            return None
        if isinstance(found, list):
            found = found[0] if found else None
        if not isinstance(found, dict) or not isinstance(found.get("data"), dict):
            return None
        self.see(found)
        return found

    def see(self, found: Mapping[str, Any]) -> None:
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

    def require(self, found: dict[str, Any] | None, what: str) -> dict[str, Any]:
        if found is None:
            raise ZoteroMissing(
                f"{'Zotero' if self._route == 'local' else 'zotero.org'} does not have this {what}.",
                "It may have been deleted, not been synced yet, or belong to another profile.",
            )
        if found["data"].get("deleted"):
            raise ZoteroConflict(f"This {what} is in Zotero's trash.", "Nothing was written.")
        return found

    def require_collection(self, key: str) -> None:
        try:
            found = self._client.collection(key)
        except ResourceNotFoundError:
            found = None
        if isinstance(found, dict):
            self.see(found)
        self.require(found if isinstance(found, dict) else None, "collection")

    def attempt(self, change: Change, **more: Any) -> Attempt:
        return Attempt(change, self._route, self._client.server_id or "", self._user_id, **more)

    def sent(self, attempt: Attempt, write: Callable[[], Any]) -> Any:
        def recorded() -> Any:
            self._record(replace(attempt, server_id=self._client.server_id or ""))
            return write()

        return self._send(self._client, recorded)

    def update(
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
                self.sent(doing, write)
            else:
                self._send(self._client, write)
        except ServerIDMismatchError:
            raise
        except PreConditionFailedError:
            if attempt + 1 >= ATTEMPTS:
                raise
            return False
        return True

    def version(self) -> int:
        request = self._client.request
        said = request.headers.get("Last-Modified-Version", "") if request is not None else ""
        return whole_number(said) or 0

    def done(self, library: str, key: str, version: int, **more: Any) -> Done:
        return Done(
            self._route, library, key, version, self._client.server_id or "", user_id=self._user_id, **more
        )

    def addressed(self, html: str) -> str:
        """Addresses of works carry the account's number, which only Zotero knows."""
        return _NOBODY.sub(f"users%2F{self._user_id}%2Fitems%2F", html) if self._user_id else html
