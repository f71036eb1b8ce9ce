"""What BibGenie needs for each task on a library, each in a process as a start of the application has it.

Prints one line of JSON. Arguments: what to do, Zotero's data directory, a private folder, how often, a JSON
file of queries, the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from _stalls import Late, Stalls
from _zotero_floors import pages_in_process

from bibgenie_desktop.compose.libraries import open_library
from bibgenie_desktop.domain.errors import DocumentUnreadable
from bibgenie_desktop.zotero.index.search import MetadataIndex, Query
from bibgenie_desktop.zotero.local.discovery import check_directory
from bibgenie_desktop.zotero.local.reader import read_contents
from bibgenie_desktop.zotero.service import ZoteroLibrary


def lateness(beats: list[Late]) -> dict[str, float]:
    """The worst beat, what held it, and how late all but one in a hundred were."""
    if not beats:
        return {}
    worst = max(beats, key=lambda b: b.whole)
    late = sorted(b.whole for b in beats)
    ours = max(b.ours for b in beats)
    return {
        **{"max": worst.whole, "work": worst.work, "lock": worst.lock, "machine": worst.machine},
        **{"ours": ours, "p99": late[int(len(late) * 0.99)], "beats": len(late)},
    }


def private_mb() -> float:
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text("ascii").splitlines()
        return int(next(line for line in lines if line.startswith("RssAnon")).split()[1]) / 1024
    return 0.0


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await work()
    return 1e3 * (time.perf_counter() - started)


async def first(library: ZoteroLibrary) -> dict[str, Any]:
    """The very first start: nothing is there yet."""
    started = time.perf_counter()
    loading = asyncio.ensure_future(library.ensure_loaded())
    await asyncio.sleep(0)
    rows = await library.newest(100)
    shown = 1e3 * (time.perf_counter() - started)
    await loading
    return {"list": shown, "rows": len(rows), "loaded": 1e3 * (time.perf_counter() - started)}


async def later(library: ZoteroLibrary) -> dict[str, Any]:
    """A later start, with the figures of one search and of both lists."""
    shown = await timed(lambda: library.newest(100))
    loaded = await timed(library.ensure_loaded)
    lists = await timed(library.collection_counts) + await timed(library.tag_counts)
    again = await timed(library.collection_counts) + await timed(library.tag_counts)
    return {"list": shown, "loaded": loaded, "lists": min(lists, again), "private_mb": private_mb()}


async def searches(library: ZoteroLibrary, queries: list[str]) -> dict[str, Any]:
    await library.ensure_loaded()
    await library.search(Query("warm"))
    best, hits = [], []
    for query in queries:
        spent = []
        for _ in range(3):
            started = time.perf_counter()
            found = await library.search(Query(query, limit=20))
            spent.append(1e3 * (time.perf_counter() - started))
        best.append(min(spent))
        hits.append(found.total)
    return {"ms": best, "hits": hits}


async def texts(library: ZoteroLibrary, queries: list[str], folder: Path) -> dict[str, Any]:
    await library.ensure_loaded()
    spent = await timed(library.index_texts)
    characters, words = await asyncio.to_thread(sizes, folder / "texts.sqlite")
    best = []
    for query in queries:
        runs = [
            await timed(lambda q=query: library.search_texts(q, "all_words", lambda _: True, 20, 0))  # type: ignore[misc]
            for _ in range(3)
        ]
        best.append(min(runs))
    coverage = library.coverage
    return {
        "ms": best,
        "index_ms": spent,
        "characters": characters,
        "words_bytes": words,
        "files": coverage.indexed,
    }


def sizes(file: Path) -> tuple[int, int]:
    with contextlib.closing(sqlite3.connect(file)) as db:
        (characters,) = db.execute("SELECT total(chars) FROM document WHERE source <> 'file'").fetchone()
        (words,) = db.execute("SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'document_words%'").fetchone()
    return characters, words


async def pages(library: ZoteroLibrary, data_dir: Path) -> dict[str, Any]:
    """Pages of a PDF file from a worker that has it open, and after the worker was killed.

    `alone` is PDFium in this process, in turns with the worker, so that both meet the same machine.
    """
    path = data_dir / "bench.pdf"
    documents = library.documents
    await documents.page_count(path)
    warm, alone = [], []
    for _ in range(5):
        alone += await asyncio.to_thread(pages_in_process, path)
        for number in range(10):
            warm.append(await timed(lambda n=number: documents.ask(path, text_of(n))))  # type: ignore[misc]
    killed = []
    for number in range(3):
        documents._kill()
        with contextlib.suppress(DocumentUnreadable):  # the question that finds it dead
            await documents.ask(path, text_of(number))
        documents._kill()
        await asyncio.sleep(0.05)
        killed.append(await timed(lambda n=number: answered(documents, path, n)))  # type: ignore[misc]
    return {"warm": warm, "alone": alone, "killed": killed}


def text_of(page: int) -> dict[str, Any]:
    return {"op": "text", "first": page, "last": page}


async def answered(documents: Any, path: Path, page: int) -> None:
    try:
        await documents.ask(path, text_of(page))
    except DocumentUnreadable:
        await documents.ask(path, text_of(page))


async def changes(library: ZoteroLibrary, data_dir: Path) -> dict[str, Any]:
    """Ten changed items: six titles, two tags, two memberships of collections, one of them without a date."""
    await library.ensure_loaded()
    await asyncio.to_thread(change_ten, data_dir / "zotero.sqlite")  # Zotero does this in another program
    source = library._loading._source
    take, copying = source.take, []

    def timed_take(*arguments: Any) -> Any:
        started = time.perf_counter()
        try:
            return take(*arguments)
        finally:
            copying.append(1e3 * (time.perf_counter() - started))

    source.take = timed_take  # type: ignore[method-assign]
    whole = await timed(library.refresh)
    found = (await library.search(Query("marmotology"))).total
    return {"whole": whole, "copy": sum(copying), "found": found}


def change_ten(database: Path) -> None:
    with contextlib.closing(sqlite3.connect(database)) as db, db:
        db.execute("PRAGMA foreign_keys=OFF")
        ids = [
            row
            for (row,) in db.execute(
                "SELECT itemID FROM items JOIN itemTypes USING (itemTypeID) WHERE typeName = 'journalArticle'"
                " ORDER BY itemID LIMIT 10 OFFSET 500"
            )
        ]
        (field,) = db.execute("SELECT fieldID FROM fields WHERE fieldName = 'title'").fetchone()
        for number, item in enumerate(ids):
            if number < 6:
                title = f"Marmotology {number} of {time.time_ns()}"
                value = db.execute("INSERT INTO itemDataValues (value) VALUES (?)", (title,)).lastrowid
                db.execute(
                    "UPDATE itemData SET valueID = ? WHERE itemID = ? AND fieldID = ?", (value, item, field)
                )
            elif number < 8:
                db.execute("INSERT OR IGNORE INTO itemTags VALUES (?, 1, 0)", (item,))
            else:
                db.execute(
                    "INSERT OR IGNORE INTO collectionItems (collectionID, itemID) VALUES (1, ?)", (item,)
                )
            if number < 9:
                db.execute(
                    "UPDATE items SET clientDateModified = datetime('now'), version = version + 1"
                    " WHERE itemID = ?",
                    (item,),
                )


def read_all(database: Path, runs: int) -> dict[str, Any]:
    """All tables into values in memory, as a library that cannot be indexed is read."""
    spent = []
    for _ in range(runs):
        with contextlib.closing(sqlite3.connect(f"{database.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
            started = time.perf_counter()
            contents = read_contents(db)
            spent.append(1e3 * (time.perf_counter() - started))
    return {"ms": spent, "items": len(contents.items), "private_mb": private_mb()}


async def in_memory(library: ZoteroLibrary, queries: list[str]) -> dict[str, Any]:
    """What looking at every item finds: the hits that an index must find too."""
    await library.ensure_loaded()
    plain = MetadataIndex(library.contents)
    plain.search(Query("warm"))
    ms, hits = [], []
    for query in queries:
        started = time.perf_counter()
        hits.append(plain.search(Query(query, limit=20)).total)
        ms.append(1e3 * (time.perf_counter() - started))
    return {"ms": ms, "hits": hits}


async def run(task: str, data_dir: Path, private: Path, runs: int, queries: list[str]) -> dict[str, Any]:
    if task == "first":
        shutil.rmtree(private, ignore_errors=True)
    library = open_library(check_directory(data_dir), private)
    stalls = Stalls(trace="STALLS" in os.environ)
    await asyncio.sleep(0.05)
    stalls.take()
    try:
        match task:
            case "idle":
                await asyncio.sleep(2)
                result: dict[str, Any] = {}
            case "first":
                result = await first(library)
            case "later":
                result = await later(library)
            case "search":
                result = await searches(library, queries)
            case "memory":
                result = await in_memory(library, queries)
            case "texts":
                result = await texts(library, queries, private)
            case "pages":
                stalls.stop()  # a thousand beats a second cost as much as handing a page over
                result = await pages(library, data_dir)
            case _:
                result = await changes(library, data_dir)
        return {**result, "late": lateness(stalls.take())}
    finally:
        stalls.stop()
        await library.close()


def main() -> None:
    task, data_dir, private, runs, queries, loop = sys.argv[1:7]
    if task == "read":
        print(json.dumps(read_all(Path(data_dir) / "zotero.sqlite", int(runs))))
        return
    asked = json.loads(Path(queries).read_text("utf-8"))
    work = run(task, Path(data_dir), Path(private), int(runs), asked)
    if loop == "qt":
        from PySide6.QtWidgets import QApplication

        from bibgenie_desktop.gui.collector import Collector
        from bibgenie_desktop.gui.loop import event_loop
        from bibgenie_desktop.gui.turns import short_turns

        application = QApplication.instance() or QApplication([])
        short_turns()
        collector = Collector()
        collector.start()
        with asyncio.Runner(loop_factory=lambda: event_loop(application)) as runner:
            print(json.dumps(runner.run(work)))
    else:
        print(json.dumps(asyncio.run(work)))


if __name__ == "__main__":
    main()
