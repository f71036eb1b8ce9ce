"""What an index holds, for those who only ask: from any process, without changing or locking anything."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from bibgenie_desktop.zotero.index import schema as index_schema
from bibgenie_desktop.zotero.index.texts_file import TextsFile


@dataclass(frozen=True, slots=True)
class IndexReport:
    """`taken_at` is when the indexed state was taken, in UTC milliseconds; 0 where there is no index."""

    items: int = 0
    taken_at: int = 0
    whole_at: int = 0
    """When everything was read last; since then only what changed."""
    texts: int = 0
    without_text: int = 0
    bytes: int = 0


def index_report(folder: Path) -> IndexReport:
    """Of the newest complete index in a private folder."""
    texts, without = TextsFile(folder).counted()
    size = sum(p.stat().st_size for p in (*folder.glob("index-*.sqlite"), *folder.glob("texts.sqlite")))
    for path in sorted(folder.glob("index-*.sqlite"), key=lambda p: p.stat().st_mtime_ns, reverse=True):
        uri = f"{path.absolute().as_uri()}?mode=ro"
        try:
            with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=2)) as db:
                facts = index_schema.facts(db)
                if facts.get("complete") != "yes" or facts.get("version") != index_schema.VERSION:
                    continue
                (items,) = db.execute("SELECT count(*) FROM item").fetchone()
        except sqlite3.Error:
            continue
        return IndexReport(int(items), int(facts["taken_at"]), int(facts["whole_at"]), texts, without, size)
    return IndexReport(texts=texts, without_text=without, bytes=size)
