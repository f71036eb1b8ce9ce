"""A consistent private copy of Zotero's database, taken while Zotero may be writing.

The live file is never opened with SQLite: any mode of it either fails, answers wrongly or leaves files
behind (docs/decisions/0005-zotero-snapshot.md). This module reads bytes and decides whether they belong
together; `copycheck` makes the copy ready, `reader` knows what it means. Everything here blocks: call it in a
worker thread.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.domain.ids import Clock
from bibgenie_desktop.zotero.local import copycheck, filesystem, full_disk
from bibgenie_desktop.zotero.local.discovery import DATABASE, check_directory
from bibgenie_desktop.zotero.local.filesystem import Signature, head, signature
from bibgenie_desktop.zotero.local.running import zotero_answers
from bibgenie_desktop.zotero.source import TakingCancelled

PATIENCE_S = 20.0
"""How long a refresh tries: longer than Zotero's pauses between two writes, short enough to wait for."""

CRASH_WAIT_S = 5.0
"""A journal that has not moved for so long, without Zotero, is left over from a crash."""

CLOCK_GRAIN_NS = 20_000_000
"""Writes within one tick of the kernel's clock (≤ 10 ms) share an mtime; twice that tells them apart."""

CHECK_AT_ONCE = 64 << 20
"""Up to this size the first copy is checked before it is used: the check costs six times the copy."""

SWAP_S = 2.0
"""How long the database may be away: Zotero replaces it by a new file now and then."""

