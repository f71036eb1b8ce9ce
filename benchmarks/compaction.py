"""How long it takes from opening a stored session to the request that compacts it, beside pi 1.6.0.

    python benchmarks/compaction.py --pi FOLDER [--sizes 1000 10000 100000] [--runs 5]

FOLDER is where `npm i --force --ignore-scripts @earendil-works/pi-coding-agent@1.6.0` was run, outside the
checkout; without it pi is left out. The same conversation (`_conversation.py`) is written for both. Steps:
open (file to checked path) → plan (projection, estimates, occupancy, limits) → decide (boundary) → prepare
(serialise the span; ours builds and encodes the first summary request as well).

cold: a new process, the file dropped from the system's cache. new: a new process, the file cached.
reopened: the same process opens it again. held: the session is open already, as for each question of a
conversation under way. Loading of program code is left out on both sides, and nothing is sent. Runs of both
programs take turns, so that other work on the machine meets both; CPU is the time of all threads up to the
decision, which suffers less from it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from _conversation import PROFILE, write_ours, write_pi

from bibgenie_desktop.compose.libraries import open_library
from bibgenie_desktop.compose.options import id_maker, now_ms
from bibgenie_desktop.compose.requests import prompts
from bibgenie_desktop.domain.boundary import Compaction
from bibgenie_desktop.domain.errors import Cancelled
from bibgenie_desktop.domain.ids import SessionId
from bibgenie_desktop.domain.parts import Draft
from bibgenie_desktop.providers.base import Event, Request
from bibgenie_desktop.providers.http_provider import encode_body
from bibgenie_desktop.providers.openai_chat import ChatCodec, dialect_of
from bibgenie_desktop.services.cancel import CancelToken
from bibgenie_desktop.services.chat import Chat
from bibgenie_desktop.services.compactor import Compactor
from bibgenie_desktop.services.models import Models
from bibgenie_desktop.services.planner import Planner
from bibgenie_desktop.services.tools.registry import library_tools
from bibgenie_desktop.services.workspace import Workspace
from bibgenie_desktop.settings.resources import sample_library
from bibgenie_desktop.storage.worker import StoreWorker
from bibgenie_desktop.zotero.local.discovery import check_directory

HERE = Path(__file__).resolve().parent
STEPS = ("open", "plan", "decide", "prepare")
PACKAGE = Path("node_modules", "@earendil-works", "pi-coding-agent")
SECONDS = 2.0
"""For the repetitions of one process."""

Took = dict[str, float]


class Wire:
    """A provider that gets as far as the bytes of a request and sends nothing."""

    id = PROFILE.provider

    def __init__(self) -> None:
        self.sent = 0
        self._codec = ChatCodec(dialect_of(PROFILE.base_url))

    def encode(self, request: Request) -> dict[str, Any]:
        return self._codec.encode(request)

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        self.sent = len(encode_body(self.encode(request)))
        raise Cancelled
        yield


async def once(database: Path, session_id: SessionId, wire: Wire) -> tuple[Took, Took]:
    """Opens the session and goes on to the summary request; then once more with it open."""
    models = Models((PROFILE,), {PROFILE.ref: PROFILE}.get, {PROFILE.provider: wire}, PROFILE.ref)
    texts = prompts()
    library = open_library(check_directory(sample_library()), database.parent / "library")
    used, begin = time.process_time(), time.perf_counter()
    store = StoreWorker(database, now_ms, id_maker())
    await store.open()
    workspace = Workspace(
        store=store, models=models, prompts=texts, library=None, ids=id_maker(), clock=now_ms
    )
    workspace.use_tools(library_tools(library))
    chat = await workspace.chat(session_id)
    took: Took = {"open": time.perf_counter() - begin}
    compactor = Compactor(texts, models, id_maker(), now_ms)
    await decide(chat, workspace.planner, compactor, took, used)
    held: Took = {"open": 0.0}
    await decide(chat, workspace.planner, compactor, held, time.process_time())
    await workspace.estimates.save()
    await store.close()
    return took, held


async def decide(chat: Chat, planner: Planner, compactor: Compactor, took: Took, used: float) -> None:
    begin = time.perf_counter()
    plan = await chat.plan(Draft())
    took["plan"] = time.perf_counter() - begin
    decision = planner.decide(plan, "manual")
    took["decide"] = time.perf_counter() - begin - took["plan"]
    took["cpu"] = time.process_time() - used
    if not isinstance(decision, Compaction):
        sys.exit("there is nothing to compact")
    try:
        await compactor.checkpoint(
            plan, decision, chat.session.head, "manual", (), CancelToken(), lambda progress: None
        )
    except Cancelled:
        took["prepare"] = time.perf_counter() - begin - took["plan"] - took["decide"]


def child(database: Path, session_id: SessionId, seconds: float) -> None:
    """One process of ours, the counterpart of `_pi.mjs`."""
    wire = Wire()
    first, _ = asyncio.run(once(database, session_id, wire))
    reopened: list[Took] = []
    held: list[Took] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end and len(reopened) < 30:
        took, kept = asyncio.run(once(database, session_id, wire))
        reopened.append(took)
        held.append(kept)
    runs = [[{step: 1000 * value for step, value in t.items()} for t in r] for r in ([first], reopened, held)]
    print(json.dumps({"first": runs[0][0], "reopened": runs[1], "held": runs[2], "memory": resident()}))


def resident() -> int:
    """Megabytes; `getrusage` would count the parent's as well."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmRSS"))) // 1000


