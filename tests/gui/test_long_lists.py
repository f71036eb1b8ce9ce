"""A list of a hundred thousand, and an item with many marks, take no more of the window than small ones."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel

from bibgenie_desktop.gui.docks.library.items import ItemList
from bibgenie_desktop.gui.docks.library.pieces import PieceLine
from bibgenie_desktop.gui.docks.library.preview import AT_ONCE, MOST_PIECES, Preview
from bibgenie_desktop.services.library.browsing import PAGE, ItemRow, Page
from bibgenie_desktop.services.library.item_details import ItemDetails, Piece


def page_of(total: int, offset: int = 0) -> Page:
    places = range(offset, min(total, offset + PAGE))
    return Page(total, offset, tuple(ItemRow(f"u-{i:08}", f"Title {i}", "Hu") for i in places))


def calls(app: QApplication, act: Callable[[], object]) -> int:
    """How often Python is called until the window has nothing more to do."""
    count = 0

    def called(_frame: FrameType, what: str, _argument: Any) -> None:
        nonlocal count
        count += what == "call"

    sys.setprofile(called)
    try:
        act()
        for _ in range(60):
            app.processEvents()
    finally:
        sys.setprofile(None)
    return count


@pytest.fixture
def shown(qapp: QApplication) -> Any:
    view = ItemList()
    view.resize(300, 500)
    view.show()
    view.show_first(page_of(500))
    qapp.processEvents()
    yield view
    view.close()
    view.deleteLater()


def test_a_long_list_asks_python_no_more_than_a_short_one(qapp: QApplication, shown: ItemList) -> None:
    short = calls(qapp, lambda: shown.show_first(page_of(500)))
    long = calls(qapp, lambda: shown.show_first(page_of(100_000)))
    assert short > 0
    assert long < 4 * short
    assert shown.items.rowCount() == 100_000


def test_a_list_can_become_longer_shorter_and_empty(qapp: QApplication, shown: ItemList) -> None:
    for total in (100_000, 3, 0, 250):
        shown.show_first(page_of(total))
        qapp.processEvents()
        assert shown.items.rowCount() == total
        assert shown.items.held == min(total, PAGE)
        assert shown.items.index(total, 0).isValid() is False


def test_choosing_everything_looks_only_at_what_is_here(qapp: QApplication, shown: ItemList) -> None:
    shown.show_first(page_of(100_000))
    shown.show_page(page_of(100_000, 300))
    qapp.processEvents()
    asked: list[int] = []
    shown.items.page_wanted.connect(asked.append)
    assert calls(qapp, shown.selectAll) < 10_000
    expected = [*range(PAGE), *range(300, 300 + PAGE)]
    assert shown.chosen_ids() == tuple(f"u-{i:08}" for i in expected)
    assert asked == []


def test_lines_are_copied_never_moved(shown: ItemList) -> None:
    assert shown.items.supportedDragActions() == Qt.DropAction.CopyAction


def details_of(marks: int) -> ItemDetails:
    pieces = tuple(Piece(f"u-{i:08}", "annotation", f"Mark {i}", f"p. {i}") for i in range(marks))
    rest = ("10.1/x", "hu2020", "", pieces, (), ())
    return ItemDetails("u-AAAAAAAA", "book", "Sleep", "Hu 2020", "Li Hu", "2020", "", "", *rest)


def marks_in(preview: Preview) -> list[str]:
    return [line.piece.text for line in preview.findChildren(PieceLine)]


def test_what_belongs_to_an_item_comes_a_few_lines_at_a_time(qapp: QApplication) -> None:
    preview = Preview()
    preview.show()
    preview.show_details(details_of(MOST_PIECES + 5))
    assert any(words.text() == "Sleep" for words in preview.findChildren(QLabel))
    had = 0
    while not preview.complete:
        qapp.processEvents()
        now = len(marks_in(preview))
        assert now - had <= 2 * AT_ONCE
        had = now
    assert marks_in(preview) == [f"Mark {i}" for i in range(MOST_PIECES)]
    preview.close()
    preview.deleteLater()


def test_another_item_takes_the_place_of_one_that_is_not_complete(qapp: QApplication) -> None:
    preview = Preview()
    preview.show_details(details_of(MOST_PIECES))
    qapp.processEvents()
    preview.show_details(None)
    assert preview.complete
    qapp.processEvents()
    assert all(not line.isVisibleTo(preview) for line in preview.findChildren(PieceLine))
    preview.deleteLater()
