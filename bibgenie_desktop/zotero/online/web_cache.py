"""The private file in which a web library is kept: what was fetched, up to which version, for which account.

What arrives is stored a page a transaction, apart from the tables, so that nothing of it is lost when it
breaks off; a library's tables change only by `finish`, from one complete state to the next. Readers see a
copy of the tables, made by `published`. Everything here blocks.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.zotero.online import web_tables
from bibgenie_desktop.zotero.online.web_arriving import Arriving
from bibgenie_desktop.zotero.online.web_tables import Kind, Writer

FILE: Final = "web.sqlite"
FILES: Final = "storage"
"""Where downloaded files lie, laid out as in Zotero's own directory."""
NEW: Final = ".sqlite.new"
"""How the names of copies end that are being made."""
_OURS: Final = ("library-*.sqlite*", "index.sqlite*")


@dataclass(frozen=True, slots=True)
class Account:
    """Whose library it is. `synced_at`: when it was last known to be complete, 0 if it never was."""

    user_id: int
    name: str
    synced_at: int = 0


@dataclass(frozen=True, slots=True)
class CachedLibrary:
    """`u` or `g<groupID>`, and the version up to which all of it was fetched, if it was."""

    id: str
    name: str
    row: int
    version: int
    complete: bool


class WebCache:
    """The file in `folder`, made when first needed, for this person only. One thread at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._db: sqlite3.Connection | None = None

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    # -- whose it is, and how far it is

    def account(self) -> Account | None:
        """None while nothing was fetched for anybody; makes no file."""
        if self._db is None and not (self.folder / FILE).is_file():
            return None
        row = self._open().execute("SELECT userID, name, synced FROM account").fetchone()
        return Account(int(row[0]), str(row[1]), int(row[2])) if row else None

    def use_account(self, user_id: int, name: str) -> None:
        """The cache is of this account from now on; everything of another one goes."""
        known = self.account()
        if known is not None and known.user_id != user_id:
            self.clear()
        with self.transaction() as db:
            db.execute(
                "INSERT INTO account (userID, name) VALUES (?, ?)"
                " ON CONFLICT (userID) DO UPDATE SET name = excluded.name",
                (user_id, name),
            )

    def libraries(self) -> tuple[CachedLibrary, ...]:
        sql = (
            "SELECT l.id, coalesce(g.name, ''), l.libraryID, l.version, l.complete FROM libraries l"
            " LEFT JOIN groups g USING (libraryID) ORDER BY l.libraryID"
        )
        rows = self._open().execute(sql)
        return tuple(
            CachedLibrary(id, name, row, version, bool(all_)) for id, name, row, version, all_ in rows
        )

    def use_libraries(self, names: Sequence[tuple[str, str]]) -> tuple[CachedLibrary, ...]:
        """Exactly these libraries, by id and name: new ones are empty, the others of the file are removed."""
        with self.transaction() as db:
            wanted = dict(names)
            for known in self.libraries():
                if known.id not in wanted:
                    db.execute("DELETE FROM libraries WHERE libraryID = ?", (known.row,))
            for id, name in names:
                kind = "user" if id == "u" else "group"
                db.execute("INSERT OR IGNORE INTO libraries (type, id) VALUES (?, ?)", (kind, id))
                if kind == "group":
                    db.execute(
                        "INSERT OR REPLACE INTO groups SELECT ?, libraryID, ? FROM libraries WHERE id = ?",
                        (int(id[1:]), name, id),
                    )
        return self.libraries()

    def finish(
        self,
        library: CachedLibrary,
        version: int,
        kept: Mapping[Kind, Collection[str]],
        gone: Mapping[Kind, Iterable[str]],
        gone_settings: Iterable[str] = (),
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """All of this library up to a version has arrived: in one step it is what is shown.

        Of what arrived the objects count that are `kept`; what `check` raises leaves the state before.
        """
        with self.transaction() as db:
            writer = Writer(db, library.row)
            Arriving(db, library.row).settle(writer, kept, check)
            for kind, keys in gone.items():
                writer.drop(kind, keys)
            for name in gone_settings:
                writer.drop_setting(name)
            sql = "UPDATE libraries SET version = ?, complete = 1 WHERE libraryID = ?"
            db.execute(sql, (version, library.row))

    def set_synced(self, now: int) -> None:
        """All libraries are complete."""
        with self.transaction() as db:
            db.execute("UPDATE account SET synced = ?", (now,))
        db = self._open()
        free, pages = (
            int(db.execute(f"PRAGMA {of}").fetchone()[0]) for of in ("freelist_count", "page_count")
        )
        if free * 2 > pages:  # a first run has just moved everything from one place to another
            with contextlib.suppress(sqlite3.Error):  # no space to spare for it
                db.execute("VACUUM")

    def mark(self) -> str:
        """The name of the complete state of each library; what is half fetched does not count."""
        known = [library for library in self.libraries() if library.complete]
        versions = [f"{library.id}:{library.version}:{library.name}" for library in known]
        text = "\n".join((str(web_tables.LAYOUT), *versions))
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]

    # -- writing

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of the block, or nothing."""
        db = self._open()
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")

    @contextlib.contextmanager
    def writing(self, library: CachedLibrary) -> Iterator[Writer]:
        """A transaction that writes objects of a library into its tables."""
        with self.transaction() as db:
            yield Writer(db, library.row)

    @contextlib.contextmanager
    def arriving(self, library: CachedLibrary) -> Iterator[Arriving]:
        """A transaction that stores what arrives of a library's next state."""
        with self.transaction() as db:
            yield Arriving(db, library.row)

    def versions(self, library: CachedLibrary, kind: Kind) -> dict[str, int]:
        """Of the objects that are in the tables."""
        return Writer(self._open(), library.row).versions(kind)

    def fetched(self, library: CachedLibrary, kind: Kind) -> dict[str, int]:
        """The newest versions that are here, in the tables or arrived."""
        return self.versions(library, kind) | Arriving(self._open(), library.row).versions(kind)

    def setting_names(self, library: CachedLibrary) -> set[str]:
        return Writer(self._open(), library.row).setting_names()

    def published(self) -> Path:
        """The copy of the libraries' last complete states that readers get, made if there is none yet."""
        target = (self.folder / f"library-{self.mark()}.sqlite").absolute()
        if target.is_file():
            return target
        unfinished: Path | None = None
        try:
            handle, name = tempfile.mkstemp(prefix="library-", suffix=NEW, dir=self.folder)
            os.close(handle)
            unfinished = Path(name)
            self._open().execute("VACUUM INTO ?", (name,))
            _only_complete(unfinished)
            unfinished.replace(target)
        except (OSError, sqlite3.Error) as error:
            if unfinished is not None:
                unfinished.unlink(missing_ok=True)
            raise unusable(self.folder) from error
        return target

    def clear(self) -> None:
        """Nothing of what was fetched stays, files and search index included."""
        self.close()
        for pattern in (f"{FILE}*", *_OURS):
            for path in self.folder.glob(pattern):
                with contextlib.suppress(OSError):
                    path.unlink()
        shutil.rmtree(self.folder / FILES, ignore_errors=True)

    # -- the file

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            try:
                self._db = self._opened()
            except (OSError, sqlite3.Error) as error:
                raise unusable(self.folder) from error
        return self._db

    def _opened(self) -> sqlite3.Connection:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        path = self.folder / FILE
        if path.exists() and not _is_ours(path):
            self.clear()  # of another version of this application, or damaged: it is fetched again
        if not path.exists():
            self._make(path)
        # Used by one thread after another, never by two at a time.
        db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute("PRAGMA foreign_keys=ON")
        return db

    def _make(self, path: Path) -> None:
        """An empty file with all tables, there in one step."""
        unfinished = path.with_suffix(".new")
        unfinished.unlink(missing_ok=True)
        os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with contextlib.closing(sqlite3.connect(unfinished, isolation_level=None)) as db:
            web_tables.create(db)
        unfinished.replace(path)


