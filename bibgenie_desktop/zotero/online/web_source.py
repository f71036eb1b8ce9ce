"""The web library as a source: the last complete state of its cache, and a newer one when the person asks.

Reading is `reader`'s, since the cache has the shape of Zotero's own tables. Nothing is asked of the network
but by the `take` that follows a `wish`; everything else answers from the cache, with its age.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bibgenie_desktop.domain.errors import LibraryUnavailable, sentences
from bibgenie_desktop.zotero.local.reader import read_contents
from bibgenie_desktop.zotero.model.library import Contents
from bibgenie_desktop.zotero.online.errors import ZoteroError
from bibgenie_desktop.zotero.online.web_account import WebAccount
from bibgenie_desktop.zotero.online.web_cache import NEW, WebCache
from bibgenie_desktop.zotero.online.web_progress import SyncProgress
from bibgenie_desktop.zotero.source import SourceKind, Taken

POLL_S: Final = 3600.0
OLD_S: Final = 3600.0
"""A copy that was begun so long ago is not being made any more."""


class WebSource:
    """A `LibrarySource`. Constructed without touching a file."""

    kind: SourceKind = "web"
    poll_s = POLL_S

    def __init__(
        self, account: WebAccount, progress: Callable[[SyncProgress], None] = lambda _: None
    ) -> None:
        self._account = account
        self._progress = progress
        self._cache = WebCache(account.folder)
        self._turn = threading.Lock()
        self._wish = ""
        self._database: Path | None = None

    @property
    def data_dir(self) -> Path:
        return self._account.folder

    @property
    def database(self) -> Path | None:
        """The file of the state that was taken last in this run."""
        return self._database

    def find_database(self) -> Path | None:
        """That file, or the one of an earlier run; None without one. May be called from any thread."""
        if self._database is None and self.mark():
            with self._turn:
                self._database = self._cache.published()
        return self._database

    def wish(self, key: str) -> None:
        """The next `take` asks zotero.org for what is new, with this key."""
        self._wish = key

    def mark(self) -> str:
        with self._turn:
            account = self._cache.account()
            return self._cache.mark() if account is not None and account.synced_at else ""

    def take(self, cancelled: Callable[[], bool], patience: float | None) -> Taken:
        key, self._wish = self._wish, ""
        notice, stale = "", False
        if key:
            try:
                notice = " ".join(self._account.sync(key, cancelled, self._progress).notices)
            except (ZoteroError, LibraryUnavailable) as error:
                if not self.mark():
                    raise LibraryUnavailable(error.title, error.advice) from error
                notice, stale = sentences(error.title, error.advice), True
        with self._turn:
            account = self._cache.account()
            if account is None or not account.synced_at:
                raise LibraryUnavailable(
                    "The web library has not been fetched completely yet.",
                    "Refresh the library: what came so far is kept, and the rest is fetched.",
                )
            self._database = self._published()
            mark = self._cache.mark()
        return Taken(mark, account.synced_at, notice=notice, stale=stale, database=self._database)

    def read(self, taken: Taken, before: Contents | None) -> Contents:
        if taken.database is None:
            raise LibraryUnavailable("The copy of the library is gone.", "Read the library again.")
        try:
            uri = f"{taken.database.as_uri()}?mode=ro&immutable=1"
            with contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
                return read_contents(connection)
        except sqlite3.Error as error:
            raise LibraryUnavailable("The copy of the library is gone.", "Read the library again.") from error

    def verify(self, taken: Taken) -> Taken:
        return taken

    def close(self) -> None:
        with self._turn:
            self._cache.close()

    def _published(self) -> Path:
        target = self._cache.published()
        for path in target.parent.glob("library-*.sqlite*"):
            if path.name != target.name:
                with contextlib.suppress(OSError):  # Windows keeps a file that is still open; next time, then
                    if not path.name.endswith(NEW) or path.stat().st_mtime < time.time() - OLD_S:
                        path.unlink()
        return target
