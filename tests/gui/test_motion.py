"""What moves, moves shortly and ends where it would have been at once; what is read does not jump."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from bibgenie_desktop.gui import theme
from bibgenie_desktop.gui.conversation.rows import AnswerRow, CheckpointRow
from bibgenie_desktop.gui.conversation.view import ConversationView
from tests.gui import samples
from tests.gui.samples import many_rows


@pytest.fixture
def moving(light_theme: theme.Theme) -> None:
    light_theme.set_appearance(theme.Appearance(mode="light", reduced_motion=False))


@pytest.fixture
def view(qtbot: QtBot) -> ConversationView:
    result = ConversationView()
    qtbot.addWidget(result)
    result.resize(800, 700)
    result.show()
    return result


def top(view: ConversationView, row_id: str) -> int:
    return view.message_widget(row_id).y()


def heights_while(qtbot: QtBot, view: ConversationView, row_id: str) -> list[int]:
    seen = []
    for _ in range(40):
        seen.append(view.message_widget(row_id).height())
        qtbot.wait(8)
    return seen


def checkpoint() -> CheckpointRow:
    return CheckpointRow("c", "Compacted", samples.SUMMARY, 9)


def test_fold_opens_and_closes_step_by_step(view: ConversationView, qtbot: QtBot, moving: None) -> None:
    view.set_rows([checkpoint(), *many_rows(4)])
    view.scroll_to_start()
    closed = view.message_widget("c").height()
    view.message_widget("c").toggle_fold()
    opening = heights_while(qtbot, view, "c")
    assert opening == sorted(opening)
    assert len(set(opening)) > 3
    assert opening[-1] > closed * 3
    view.message_widget("c").toggle_fold()
    closing = heights_while(qtbot, view, "c")
    assert closing == sorted(closing, reverse=True)
    assert closing[-1] == closed


def test_fold_ends_as_it_would_have_been_at_once(
    view: ConversationView, qtbot: QtBot, light_theme: theme.Theme, moving: None
) -> None:
    view.set_rows([checkpoint()])
    view.message_widget("c").toggle_fold()
    moved = heights_while(qtbot, view, "c")[-1]
    light_theme.set_appearance(theme.Appearance(mode="light", reduced_motion=True))
    view.set_rows([])
    view.set_rows([CheckpointRow("d", "Compacted", samples.SUMMARY, 9)])
    view.message_widget("d").toggle_fold()
    assert view.message_widget("d").height() == moved


@pytest.mark.parametrize("reduced", [False, True])
def test_what_was_clicked_stays_under_the_pointer(
    view: ConversationView, qtbot: QtBot, light_theme: theme.Theme, reduced: bool
) -> None:
    light_theme.set_appearance(theme.Appearance(mode="light", reduced_motion=reduced))
    view.set_rows([*many_rows(20), AnswerRow("a", "text", samples.STEPS * 5, "Searched 15×")])
    assert view.is_following
    before = top(view, "a")
    view.message_widget("a").findChild(QPushButton, "toolLine").click()
    for _ in range(25):
        assert top(view, "a") == before
        qtbot.wait(8)
    assert view.message_widget("a").height() > 200


def test_steps_fold_by_themselves_without_losing_the_end(
    view: ConversationView, qtbot: QtBot, moving: None
) -> None:
    view.set_rows([*many_rows(20), AnswerRow("s", "text", samples.STEPS, streaming=True)])
    assert view.is_following
    view.update_row(AnswerRow("s", "text", samples.STEPS, "Searched 3×"))
    for _ in range(25):
        qtbot.wait(8)
        assert view.is_following
    assert not view.message_widget("s")._tools.fold.isVisible()


def test_going_to_a_message_is_seen(view: ConversationView, qtbot: QtBot, moving: None) -> None:
    view.set_rows(many_rows(60))
    view.scroll_to("m57")
    qtbot.wait(260)
    view.scroll_to("m56")
    seen = [top(view, "m56")]
    for _ in range(40):
        qtbot.wait(8)
        seen.append(top(view, "m56"))
    assert seen == sorted(seen)
    assert len(set(seen)) > 3
    assert seen[-1] == theme.gap(24)


@pytest.mark.parametrize("row_id", ["m0", "m3", "m30", "m99"])
def test_far_message_is_reached_however_far(
    view: ConversationView, qtbot: QtBot, moving: None, row_id: str
) -> None:
    view.set_rows(many_rows(100))
    view.scroll_to("m50")
    assert view.scroll_to(row_id)
    assert view.message_widget(row_id) is not None
    qtbot.wait(300)
    inside = 0 <= top(view, row_id) < view.viewport().height()
    assert inside
    assert row_id == "m99" or top(view, row_id) == theme.gap(24)


def test_the_reader_takes_over_at_once(view: ConversationView, qtbot: QtBot, moving: None) -> None:
    view.set_rows(many_rows(100))
    view.scroll_to("m50")
    qtbot.wait(30)
    qtbot.keyClick(view, Qt.Key.Key_End)
    qtbot.wait(260)
    assert view.is_following


def test_other_rows_end_the_motion(view: ConversationView, qtbot: QtBot, moving: None) -> None:
    view.set_rows(many_rows(100))
    view.scroll_to("m50")
    view.set_rows(many_rows(4, words=4))
    qtbot.wait(260)
    assert top(view, "m0") == theme.gap(24)


def test_with_reduced_motion_everything_is_there_at_once(view: ConversationView) -> None:
    view.set_rows(many_rows(100))
    view.scroll_to("m50")
    assert top(view, "m50") == theme.gap(24)
    view.update_row(checkpoint())
    view.scroll_to_end()
    view.message_widget("c").toggle_fold()
    assert view.message_widget("c").height() > 200