def _only_complete(copy: Path) -> None:
    """Takes out of a copy what has arrived of libraries that are not complete."""
    with contextlib.closing(sqlite3.connect(copy, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=OFF")  # a copy that is not finished is thrown away
        db.execute("PRAGMA foreign_keys=ON")
        half = "SELECT EXISTS (SELECT 1 FROM arriving) OR EXISTS (SELECT 1 FROM libraries WHERE NOT complete)"
        if db.execute(half).fetchone()[0]:
            db.execute("DELETE FROM arriving")
            db.execute("DELETE FROM libraries WHERE NOT complete")
            db.execute("VACUUM")


def stored_file(database: Path, library: str, key: str) -> tuple[str, int]:
    """(MD5, bytes) of an attachment's file as the server knows it, out of a published state."""
    sql = (
        "SELECT a.storageHash, a.fileSize FROM itemAttachments a JOIN items i USING (itemID)"
        " JOIN libraries l USING (libraryID) WHERE l.id = ? AND i.key = ?"
    )
    with contextlib.closing(sqlite3.connect(f"{database.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        row = db.execute(sql, (library, key)).fetchone()
    return (str(row[0] or ""), int(row[1] or 0)) if row else ("", 0)


def unusable(folder: Path) -> LibraryUnavailable:
    return LibraryUnavailable(
        f"The folder {folder} for the web library cannot be used.",
        "Check its permissions and the free space.",
    )


def _is_ours(path: Path) -> bool:
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True)) as db:
            row = db.execute("SELECT version FROM version WHERE schema = 'bibgenie-web'").fetchone()
            sound = db.execute("PRAGMA quick_check(1)").fetchone()
            return bool(row == (web_tables.LAYOUT,) and sound == ("ok",))
    except sqlite3.Error:
        return False
