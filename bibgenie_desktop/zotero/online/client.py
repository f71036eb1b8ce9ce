"""pyzotero's clients, ready for use: for zotero.org and for the Zotero that runs on this machine.

`web_client` and `local_client` make one; calls on it stand in a `translated(place)` block, which turns what
pyzotero raises into sentences for a person. A client is for one thread at a time, and every call blocks. Keys
and the text of answers never enter an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from pyzotero import Zotero, errors

from bibgenie_desktop.domain.errors import ProviderError, RateLimited
from bibgenie_desktop.domain.mend import mended_text
from bibgenie_desktop.zotero.online.errors import (
    ZoteroBusy,
    ZoteroConflict,
    ZoteroDenied,
    ZoteroError,
    ZoteroKeyRefused,
    ZoteroMissing,
    ZoteroOff,
    ZoteroOtherDatabase,
    ZoteroRefused,
    ZoteroTooOld,
    ZoteroUnclear,
    ZoteroUnreachable,
)

WEB: Final = "https://api.zotero.org"
LOCAL: Final = "http://127.0.0.1:23119/api"
Place: TypeAlias = Literal["local", "web"]
MakeHttp: TypeAlias = Callable[[], Any]
"""Makes the connections of one client, which closes them: `net.BlockingHttp` with its settings."""

_NO_ID: Final = 10**15
SWITCH: Final = (
    "In Zotero, open Settings, Advanced, and tick “Allow other applications on this computer to communicate "
    "with Zotero”."
)
NEW_KEY: Final = (
    "Check the key on zotero.org under Settings, Security, and enter it again in the settings here."
)
_CODE: Final = re.compile(r"Code: (\d{3})\b")
_CONFLICTS: Final = {
    409: "The library is locked just now.",
    428: "Zotero asks for the version that is to be changed.",
}
_OFF: Final = "Local API is not enabled"


@dataclass(frozen=True, slots=True)
class KeyOwner:
    """Whose key it is and what it may do: read and change the person's own library, change these groups.

    The group 0 stands for all.
    """

    user_id: int
    user_name: str
    reads: bool
    writes: bool
    groups: frozenset[int] = frozenset()

    def may_write(self, library: str) -> bool:
        if library == "u":
            return self.writes
        return 0 in self.groups or int(library[1:]) in self.groups


def web_client(key: str, http: MakeHttp, library: str, user_id: int, *, address: str = WEB) -> Zotero:
    """A client for one library on zotero.org: `u`, the library of the user `user_id`, or `g<groupID>`."""
    number, kind = _place_of(library, user_id)
    with translated("web"):
        made = http()
    client = Zotero(number, kind, key or None, client=made)
    client.endpoint = address.rstrip("/")
    return client


def local_client(
    http: MakeHttp, library: str, *, key: str = "", server_id: str = "", address: str = LOCAL
) -> Zotero:
    """A client for one library of the Zotero on this machine: `u`, or `g<groupID>`.

    `key` is what Zotero's consent dialog granted; `server_id` names the database that versions belong to.
    """
    number, kind = _place_of(library, 0)
    client = Zotero(
        number,
        kind,
        local=True,
        client=http(),
        server_id=server_id or None,
        local_api_key=key or None,
    )
    client.endpoint = address.rstrip("/")
    return client


def key_owner(key: str, http: MakeHttp, *, address: str = WEB) -> KeyOwner:
    """Asks zotero.org whose key this is and what it may do. Raises `ZoteroKeyRefused` for a wrong one."""
    # pyzotero's own call would put the key into the address.
    with closing(web_client(key, http, "u", 0, address=address)) as client, translated("web"):
        assert client.client is not None
        answer = client.client.get(f"{client.endpoint}/keys/current", headers=client.default_headers())
        if answer.status_code in (403, 404):
            raise ZoteroKeyRefused("zotero.org does not know this key.", NEW_KEY)
        if answer.status_code != 200:
            raise ZoteroRefused(
                f"zotero.org answered with the error {answer.status_code}.", "Try again later."
            )
        return _owner(answer.json())


@contextmanager
def closing(client: Zotero) -> Iterator[Zotero]:
    """Ends the client's connections afterwards; else they last until the object happens to go."""
    try:
        yield client
    finally:
        if client.client is not None:
            client.client.close()


