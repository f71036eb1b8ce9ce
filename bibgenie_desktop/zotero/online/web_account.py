"""One account on zotero.org: synchronising its cache and fetching its files, each in a thread of its own.

A request under way cannot be ended from outside; when the person cancels or quits, its thread is left alone
and writes nothing more. Nothing is asked before one of these methods is called. All of them block.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from bibgenie_desktop.domain.ids import Clock
from bibgenie_desktop.zotero.model.library import Attachment
from bibgenie_desktop.zotero.online.client import WEB, KeyOwner, MakeHttp, key_owner
from bibgenie_desktop.zotero.online.errors import ZoteroBusy, ZoteroKeyRefused, ZoteroUnreachable
from bibgenie_desktop.zotero.online.web_cache import WebCache, stored_file, unusable
from bibgenie_desktop.zotero.online.web_files import LARGEST_FILE, MOST_BYTES, FileStore, too_large, unpack
from bibgenie_desktop.zotero.online.web_progress import SyncProgress
from bibgenie_desktop.zotero.online.web_reads import WebReads
from bibgenie_desktop.zotero.online.web_sync import FIRST_WAIT_S, Synced, WebSync
from bibgenie_desktop.zotero.source import TakingCancelled

PATIENCE_S: Final = 60.0
"""How long is waited for a text, or for a file to begin to come."""
GRACE_S: Final = 0.5
"""How long a cancelled thread is waited for before it is left."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AccountFound:
    """What a key leads to: whose it is, and how much there is."""

    owner: KeyOwner
    items: int
    groups: tuple[str, ...]


def look_at_account(
    key: str, http: MakeHttp, cancelled: Callable[[], bool] = lambda: False, *, address: str = WEB
) -> AccountFound:
    """Asks zotero.org whose key this is and what it can read: three requests.

    Raises `ZoteroError` and `TakingCancelled`.
    """
    return _leavable(lambda left: _look(key, http, left, address), cancelled, "zotero-web-look")


def _look(key: str, http: MakeHttp, left: Callable[[], bool], address: str) -> AccountFound:
    owner = key_owner(key, http, address=address)
    if left():
        raise TakingCancelled
    reads = WebReads(key, owner.user_id, http, address=address)
    try:
        groups = tuple(name for _, name in reads.groups())
        if not owner.reads and not groups:
            raise ZoteroKeyRefused(
                "This key may not read any library.", "On zotero.org, allow it to access your library."
            )
        return AccountFound(owner, reads.count("u") if owner.reads else 0, groups)
    finally:
        reads.close()


