"""Bringing the cache of a web library up to date: what is asked, in which order, and what follows from it.

For each library: which items changed since the version the cache has (nothing, where the server says 304),
its collections, searches and settings, the items themselves a hundred at a time, what was deleted. Whatever
arrives is stored at once and is not fetched again after an interruption; it is shown, and the version counts,
only when all of it is there. Blocks; meant for a thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeVar

from bibgenie_desktop.domain.ids import Clock
from bibgenie_desktop.zotero.online.client import KeyOwner
from bibgenie_desktop.zotero.online.errors import (
    ZoteroBusy,
    ZoteroError,
    ZoteroKeyRefused,
    ZoteroMissing,
    ZoteroUnreachable,
)
from bibgenie_desktop.zotero.online.web_cache import CachedLibrary, WebCache
from bibgenie_desktop.zotero.online.web_progress import SyncProgress
from bibgenie_desktop.zotero.online.web_reads import PAGE, SOME, Page, ServerFault, WebReads
from bibgenie_desktop.zotero.online.web_tables import Kind
from bibgenie_desktop.zotero.online.web_values import number, said
from bibgenie_desktop.zotero.source import TakingCancelled

BULK: Final = 150
"""With more items than this the library is paged through; fewer are asked for by their keys."""
ROUNDS: Final = 3
"""So often is asked what else there is of a library that changes while it is fetched."""
LONGEST_WAIT_S: Final = 600.0
FIRST_WAIT_S: Final = 1.0
TRIES: Final = 4

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Synced:
    """What came of it. `notices` are sentences about libraries that were left out."""

    changed: bool
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _State:
    """A library as it was at a version: the objects that were asked for, and what is there no more."""

    version: int
    kept: Mapping[Kind, Collection[str]]
    gone: Mapping[Kind, Collection[str]]
    gone_settings: Collection[str]


class _Wanted:
    """The items that a library has, and which of them are here in that version or a later one."""

    def __init__(self, expected: Mapping[str, int], have: dict[str, int]) -> None:
        self.expected = expected
        self._have = have
        self.done = len(expected) - len(self.missing())

    def missing(self) -> list[str]:
        return [key for key, version in self.expected.items() if self._have.get(key, 0) < version]

    def take(self, page: Page) -> None:
        for entry in page.objects:
            key, version = said(entry.get("key")), max(1, number(entry.get("version")))
            self.done += self._have.get(key, 0) < self.expected.get(key, 0) <= version
            self._have[key] = version


class WebSync:
    """One synchronisation of one account."""

    def __init__(
        self,
        reads: WebReads,
        cache: WebCache,
        owner: KeyOwner,
        clock: Clock,
        *,
        cancelled: Callable[[], bool] = lambda: False,
        progress: Callable[[SyncProgress], None] = lambda _: None,
        first_wait: float = FIRST_WAIT_S,
    ) -> None:
        self._reads, self._cache, self._owner, self._clock = reads, cache, owner, clock
        self._cancelled, self._progress = cancelled, progress
        self._first_wait = first_wait
        self._now = SyncProgress("account")

    def run(self) -> Synced:
        """All libraries of the account. Raises `ZoteroError`, and `TakingCancelled`; what came is kept."""
        self._report(self._now)
        started = self._clock()
        groups = self._patiently(self._reads.groups)
        names = ([("u", "")] if self._owner.reads else []) + list(groups)
        if not names:
            raise ZoteroKeyRefused(
                "This key may not read any library.", "On zotero.org, allow it to access your library."
            )
        self._cache.use_account(self._owner.user_id, self._owner.user_name)
        before = {library.id for library in self._cache.libraries()}
        notices: list[str] = []
        refused: list[str] = []
        libraries = self._cache.use_libraries(names)
        changed = False
        for done, library in enumerate(libraries):
            name = library.name or "My Library"
            self._now = SyncProgress("fetching", name, libraries_done=done, libraries=len(libraries))
            try:
                changed = self._library(library) or changed
            except (ZoteroKeyRefused, ZoteroMissing):
                if library.id == "u":
                    raise
                refused.append(library.id)
                notices.append(f"The key may not read the group “{name}”.")
        if refused:
            libraries = self._cache.use_libraries([entry for entry in names if entry[0] not in refused])
        changed = changed or before != {library.id for library in libraries}
        self._report(SyncProgress("storing", libraries_done=len(libraries), libraries=len(libraries)))
        self._cache.set_synced(started)
        return Synced(changed, tuple(notices))

    # -- one library

    def _library(self, library: CachedLibrary) -> bool:
        """True where something changed.

        What changes meanwhile would be half in it: then it is asked what else there is, a few times.
        """
        self._report(self._now)
        state = self._state(library)
        rounds = 1
        while state is not None and self._reads.newest > state.version and rounds < ROUNDS:
            later = self._state(library)
            state, rounds = later or state, rounds + 1
        if state is None:
            return False
        self._report(replace(self._now, phase="storing", done=0, total=0))
        self._cache.finish(library, state.version, state.kept, state.gone, state.gone_settings, self._check)
        return True

    def _state(self, library: CachedLibrary) -> _State | None:
        """Fetches what is missing of the present state, whose objects have arrived then; None: it is here."""
        since = library.version
        found = self._patiently(lambda: self._reads.item_versions(library.id, since))
        if found is None:
            return None
        version, expected = found
        if library.complete and version == since:
            return None
        with self._cache.arriving(library) as arriving:
            arriving.begin(since)
        kept: dict[Kind, set[str]] = {"items": set(expected)}
        kept["collections"] = self._small(
            library, "collections", lambda: self._reads.collections(library.id, since)
        )
        kept["searches"] = self._small(library, "searches", lambda: self._reads.searches(library.id, since))
        settings = self._patiently(lambda: self._reads.settings(library.id, since))
        with self._cache.arriving(library) as arriving:
            for name, value in settings.items():
                arriving.put_setting(name, value)
        self._items(library, since, expected)
        return _State(version, kept, *self._gone(library, since, kept, set(settings)))

    def _small(self, library: CachedLibrary, kind: Kind, ask: Callable[[], Iterator[Page]]) -> set[str]:
        """Collections or searches, all pages of them; their keys."""
        objects = [entry for page in self._patiently(lambda: list(ask())) for entry in page.objects]
        with self._cache.arriving(library) as arriving:
            arriving.put(kind, objects)
        return {str(entry.get("key")) for entry in objects}

    def _items(self, library: CachedLibrary, since: int, expected: dict[str, int]) -> None:
        wanted = _Wanted(expected, self._cache.fetched(library, "items"))
        tries, before = 0, -1
        while len(missing := wanted.missing()) > BULK and len(missing) != before:
            # Oldest first: what an interrupted run has stored are the pages at the front.
            start = (len(expected) - len(missing)) // PAGE * PAGE
            try:
                for page in self._reads.items(library.id, since, start):
                    self._store(library, page, wanted)
                    tries = 0
                before = len(missing)
            except ZoteroError as error:
                tries += 1
                self._wait(error, tries)
        missing = wanted.missing()
        for at in range(0, len(missing), SOME):
            keys = missing[at : at + SOME]
            page = self._patiently(partial(self._reads.items_by_key, library.id, keys))
            self._store(library, page, wanted)

    def _store(self, library: CachedLibrary, page: Page, wanted: _Wanted) -> None:
        self._check()
        with self._cache.arriving(library) as arriving:
            arriving.put("items", page.objects)
        wanted.take(page)
        self._report(replace(self._now, done=wanted.done, total=len(wanted.expected)))

    def _gone(
        self, library: CachedLibrary, since: int, kept: dict[Kind, set[str]], settings: set[str]
    ) -> tuple[dict[Kind, set[str]], set[str]]:
        """Which objects of each kind, and which settings, are there no more."""
        if not since:  # all of it was asked for
            keys = {kind: self._cache.versions(library, kind).keys() - kept[kind] for kind in kept}
            return keys, self._cache.setting_names(library) - settings
        gone = self._patiently(lambda: self._reads.deleted(library.id, since))
        keys = {kind: set(found) - kept.get(kind, set()) for kind, found in gone.keys.items()}
        return keys, set(gone.settings) - settings

    # -- patience

    def _patiently(self, call: Callable[[], T]) -> T:
        """Tries again where the server says to wait, has a fault, or cannot be reached for a moment."""
        tries = 0
        while True:
            self._check()
            try:
                return call()
            except ZoteroError as error:
                tries += 1
                self._wait(error, tries)

    def _wait(self, error: ZoteroError, tries: int) -> None:
        """Raises the error where waiting does not help, or would take too long."""
        if not isinstance(error, ZoteroBusy | ServerFault | ZoteroUnreachable) or tries >= TRIES:
            raise error
        seconds = self._first_wait * 3 ** (tries - 1)
        if isinstance(error, ZoteroBusy) and error.retry_after is not None:
            seconds = error.retry_after
        if seconds > LONGEST_WAIT_S:
            raise error
        before, end = self._now, time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._report(SyncProgress("waiting", before.library, wait_s=left))
            self._check()
            time.sleep(min(left, 0.2))
        self._report(before)

    def _check(self) -> None:
        if self._cancelled():
            raise TakingCancelled

    def _report(self, progress: SyncProgress) -> None:
        if progress.phase != "waiting":
            self._now = progress
        self._progress(progress)
