"""The library on zotero.org as the settings deal with it: its key, whose it is, fetching it, and using it.

Nothing is asked of the network but by `look` and `fetch`, which the person starts, and by a library's own
refreshing and opening of documents. Whether the Zotero on this computer answers is asked on loopback only.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bibgenie_desktop.domain.errors import Cancelled, SecretStoreUnavailable, UserError
from bibgenie_desktop.domain.ids import Clock
from bibgenie_desktop.services.configuring.provider_setup import Keys, KeyState
from bibgenie_desktop.zotero.files.documents import Documents
from bibgenie_desktop.zotero.local.running import PORT
from bibgenie_desktop.zotero.online.liveness import Liveness, look_for_zotero
from bibgenie_desktop.zotero.online.web_progress import SyncProgress
from bibgenie_desktop.zotero.service import ZoteroLibrary
from bibgenie_desktop.zotero.source import TakingCancelled

if TYPE_CHECKING:
    from bibgenie_desktop.zotero.online.web_account import WebAccount

__all__ = ["KeyState", "Liveness", "SyncProgress", "WebAccountFound", "WebLibraries", "web_folder"]

WEB_KEY: Final = "zotero-web"
"""The name of the key in the keyring; the same one is used for writing, where it may."""
KEY_PAGE: Final = "https://www.zotero.org/settings/keys"
_PREFERENCE: Final = re.compile(r"web:(\d{1,15})")
_FOLDER: Final = re.compile(r"zotero-web-(\d{1,15})")


def web_user(preference: str) -> int | None:
    """The account that a preference for the library names (`web:4711`); None where it is another library."""
    found = _PREFERENCE.fullmatch(preference)
    return int(found[1]) if found else None


def web_folder(index: Path, user_id: int) -> Path:
    """Each account has a folder of its own, with everything of it that is on this computer."""
    return index / f"zotero-web-{user_id}"


def is_web_folder(folder: Path) -> bool:
    return _FOLDER.fullmatch(folder.name) is not None


@dataclass(frozen=True, slots=True)
class WebAccountFound:
    """What a key leads to."""

    user_id: int
    name: str
    items: int
    groups: tuple[str, ...]


class WebLibraries:
    """`http` makes connections, `choose` makes the library of an account the one in use.

    Without keys what was fetched can be read, and nothing is asked of anybody.
    """

    def __init__(
        self,
        index: Path,
        clock: Clock,
        keys: Keys | None = None,
        http: Callable[[], Any] | None = None,
        choose: Callable[[int], Awaitable[None]] | None = None,
        *,
        variable: str = "",
        address: str = "",
        most_bytes: int = 2 << 30,
        port: int = PORT,
    ) -> None:
        self._index, self._clock = index, clock
        self._keys, self._http = keys or _NoKeys(), http or _no_connections
        self._choose, self._variable = choose, variable
        self._address, self._most_bytes, self._port = address, most_bytes, port
        self._accounts: dict[int, WebAccount] = {}

    # -- the key

    async def key_state(self) -> KeyState:
        """Where the key is; the keyring may open a prompt meanwhile."""
        try:
            key, place = await self._keys.find(WEB_KEY)
        except SecretStoreUnavailable as error:
            return KeyState(None, self._variable, error.title, error.advice)
        return KeyState(place if key else None, self._variable)

    async def save_key(self, key: str) -> None:
        """Raises `SecretStoreUnavailable`; `keep_key_for_session` is then the way."""
        await self._keys.set(WEB_KEY, key)

    def keep_key_for_session(self, key: str) -> None:
        self._keys.keep_for_session(WEB_KEY, key)

    async def forget_key(self) -> None:
        """The library that was fetched stays readable."""
        await self._keys.forget(WEB_KEY)

    async def _key(self, typed: str) -> str:
        key = typed or (await self._keys.find(WEB_KEY))[0]
        if not key:
            raise UserError("There is no key yet.", "Paste one from zotero.org.")
        return key

    # -- asking zotero.org

    async def look(self, typed: str) -> WebAccountFound:
        """Whose key it is (empty: the one that is kept), and how much it can read. Raises `UserError`."""
        from bibgenie_desktop.zotero.online.client import WEB
        from bibgenie_desktop.zotero.online.web_account import look_at_account

        key, address = await self._key(typed), self._address or WEB
        left = threading.Event()
        try:
            found = await asyncio.to_thread(look_at_account, key, self._http, left.is_set, address=address)
        except asyncio.CancelledError:
            left.set()
            raise
        owner = found.owner
        return WebAccountFound(owner.user_id, owner.user_name, found.items, found.groups)

    async def fetch(self, typed: str, user_id: int, progress: Callable[[SyncProgress], None]) -> None:
        """Brings an account's library to this computer and makes it the one in use.

        Being cancelled, it stops at once; what came is kept. Raises `UserError`.
        """
        key = await self._key(typed)
        account = self._account(user_id)
        loop, left = asyncio.get_running_loop(), threading.Event()

        def report(now: SyncProgress) -> None:
            if not left.is_set():
                loop.call_soon_threadsafe(progress, now)

        try:
            await asyncio.to_thread(account.sync, key, left.is_set, report)
        except TakingCancelled as error:
            raise Cancelled from error
        except asyncio.CancelledError:
            left.set()
            raise
        if self._choose is not None:
            await self._choose(user_id)

    def _account(self, user_id: int) -> WebAccount:
        from bibgenie_desktop.zotero.online.client import WEB
        from bibgenie_desktop.zotero.online.web_account import WebAccount

        if user_id not in self._accounts:
            folder = web_folder(self._index, user_id)
            self._accounts[user_id] = WebAccount(
                folder,
                user_id,
                self._http,
                self._clock,
                address=self._address or WEB,
                most_bytes=self._most_bytes,
            )
        return self._accounts[user_id]

    # -- using it

    def open(self, folder: Path, private_dir: Path | None = None) -> ZoteroLibrary:
        """The library that lies in an account's folder; nothing is read yet."""
        from bibgenie_desktop.zotero.online.web_library import WebLibrary

        found = _FOLDER.fullmatch(folder.name)
        assert found is not None

        async def key() -> str | None:
            return (await self._keys.find(WEB_KEY))[0]

        account = self._account(int(found[1]))
        return WebLibrary(account, key, Documents(), self._clock, private_dir=private_dir)

    # -- the Zotero on this computer

    async def liveness(self) -> Liveness:
        return await asyncio.to_thread(look_for_zotero, self._port)


class _NoKeys:
    """For those who only read what is here."""

    async def find(self, provider: str, *, required: bool = True) -> tuple[str | None, str | None]:
        return None, None

    async def set(self, provider: str, key: str) -> None: ...

    def keep_for_session(self, provider: str, key: str) -> None: ...

    async def forget(self, provider: str) -> None: ...


def _no_connections() -> Any:
    raise UserError("There is no connection here.")
