"""Tables fit the column at any width, words stay whole as long as they can, and copies have tabs."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QTextCursor, QTextTable
from pytestqt.qtbot import QtBot

from bibgenie_desktop.gui import theme
from bibgenie_desktop.gui.render.markdown_view import MarkdownView
from bibgenie_desktop.gui.render.tables import widths
from tests.gui.samples import CITATIONS, HU, WIDE

Make = Callable[..., MarkdownView]
SMALL = "before\n\n| Stage | *g* |\n|:--|--:|\n| N2 | 0.32 |\n| REM | −0.04 |\n\nafter"


@pytest.fixture
def make(qtbot: QtBot) -> Make:
    def build(text: str, width: int = 720) -> MarkdownView:
        view = MarkdownView(text, CITATIONS)
        qtbot.addWidget(view)
        view.resize(width, view.heightForWidth(width))
        view.show()
        return view

    return build


def table_of(view: MarkdownView) -> QTextTable:
    (table,) = view.document().rootFrame().childFrames()
    assert isinstance(table, QTextTable)
    return table


def broken_words(view: MarkdownView) -> list[str]:
    """Words in cells that go over the end of a line."""
    found, table = [], table_of(view)
    for r in range(table.rows()):
        for k in range(table.columns()):
            block = table.cellAt(r, k).firstCursorPosition().block()
            layout, text = block.layout(), block.text()
            for i in range(1, layout.lineCount()):
                at = layout.lineAt(i).textStart()
                if text[at - 1].isalpha() and text[at].isalpha():
                    found.append(text)
    return found


columns = st.lists(st.tuples(st.floats(1, 400), st.floats(0, 1)), min_size=1, max_size=12)


@given(columns, st.floats(300, 900))
def test_columns_take_the_room_there_is_and_no_more(drawn: list[tuple[float, float]], room: float) -> None:
    natural = [n for n, _ in drawn]
    words = [max(1.0, n * share) for n, share in drawn]
    chosen = widths(natural, words, room, 20)
    if chosen is None:
        assert sum(natural) <= room
        return
    assert sum(chosen) <= room + 0.01
    if sum(words) <= room:
        assert all(c >= w - 0.01 for c, w in zip(chosen, words, strict=True))


@pytest.mark.parametrize("width", [300, 420, 560, 720])
def test_wide_table_never_reaches_over_its_text(make: Make, width: int) -> None:
    view = make(WIDE, width)
    assert view.document().size().width() <= width + 0.5
    assert view.horizontalScrollBar().maximum() == 0
    assert view.verticalScrollBar().maximum() == 0


@pytest.mark.parametrize("scale", [0.8, 1.0, 1.3, 1.7, 2.0])
def test_words_of_a_wide_table_stay_whole(make: Make, light_theme: theme.Theme, scale: float) -> None:
    light_theme.set_scale(scale)
    assert broken_words(make(WIDE, round(860 * max(1, scale)))) == []


def test_table_is_as_wide_as_it_likes_while_there_is_room(make: Make) -> None:
    view = make(SMALL)
    layout = view.document().documentLayout()
    assert layout.frameBoundingRect(table_of(view)).width() < 300


def test_table_gets_its_size_back_when_there_is_room_again(make: Make) -> None:
    wide, narrow = make(WIDE, 1400), make(WIDE, 500)
    size = table_of(wide).cellAt(1, 0).firstCursorPosition().charFormat().font().pixelSize()
    small = table_of(narrow).cellAt(1, 0).firstCursorPosition().charFormat().font().pixelSize()
    assert small < size
    narrow.resize(1400, narrow.heightForWidth(1400))
    assert table_of(narrow).cellAt(1, 0).firstCursorPosition().charFormat().font().pixelSize() == size
    assert narrow.heightForWidth(1400) == wide.heightForWidth(1400)


def test_copied_table_has_rows_with_tabs(make: Make) -> None:
    view = make(SMALL)
    view.selectAll()
    lines = [line for line in view.selected_text().splitlines() if line]
    assert lines == ["before", "Stage\tg", "N2\t0.32", "REM\t−0.04", "after"]


def test_empty_cell_keeps_its_place(make: Make) -> None:
    view = make("| a | b | c |\n|---|---|---|\n| 1 |  | 3 |\n")
    assert "1\t\t3" in view.plain_text()


def test_selected_cells_are_copied_alone(make: Make) -> None:
    view = make("| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n| 4 | 5 | 6 |\n")
    table = table_of(view)
    cursor = table.cellAt(1, 1).firstCursorPosition()
    cursor.setPosition(table.cellAt(2, 2).lastPosition(), QTextCursor.MoveMode.KeepAnchor)
    view.setTextCursor(cursor)
    assert view.selected_text() == "2\t3\n5\t6"


def test_chip_in_a_table_is_copied_by_its_label(make: Make) -> None:
    view = make(f"| a | b |\n|---|---|\n| 1 | {HU} |\n")
    assert "1\tHu et al. 2020, p. 218" in view.plain_text()


def test_long_line_of_code_goes_on_further_in(make: Make) -> None:
    view = make("```python\n" + "name = call(argument, another) + " * 9 + "1\nshort = 1\n```", 500)
    block = view.document().begin()
    layout = block.layout()
    assert layout.lineCount() > 1
    assert layout.lineAt(1).x() > layout.lineAt(0).x()
    assert view.document().size().width() <= 500
    assert view.code_texts()[0].count("\n") == 1


def test_first_line_of_code_leaves_room_for_its_corner(make: Make) -> None:
    view = make("```python\n" + "x" * 400 + "\n```", 500)
    frame = view._decoration().code[0]
    block = view.document().begin()
    line = block.layout().lineAt(0)
    assert line.naturalTextRect().right() + block.layout().position().x() < frame.button.left()
