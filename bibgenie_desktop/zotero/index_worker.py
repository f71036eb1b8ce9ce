"""The process that makes the index of a large library, so that the window's process does nothing meanwhile.

It reads one job as a line of JSON on standard input, says how far it is on standard output, and ends. When
its input is closed, because whoever started it is gone, it ends at once; what it was writing counts as none.
`index_process` starts it.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
import threading
from pathlib import Path
from typing import Any

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.zotero.better_bibtex import BetterBibtex
from bibgenie_desktop.zotero.index_build import build


def main() -> int:
    job: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    with contextlib.suppress(AttributeError, OSError):
        os.nice(5)  # the window first
    target = Path(job["target"])
    keys_in = job["keys_in"]
    try:
        keys = BetterBibtex(Path(keys_in), target.parent).keys() if keys_in else {}
        build(target, Path(job["database"]), keys, job["facts"], lambda done, of: _say(done=done, total=of))
    except LibraryUnavailable as error:
        _say(title=error.title, advice=error.advice)
    except (sqlite3.Error, OSError) as error:
        _say(failed=type(error).__name__)
    else:
        _say(built=True)
    return 0


def _say(**values: object) -> None:
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
