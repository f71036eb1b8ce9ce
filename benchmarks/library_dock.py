"""How long the window is held up while a person browses a large library: the real dock, one run of each step.

    python benchmarks/library_dock.py --items 100000

Each step says when its first page is there and the longest time in which the event loop did nothing else: how
much of that was work on the loop, waiting for the interpreter's lock, and waiting for a processor.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIXTURES = ROOT.parent / "shared" / "fixtures"
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(ROOT))

from _stalls import Stalls  # noqa: E402
from PySide6.QtWidgets import QApplication  # noqa: E402

from bibgenie_desktop.gui import theme  # noqa: E402
from bibgenie_desktop.gui.collector import Collector  # noqa: E402
from bibgenie_desktop.gui.loop import event_loop  # noqa: E402
from bibgenie_desktop.gui.turns import short_turns  # noqa: E402
from bibgenie_desktop.services.library.browsing import Order, Scope  # noqa: E402
from tests.gui.bench import Bench, bench  # noqa: E402
from tests.scripted_server import ScriptedServer  # noqa: E402
from tests.zotero.helpers import opened_library  # noqa: E402

ORDERS: tuple[Order, ...] = ("title", "creator", "year", "modified", "added")
STEPS, STEP_PX = 200, 97
HEAD = (
    "| step | ms until it is there | longest hold, ms | work on the loop | lock | machine | rows |\n"
    "|---|---:|---:|---:|---:|---:|---:|"
)


async def measure(on: Bench, stalls: Stalls, name: str, act: Callable[[], object]) -> None:
    browser, listed = on.desk.library_desk.browser, on.window.library.browse.list
    await asyncio.sleep(0.3)
    stalls.take()
    began = time.perf_counter()
    act()
    await asyncio.sleep(0.005)
    while browser.busy or any(n.startswith("page") for n in on.desk.tasks.names()):  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    took = time.perf_counter() - began
    await asyncio.sleep(0.2)
    print(line(name, took, stalls, f"{listed.items.rowCount():,}"), flush=True)


def line(name: str, took: float, stalls: Stalls, rows: str = "") -> str:
    worst = stalls.worst()
    parts = f"{worst.work:.0f} | {worst.lock:.0f} | {worst.machine:.0f}"
    return f"| {name} | {took * 1000:.0f} | {worst.whole:.0f} | {parts} | {rows} |"


async def browse(data_dir: Path, folder: Path, trace: bool) -> None:
    with ScriptedServer() as server:
        async with bench(folder, server) as on:
            library = opened_library(data_dir, folder / "private")
            on.desk.workspace.use_library(library)
            await library.ensure_loaded()
            stalls = Stalls(trace)
            browser, listed = on.desk.library_desk.browser, on.window.library.browse.list
            bar = listed.verticalScrollBar()
            print(HEAD)
            await measure(on, stalls, "nothing", lambda: None)
            stalls.take()
            await asyncio.sleep(2)
            print(line("nothing for 2 s", 2, stalls), flush=True)
            on.window.open_dock("library")
            await measure(on, stalls, "open the dock", on.desk.library.redraw)
            await measure(on, stalls, "the whole library", partial(browser.go, Scope("library", "u")))
            for order in ORDERS:
                await measure(on, stalls, f"by {order}", partial(browser.order, order))
            await measure(on, stalls, "jump to the middle", lambda: bar.setValue(bar.maximum() // 2))
            stalls.take()
            began = time.perf_counter()
            for _ in range(STEPS):
                bar.setValue(bar.value() + STEP_PX)
                await asyncio.sleep(0.005)
            print(line(f"scroll {STEPS} times {STEP_PX} px", time.perf_counter() - began, stalls), flush=True)
            for words in ("memory", "memory sle", ""):
                await measure(on, stalls, f"search “{words}”", partial(browser.search, words))
            for place in (3, 5):
                look = partial(listed.setCurrentIndex, listed.items.index(place, 0))
                await measure(on, stalls, "look at an item", look)
            stalls.stop()
            on.desk.library.texts.halt()
            await on.desk.tasks.settle(5)
            on.desk.workspace.use_library(None)
            await library.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--library", type=Path, help="a data directory instead of a generated library")
    parser.add_argument("--fixtures", type=Path, default=FIXTURES)
    parser.add_argument("--trace", action="store_true", help="print the stacks of all threads at each hold")
    arguments, _ = parser.parse_known_args()
    script = arguments.fixtures / "make_zotero_library.py"
    if not arguments.library and not script.is_file():
        print("the generator of the fixtures is not here: nothing is measured")
        return
    app = QApplication([])
    app.setQuitOnLastWindowClosed(False)
    short_turns()
    theme.install(app)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        if not arguments.library:
            command = [sys.executable, str(script), "--out", str(folder), "--items", str(arguments.items)]
            subprocess.run([*command, "--max-files", "5"], check=True, capture_output=True)
        data_dir = arguments.library or folder / "Zotero"
        collector = Collector()
        collector.start()
        with asyncio.Runner(loop_factory=lambda: event_loop(app)) as runner:
            runner.run(browse(data_dir, folder, arguments.trace))


if __name__ == "__main__":
    main()
