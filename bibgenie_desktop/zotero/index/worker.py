"""The process that makes the index of a large library, so that the window's process does nothing meanwhile.

It reads one job as a line of JSON on standard input, says how far it is on standard output, and ends. When
its input is closed, because whoever started it is gone, it ends at once; what it was writing counts as none.
`index_process` starts it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sqlite3
import sys
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.zotero.index.build import build
from bibgenie_desktop.zotero.index.helpers import HelperFailed, ReadingProcess, help_reading, helping
from bibgenie_desktop.zotero.index.process import worker_command
from bibgenie_desktop.zotero.local.better_bibtex import BetterBibtex

MOST_HELPERS: Final = 3
"""With more the one that writes has no time left to read what they say."""


def main() -> int:
    job: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    if job.get("quiet"):
        with contextlib.suppress(AttributeError, OSError):
            os.nice(5)  # nobody waits for it
    gc.disable()  # values without cycles come and go in pieces
    if job.get("helper"):
        help_reading(job)
        return 0
    threading.Thread(target=_end_with_input, daemon=True).start()
    target = Path(job["target"])
    keys_in = job["keys_in"]
    try:
        keys = BetterBibtex(Path(keys_in), target.parent).keys() if keys_in else {}
        database, facts = Path(job["database"]), job["facts"]

        def progress(done: int, total: int) -> None:
            _say(done=done, total=total)

        def helpers(items: Sequence[int]) -> AbstractContextManager[Sequence[ReadingProcess]]:
            return helping(worker_command(), helper_count(), database, keys_in, items)

        try:
            build(target, database, keys, facts, progress, helpers=helpers)
        except HelperFailed:
            build(target, database, keys, facts, progress)
    except LibraryUnavailable as error:
        _say(title=error.title, advice=error.advice)
    except (sqlite3.Error, OSError) as error:
        _say(failed=type(error).__name__)
    else:
        _say(built=True)
    return 0


def helper_count() -> int:
    """One of the processors is for the window, one for the writing of the index."""
    return max(1, min(MOST_HELPERS, (os.cpu_count() or 1) - 1))


def _say(**values: object) -> None:
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


def _end_with_input() -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 1024):  # not through the buffer, whose lock would outlive the main thread
            pass
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
