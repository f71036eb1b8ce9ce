"""The store: one sync method for each use case, each one transaction, domain values in and out.

Its methods are grouped by subject in the modules named below. A store belongs to the thread that made it; the
rest of the program reaches it through `worker.StoreWorker`.
"""

from __future__ import annotations

from pathlib import Path as FilePath

from bibgenie_desktop.domain.ids import Clock, IdMaker
from bibgenie_desktop.storage.archive import Archive
from bibgenie_desktop.storage.connection import Connection
from bibgenie_desktop.storage.facts import Facts
from bibgenie_desktop.storage.importing import Importing
from bibgenie_desktop.storage.mentions import Mentions
from bibgenie_desktop.storage.migrate import prepare, require_current
from bibgenie_desktop.storage.owner import OwnerLock
from bibgenie_desktop.storage.repair import Repair
from bibgenie_desktop.storage.texts import Texts
from bibgenie_desktop.storage.trash import Trash
from bibgenie_desktop.storage.turns import Turns


class Store(Repair, Importing, Turns, Trash, Archive, Facts, Mentions, Texts):
    """`owner` True takes the lock of the data directory, then creates or upgrades the database.

    `readonly` refuses every write and creates nothing. Raises `StoreUnavailable`: directory owned by another
    process, disk full, file damaged; `NewerDatabase`: from a newer version, and not touched.
    """

    def __init__(
        self, path: FilePath, clock: Clock, ids: IdMaker, owner: bool = False, *, readonly: bool = False
    ) -> None:
        lock = None
        if owner:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = OwnerLock(path.parent)
        try:
            if owner:
                prepare(path, clock)
            else:
                require_current(path)
            super().__init__(Connection(path, readonly=readonly), clock, ids)
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        self._lock = lock
        self._owns = owner

    def close(self) -> None:
        try:
            self._db.close()
        finally:
            if self._lock is not None:
                self._lock.release()

    def integrity(self) -> str:
        """What SQLite finds wrong with the file as a whole; empty where it finds nothing."""
        with self._db.reading():
            found = [str(line) for (line,) in self._db.rows("PRAGMA integrity_check(1)")]
        return "" if found == ["ok"] else "; ".join(found)

    @property
    def rows_read(self) -> int:
        """How many rows were read so far: what opening and paging cost."""
        return self._db.rows_read


def open_reader(path: FilePath) -> Store:
    """A store for the command line. It works while the application runs; writing is refused."""
    return Store(path, _nothing_to_date, _nothing_to_name, readonly=True)


def _nothing_to_date() -> int:
    raise RuntimeError("a reader writes nothing that has a time")


def _nothing_to_name() -> str:
    raise RuntimeError("a reader writes nothing that has an id")
