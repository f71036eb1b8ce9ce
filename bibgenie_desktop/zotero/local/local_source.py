"""The library on this computer as a source: private copies of Zotero's database, read into values.

`snapshot` decides which bytes belong together, `reader` what they mean, `better_bibtex` adds keys from
another file. Everything here blocks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.domain.ids import Clock
from bibgenie_desktop.zotero.local import filesystem
from bibgenie_desktop.zotero.local.better_bibtex import BetterBibtex
from bibgenie_desktop.zotero.local.discovery import DATABASE
from bibgenie_desktop.zotero.local.reader import read_contents
from bibgenie_desktop.zotero.local.snapshot import FileState, Snapshot, SnapshotSource
from bibgenie_desktop.zotero.model.library import Contents
from bibgenie_desktop.zotero.source import SourceKind, Taken

POLL_S = 3.0
"""A look costs three calls of stat."""


class LocalSource:
    """A `LibrarySource`. Constructed without touching a file."""

    kind: SourceKind = "files"
    poll_s = POLL_S

    def __init__(
        self, data_dir: Path, private_dir: Path, clock: Clock, snapshots: SnapshotSource | None = None
    ) -> None:
        self._data_dir = data_dir
        self._snapshots = snapshots or SnapshotSource(data_dir, private_dir, clock)
        self._better_bibtex = BetterBibtex(data_dir, private_dir)
        self._last: tuple[Taken, Snapshot] | None = None

    @property
    def data_dir(self) -> Path:
        return self._data_dir

    def mark(self) -> str:
        return self._marked(self._snapshots.look())

    def take(self, cancelled: Callable[[], bool], patience: float | None) -> Taken:
        snapshot = self._snapshots.refresh(cancelled, patience)
        seen = self._snapshots.seen
        taken = Taken(
            mark=self._marked(seen) if seen is not None and not snapshot.stale else "",
            taken_at=snapshot.taken_at,
            version=snapshot.userdata_version,
            notice=snapshot.notice,
            stale=snapshot.stale,
            lasting=filesystem.mtime_is_fine(self._data_dir / DATABASE),
            verified=snapshot.verified,
            database=snapshot.path,
            keys_in=self._data_dir,
        )
        if snapshot.stale and self._last is not None and self._last[1].path == snapshot.path:
            taken = replace(taken, mark=self._last[0].mark)
        self._last = (taken, snapshot)
        return taken

    def read(self, taken: Taken, before: Contents | None) -> Contents:
        with contextlib.closing(self._snapshot_of(taken).connect()) as connection:
            return read_contents(connection, self._better_bibtex.keys())

    def verify(self, taken: Taken) -> Taken:
        self._snapshots.verify(self._snapshot_of(taken))
        return replace(taken, verified=True)

    def close(self) -> None:
        """Nothing is held between two calls."""

    def _snapshot_of(self, taken: Taken) -> Snapshot:
        if self._last is None or taken.database != self._last[1].path:
            raise LibraryUnavailable("The copy of the library has been replaced.", "Read the library again.")
        return self._last[1]

    def _marked(self, state: FileState) -> str:
        signatures = (state.main, state.wal, state.journal, self._better_bibtex.signature())
        if state.main is None:
            return ""
        return ";".join("-" if s is None else ":".join(map(str, s)) for s in signatures)
