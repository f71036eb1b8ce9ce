"""The event loop of the window: asyncio on Qt's own, and the threads that do what would hold it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Final

from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

THREADS: Final = 16
"""At most; some of them may be waiting for a prompt of the keyring or for a slow disk."""


def event_loop(app: QApplication) -> QEventLoop:
    loop = QEventLoop(app)
    # The pool that qasync would make starts ten threads at once when it is first asked for anything.
    loop.set_default_executor(ThreadPoolExecutor(THREADS, thread_name_prefix="beside"))
    return loop
