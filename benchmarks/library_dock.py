"""How long the window is held up while a person browses a large library: the real dock, one run of each step.

    python benchmarks/library_dock.py --items 100000

Each step says when its first page is there and the longest time in which the event loop did nothing else.
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

import qasync  # noqa: E402
from PySide6.QtWidgets import QApplication  # noqa: E402

from bibgenie_desktop.gui import theme  # noqa: E402
from bibgenie_desktop.services.library.browsing import Order, Scope  # noqa: E402
from tests.gui.bench import Bench, bench  # noqa: E402
from tests.scripted_server import ScriptedServer  # noqa: E402
from tests.zotero.helpers import opened_library  # noqa: E402

ORDERS: tuple[Order, ...] = ("title", "creator", "year", "modified", "added")
STEPS, STEP_PX = 200, 97


class Watch:
    """Looks every 2 ms whether the loop still turns."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._task = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.002)
            self.longest = max(self.longest, time.perf_counter() - before - 0.002)

    def stop(self) -> None:
        self._task.cancel()


async def measure(on: Bench, watch: Watch, name: str, act: Callable[[], object]) -> None:
    browser, listed = on.desk.library_desk.browser, on.window.library.browse.list
    await asyncio.sleep(0.3)
    watch.longest = 0.0
    began = time.perf_counter()
    act()
    await asyncio.sleep(0.005)
    while browser.busy or any(n.startswith("page") for n in on.desk.tasks.names()):  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    took = time.perf_counter() - began
    await asyncio.sleep(0.2)
    print(f"| {name} | {took * 1000:.0f} | {watch.longest * 1000:.0f} | {listed.items.rowCount():,} |")


async def browse(data_dir: Path, folder: Path) -> None:
    with ScriptedServer() as server:
        async with bench(folder, server) as on:
            library = opened_library(data_dir, folder / "private")
            on.desk.workspace.use_library(library)
            await library.ensure_loaded()
            watch = Watch()
            browser, listed = on.desk.library_desk.browser, on.window.library.browse.list
            bar = listed.verticalScrollBar()
            print(
                "| step | ms until it is there | longest hold of the loop, ms | rows |\n|---|---:|---:|---:|"
            )
            on.window.open_dock("library")
            await measure(on, watch, "open the dock", on.desk.library.redraw)
            await measure(on, watch, "the whole library", partial(browser.go, Scope("library", "u")))
            for order in ORDERS:
                await measure(on, watch, f"by {order}", partial(browser.order, order))
            await measure(on, watch, "jump to the middle", lambda: bar.setValue(bar.maximum() // 2))
            watch.longest, began = 0.0, time.perf_counter()
            for _ in range(STEPS):
                bar.setValue(bar.value() + STEP_PX)
                await asyncio.sleep(0.005)
            took = (time.perf_counter() - began) * 1000
            print(f"| scroll {STEPS} times {STEP_PX} px | {took:.0f} | {watch.longest * 1000:.0f} | |")
            for words in ("memory", "memory sle", ""):
                await measure(on, watch, f"search “{words}”", partial(browser.search, words))
            await measure(
                on, watch, "look at an item", partial(listed.setCurrentIndex, listed.items.index(3))
            )
            watch.stop()
            on.desk.library.texts.halt()
            await on.desk.tasks.settle(5)
            on.desk.workspace.use_library(None)
            await library.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--fixtures", type=Path, default=FIXTURES)
    arguments, _ = parser.parse_known_args()
    script = arguments.fixtures / "make_zotero_library.py"
    if not script.is_file():
        print("the generator of the fixtures is not here: nothing is measured")
        return
    app = QApplication([])
    app.setQuitOnLastWindowClosed(False)
    theme.install(app)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        command = [sys.executable, str(script), "--out", str(folder), "--items", str(arguments.items)]
        subprocess.run([*command, "--max-files", "5"], check=True, capture_output=True)
        with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(app)) as runner:
            runner.run(browse(folder / "Zotero", folder))


if __name__ == "__main__":
    main()
