"""The index of one library over its whole life: recalled at a start, brought up to a new state, made anew.

It lies in the private folder and can be deleted at any time. One thread calls `recall` and `bring_up`;
contents that were handed out stay readable as they were, however often the index moves on.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from bibgenie_desktop.domain.ids import Clock
from bibgenie_desktop.zotero.index import build as index_build
from bibgenie_desktop.zotero.index import changes as index_changes
from bibgenie_desktop.zotero.index import schema as index_schema
from bibgenie_desktop.zotero.index.briefs import Brief, newest_in_index
from bibgenie_desktop.zotero.index.indexed_contents import damaged, indexed_contents
from bibgenie_desktop.zotero.index.process import BuildFailed, build_apart
from bibgenie_desktop.zotero.index.state import IndexState
from bibgenie_desktop.zotero.local.better_bibtex import BetterBibtex
from bibgenie_desktop.zotero.local.reader import read_frame, read_some, readable_tables
from bibgenie_desktop.zotero.model.library import Contents
from bibgenie_desktop.zotero.source import LibrarySource, Taken

log = logging.getLogger(__name__)

APART: Final = 6_000
"""Rows of `items` from which on an index is made in a process of its own: starting one takes 0.2 s."""
WHOLE_AFTER_MS: Final = 24 * 3_600_000
"""Once a day everything is read, whatever Zotero's dates say."""
_GOOD: Final = {"version": index_schema.VERSION, "complete": "yes"}
DAMAGED: Final = "The index of the library was damaged and has been made anew."
Progress = Callable[[int, int], None]


