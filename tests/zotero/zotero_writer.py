"""A process that writes to a database as Zotero does: exclusive lock, one transaction after another.

Each transaction changes the titles of two items to its number and adds a tag, so a reader can tell which
state it sees and whether the halves belong together.
"""

from __future__ import annotations

import os
import select
import sqlite3
import sys
import time
from pathlib import Path


def main(path: str, mode: str, pause: str, progress: str, vfs: str = "") -> None:
    where = Path(path).as_uri() + (f"?vfs={vfs}" if vfs else "")
    db = sqlite3.connect(where, isolation_level=None, uri=True)
    db.execute("PRAGMA main.locking_mode=EXCLUSIVE")
    db.execute(f"PRAGMA journal_mode={mode}")
    if mode == "WAL":
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute("PRAGMA wal_autocheckpoint=50")
    (title,) = db.execute("SELECT fieldID FROM fields WHERE fieldName='title'").fetchone()
    rows = db.execute(
        "SELECT itemID FROM itemData WHERE fieldID=? ORDER BY itemID LIMIT 60", (title,)
    ).fetchall()
    first, last = rows[0][0], rows[-1][0]
    number = 0
    while True:
        number += 1
        db.execute("BEGIN IMMEDIATE")
        value = 1_000_000 + number
        db.execute("INSERT INTO itemDataValues (valueID, value) VALUES (?, ?)", (value, f"state {number}"))
        for item in (first, last):
            db.execute("UPDATE itemData SET valueID=? WHERE itemID=? AND fieldID=?", (value, item, title))
        db.execute("DELETE FROM itemDataValues WHERE valueID BETWEEN 1000001 AND ?", (value - 100,))
        filler = f"{number} " + "x" * 3000
        db.execute("INSERT OR REPLACE INTO settings VALUES ('filler', ?, ?)", (number % 40, filler))
        db.execute("COMMIT")
        Path(f"{progress}.new").write_text(str(number), "ascii")
        os.replace(f"{progress}.new", progress)
        if select.select([sys.stdin], [], [], float(pause))[0]:
            break
        if pause != "0":
            time.sleep(0)
    db.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
