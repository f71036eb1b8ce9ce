"""What holds an event loop: how late it comes back, by work, by the interpreter's lock or by the machine.

A beat on the loop measures; a thread beside it looks at the stacks of all threads while a beat is late. Time
on the processor is work done on the loop, time in the queue of the system's scheduler is the machine's (Linux
only), be it of the loop or, at most, of a thread that it waits for; the rest went in
waiting for the lock.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
import traceback
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass

BEAT_S = 0.001
LATE_S = 0.010
DEPTH = 12
IDLE = ("threading.py", "queue.py", "selectors.py", "thread.py", "_stalls.py")


@dataclass(frozen=True, slots=True)
class Late:
    """One late beat, in milliseconds."""

    whole: float
    work: float
    machine: float

    @property
    def lock(self) -> float:
        return max(0.0, self.whole - self.work - self.machine)

    @property
    def ours(self) -> float:
        """What is left without the machine."""
        return self.whole - self.machine


NONE = Late(0.0, 0.0, 0.0)


class Stalls:
    """Made on the loop that it watches. With `trace` stacks are printed while a beat is late."""

    def __init__(self, trace: bool = False) -> None:
        self.beats: list[Late] = []
        self._main = threading.get_ident()
        self._queue = _scheduler_file()
        self._threads: set[int] = set()
        self._looked = 0
        self._due = time.perf_counter()
        self._beating = True
        self._task = asyncio.ensure_future(self._beat())
        self.stacks: Counter[str] = Counter()
        if trace:
            threading.Thread(target=self._look, name="stalls", daemon=True).start()

    async def _beat(self) -> None:
        while True:
            began, work, queued, others = (
                time.perf_counter(),
                time.thread_time(),
                self._queued(),
                self._others(),
            )
            self._due = began + BEAT_S
            await asyncio.sleep(BEAT_S)
            whole = max(0.0, time.perf_counter() - began - BEAT_S)
            worked = time.thread_time() - work
            machine = min(self._queued() - queued, whole)
            if whole > LATE_S:  # whoever held the lock may have waited for a processor itself
                now = self._others()
                waited = max((now[t] - others.get(t, now[t]) for t in now), default=0.0)
                machine += min(waited, max(0.0, whole - worked - machine))
            self.beats.append(Late(1e3 * whole, 1e3 * worked, 1e3 * machine))

    def _queued(self) -> float:
        """Seconds that the loop's thread has waited for a processor."""
        if self._queue is None:
            return 0.0
        return int(os.pread(self._queue, 100, 0).split()[1]) / 1e9

    def _others(self) -> dict[int, float]:
        """The same of all other threads."""
        if self._queue is None:
            return {}
        if self._looked % 100 == 0:
            self._threads = {t.native_id or 0 for t in threading.enumerate()} - {threading.get_native_id()}
        self._looked += 1
        found = {}
        for thread in self._threads:
            with suppress(OSError, IndexError), open(f"/proc/self/task/{thread}/schedstat", "rb") as file:
                found[thread] = int(file.read(100).split()[1]) / 1e9
        return found

    def _look(self) -> None:
        seen = 0.0
        while self._beating:
            asked = time.perf_counter()
            time.sleep(0.002)
            now = time.perf_counter()
            late = now - self._due
            if late < LATE_S or self._due == seen:
                continue
            seen = self._due
            held = " (the lock was held)" if now - asked > 0.006 else ""
            frames = sys._current_frames()
            names = {t.ident: t.name for t in threading.enumerate()}
            said = [f"late by {1e3 * late:.0f} ms{held}"]
            for ident, frame in frames.items():
                stack = traceback.extract_stack(frame)[-DEPTH:]
                if ident != self._main and stack[-1].filename.endswith(IDLE):
                    continue
                name = "LOOP" if ident == self._main else names.get(ident, "?")
                lines = " > ".join(f"{os.path.basename(s.filename)}:{s.lineno} {s.name}" for s in stack)
                said.append(f"    {name}: {lines}")
            self.stacks["\n".join(said)] += 1
            print("\n".join(said), file=sys.stderr)
            del frames, frame, stack  # what a stack holds, a painter for one, must not live on for it

    def take(self) -> list[Late]:
        """What was measured since it was last asked for."""
        beats, self.beats = self.beats, []
        return beats

    def worst(self) -> Late:
        return max(self.take(), key=lambda b: b.whole, default=NONE)

    def stop(self) -> None:
        self._beating = False
        self._task.cancel()
        if self._queue is not None:
            os.close(self._queue)
            self._queue = None


def _scheduler_file() -> int | None:
    with suppress(OSError):
        return os.open(f"/proc/self/task/{threading.get_native_id()}/schedstat", os.O_RDONLY)
    return None
