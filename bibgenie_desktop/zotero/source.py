"""Where a library comes from: the seam between `service.ZoteroLibrary` and what it reads.

`ZoteroLibrary(source, files, documents, clock, private_dir)` works with any `LibrarySource`:
`local_source.LocalSource` reads the database on this computer, another one may read the web library. The
library asks `mark` what state there is, which must be cheap; when it differs from the state that is shown, it
calls `take` and then `read`, keeps the `Contents`, indexes them in `private_dir` and shows their age. It owns
threads, index, search, watching and refreshing; a source owns only how contents are had. At a later start
the index is shown before the source is asked for anything, so a source may be slow or out of reach.

What a source has to do:

- `mark` names the state there is now, `take` the state it fetched. Equal marks mean equal contents, and the
  contents of an equal mark are not read again. A source on a network may remember its answer for a while.
- `take` makes a state ready to be read: it copies, or asks what changed since the last one and stores that.
  It raises `LibraryUnavailable` with a sentence where it cannot; the library then goes on with what it has,
  marked stale. It looks at `cancelled` often and raises `TakingCancelled`.
- `read` returns all contents. `before` are those that are shown now, so that a source that knows what changed
  can replace only that in copies of its mappings; it may be ignored.
- A source that keeps its state in Zotero's own tables names that file in `Taken.database`. It is then read in
  another process, only where it differs from the index, and must not be written before the next `take`.
- Files: give `ZoteroLibrary` a `Files` (or a subclass with its own `locate`) whose `data_dir` has
  `storage/KEY/name`; a text beside it in `storage/KEY/.zotero-ft-cache` is used for the full-text index.

All methods block and are called from one worker thread, never two at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from bibgenie_desktop.domain.errors import BibGenieError
from bibgenie_desktop.zotero.model.library import Contents

SourceKind = Literal["files", "web"]


class TakingCancelled(BibGenieError):
    """The library is closing; nothing was replaced."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A state of a library that can be read. Times are UTC milliseconds.

    `stale`: a newer one was wanted and could not be had; `notice` is for the person. `lasting` marks mean the
    same after a restart. `verified` is false while `LibrarySource.verify` is still to be called.
    """

    mark: str
    taken_at: int
    version: int = 0
    """Zotero's userdata version; 0 where there is none."""
    notice: str = ""
    stale: bool = False
    lasting: bool = True
    verified: bool = True
    database: Path | None = None
    """A private copy in Zotero's tables, for those who can read it in another process."""
    keys_in: Path | None = None
    """The folder in which an older Better BibTeX keeps citation keys, if there is one."""


class LibrarySource(Protocol):
    @property
    def kind(self) -> SourceKind: ...

    @property
    def data_dir(self) -> Path:
        """The folder the person knows, or for a library from elsewhere the one with its files."""

    @property
    def poll_s(self) -> float:
        """How often `mark` may be asked by a watcher."""

    def mark(self) -> str:
        """What state there is now; empty where there is none to be found."""

    def take(self, cancelled: Callable[[], bool], patience: float | None) -> Taken:
        """A current state, or after `patience` seconds (None: its own) the last good one, marked stale.

        Raises `LibraryUnavailable` and `TakingCancelled`.
        """

    def read(self, taken: Taken, before: Contents | None) -> Contents:
        """What a state holds. Raises `LibraryUnavailable`."""

    def verify(self, taken: Taken) -> Taken:
        """Check a state that was used unchecked. Raises `LibraryUnavailable` if it is damaged."""

    def close(self) -> None:
        """Let go of connections; nothing is called afterwards."""
