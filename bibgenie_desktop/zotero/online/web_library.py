"""A library that lies on zotero.org: as one on this computer, but refreshed only when the person asks for it,
and with files that are fetched when they are opened."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar
from weakref import WeakValueDictionary

from bibgenie_desktop.domain.errors import DocumentUnreadable, UserError
from bibgenie_desktop.domain.ids import Clock
from bibgenie_desktop.zotero.files.documents import Documents
from bibgenie_desktop.zotero.model.library import Attachment
from bibgenie_desktop.zotero.online.web_account import WebAccount
from bibgenie_desktop.zotero.online.web_files import WebFiles
from bibgenie_desktop.zotero.online.web_progress import SyncProgress
from bibgenie_desktop.zotero.online.web_source import WebSource
from bibgenie_desktop.zotero.service import LibraryStatus, ZoteroLibrary
from bibgenie_desktop.zotero.source import TakingCancelled

AT_ONCE: Final = 16
"""Files that are waited for at a time; threads of their own, so that nothing else waits for them."""

T = TypeVar("T")

KeySource = Callable[[], Awaitable[str | None]]


class WebLibrary(ZoteroLibrary):
    """`key` gives the key of zotero.org when one is needed; it may ask the keyring. The index lies in
    `private_dir`, with the account's other files if none is named."""

    def __init__(
        self,
        account: WebAccount,
        key: KeySource,
        documents: Documents,
        clock: Clock,
        progress: Callable[[SyncProgress], None] = lambda _: None,
        private_dir: Path | None = None,
    ) -> None:
        self._account = account
        self._web = WebSource(account, progress)
        private = private_dir or account.folder
        super().__init__(self._web, WebFiles(account.folder), documents, clock, private)
        self._key = key
        self._fetching: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._fetchers = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="zotero-web-files")
        self._leaving = threading.Event()
        self._failed: dict[str, UserError] = {}

    async def refresh(self) -> None:
        """Asks zotero.org what is new. Raises `UserError` where there is no key."""
        self._web.wish(await self._key_or_error())
        await super().refresh()

    async def watch(self, refreshed: Callable[[LibraryStatus], None]) -> None:
        """Nothing is asked of the network by itself; waits until cancelled."""
        await asyncio.Event().wait()

    async def close(self) -> None:
        self._leaving.set()
        await asyncio.to_thread(self._fetchers.shutdown, True, cancel_futures=True)
        await super().close()

    # -- files

    async def bring(self, attachment: Attachment) -> None:
        """Fetches the file, or the newer one that replaced it; why that failed is told by the reading."""
        database = await asyncio.to_thread(self._web.find_database)
        located = await self.locate(attachment)
        if database is None or located.status not in ("ok", "online"):
            return
        async with self._alone(attachment):
            self._failed.pop(attachment.id, None)
            try:
                if not await asyncio.to_thread(self._account.has_file, attachment, database):
                    key = await self._key_or_error()
                    await self._in_thread(
                        lambda left: self._account.fetch_file(key, attachment, database, left)
                    )
                    self._found.pop(attachment.id, None)
            except UserError as error:
                self._failed[attachment.id] = error

    async def extract(self, attachment: Attachment) -> str:
        """Zotero's extract, fetched where it is not here yet; empty without one."""
        text = await super().extract(attachment)
        if text.strip() or attachment.kind == "other":
            return text
        async with self._alone(attachment):
            try:
                key = await self._key_or_error()
                return await self._in_thread(lambda left: self._account.fetch_text(key, attachment, left))
            except UserError:
                return ""

    async def _file(self, attachment: Attachment, *kinds: str) -> Path:
        try:
            return await super()._file(attachment, *kinds)
        except DocumentUnreadable:
            error = self._failed.get(attachment.id)
            if error is not None:
                raise DocumentUnreadable(
                    f"The file “{attachment.title}” could not be fetched: {error.title}", error.advice
                ) from None
            if (await self.locate(attachment)).status == "online":
                raise DocumentUnreadable(
                    f"The file “{attachment.title}” is on zotero.org and was not fetched yet.",
                    "It is fetched when the document is read.",
                ) from None
            raise

    # -- helpers

    def _alone(self, attachment: Attachment) -> asyncio.Lock:
        """Each document is fetched once at a time, and none waits for another."""
        return self._fetching.setdefault(attachment.id, asyncio.Lock())

    async def _key_or_error(self) -> str:
        key = await self._key()
        if not key:
            raise UserError(
                "There is no key for zotero.org.",
                "Enter one in Settings, Zotero, under “Zotero web library…”.",
            )
        return key

    async def _in_thread(self, work: Callable[[Callable[[], bool]], T]) -> T:
        """Work that is told when the caller, or the application, does not want it any more."""
        left = threading.Event()
        try:
            return await self._in(
                self._fetchers, lambda: work(lambda: left.is_set() or self._leaving.is_set())
            )
        except TakingCancelled as error:
            raise UserError("It was stopped.") from error
        except asyncio.CancelledError:
            left.set()
            raise
