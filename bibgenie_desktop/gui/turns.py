"""How threads take turns with the window, for a process that has one."""

from __future__ import annotations

import sys
from typing import Final

TURN_S: Final = 0.0005


def short_turns() -> None:
    """A thread at work hands the interpreter over after half a millisecond instead of five.

    One turn of the event loop asks for it several times, for Qt calls back into Python; each of these waits
    was up to 5 ms. To whoever works in threads the more frequent changes cost less than a hundredth.
    """
    sys.setswitchinterval(TURN_S)
