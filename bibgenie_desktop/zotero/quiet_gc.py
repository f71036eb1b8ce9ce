"""Keeping the collector of cycles away from a large library, whose values hold none.

A full collection looks at every object there is and holds up all threads for it: with 100,000 items a quarter
of a second. The library's values are freed by their counts, so they need not be looked at.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

_lock = threading.Lock()


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """While this lasts nothing is collected; what was made during it is left out of collections after."""
    with _lock:
        enabled = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            gc.freeze()
            if enabled:
                gc.enable()
