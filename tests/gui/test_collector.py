"""When Python's garbage is collected: on the window's thread, and all of it only while nobody looks."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from bibgenie_desktop.gui.collector import PATIENCE, Collector

Active = Qt.ApplicationState.ApplicationActive
Away = Qt.ApplicationState.ApplicationInactive


@pytest.fixture
def collected(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    found: list[int] = []
    monkeypatch.setattr(gc, "collect", lambda generation=2: found.append(generation))
    return found


@pytest.fixture
def collector(qapp: QApplication) -> Iterator[Collector]:
    made = Collector()
    yield made
    made.deleteLater()


@pytest.mark.parametrize(
    ("state", "counts", "expected"),
    [
        (Active, (0, 0, 0), []),
        (Active, (10**6, 0, 0), [0]),
        (Active, (10**6, 10**6, 0), [1]),
        (Away, (0, 0, PATIENCE), [2]),
        (Active, (0, 0, PATIENCE), []),
        (Active, (10**6, 0, PATIENCE), [0]),
        (Active, (0, 0, PATIENCE + 1), [2]),
    ],
)
def test_a_full_collection_waits_until_the_person_is_elsewhere_but_not_for_ever(
    collector: Collector,
    collected: list[int],
    monkeypatch: pytest.MonkeyPatch,
    state: Qt.ApplicationState,
    counts: tuple[int, int, int],
    expected: list[int],
) -> None:
    monkeypatch.setattr(QGuiApplication, "applicationState", lambda: state)
    monkeypatch.setattr(gc, "get_count", lambda: counts)
    monkeypatch.setattr(gc, "get_threshold", lambda: (700, 10, 10))
    collector._on_timeout()
    assert collected == expected


def test_no_other_thread_collects_between_start_and_stop(collector: Collector) -> None:
    was = gc.isenabled()
    gc.enable()
    try:
        collector.start()
        assert not gc.isenabled()
        collector.stop()
        assert gc.isenabled()
        assert gc.get_freeze_count() == 0
    finally:
        if not was:
            gc.disable()
