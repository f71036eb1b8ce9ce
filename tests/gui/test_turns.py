"""How threads take turns with the window."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from bibgenie_desktop.gui.turns import short_turns


@pytest.fixture(autouse=True)
def interval() -> Iterator[None]:
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)


def test_a_thread_at_work_keeps_the_window_waiting_for_less_than_a_millisecond_a_time() -> None:
    sys.setswitchinterval(0.005)
    short_turns()
    assert sys.getswitchinterval() <= 0.001
