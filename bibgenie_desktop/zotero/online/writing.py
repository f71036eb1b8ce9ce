"""The ways into a person's Zotero, and the permission each needs: which one is open, asking, keeping the key.

The Zotero on this machine comes first (version 10, other applications let in); it shows a dialog and grants a
key for one change or for good. Else zotero.org with its own key. Keys lie in the keyring and nowhere else.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from pyzotero import Zotero
from pyzotero.errors import LocalAPIKeyRequiredError, ResourceNotFoundError

from bibgenie_desktop.domain.errors import Cancelled, SecretStoreUnavailable
from bibgenie_desktop.zotero.online.attempts import Attempt
from bibgenie_desktop.zotero.online.changes import Change, Done, Home, RouteName
from bibgenie_desktop.zotero.online.client import (
    LOCAL,
    SWITCH,
    WEB,
    KeyOwner,
    MakeHttp,
    closing,
    key_owner,
    local_client,
    translated,
    web_client,
)
from bibgenie_desktop.zotero.online.errors import (
    ZoteroError,
    ZoteroKeyRefused,
    ZoteroOff,
    ZoteroOtherDatabase,
    ZoteroRefused,
    ZoteroTooOld,
    ZoteroUnreachable,
)
from bibgenie_desktop.zotero.online.writer import Writer

APP_NAME: Final = "BibGenie Desktop"
WEB_KEY: Final = "zotero-web"
LOCAL_KEY: Final = "zotero-local"
ANYWHERE: Final = Home()
WEB_ADVICE: Final = "Or enter a key of zotero.org that may write in the settings, under Zotero."

T = TypeVar("T")


class Keys(Protocol):
    """What is used of the application's store of secrets."""

    async def get(self, provider: str, *, required: bool = True) -> str | None: ...

    async def set(self, provider: str, key: str) -> None: ...

    def keep_for_session(self, provider: str, key: str) -> None: ...

    async def forget(self, provider: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Connections:
    """Makers of connections; `asking` waits as long as a person may take to answer Zotero's dialog."""

    local: MakeHttp
    asking: MakeHttp
    web: MakeHttp


@dataclass(slots=True)
class _Permission:
    """The key of the Zotero on this machine during one change."""

    key: str
    granted: str = ""
    """A key for good that the dialog has just given."""
    refused: bool = False


class ZoteroWriting:
    """Finds the way, writes, takes back. Every call runs in a thread that quitting does not wait for."""

    def __init__(self, keys: Keys, connections: Connections, *, local: str = LOCAL, web: str = WEB) -> None:
        self._keys = keys
        self._connections = connections
        self._local, self._web = local, web
        self._owners: dict[str, KeyOwner] = {}

    async def refusal(self, library: str, home: Home = ANYWHERE) -> str:
        """Why nothing can be written to a library now, with what to switch on; empty where it seems to.

        Nothing leaves this machine for it: whether a key of zotero.org is good, and what it may do by now,
        shows when it is used.
        """
        try:
            key = await self._open_way(home)
            if key and key in self._owners:
                self._require_account(self._owners[key], library, home)
        except ZoteroError as error:
            return error.text
        return ""

    async def apply(
        self,
        change: Change,
        stop: threading.Event,
        *,
        home: Home = ANYWHERE,
        record: Callable[[Attempt], None] = lambda _: None,
    ) -> Done:
        """Raises `ZoteroError`, or `Cancelled` where `stop` was set before anything was sent.

        `record` is called in another thread, just before something is sent; what it raises prevents that.
        """
        way = await self._way(change.library, home)
        return await self._run(
            way, change.library, stop, lambda writer: writer.apply(change), home=home, record=record
        )

    async def settle(self, attempt: Attempt, others: Container[str] = ()) -> Done | None:
        """What came of a write, asked of the Zotero it went to. Raises `ZoteroError` if nobody can tell."""
        library, home = attempt.change.library, Home(attempt.user_id)
        await self._meet(attempt.route, library, attempt.server_id, attempt.user_id)
        never = threading.Event()
        never.set()  # it only looks
        return await self._run(
            attempt.route, library, never, lambda w: w.settle(attempt, others), attempt.server_id, home
        )

    async def undo(self, change: Change, done: Done, stop: threading.Event) -> Done:
        """Takes back through the way it went, with the Zotero that has it."""
        await self._meet(done.route, done.library, done.server_id, done.user_id)
        return await self._run(
            done.route, done.library, stop, lambda writer: writer.undo(change, done), done.server_id
        )

    async def _meet(self, route: RouteName, library: str, server_id: str, user_id: int) -> None:
        """That it is the Zotero, or the account, which something was sent to before. Raises `ZoteroError`."""
        if route == "local":
            answering = await _in_thread(self._probe)
            if server_id and answering != server_id:
                raise ZoteroOtherDatabase(
                    "Another Zotero answers than before, or its database was put back.",
                    "Start the profile it was sent to, then try again.",
                )
            return
        owner = await self._owner(await self._web_key())
        if library == "u" and user_id not in (0, owner.user_id):
            raise ZoteroOtherDatabase(
                "The key of zotero.org belongs to another account than the one it was sent to.",
                "Enter a key of that account in the settings, under Zotero, then try again.",
            )

    # -- ways

    async def _open_way(self, home: Home) -> str:
        """The key of zotero.org; empty where the Zotero on this machine is the way. Raises why none is."""
        closed = await self._closed(home)
        if closed is None:
            return ""
        key = await self._keys.get(WEB_KEY, required=False)
        if not key:
            advice = closed.advice if home.web else f"{closed.advice} {WEB_ADVICE}"
            raise type(closed)(closed.title, advice)
        return key

    async def _closed(self, home: Home) -> ZoteroError | None:
        """What keeps us from writing to the Zotero on this machine; None where nothing does."""
        if home.web:
            return ZoteroKeyRefused(
                "There is no key of zotero.org.", "Enter one in the settings, under Zotero."
            )
        try:
            await _in_thread(self._probe)
        except (ZoteroOff, ZoteroTooOld, ZoteroUnreachable) as error:
            return error
        return None

    async def _way(self, library: str, home: Home) -> RouteName:
        key = await self._open_way(home)
        if not key:
            return "local"
        known = key in self._owners
        owner = await self._owner(key)
        if known and not owner.may_write(library):
            self._owners.pop(key, None)  # it may have been allowed on zotero.org since
            owner = await self._owner(key)
        self._require_account(owner, library, home)
        if not owner.may_write(library):
            raise ZoteroKeyRefused(
                "The key of zotero.org may not write to this library.",
                "On zotero.org, under Settings, Security, allow it to write, or let BibGenie into Zotero 10.",
            )
        return "web"

    def _require_account(self, owner: KeyOwner, library: str, home: Home) -> None:
        if library == "u" and home.user_id not in (0, owner.user_id):
            raise ZoteroKeyRefused(
                "The key of zotero.org belongs to another account than this library.",
                "Nothing was written. Enter a key of this account in the settings, under Zotero.",
            )

    def _probe(self) -> str:
        """Raises what keeps us from writing to the Zotero on this machine; else which one it is."""
        made = local_client(self._connections.local, "u", address=self._local)
        with closing(made) as client, translated("local"):
            assert client.client is not None
            answer = client.client.get(f"{client.endpoint}/", headers=client.default_headers())
        if answer.status_code == 403:
            raise ZoteroOff("Zotero does not let other applications in.", SWITCH)
        if answer.status_code == 404 or (
            answer.status_code == 200 and not answer.headers.get("Zotero-Server-ID")
        ):
            raise _too_old()
        if answer.status_code != 200:
            raise ZoteroRefused(f"Zotero answered with the error {answer.status_code}.", "Start it again.")
        return str(answer.headers.get("Zotero-Server-ID") or "")

    async def _web_key(self) -> str:
        if key := await self._keys.get(WEB_KEY):
            return key
        raise ZoteroKeyRefused("There is no key of zotero.org.", "Enter one in the settings, under Zotero.")

    async def _owner(self, key: str) -> KeyOwner:
        found = self._owners.get(key)
        if found is None:
            found = await _in_thread(lambda: key_owner(key, self._connections.web, address=self._web))
            self._owners[key] = found
        return found

    # -- writing

    async def _run(
        self,
        way: RouteName,
        library: str,
        stop: threading.Event,
        work: Callable[[Writer], T],
        server_id: str = "",
        home: Home = ANYWHERE,
        record: Callable[[Attempt], None] = lambda _: None,
    ) -> T:
        if way == "web":
            key = await self._web_key()
            owner = await self._owner(key)
            return await _in_thread(lambda: self._on_web(key, owner.user_id, library, stop, work, record))
        permission = _Permission(await self._keys.get(LOCAL_KEY, required=False) or "")
        try:
            return await _in_thread(
                lambda: self._on_local(permission, library, server_id, home, stop, work, record)
            )
        finally:
            await self._keep(permission)

    def _on_web(
        self,
        key: str,
        user_id: int,
        library: str,
        stop: threading.Event,
        work: Callable[[Writer], T],
        record: Callable[[Attempt], None],
    ) -> T:
        def send(client: Zotero, write: Callable[[], Any]) -> Any:
            _unless(stop)
            return write()

        with closing(web_client(key, self._connections.web, library, user_id, address=self._web)) as client:
            return work(Writer(client, "web", send, user_id, record))

    def _on_local(
        self,
        permission: _Permission,
        library: str,
        server_id: str,
        home: Home,
        stop: threading.Event,
        work: Callable[[Writer], T],
        record: Callable[[Attempt], None],
    ) -> T:
        made = local_client(
            self._connections.local, library, key=permission.key, server_id=server_id, address=self._local
        )

        def send(client: Zotero, write: Callable[[], Any]) -> Any:
            _unless(stop)
            if client.local_api_key:
                try:
                    return write()
                except LocalAPIKeyRequiredError:
                    # Used up, or taken back in Zotero's settings: asked for once more.
                    permission.refused = client.local_api_key == permission.key
            self._ask(client, permission, library)
            _unless(stop)
            return write()

        with closing(made) as client:
            return work(Writer(client, "local", send, home.user_id, record))

    def _ask(self, client: Zotero, permission: _Permission, library: str) -> None:
        """Shows Zotero's dialog, and waits for the person. Raises `ZoteroDenied`."""
        made = local_client(
            self._connections.asking, library, server_id=client.server_id or "", address=self._local
        )
        with closing(made) as asking:
            try:
                granted = asking.authorize_local(APP_NAME)
            except ResourceNotFoundError:
                raise _too_old() from None
        client.local_api_key = str(granted["key"])
        client.server_id = asking.server_id
        if granted.get("remember"):
            permission.granted = client.local_api_key

    async def _keep(self, permission: _Permission) -> None:
        """A key for good goes to the keyring; without one it lasts until the application ends."""
        try:
            if permission.granted:
                try:
                    await self._keys.set(LOCAL_KEY, permission.granted)
                except SecretStoreUnavailable:
                    self._keys.keep_for_session(LOCAL_KEY, permission.granted)
            elif permission.refused:
                await self._keys.forget(LOCAL_KEY)
        except SecretStoreUnavailable:
            return  # asked again next time


def _too_old() -> ZoteroTooOld:
    return ZoteroTooOld(
        "This version of Zotero cannot be written to by other applications.", "Zotero 10 can be."
    )


def _unless(stop: threading.Event) -> None:
    if stop.is_set():
        raise Cancelled


async def _in_thread(work: Callable[[], T]) -> T:
    """In a thread that does not keep the application alive: a dialog in Zotero may never be answered."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def settle(set_it: Callable[[Any], None], value: Any) -> None:
        if not answer.done():
            set_it(value)

    def run() -> None:
        try:
            result = work()
        except Exception as error:  # noqa: BLE001 - handed on to whoever waits
            told: tuple[Callable[[Any], None], Any] = answer.set_exception, error
        else:
            told = answer.set_result, result
        try:
            loop.call_soon_threadsafe(settle, *told)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more

    threading.Thread(target=run, name="zotero", daemon=True).start()
    return await answer