class Contender:
    """One of the two programs: how it is started, and what its runs took."""

    def __init__(self, name: str, command: list[str], file: Path) -> None:
        self.name = name
        self.file = file
        self.runs: dict[str, list[Took]] = {"cold": [], "new": []}
        self.memory = 0
        self._command = command

    def start(self, seconds: float) -> dict[str, Any]:
        answer = subprocess.run([*self._command, str(seconds)], check=True, capture_output=True, text=True)
        found: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
        self.memory = max(self.memory, found["memory"])
        return found

    def cold(self) -> None:
        with self.file.open("rb") as opened:
            os.fsync(opened.fileno())
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        self.runs["cold"].append(self.start(0)["first"])

    def new(self) -> None:
        self.runs["new"].append(self.start(0)["first"])

    def again(self) -> None:
        found = self.start(SECONDS)
        self.runs |= {"reopened": found["reopened"], "held": found["held"]}


def measure(contenders: list[Contender], runs: int) -> None:
    for _ in range(runs):
        for one in contenders:
            one.cold()
        for one in contenders:
            one.new()
    for one in contenders:
        one.again()


def report(title: str, contenders: list[Contender]) -> None:
    print(f"\n### {title}\n")
    print(
        "| run | program | open | plan | decide | open → decision | ratio | CPU | ratio "
        "| prepare | open → prepared |"
    )
    print("|---|---" + "|---:" * 9 + "|")
    ours = contenders[0]
    for run in ("cold", "new", "reopened", "held"):
        for one in contenders:
            rows = one.runs[run]
            if not rows:
                continue
            step = {name: median(row[name] for row in rows) for name in (*STEPS, "cpu")}
            decision = [decision_of(row) for row in rows]
            whole = median(decision_of(row) + row["prepare"] for row in rows)
            ratios = ("", "")
            if one is not ours:
                by_time = median(decision) / median(map(decision_of, ours.runs[run]))
                by_cpu = step["cpu"] / median(row["cpu"] for row in ours.runs[run])
                ratios = (f"×{by_time:.1f}", f"×{by_cpu:.1f}")
            print(
                f"| {run}, {len(rows)} runs | {one.name} | {step['open']:.1f} | {step['plan']:.1f} "
                f"| {step['decide']:.1f} | **{median(decision):.1f}** "
                f"({min(decision):.1f}–{max(decision):.1f}) "
                f"| {ratios[0]} | {step['cpu']:.1f} | {ratios[1]} | {step['prepare']:.1f} | {whole:.1f} |"
            )
    print(
        "\nResident size at the end: " + ", ".join(f"{one.name} {one.memory} MB" for one in contenders) + "."
    )


def decision_of(took: Took) -> float:
    return took["open"] + took["plan"] + took["decide"]


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), platform.machine())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pi", type=Path, default=Path(os.environ.get("PI_FOLDER", "")))
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--runs", type=int, default=5, help="new processes of each kind")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options, _ = parser.parse_known_args()
    if options.child:
        child(Path(options.child[0]), SessionId(options.child[1]), float(options.child[2]))
        return
    package = (options.pi / PACKAGE).absolute()
    node = shutil.which("node")
    with_pi = package.is_dir() and node is not None
    print(
        f"{datetime.now(UTC):%Y-%m-%d}, {processor()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f},"
    )
    print(f"Python {platform.python_version()}. Milliseconds, medians; in brackets lowest and highest.")
    if not with_pi:
        print("pi is left out: --pi names no folder with its package, or node is missing.")
    for size in options.sizes:
        for checkpoints in (True, False):
            with tempfile.TemporaryDirectory() as folder:
                database, file = Path(folder, "bibgenie.sqlite"), Path(folder, "session.jsonl")
                session = write_ours(database, size // 4, checkpoints=checkpoints)
                ours = Contender(
                    "BibGenie", [sys.executable, __file__, "--child", str(database), session], database
                )
                ours.start(0)  # as after any day of work, estimates are stored
                contenders = [ours]
                sizes = f"ours {database.stat().st_size / 1e6:.0f} MB"
                if with_pi:
                    write_pi(file, size // 4, checkpoints=checkpoints)
                    sizes += f", pi's {file.stat().st_size / 1e6:.0f} MB"
                    contenders.append(
                        Contender("pi", [str(node), str(HERE / "_pi.mjs"), str(package), str(file)], file)
                    )
                measure(contenders, options.runs)
                kind = "a checkpoint every 100 turns" if checkpoints else "no checkpoint"
                report(f"{size:,} messages, {kind} ({sizes})", contenders)


if __name__ == "__main__":
    main()