_WAL_HEAD, _JOURNAL_HEAD = 32, 28


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A good copy. `stale`: a newer one was wanted and could not be had; `notice` is for the person."""

    path: Path
    taken_at: int
    userdata_version: int
    notice: str = ""
    stale: bool = False
    verified: bool = True

    def connect(self) -> sqlite3.Connection:
        """A connection that cannot write, to be used in the thread that asks for it."""
        connection = sqlite3.connect(f"{self.path.as_uri()}?mode=ro&immutable=1", uri=True)
        connection.execute("PRAGMA query_only=1")
        connection.execute("PRAGMA cache_size=-65536")
        return connection


@dataclass(frozen=True, slots=True)
class FileState:
    main: Signature
    wal: Signature
    journal: Signature


class SnapshotSource:
    """Takes snapshots of one data directory into a private directory that belongs to this source alone."""

    def __init__(
        self,
        data_dir: Path,
        private_dir: Path,
        clock: Clock,
        *,
        patience: float = PATIENCE_S,
        crash_wait: float = CRASH_WAIT_S,
        zotero_running: Callable[[], bool] = zotero_answers,
    ) -> None:
        self._data_dir = data_dir
        self._main = data_dir / DATABASE
        self._wal = data_dir / f"{DATABASE}-wal"
        self._journal = data_dir / f"{DATABASE}-journal"
        self._private = private_dir.absolute()
        self._clock = clock
        self._patience = patience
        self._crash_wait = crash_wait
        self._zotero_running = zotero_running
        self._last: Snapshot | None = None
        self._seen: FileState | None = None
        self._hot: tuple[FileState, float] | None = None
        self._damaged: FileState | None = None
        self._count = 0

    @property
    def seen(self) -> FileState | None:
        """The state of the files that the last good snapshot was taken from."""
        return self._seen

    def changed(self) -> bool:
        """Whether the files differ from those of the last good snapshot; looks at their times only."""
        return self._seen is None or self.look() != self._seen

    def refresh(
        self, cancelled: Callable[[], bool] = lambda: False, patience: float | None = None
    ) -> Snapshot:
        """A current snapshot, or after some seconds of trying the last good one, marked stale.

        Raises `LibraryUnavailable` where there is nothing readable, and `TakingCancelled`.
        """

        def check() -> None:
            if cancelled():
                raise TakingCancelled

        self._prepare()
        deadline = time.monotonic() + (self._patience if patience is None else patience)
        attempt, notice, missing_since = 0, "", 0.0
        while True:
            check()
            attempt += 1
            try:
                if snapshot := self._attempt(check):
                    return snapshot
            except copycheck.Torn:
                state = self.look()
                if state == self._damaged:
                    notice = "Zotero's database is damaged."
                    break
                self._damaged = state
            except OSError as error:
                if full_disk.is_full(error):  # only what is written can fail so: Zotero's files are fine
                    return self._without_room(error)
                why = error.strerror or "input/output error"
                notice = f"Zotero's database cannot be read just now ({why})."
                if isinstance(error, FileNotFoundError | PermissionError) and self._last is None:
                    break
                if isinstance(error, FileNotFoundError):
                    notice = f"The Zotero library is not there any more ({self._data_dir})."
                    missing_since = missing_since or time.monotonic()
                    deadline = min(deadline, missing_since + SWAP_S)
            if time.monotonic() >= deadline:
                break
            time.sleep(min(1.0, 0.01 * (1 + attempt % 7) if attempt < 100 else 0.01 * attempt))
        return self._fall_back(notice)

    def verify(self, snapshot: Snapshot) -> Snapshot:
        """Check a large first copy that was used unchecked; raises `LibraryUnavailable` if it is damaged."""
        try:
            copycheck.quick_check(snapshot.path)
        except copycheck.Torn:
            self._last = self._seen = None
            raise LibraryUnavailable(
                "Zotero's database is damaged.",
                "Start Zotero, which checks and repairs its database, then read the library again.",
            ) from None
        verified = replace(snapshot, verified=True)
        if self._last == snapshot:
            self._last = verified
        return verified

    # -- one attempt

    def _attempt(self, check: Callable[[], None]) -> Snapshot | None:
        state, taken_at = self.look(), self._clock()
        if state.main is None:
            raise FileNotFoundError(2, "No such file", str(self._main))
        self._count += 1
        target = self._private / f"library-{taken_at}-{self._count}.sqlite"
        accepted = False
        try:
            accepted = self._copy(state, target, check)
            if not accepted:
                return None
            first_and_large = self._last is None and state.main[1] > CHECK_AT_ONCE
            version = copycheck.make_ready(target, full=not first_and_large)
            notice = copycheck.judge_version(version) or copycheck.judge_tables(target)
            snapshot = Snapshot(target, taken_at, version, notice, verified=not first_and_large)
        except BaseException:
            accepted = False
            raise
        finally:
            if not accepted:
                _remove(target)
        self._keep(snapshot, state)
        return snapshot

    def _copy(self, state: FileState, target: Path, check: Callable[[], None]) -> bool:
        """Copy what belongs together; False where it may not belong together."""
        if wal_head := head(self._wal, _WAL_HEAD):
            return self._copy_wal(state, wal_head, target, check)
        if any(head(self._journal, _JOURNAL_HEAD)):
            return self._copy_after_crash(state, target, check)
        self._hot = None
        fine = filesystem.mtime_is_fine(self._main)
        if fine and self._just_written(state):
            return False
        filesystem.copy(self._main, target, check)
        if not fine and not filesystem.same_bytes(self._main, target, check):
            return False
        return (
            signature(self._main) == state.main
            and signature(self._journal) == state.journal
            and not any(head(self._journal, _JOURNAL_HEAD))
            and not head(self._wal, _WAL_HEAD)
        )

    def _copy_wal(self, state: FileState, wal_head: bytes, target: Path, check: Callable[[], None]) -> bool:
        """Main first, then the log.

        A page that a checkpoint writes while main is copied is in the log copied later, as long as the log
        was not restarted, and a restart changes the salts in its header. A torn last frame fails its
        checksum.
        """
        copied = Path(f"{target}-wal")
        filesystem.copy(self._main, target, check)
        filesystem.copy(self._wal, copied, check)
        main = signature(self._main)
        return (
            len(wal_head) == _WAL_HEAD
            and head(self._wal, _WAL_HEAD) == wal_head == head(copied, _WAL_HEAD)
            and main is not None
            and state.main is not None
            and main[0] == state.main[0]
        )

    def _copy_after_crash(self, state: FileState, target: Path, check: Callable[[], None]) -> bool:
        """A journal with content is of a running transaction, or of a crash: SQLite undoes it in the copy."""
        if self._hot is None or self._hot[0] != state:
            self._hot = (state, time.monotonic())
            return False
        if time.monotonic() - self._hot[1] < self._crash_wait or self._zotero_running():
            return False
        filesystem.copy(self._main, target, check)
        filesystem.copy(self._journal, Path(f"{target}-journal"), check)
        return self.look() == state

    def _just_written(self, state: FileState) -> bool:
        newest = max(s[2] for s in (state.main, state.journal) if s)
        return 0 <= time.time_ns() - newest < CLOCK_GRAIN_NS

    def look(self) -> FileState:
        """The state of the files now, to be compared with another look; no content is read."""
        return FileState(signature(self._main), signature(self._wal), signature(self._journal))

    # -- keeping and falling back

    def _fall_back(self, notice: str) -> Snapshot:
        last = self._last
        if last is not None and last.path.exists():
            notice = notice or "Zotero is writing without a pause, so the library is shown as it was."
            return replace(last, stale=True, notice=notice)
        if self.look().main is None:
            check_directory(self._data_dir)
        if notice.endswith("damaged."):
            raise LibraryUnavailable(
                notice, "Start Zotero, which checks and repairs its database, then read the library again."
            )
        if notice:
            raise LibraryUnavailable(
                notice, f"Check that the folder {self._data_dir} can be read, then try again."
            )
        if self._hot is not None:
            raise LibraryUnavailable(
                "Zotero is in the middle of writing to its database.",
                "If Zotero crashed, start and close it once. Otherwise wait a moment, then try again.",
            )
        raise LibraryUnavailable(
            "Zotero is writing to its database without a pause.",
            "That happens during a large import or sync. Wait until it has finished, then try again.",
        )

    def _without_room(self, error: OSError) -> Snapshot:
        """The last good copy where the disk has no room for a new one."""
        try:
            size = sum(s[1] for s in (self.look().main, self.look().wal) if s)
        except OSError:
            size = 0
        said = full_disk.no_room(self._private, size)
        if self._last is not None and self._last.path.exists():
            return replace(self._last, stale=True, notice=said.text)
        raise said from error

    def _prepare(self) -> None:
        try:
            self._private.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._private.chmod(0o700)
        except OSError as error:
            if full_disk.is_full(error):
                raise full_disk.no_room(self._private, 0) from error
            raise LibraryUnavailable(
                f"The folder {self._private} for the copy of the library cannot be used.",
                "Check its permissions and the free space.",
            ) from error
        if self._last is None:
            self._last = self._recall()

    def _keep(self, snapshot: Snapshot, state: FileState) -> None:
        self._last, self._seen, self._damaged = snapshot, state, None
        for path in self._private.glob("library-*.sqlite*"):
            if path.name.partition(".sqlite")[0] != snapshot.path.stem:
                with contextlib.suppress(OSError):  # Windows keeps a file that is still open; next time, then
                    path.unlink()
        record = {
            "data_dir": str(self._data_dir.resolve()),
            "file": snapshot.path.name,
            "taken_at": snapshot.taken_at,
            "userdata_version": snapshot.userdata_version,
            "notice": snapshot.notice,
        }
        with contextlib.suppress(OSError):
            path = self._private / "last.json"
            path.touch(mode=0o600)
            path.chmod(0o600)  # an earlier version left it to the umask
            path.write_text(json.dumps(record), "utf-8")

    def _recall(self) -> Snapshot | None:
        """The last good snapshot of an earlier run, for a start during a long import."""
        try:
            record = json.loads((self._private / "last.json").read_text("utf-8"))
            path = self._private / Path(record["file"]).name
            if record["data_dir"] != str(self._data_dir.resolve()) or not path.is_file():
                return None
            taken_at, version = int(record["taken_at"]), int(record["userdata_version"])
            return Snapshot(path, taken_at, version, str(record["notice"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None


def _remove(target: Path) -> None:
    for suffix in ("", "-wal", "-journal", "-shm"):
        with contextlib.suppress(OSError):
            Path(f"{target}{suffix}").unlink()
