"""The loop of the window and the threads beside it."""

from __future__ import annotations

import asyncio
import threading

from PySide6.QtWidgets import QApplication


async def test_work_beside_the_loop_starts_no_more_threads_than_it_needs(qapp: QApplication) -> None:
    before = threading.active_count()
    name = await asyncio.to_thread(lambda: threading.current_thread().name)
    assert name.startswith("beside")
    await asyncio.to_thread(int)
    assert threading.active_count() == before + 1


async def test_many_that_wait_leave_room_for_others(qapp: QApplication) -> None:
    go_on = threading.Event()
    waiting = [asyncio.ensure_future(asyncio.to_thread(go_on.wait, 30)) for _ in range(12)]
    try:
        assert await asyncio.wait_for(asyncio.to_thread(lambda: "done"), 10) == "done"
    finally:
        go_on.set()
        await asyncio.gather(*waiting)