class LibraryIndex:
    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._path: Path | None = None
        self._facts: dict[str, str] = {}
        self.notice = ""
        """Something about the index itself that the person may want to know."""

    def recall(self, source: LibrarySource) -> tuple[Taken, Contents] | None:
        """The newest complete index of an earlier run, if it is of this source."""
        for path in (*self._folder.glob("index-*.part"), self._folder / "index.sqlite"):
            index_schema.remove(path)  # what was not finished, and what older versions made
        for path in self._files():
            try:
                contents = self._opened(path)
                taken = _taken_of(self._facts)
            except (sqlite3.Error, ValueError, KeyError, OSError):
                self._path = None
                if _finished(path):
                    self.notice = DAMAGED
                index_schema.remove(path)
                continue
            if self._facts["source"] != str(source.data_dir.absolute()):
                self._path = None
                continue
            return taken, contents
        return None

    def glance(self, source: LibrarySource, limit: int) -> tuple[Brief, ...]:
        """The items changed last as an earlier run left them, without taking up anything else."""
        for path in self._files():
            try:
                with contextlib.closing(
                    sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
                ) as db:
                    facts = index_schema.facts(db, "version", "complete", "source")
                    if facts == {**_GOOD, "source": str(source.data_dir.absolute())}:
                        return newest_in_index(db, limit)
            except sqlite3.Error:
                continue
        return ()

    def bring_up(
        self,
        source: LibrarySource,
        taken: Taken,
        before: Contents | None,
        progress: Progress,
        cancelled: Callable[[], bool],
    ) -> Contents:
        """The contents of a state, through the index.

        Raises `LibraryUnavailable` for senseless tables, `TakingCancelled`; and `sqlite3.Error` or `OSError`
        where no index can be made.
        """
        facts = self._new_facts(source, taken)
        if taken.database is not None and self._path is not None and not damaged(before):
            try:
                if self._changed(taken.database, facts, taken):
                    return self._opened(self._path)
            except (sqlite3.Error, ValueError, KeyError) as error:
                log.warning("the index is made anew: %s", type(error).__name__)
                self.notice = DAMAGED
        if damaged(before):
            self.notice = DAMAGED
        number = max((_number(p) for p in self._files()), default=0) + 1
        target = self._folder / f"index-{number}.sqlite"
        facts["whole_at"] = str(self._clock())
        if taken.database is None:
            index_build.build_from_contents(target, source.read(taken, before), facts, cancelled)
        elif _rows(taken.database) < APART:
            self._build(target, taken, facts, progress, cancelled)
        else:
            try:
                quiet = before is not None
                build_apart(target, taken.database, taken.keys_in, facts, progress, cancelled, quiet=quiet)
            except BuildFailed as error:
                log.warning("the index is made in this process: %s", error)
                self._build(target, taken, facts, progress, cancelled)
        contents = self._opened(target)
        for path in self._files():
            if path != target:
                index_schema.remove(path)
        return contents

    def restate(self, taken: Taken) -> None:
        """Keep a newer mark and time for contents that did not change."""
        if self._path is None:
            return
        with contextlib.suppress(sqlite3.Error), contextlib.closing(index_schema.connect(self._path)) as db:
            index_schema.set_facts(db, _facts_of(taken))

    def _build(
        self,
        target: Path,
        taken: Taken,
        facts: dict[str, str],
        progress: Progress,
        cancelled: Callable[[], bool],
    ) -> None:
        assert taken.database is not None
        keys = self._keys(taken)
        index_build.build(target, taken.database, keys.keys() if keys else {}, facts, progress, cancelled)

    def _changed(self, database: Path, facts: dict[str, str], taken: Taken) -> bool:
        """Write what differs into the present index; False where it is better made anew."""
        assert self._path is not None
        known = self._facts
        whole_at = int(known["whole_at"])
        if any(known.get(n) != facts[n] for n in ("source", "userdata", "keys")) or "names" not in known:
            return False
        if not 0 <= self._clock() - whole_at < WHOLE_AFTER_MS:
            return False
        keys = self._keys(taken)
        with (
            contextlib.closing(index_schema.connect(self._path)) as db,
            contextlib.closing(index_build.opened(database)) as zotero,
        ):
            frame = read_frame(zotero)

            def read(rows: Iterable[int]) -> tuple[Contents, dict[str, int]]:
                return read_some(zotero, keys.keys() if keys else {}, list(rows))

            with index_changes.beside(db, database):
                db.execute("BEGIN IMMEDIATE")
                try:
                    count = index_changes.apply(
                        db, frame, read, lambda f: index_build.with_relations(f, db, zotero)
                    )
                    index_schema.set_facts(db, facts)
                except index_changes.TooMuch:
                    db.execute("ROLLBACK")
                    return False
                except BaseException:
                    db.execute("ROLLBACK")
                    raise
                db.execute("COMMIT")
        log.info("the index was brought up to date: %s items", count)
        return True

    def _opened(self, path: Path) -> Contents:
        state = IndexState(path)
        contents = indexed_contents(state)
        self._path, self._facts = path, state.facts
        return contents

    def _files(self) -> list[Path]:
        """The newest first."""
        return sorted(self._folder.glob("index-*.sqlite"), key=_number, reverse=True)

    def _keys(self, taken: Taken) -> BetterBibtex | None:
        return BetterBibtex(taken.keys_in, self._folder) if taken.keys_in is not None else None

    def _new_facts(self, source: LibrarySource, taken: Taken) -> dict[str, str]:
        keys = self._keys(taken)
        return {
            **_facts_of(taken),
            "source": str(source.data_dir.absolute()),
            "keys": repr(keys.signature() if keys else None),
        }


def _facts_of(taken: Taken) -> dict[str, str]:
    return {
        "mark": taken.mark,
        "taken_at": str(taken.taken_at),
        "userdata": str(taken.version),
        "notice": taken.notice,
        "lasting": "yes" if taken.lasting else "",
    }


def _taken_of(facts: dict[str, str]) -> Taken:
    mark = facts["mark"] if facts["lasting"] else ""
    return Taken(mark, int(facts["taken_at"]), int(facts["userdata"]), facts["notice"])


def _finished(path: Path) -> bool:
    """Whether a file that cannot be opened was complete once: one of another version is no damage."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            return index_schema.facts(db).get("version") == index_schema.VERSION
    except sqlite3.OperationalError:
        return False
    except sqlite3.DatabaseError:
        return True


def _rows(database: Path) -> int:
    with readable_tables(), contextlib.closing(index_build.opened(database)) as zotero:
        (count,) = zotero.execute("SELECT count(*) FROM items").fetchone()
        return int(count)


def _number(path: Path) -> int:
    digits = path.stem.partition("-")[2]
    return int(digits) if digits.isdigit() else 0
