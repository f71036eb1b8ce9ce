"""An index of what messages say, in a file of its own that can be thrown away and made anew.

Any part of a word is found, in every script: the index holds sequences of three characters, and shorter words
are looked for one by one. Upper and lower case and accents make no difference.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path as FilePath

from bibgenie_desktop.domain.errors import StoreUnavailable
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.storage.connection import Connection

VERSION = 1
INDEXED = 3
"""Characters of the shortest word that the index knows."""
AROUND = 60
"""Characters of a message shown on each side of what was found."""


class TextIndex:
    """Belongs to the thread that made it. A file that cannot be read is replaced by an empty one."""

    def __init__(self, path: FilePath) -> None:
        _touch(path)
        try:
            self._db = _prepared(path)
        except StoreUnavailable:
            for end in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    path.with_name(path.name + end).unlink()
            _touch(path)
            self._db = _prepared(path)
        self.known = {MessageId(str(i)) for (i,) in self._db.rows("SELECT id FROM said")}

    def close(self) -> None:
        self._db.close()

    def add(self, texts: Iterable[tuple[MessageId, str]]) -> None:
        added = []
        with self._db.writing():
            for message_id, text in texts:
                if message_id in self.known:
                    continue
                row = (folded(text), text, message_id)
                self._db.run("INSERT INTO said (folded, text, id) VALUES (?, ?, ?)", *row)
                added.append(message_id)
        self.known.update(added)

    def remove(self, message_ids: Iterable[MessageId]) -> None:
        """Their words are overwritten in the file as well."""
        gone = set(message_ids)
        if not gone:
            return
        with self._db.writing():
            rows = self._db.rows("SELECT rowid, id FROM said")
            for row, message_id in rows:
                if message_id in gone:
                    self._db.run("DELETE FROM said WHERE rowid = ?", row)
            self._db.run("INSERT INTO said (said) VALUES ('optimize')")
        self._db.run("PRAGMA wal_checkpoint(TRUNCATE)")
        self.known -= gone

    def find(self, words: str, most: int) -> tuple[tuple[MessageId, str], ...]:
        """Messages that have all of the words, the newest first, each with a piece of its text."""
        wanted = folded(words).split()
        if not wanted:
            return ()
        quoted = ('"{}"'.format(word.replace('"', '""')) for word in wanted if len(word) >= INDEXED)
        known = " AND ".join(quoted)
        short = [word for word in wanted if len(word) < INDEXED]
        conditions = ["said MATCH ?"] * bool(known) + ["instr(folded, ?) > 0"] * len(short)
        rows = self._db.rows(
            f"SELECT id, text FROM said WHERE {' AND '.join(conditions)} ORDER BY id DESC LIMIT ?",
            *([known] if known else []),
            *short,
            most,
        )
        return tuple((MessageId(str(i)), piece(str(text), wanted)) for i, text in rows)


def _touch(path: FilePath) -> None:
    """The file is this person's alone from its first byte on."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreUnavailable(
            "The index of messages cannot be written.", f"{path}: {error.strerror}"
        ) from error


def _prepared(path: FilePath) -> Connection:
    db = Connection(path)
    try:
        if db.value("PRAGMA user_version") != VERSION:
            with db.writing():
                db.run("DROP TABLE IF EXISTS said")
                db.run(
                    "CREATE VIRTUAL TABLE said USING fts5 "
                    "(folded, text UNINDEXED, id UNINDEXED, tokenize = 'trigram case_sensitive 1')"
                )
                db.run(f"PRAGMA user_version = {VERSION}")
        db.run("PRAGMA secure_delete = 1")
        db.rows("SELECT count(*) FROM said")
    except BaseException:
        db.close()
        raise
    return db


def folded(text: str) -> str:
    """Text for comparing: without case, accents and the width of characters."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in plain if not unicodedata.combining(c)).replace("\0", " ")


def piece(text: str, words: Sequence[str]) -> str:
    """What stands around the first of the words, on one line."""
    plain = folded(text)
    at = min((place for word in words if (place := plain.find(word)) >= 0), default=0)
    at = at * len(text) // max(1, len(plain))  # folding may make it longer or shorter, by little
    start, end = max(0, at - AROUND // 2), at + AROUND
    shown = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{shown}{'…' if end < len(text) else ''}"