@contextmanager
def translated(place: Place) -> Iterator[None]:
    """What pyzotero or its connection raises, as a `ZoteroError`; anything else passes."""
    try:
        yield
    except RateLimited as error:
        raise _busy(place, error.retry_after) from None
    except ProviderError as error:
        raise _unreachable(place, error) from None
    except errors.PyZoteroError as error:
        # Not `from error`: its text holds the address and the whole answer.
        raise _translated(place, error) from None
    except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError):
        # An answer of another form than promised: not JSON, or without what belongs in it.
        raise ZoteroUnclear(
            f"{_name(place)} gave an answer that could not be understood.",
            "Is it an up-to-date Zotero?",
        ) from None


def _place_of(library: str, user_id: int) -> tuple[str, str]:
    return (str(user_id), "user") if library == "u" else (library.removeprefix("g"), "group")


def _owner(data: dict[str, Any]) -> KeyOwner:
    access = data.get("access") or {}
    user = access.get("user") or {}
    groups = access.get("groups") or {}
    writable = {0 if name == "all" else int(name) for name, may in groups.items() if may.get("write")}
    user_id = int(data["userID"])
    if not 0 < user_id < _NO_ID:
        raise ValueError("no number of an account")
    return KeyOwner(
        user_id,
        mended_text(str(data.get("username") or "")),
        bool(user.get("library")),
        bool(user.get("write")),
        frozenset(writable),
    )


def _name(place: Place) -> str:
    return "Zotero" if place == "local" else "zotero.org"


def _busy(place: Place, seconds: float | None) -> ZoteroBusy:
    wait = f"Try again in {seconds:.0f} seconds." if seconds else "Try again in a moment."
    return ZoteroBusy(f"{_name(place)} asks to wait before the next request.", wait, retry_after=seconds)


def _unreachable(place: Place, error: ProviderError) -> ZoteroUnreachable:
    if place == "local":
        return ZoteroUnreachable(
            "Zotero did not answer on this computer.", "Start Zotero, close any dialog in it, and try again."
        )
    return ZoteroUnreachable(error.title, error.advice or "Check the internet connection, then try again.")


def _translated(place: Place, error: errors.PyZoteroError) -> ZoteroError:
    found = _CODE.search(str(error))
    status = int(found[1]) if found else 0
    match error:
        case errors.LocalAPIDeniedError():
            return ZoteroDenied("You did not allow this in Zotero.", "Nothing was written.")
        case errors.LocalAPIKeyRequiredError():
            return ZoteroKeyRefused("Zotero asks for permission first.", "Answer its dialog and try again.")
        case errors.ServerIDMismatchError():
            return ZoteroOtherDatabase(
                "Another Zotero answers than before, or its database was put back.",
                "Nothing was written. Let the library be read again and propose the change once more.",
            )
        case errors.TooManyRequestsError() | errors.TooManyRetriesError():
            return _busy(place, None)
        case errors.UserNotAuthorisedError() if place == "web":
            return ZoteroKeyRefused(f"zotero.org refused the key (error {status}).", NEW_KEY)
        case errors.UserNotAuthorisedError() if _OFF in str(error):
            return ZoteroOff("Zotero does not let other applications in.", SWITCH)
        case errors.UserNotAuthorisedError():
            return ZoteroKeyRefused(
                "Zotero does not allow this change.",
                "The library may be read-only for you; nothing was written.",
            )
        case errors.ResourceNotFoundError():
            return ZoteroMissing(
                f"{_name(place)} does not have this.", "It may have been deleted or not been synced yet."
            )
        case errors.PreConditionFailedError() | errors.ConflictError() | errors.PreConditionRequiredError():
            return ZoteroConflict(
                _CONFLICTS.get(status, "It was changed in Zotero meanwhile."),
                "Nothing was written. Look at it and try again.",
            )
        case errors.RequestEntityTooLargeError():
            return ZoteroRefused("It is too large for Zotero.", "Shorten it and try again.")
        case errors.UnsupportedParamsError() if not status and "Server-ID" in str(error):
            return _too_old()
        case _ if place == "local" and status in (405, 501):
            return _too_old()
    said = f" (error {status})" if status else ""
    if 400 <= status < 500 and status != 408:
        return ZoteroRefused(f"{_name(place)} did not take it{said}.", "Nothing was written.")
    return ZoteroUnclear(f"{_name(place)} could not carry it out{said}.", "Try again in a moment.")


def _too_old() -> ZoteroTooOld:
    return ZoteroTooOld(
        "This version of Zotero cannot be written to by other applications.",
        "Zotero 10 can. Or enter a key of zotero.org in the settings.",
    )
