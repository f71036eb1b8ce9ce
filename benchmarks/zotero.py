"""Reading a Zotero library: start, load, search, lists, texts, pages and refresh, beside their floors.

Floors are measured in the same run: a plain copy of the file, SQLite's own check of it, and a scan of the
same words in memory. Other programs are measured where their packages are installed. The libraries come from
the generator of the fixtures (`--fixtures DIR`), or are named with `--library DIR`; without either there is
nothing to measure. Run `python benchmarks/zotero.py --items 2000 100000`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path
from statistics import median, quantiles

from bibgenie_desktop.compose import open_library
from bibgenie_desktop.domain.errors import DocumentUnreadable
from bibgenie_desktop.zotero.discovery import check_directory
from bibgenie_desktop.zotero.indexed_search import IndexedSearch
from bibgenie_desktop.zotero.reader import read_contents
from bibgenie_desktop.zotero.search import MetadataIndex, Query
from bibgenie_desktop.zotero.service import ZoteroLibrary
from bibgenie_desktop.zotero.snapshot import SnapshotSource

FIXTURES = Path(__file__).resolve().parents[2] / "shared" / "fixtures"
QUERIES = (
    "sleep spindles",
    "working memory",
    "heat",
    "medieval trade",
    "antibiotic resistance urban",
    "zhang 2015",
    "coral bleaching labour",
    "睡眠",
    "睡",
    "systematic review",
    "public trust",
    "replication",
)
PEERS = {
    "zotero-mcp-server": "zotero_mcp",
    "zotero-cli-ai": "zotero_cli_ai",
    "cli-anything-zotero": "cli_anything_zotero",
    "zurch": "zurch",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--items", type=int, nargs="+", default=[2_000], help="sizes of generated libraries")
    parser.add_argument("--library", type=Path, action="append", default=[], help="a data directory to read")
    parser.add_argument("--fixtures", type=Path, default=FIXTURES, help="folder of the generator")
    parser.add_argument("--runs", type=int, default=5)
    options, _ = parser.parse_known_args()
    missing = [name for name, module in PEERS.items() if find_spec(module) is None]
    if missing:
        print(f"Not installed, so not measured: {', '.join(missing)}.")
    libraries = list(options.library)
    with tempfile.TemporaryDirectory(prefix="bibgenie-bench-") as folder:
        script = options.fixtures / "make_zotero_library.py"
        if not script.exists():
            print(f"No generator in {options.fixtures}: only libraries named with --library are measured.")
        for items in options.items if script.exists() and not libraries else ():
            out = Path(folder) / str(items)
            command = [sys.executable, str(script), "--out", str(out), "--items", str(items)]
            subprocess.run(command, check=True, capture_output=True)
            libraries.append(out / "Zotero")
        for place, data_dir in enumerate(libraries):
            asyncio.run(measure(data_dir, Path(folder) / f"private-{place}", options.runs))


async def measure(data_dir: Path, private: Path, runs: int) -> None:
    database = data_dir / "zotero.sqlite"
    await asyncio.to_thread(private.mkdir, parents=True)
    print(f"\n{data_dir.name}: {database.stat().st_size / 1e6:.1f} MB; ms, lowest / median of {runs}")
    copy = private / "floor.sqlite"
    floor = timed("floor: cp of the file", runs, lambda: shutil.copyfile(database, copy))
    timed("floor: quick_check", 1, lambda: check(copy))
    number = iter(range(1_000))

    def snapshot() -> SnapshotSource:
        source = SnapshotSource(data_dir, private / f"s{next(number)}", now)
        source.refresh()
        return source

    await asyncio.sleep(0.1)
    first = timed("snapshot, with what belongs to it", min(runs, 3), snapshot)
    print(f"    snapshot / cp: {first / floor:.2f}")
    contents = None

    def load() -> None:
        nonlocal contents
        with contextlib.closing(sqlite3.connect(copy)) as connection:
            contents = read_contents(connection)

    timed("all metadata, notes and annotations", min(runs, 3), load)
    assert contents is not None
    memory = MetadataIndex(contents)
    memory.search(Query("warm"))
    per_query("search in memory", lambda q: memory.search(Query(q, limit=20)))
    library = open_library(check_directory(data_dir), private / "own")
    beats: list[float] = []
    watcher = asyncio.ensure_future(heartbeat(beats))
    try:
        await library.ensure_loaded()
        started = time.perf_counter()
        await library._indexing.settled()
        print(f"  index of items, after loading          {1e3 * (time.perf_counter() - started):9.1f}")
        fast = IndexedSearch(library.contents, library._indexing.file)
        await asyncio.to_thread(
            per_query, "search through the index", lambda q: fast.search(Query(q, limit=20))
        )
        await timed_async("first list from the index", runs, lambda: library.newest(100))
        started = time.perf_counter()
        await library.collection_counts()
        await library.tag_counts()
        print(f"  collections and tags counted           {1e3 * (time.perf_counter() - started):9.1f}")
        started = time.perf_counter()
        await library.index_texts()
        spent = time.perf_counter() - started
        size = (private / "own" / "index.sqlite").stat().st_size / 1e6
        print(
            f"  texts of {library.coverage.indexed} files indexed {1e3 * spent:18.1f}   index {size:.1f} MB"
        )
        await timed_async(
            "full text with snippets",
            runs,
            lambda: library.search_texts("sleep memory", "all_words", lambda _: True, 20, 0),
        )
        await pages(library, runs)
        unchanged = library._indexing.file.update_items
        started = time.perf_counter()
        await asyncio.to_thread(unchanged, library.contents, lambda: False)
        print(f"  looking for differences, none there    {1e3 * (time.perf_counter() - started):9.1f}")
    finally:
        watcher.cancel()
        await library.close()
    beats.sort()
    most = beats[-1 - len(beats) // 1000]
    print(f"  event loop held up: longest {1e3 * beats[-1]:.1f}, 99.9 % below {1e3 * most:.1f}")


async def pages(library: ZoteroLibrary, runs: int) -> None:
    """One page each of several PDFs, from a worker that runs already."""
    found = []
    for full_id, attachment in library.contents.attachments.items():
        if attachment.kind == "pdf" and (located := library.attachment(full_id)) and located.path:
            found.append(located.path)
        if len(found) > runs:
            break
    if len(found) < 2:
        return
    await library.documents.page_count(found.pop())
    spent = []
    for path in found:
        started = time.perf_counter()
        with contextlib.suppress(DocumentUnreadable):
            await library.documents.pages_text(path, 0, 0)
            spent.append(1e3 * (time.perf_counter() - started))
    if spent:
        print(f"  {'first page of a PDF, worker running':38} {min(spent):9.1f} / {median(spent):.1f}")


async def heartbeat(beats: list[float]) -> None:
    """How much later than asked the loop comes back, once a millisecond."""
    while True:
        started = time.perf_counter()
        await asyncio.sleep(0.001)
        beats.append(time.perf_counter() - started - 0.001)


def timed(name: str, runs: int, work: Callable[[], object]) -> float:
    spent = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        spent.append(1e3 * (time.perf_counter() - started))
    print(f"  {name:38} {min(spent):9.1f} / {median(spent):.1f}")
    return min(spent)


async def timed_async(name: str, runs: int, work: Callable[[], Awaitable[object]]) -> None:
    spent = []
    for _ in range(runs):
        started = time.perf_counter()
        await work()
        spent.append(1e3 * (time.perf_counter() - started))
    print(f"  {name:38} {min(spent):9.1f} / {median(spent):.1f}")


def per_query(name: str, search: Callable[[str], object]) -> None:
    """Best of three for each query, then the 50th and 95th percentile of the queries."""
    best = []
    for query in QUERIES:
        spent = []
        for _ in range(3):
            started = time.perf_counter()
            search(query)
            spent.append(1e3 * (time.perf_counter() - started))
        best.append(min(spent))
    print(f"  {name:38} {median(best):9.1f} p50 / {quantiles(best, n=20)[-1]:.1f} p95")


def check(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA quick_check(1)").fetchall()


def now() -> int:
    return time.time_ns() // 1_000_000


if __name__ == "__main__":
    main()
