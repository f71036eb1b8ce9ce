"""Reading a Zotero library beside other programs and the least each task can cost, as ratios of one run.

The libraries come from the generator of the fixtures (`--fixtures DIR`), or are copies of those named with
`--library DIR`. Other programs are measured where their virtual environments are (`--peers DIR`, one folder
for each named as on PyPI):

    for p in zotero-mcp-server zotero-cli-ai cli-anything-zotero; do
        python -m venv PEERS/$p && PEERS/$p/bin/pip install $p; done
    python benchmarks/zotero.py --items 100000 --peers PEERS
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import _zotero_floors as floors

from bibgenie_desktop.zotero.local.snapshot import SnapshotSource

ROOT = Path(__file__).resolve().parents[1]
FIXTURES = ROOT.parent / "shared" / "fixtures"
PEERS = ("zotero-mcp-server", "zotero-cli-ai", "cli-anything-zotero")
SLOW_QUERIES = 12
"""Queries that other programs are asked; ours are asked all of them."""


@dataclass(frozen=True)
class Row:
    """One target: what is divided by what, and how small the ratio has to be."""

    name: str
    ours: float
    other: float | None
    against: str
    must: float
    stretch: float
    unit: str = "ms"

    def __str__(self) -> str:
        if self.other is None:
            return f"| {self.name} | {self.ours:.1f} {self.unit} | not measured | {self.against} | | |"
        ratio = self.ours / self.other
        verdict = "stretch" if ratio <= self.stretch else "must" if ratio <= self.must else "**missed**"
        return (
            f"| {self.name} | {self.ours:.1f} {self.unit} | {self.other:.1f} | {self.against}"
            f" | {ratio:.3f} of {self.must:.3f} / {self.stretch:.3f} | {verdict} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--items", type=int, nargs="+", default=[2_000], help="sizes of generated libraries")
    parser.add_argument("--library", type=Path, action="append", default=[], help="a data directory to copy")
    parser.add_argument("--fixtures", type=Path, default=FIXTURES, help="folder of the generator")
    parser.add_argument("--peers", type=Path, help="folder with a virtual environment for each program")
    parser.add_argument("--loop", choices=("asyncio", "qt"), default="qt", help="the event loop to watch")
    parser.add_argument("--megabytes", type=float, default=40, help="texts that are made for the full text")
    parser.add_argument("--runs", type=int, default=5)
    options, _ = parser.parse_known_args()
    where = "/var/tmp" if sys.platform == "linux" else None  # a real file system, not memory
    with tempfile.TemporaryDirectory(prefix="bibgenie-bench-", dir=where) as folder:
        for data_dir in libraries(options, Path(folder)):
            print("\n".join(Run(data_dir, Path(folder), options).report()), flush=True)


def libraries(options: argparse.Namespace, folder: Path) -> list[Path]:
    script = options.fixtures / "make_zotero_library.py"
    found = []
    for place, library in enumerate(options.library):
        target = folder / f"given-{place}" / "Zotero"
        shutil.copytree(library, target)
        found.append(target)
    if not found and not script.exists():
        print(f"No generator in {options.fixtures}: name a library with --library.")
    for items in options.items if not found and script.exists() else ():
        out = folder / str(items)
        command = [sys.executable, str(script), "--out", str(out), "--items", str(items)]
        subprocess.run(command, check=True, capture_output=True)
        found.append(out / "Zotero")
    return found


class Run:
    """All measurements of one library."""

    def __init__(self, data_dir: Path, folder: Path, options: argparse.Namespace) -> None:
        self.data_dir = data_dir
        self.database = data_dir / "zotero.sqlite"
        self.private = folder / f"private-{data_dir.parent.name}"
        self.folder = folder
        self.options = options
        self.queries = queries_of(self.database)
        self.lines: list[str] = []

    def report(self) -> list[str]:
        size = self.database.stat().st_size / 1e6
        self.say(f"\n## {self.data_dir.parent.name}: {size:.0f} MB, {len(self.queries)} queries\n")
        rows = [*self.starting(), *self.searching(), *self.texts(), *self.pages(), *self.changing()]
        head = ["| | ours | other | against | ratio of must / stretch | |", "|---|---:|---:|---|---|---|"]
        return [*self.lines, "", *head, *map(str, rows)]

    def starting(self) -> list[Row]:
        copies, clones = [], []
        for _ in range(self.options.runs):
            clones.append(floors.cp(self.database, self.folder / "floor.sqlite"))
            source = SnapshotSource(self.data_dir, self.folder / "copies", lambda: 1)
            copies.append(floors.milliseconds(source.refresh))
            shutil.rmtree(self.folder / "copies")
        floor = min(clones)
        first = self.ours("first")
        later = [self.ours("later") for _ in range(self.options.runs)]
        read = self.ours("read")
        mcp_first, mcp_all = self.peer("zotero-mcp-server", "first"), self.peer("zotero-mcp-server", "all", 3)
        lists = self.peer("cli-anything-zotero", "lists")
        loaded = min(x["list"] + x["loaded"] for x in later)
        self.say(f"SQLite visits the rows of all metadata: {floors.visit_rows(self.database):.0f} ms.")
        self.say(f"First start: list {first['list']:.0f} ms, everything {first['loaded']:.0f} ms.")
        self.say(f"All values at once in memory: {min(read['ms']):.0f} ms, {read['private_mb']:.0f} MB.")
        self.say(f"Private memory after a later start: {later[0]['private_mb']:.0f} MB.")
        self.late("nothing happens", self.ours("idle"))
        self.late("first start", first)
        self.late("later start", later[0])
        return [
            Row(
                "later start: first 100 items",
                min(x["list"] for x in later),
                least(mcp_first),
                "zotero-mcp-server",
                0.05,
                0.02,
            ),
            Row("snapshot", min(copies), floor, "cp", 1.2, 1.0),
            Row("first start: copy and first list", first["list"], floor, "cp", 3, 2),
            Row("later start: all metadata at hand", loaded, least(mcp_all), "zotero-mcp-server", 0.85, 0.6),
            Row(
                "first start: all metadata at hand",
                first["loaded"],
                least(mcp_all),
                "zotero-mcp-server",
                3,
                2,
            ),
            Row(
                "collections and tags with counts",
                min(x["lists"] for x in later),
                least(lists),
                "cli-anything-zotero",
                0.1,
                0.02,
            ),
        ]

    def searching(self) -> list[Row]:
        found, memory = self.ours("search"), self.ours("memory")
        missed = [q for q, a, b in zip(self.queries, found["hits"], memory["hits"], strict=True) if a < b]
        cjk = [q for q in self.queries if not q.isascii() and re.search(r"[\u3040-\u9fff]", q)]
        recall = sum(q not in missed for q in cjk) / max(1, len(cjk))
        self.say(f"Queries that find less than looking at every item: {missed or 'none'}.")
        self.say(f"Recall of {len(cjk)} queries in Chinese and Japanese: {recall:.2f}.")
        self.late("searching", found)
        few = spread(self.queries, SLOW_QUERIES)
        other = self.peer("zotero-cli-ai", "search", queries=few)
        same = [ms for q, ms in zip(self.queries, found["ms"], strict=True) if q in few]
        return [
            Row(
                "keyword search, p50",
                median(same),
                median(other) if other else None,
                "zotero-cli-ai",
                1 / 60,
                1 / 150,
            ),
            Row(
                "keyword search, p95",
                p95(same),
                p95(other) if other else None,
                "zotero-cli-ai",
                1 / 35,
                1 / 75,
            ),
            Row(
                "keyword search, all queries, p95",
                p95(found["ms"]),
                p95(memory["ms"]),
                "strings in memory",
                1.0,
                0.5,
            ),
        ]

    def texts(self) -> list[Row]:
        with closing(sqlite3.connect(f"{self.database.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
            attached = "SELECT key FROM items JOIN itemAttachments USING (itemID) WHERE linkMode < 2"
            keys = [key for (key,) in db.execute(f"{attached} AND contentType = 'application/pdf'")]
        floors.write_texts(self.data_dir, keys, self.options.megabytes)
        caches = [p.read_text("utf-8", "replace") for p in self.data_dir.glob("storage/*/.zotero-ft-cache")]
        if not caches:
            return []
        asked = text_queries(caches)
        found = self.ours("texts", asked)
        scan = floors.scan_texts(caches, asked)
        size = sum(len(c.encode()) for c in caches) / 1e6
        self.say(
            f"Texts: {found['files']} files ({size:.1f} MB in Zotero's extracts), notes and annotations in"
            f" {found['index_ms'] / 1e3:.1f} s, {found['characters'] / 1e3 / found['index_ms']:.1f} MB/s."
        )
        self.late("indexing texts", found)
        return [
            Row(
                "full text with snippets, p95",
                p95(found["ms"]),
                p95(scan),
                "scan of strings in memory",
                0.25,
                0.13,
            ),
            Row(
                "size of the index of texts",
                found["words_bytes"] / 1e6,
                found["characters"] / 1e6,
                "characters",
                0.45,
                0.3,
                "MB",
            ),
        ]

    def pages(self) -> list[Row]:
        path = self.data_dir / "bench.pdf"
        floors.write_pdf(path)
        found = self.ours("pages")
        spawned = [floors.page_by_spawn(path) for _ in range(3)]
        warm, alone = median(found["warm"]), median(found["alone"])
        return [
            Row("page of a PDF, worker running", warm, alone, "PDFium in process", 1.3, 1.1),
            Row("worker killed and back", min(found["killed"]), min(spawned), "spawn", 1.3, 1.0),
        ]

    def changing(self) -> list[Row]:
        whole = self.ours("first")["loaded"]
        runs = [self.ours("changes") for _ in range(3)]
        least_run = min(runs, key=lambda r: r["whole"] - r["copy"])
        self.say(f"Refresh after ten changes: {least_run['whole']:.0f} ms, copy included.")
        assert all(r["found"] == 6 for r in runs), "a changed title was not found"
        self.late("refreshing", least_run)
        without = max(0.1, least_run["whole"] - least_run["copy"])
        return [
            Row("ten changes found and applied, without the copy", without, whole, "first start", 0.08, 0.04)
        ]

    def ours(self, task: str, queries: Sequence[str] | None = None) -> dict[str, Any]:
        file = self.folder / "queries.json"
        file.write_text(json.dumps(list(queries or self.queries)), "utf-8")
        arguments = (task, self.data_dir, self.private, self.options.runs, file, self.options.loop)
        script = ROOT / "benchmarks" / "_zotero_ours.py"
        command = [sys.executable, str(script), *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return result

    def peer(
        self, program: str, operation: str, runs: int | None = None, queries: Sequence[str] = ()
    ) -> list[float]:
        """Milliseconds of each run; none where the program is not there or fails."""
        python = self.options.peers / program / "bin" / "python" if self.options.peers else None
        if python is None or not python.exists():
            self.say(f"Not installed, so not measured: {program}.")
            return []
        file = self.folder / "peer.json"
        file.write_text(json.dumps(list(queries)), "utf-8")
        script = ROOT / "benchmarks" / "_zotero_peer.py"
        arguments = (program, self.data_dir, operation, runs or self.options.runs, file)
        done = subprocess.run(
            [python, script, *map(str, arguments)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            self.say(f"{program} failed at {operation}: {done.stderr.strip().splitlines()[-1:]}")
            return []
        result: list[float] = json.loads(done.stdout.splitlines()[-1])["ms"]
        return result

    def late(self, name: str, result: dict[str, Any]) -> None:
        late = result["late"]
        if late:
            self.say(
                f"Event loop ({self.options.loop}) while {name}: at most {late['max']:.1f} ms late (work"
                f" {late['work']:.1f}, lock {late['lock']:.1f}, machine {late['machine']:.1f}), without the"
                f" machine {late['ours']:.1f}, 99 % below {late['p99']:.1f}, {late['beats']} looks."
            )

    def say(self, line: str) -> None:
        self.lines.append(line if line.startswith("\n") else f"- {line}")


def queries_of(database: Path) -> list[str]:
    """Words, pairs of words, names and stretches of Chinese and Japanese that stand in this library."""
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        titles = [
            title
            for (title,) in db.execute(
                "SELECT value FROM itemData JOIN fields USING (fieldID) JOIN itemDataValues USING (valueID)"
                " WHERE fieldName = 'title' ORDER BY itemID"
            )
        ]
        names = [name for (name,) in db.execute("SELECT lastName FROM creators ORDER BY creatorID LIMIT 500")]
    latin = [w for w in (re.findall(r"[A-Za-z]{4,}", t) for t in titles) if len(w) > 3]
    cjk = [m[0] for t in titles if (m := re.search(r"[\u3040-\u30ff\u4e00-\u9fff]{3,}", t))]
    found = [w[0].lower() for w in spread(latin, 14)]
    found += [f"{w[1]} {w[3]}".lower() for w in spread(latin, 12)]
    found += spread(names, 8) + [w[2][:4].lower() for w in spread(latin, 4)]
    found += [f"{n} {w[1].lower()}" for n, w in zip(spread(names, 4), spread(latin, 4), strict=False)]
    found += [run[: 1 + place % 3] for place, run in enumerate(spread(cjk, 9))]
    return list(dict.fromkeys(found))


def text_queries(texts: Sequence[str]) -> list[str]:
    """Words and pairs of words that stand in these texts, common and rare ones."""
    found = []
    for text in spread([t for t in texts if len(t) > 2_000], 40):
        tokens = re.findall(r"[A-Za-z]{4,}", text)
        found.append(tokens[len(tokens) // 3].lower())
        found.append(f"{tokens[len(tokens) // 2]} {tokens[len(tokens) // 4]}".lower())
    return list(dict.fromkeys(found))


def spread(values: Sequence[Any], count: int) -> list[Any]:
    step = max(1, len(values) // max(1, count))
    return list(values[::step][:count])


def least(values: Sequence[float]) -> float | None:
    return min(values) if values else None


def p95(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]


if __name__ == "__main__":
    main()