class WebAccount:
    """Everything of one account on this computer lies in `folder`, which belongs to it alone."""

    def __init__(
        self,
        folder: Path,
        user_id: int,
        http: MakeHttp,
        clock: Clock,
        *,
        address: str = WEB,
        most_bytes: int = MOST_BYTES,
        first_wait: float = FIRST_WAIT_S,
        patience: float = PATIENCE_S,
    ) -> None:
        self.folder = folder
        self.user_id = user_id
        self._http, self._clock, self._address = http, clock, address
        self._first_wait, self._patience = first_wait, patience
        self._files = FileStore(folder, most_bytes)
        self._syncing = threading.Lock()
        self._stopped: Callable[[], bool] = lambda: False
        """Whether the run that holds the lock was stopped and only has its last request to end."""

    def sync(
        self,
        key: str,
        cancelled: Callable[[], bool],
        progress: Callable[[SyncProgress], None] = lambda _: None,
    ) -> Synced:
        """Brings the cache up to date. Raises `ZoteroError`, `LibraryUnavailable`, `TakingCancelled`."""
        while not self._syncing.acquire(timeout=0.1):
            if not self._stopped():
                raise ZoteroBusy("The web library is being fetched already.", "Wait until it has finished.")
            if cancelled():
                raise TakingCancelled

        def work(left: Callable[[], bool]) -> Synced:
            self._stopped = left
            try:
                return self._sync(key, left, progress)
            finally:
                self._syncing.release()

        return _leavable(work, cancelled, "zotero-web-sync")

    def _sync(self, key: str, left: Callable[[], bool], progress: Callable[[SyncProgress], None]) -> Synced:
        owner = self._owner(key)
        reads = WebReads(key, owner.user_id, self._http, address=self._address)
        cache = WebCache(self.folder)
        try:
            sync = WebSync(
                reads, cache, owner, self._clock,
                cancelled=left, progress=progress, first_wait=self._first_wait,
            )  # fmt: skip
            done = sync.run()
            cache.published()
        except sqlite3.Error as error:  # no space left, damaged meanwhile, or held by another process
            raise unusable(self.folder) from error
        else:
            return done
        finally:
            cache.close()
            reads.close()

    def _owner(self, key: str) -> KeyOwner:
        owner = key_owner(key, self._http, address=self._address)
        if owner.user_id != self.user_id:
            raise ZoteroKeyRefused(
                f"The key belongs to another account ({owner.user_name or owner.user_id}).",
                "In Settings, Zotero, choose the web library again with the key you want to use.",
            )
        return owner

    def fetch_file(
        self, key: str, attachment: Attachment, database: Path, cancelled: Callable[[], bool]
    ) -> None:
        """The file of an attachment into the cache, unless it is there. Raises `UserError`."""

        begun = threading.Event()

        def work(left: Callable[[], bool]) -> None:
            def arrived(_: int) -> None:
                begun.set()
                if left():
                    raise TakingCancelled

            def get(name: str, path: Path) -> None:
                with path.open("wb") as file:
                    packed, cut = reads.file(
                        attachment.library.id, attachment.key, file, LARGEST_FILE, arrived
                    )
                if cut:
                    raise too_large()
                if packed:
                    unpack(path, name)
                if left():
                    raise TakingCancelled

            reads = WebReads(key, self.user_id, self._http, address=self._address)
            try:
                md5, size = stored_file(database, attachment.library.id, attachment.key)
                if size > LARGEST_FILE:
                    raise too_large()
                self._files.fetch(attachment, md5, get)
            finally:
                reads.close()

        late = self._late()
        _leavable(work, cancelled, "zotero-web-file", lambda: not begun.is_set() and late())

    def has_file(self, attachment: Attachment, database: Path) -> bool:
        md5, _ = stored_file(database, attachment.library.id, attachment.key)
        return self._files.has(attachment, md5)

    def fetch_text(self, key: str, attachment: Attachment, cancelled: Callable[[], bool]) -> str:
        """The text Zotero extracted, kept for later; empty without one. Raises `ZoteroError`."""

        def work(left: Callable[[], bool]) -> str:
            reads = WebReads(key, self.user_id, self._http, address=self._address)
            try:
                text = reads.fulltext(attachment.library.id, attachment.key)
            finally:
                reads.close()
            if not left():
                self._files.keep_text(attachment, text)
            return text

        return _leavable(work, cancelled, "zotero-web-text", self._late())

    def _late(self) -> Callable[[], bool]:
        """Whether something takes too long that begins now."""
        end = time.monotonic() + self._patience
        return lambda: time.monotonic() > end


def _leavable(
    work: Callable[[Callable[[], bool]], T],
    cancelled: Callable[[], bool],
    name: str,
    late: Callable[[], bool] = lambda: False,
) -> T:
    """Does work in a thread and waits for it; once cancelled, or late, it is told so and left to itself."""
    left = threading.Event()
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work(left.is_set))
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            errors.append(error)

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.05)
        if late() and thread.is_alive():
            left.set()
            raise ZoteroUnreachable("zotero.org did not send it in time.", "Try again later.")
        if cancelled() and not left.is_set():
            left.set()
            thread.join(GRACE_S)
            if thread.is_alive():
                raise TakingCancelled
    if errors:
        raise errors[0]
    return results[0]
