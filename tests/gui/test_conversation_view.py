"""The conversation keeps few widgets, keeps what is read in place, and says what can be done."""

import random
import time
from itertools import pairwise

import pytest
from PySide6.QtCore import QCoreApplication, QPoint, QRect, Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from bibgenie_desktop.gui import theme
from bibgenie_desktop.gui.components import Spinner, box, column
from bibgenie_desktop.gui.conversation.answer import AnswerMessage
from bibgenie_desktop.gui.conversation.rows import (
    Action,
    AnswerRow,
    CheckpointRow,
    PlaceholderRow,
    Row,
    StepView,
    UserRow,
    VerbatimRow,
    WidgetRow,
)
from bibgenie_desktop.gui.conversation.view import ConversationView
from bibgenie_desktop.gui.conversation.virtual_column import AWAY, MOST_WIDGETS
from tests.gui import samples
from tests.gui.fit import LongTranslator, clipped_texts
from tests.gui.samples import many_rows


@pytest.fixture
def view(qtbot: QtBot) -> ConversationView:
    result = ConversationView()
    qtbot.addWidget(result)
    result.resize(800, 700)
    result.show()
    return result


def on_screen(view: ConversationView) -> list[str]:
    """Ids of the rows in view, from above."""
    page = view.viewport().height()
    shown = [
        (view.message_widget(row.id).y(), row.id)
        for row in view.rows
        if view.message_widget(row.id) is not None
        and view.message_widget(row.id).y() != AWAY
        and view.message_widget(row.id).y() < page
        and box_of(view, row.id).bottom() > 0
    ]
    return [row_id for _, row_id in sorted(shown)]


def top_of(view: ConversationView, row_id: str) -> int:
    widget = view.message_widget(row_id)
    assert widget is not None
    return widget.y()


def box_of(view: ConversationView, row_id: str) -> QRect:
    """Where a message stands, without what reaches into the gap below it."""
    widget = view.message_widget(row_id)
    assert widget is not None
    return widget.geometry().adjusted(0, 0, 0, -widget.overhang)


def scroll_by(view: ConversationView, pixels: int) -> None:
    bar = view.verticalScrollBar()
    bar.setValue(bar.value() + pixels)


def settle(qtbot: QtBot) -> None:
    qtbot.wait(20)


# size


def test_ten_thousand_rows_open_at_once_at_the_end(view: ConversationView) -> None:
    rows = many_rows(10_000)
    started = time.perf_counter()
    view.set_rows(rows)
    assert time.perf_counter() - started < 2
    assert on_screen(view)[-1] == "m9999"
    assert view.is_following
    assert view.live_widgets <= MOST_WIDGETS


def test_few_widgets_live_however_far_one_scrolls(view: ConversationView) -> None:
    view.set_rows(many_rows(10_000))
    bar = view.verticalScrollBar()
    for share in (0.9, 0.5, 0.1, 0.0, 0.7, 1.0):
        bar.setValue(round(bar.maximum() * share))
        assert view.live_widgets <= MOST_WIDGETS
    for _ in range(60):
        scroll_by(view, -400)
        assert view.live_widgets <= MOST_WIDGETS


def test_scrolling_up_into_unmeasured_rows_moves_by_what_was_asked(view: ConversationView) -> None:
    view.set_rows(many_rows(400))
    for _ in range(120):
        row_id = on_screen(view)[0]
        before = top_of(view, row_id)
        scroll_by(view, -60)
        assert top_of(view, row_id) == pytest.approx(before + 60, abs=2)


def test_first_row_can_be_reached(view: ConversationView, qtbot: QtBot) -> None:
    view.set_rows(many_rows(300))
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert on_screen(view)[0] == "m0"
    assert top_of(view, "m0") == theme.gap(24)
    qtbot.keyClick(view, Qt.Key.Key_End)
    assert on_screen(view)[-1] == "m299"


def test_rows_never_overlap(view: ConversationView) -> None:
    view.set_rows(many_rows(200))
    for step in (-300, -900, 500, -1500, 200):
        scroll_by(view, step)
        boxes = sorted((box_of(view, i).y(), box_of(view, i).bottom()) for i in on_screen(view))
        assert all(low[1] < high[0] for low, high in pairwise(boxes))


def test_short_conversation_stands_at_the_upper_edge(view: ConversationView) -> None:
    view.set_rows(many_rows(2, words=5))
    assert top_of(view, "m0") == theme.gap(24)
    assert view.verticalScrollBar().maximum() == 0


def test_empty_conversation_is_fine(view: ConversationView) -> None:
    view.set_rows([])
    view.append(UserRow("u", "first"))
    assert on_screen(view) == ["u"]
    view.remove("u")
    assert view.rows == ()


def test_column_is_centred_and_not_wider_than_it_reads_well(view: ConversationView) -> None:
    view.resize(1600, 700)
    view.set_rows(many_rows(60))
    message = view.message_widget("m59")
    assert message.width() <= theme.px(720) + 2 * theme.gap(8)
    middle = view.viewport().mapTo(view, message.geometry().center()).x()
    assert middle == pytest.approx(view.width() / 2, abs=2)


# staying in place


def test_older_rows_come_in_above_without_moving_what_is_read(view: ConversationView) -> None:
    rows = many_rows(120)
    view.set_rows(rows[60:], older=60)
    view.scroll_to("m62")
    seen = {row_id: top_of(view, row_id) for row_id in on_screen(view)}
    view.prepend(rows[:60])
    assert {row_id: top_of(view, row_id) for row_id in seen} == seen


def test_older_rows_are_asked_for_once_when_the_reader_comes_near(
    view: ConversationView, qtbot: QtBot
) -> None:
    rows = many_rows(160)
    asked: list[bool] = []
    view.older_requested.connect(lambda: asked.append(True))
    view.set_rows(rows[80:], older=80)
    assert asked == []
    view.scroll_to("m81")
    scroll_by(view, -10)
    assert asked == [True]
    view.prepend(rows[:80], older=0)
    view.scroll_to("m1")
    assert asked == [True]


def test_growth_above_does_not_move_what_is_read(view: ConversationView, qtbot: QtBot) -> None:
    view.set_rows(many_rows(60))
    view.scroll_to("m30")
    before = top_of(view, "m30")
    view.update_row(AnswerRow("m21", "much more text. " * 400))
    settle(qtbot)
    assert top_of(view, "m30") == before


def test_window_gets_narrower_around_the_same_message(view: ConversationView, qtbot: QtBot) -> None:
    view.set_rows(many_rows(100))
    view.scroll_to("m41")
    view.resize(560, 500)
    settle(qtbot)
    assert top_of(view, "m41") == theme.gap(24)


def test_place_is_remembered(view: ConversationView) -> None:
    view.set_rows(many_rows(100))
    assert view.place() is None
    view.scroll_to("m41")
    scroll_by(view, 30)
    place = view.place()
    view.scroll_to_end()
    view.restore(place)
    assert view.place() == place


def test_switching_the_branch_keeps_the_fork_message_in_place(view: ConversationView) -> None:
    rows = many_rows(40)
    view.set_rows(rows)
    view.scroll_to("m20")
    scroll_by(view, -70)
    before = top_of(view, "m20")
    view.set_rows([*rows[:21], AnswerRow("other", "Another answer. " * 200)], keep="m20")
    assert top_of(view, "m20") == before


# following


def test_text_is_followed_only_at_the_end(view: ConversationView, qtbot: QtBot) -> None:
    view.set_rows([*many_rows(30), AnswerRow("s", "Start", streaming=True)])
    pill = view.findChild(QPushButton, "newTextPill")
    text = "Start"
    for i in range(30):
        text += f"\n\nparagraph {i} of the answer that goes on and on"
    view.stream(text)
    settle(qtbot)
    assert view.is_following
    assert not pill.isVisible()
    assert view.message_widget("s").geometry().bottom() <= view.viewport().height()
    scroll_by(view, -400)
    assert not view.is_following
    seen = on_screen(view)[0]
    before = top_of(view, seen)
    view.stream(text + "\n\nand more " * 50)
    qtbot.waitUntil(lambda: pill.isVisible(), timeout=2000)
    assert top_of(view, seen) == before
    pill.click()
    assert view.is_following
    assert not pill.isVisible()


def test_updates_are_held_back_to_twenty_a_second(view: ConversationView, qtbot: QtBot) -> None:
    view.set_rows([UserRow("u", "q"), AnswerRow("s", "", streaming=True)])
    stream = []
    message = view.message_widget("s")
    assert isinstance(message, AnswerMessage)
    shown = message.stream_text

    def counted(text: str, row: AnswerRow) -> None:
        stream.append(text)
        shown(text, row)

    message.stream_text = counted
    for i in range(200):
        view.stream("word " * (i + 1))
    assert len(stream) == 1
    qtbot.waitUntil(lambda: stream[-1].count("word") == 200, timeout=2000)
    assert len(stream) == 2


def test_streamed_text_ends_as_it_would_have_been_shown_at_once(view: ConversationView, qtbot: QtBot) -> None:
    text = samples.ANSWER
    view.set_rows([UserRow("u", "q"), AnswerRow("s", "", citations=samples.CITATIONS, streaming=True)])
    for end in range(0, len(text), 37):
        view.stream(text[:end])
        view._show_stream()
    view.update_row(AnswerRow("s", text, citations=samples.CITATIONS))
    view.append(AnswerRow("t", text, citations=samples.CITATIONS))
    both = [view.message_widget(i) for i in ("s", "t")]
    assert both[0].plain_text() == both[1].plain_text()
    assert len(both[0].views()) == 1
    qtbot.waitUntil(lambda: both[0].height() == both[1].height(), timeout=8000)


def test_delta_costs_little_however_long_the_text_is(view: ConversationView, qtbot: QtBot) -> None:
    text = "".join(f"Paragraph {i} with **some** words and `code` in it. " * 4 + "\n\n" for i in range(100))
    assert len(text) > 18_000
    view.set_rows([*many_rows(10), AnswerRow("s", text, streaming=True)])
    view.stream(text)
    settle(qtbot)
    costs = []
    for i in range(15):
        text += f"word{i} "
        started = time.perf_counter()
        view._pending = text
        view._show_stream()
        view.repaint()
        costs.append(time.perf_counter() - started)
    assert sorted(costs)[len(costs) // 2] < 0.060, f"median {sorted(costs)[7] * 1e3:.0f} ms"


def test_answer_without_text_shows_what_runs(view: ConversationView) -> None:
    running = StepView("search", "Searching", state="running")
    view.set_rows([AnswerRow("s", "", (running,), streaming=True)])
    message = view.message_widget("s")
    assert [w for w in message.findChildren(Spinner) if w.isVisible()]
    view.set_rows([AnswerRow("w", "", streaming=True)])
    assert [w for w in view.message_widget("w").findChildren(Spinner) if w.isVisible()]


# folding


def test_steps_fold_when_the_answer_is_complete(view: ConversationView) -> None:
    steps = samples.STEPS
    view.set_rows([AnswerRow("s", "text", (*steps, samples.RUNNING), streaming=True)])
    shown = [w.text() for w in view.message_widget("s").findChildren(QLabel) if w.isVisible()]
    assert "12 items" in shown
    view.update_row(AnswerRow("s", "text", steps, "Searched 3×"))
    shown = [w.text() for w in view.message_widget("s").findChildren(QLabel) if w.isVisible()]
    assert "12 items" not in shown


def test_steps_that_the_person_opened_stay_open(view: ConversationView, qtbot: QtBot) -> None:
    view.set_rows([AnswerRow("s", "text", samples.STEPS, "Searched 3×"), *many_rows(300)])
    view.scroll_to("s")
    view.message_widget("s").findChild(QPushButton, "toolLine").click()
    view.scroll_to_end()
    for _ in range(60):
        scroll_by(view, -700)
    assert view.message_widget("s") is None
    view.scroll_to("s")
    shown = [w.text() for w in view.message_widget("s").findChildren(QLabel) if w.isVisible()]
    assert "12 items" in shown


def test_checkpoint_opens_to_its_sections(view: ConversationView, qtbot: QtBot) -> None:
    view.set_rows([CheckpointRow("c", "Compacted · 48 k → 6 k", samples.SUMMARY, 9), *many_rows(2, 5)])
    closed = view.message_widget("c").height()
    with qtbot.waitSignal(view.checkpoint_toggled) as caught:
        view.message_widget("c").findChild(QPushButton, "checkpointToggle").click()
    assert caught.args == ["c", True]
    settle(qtbot)
    assert view.message_widget("c").height() > closed * 2
    shown = [w.text() for w in view.message_widget("c").findChildren(QLabel) if w.isVisible()]
    assert "Research Goal" in shown


# what is held


def test_selection_outlives_scrolling(view: ConversationView) -> None:
    view.set_rows(many_rows(400))
    text = view.message_widget("m399").views()[0]
    text.selectAll()
    chosen = text.selected_text()
    assert chosen
    for _ in range(60):
        scroll_by(view, -700)
    assert view.message_widget("m397") is None
    assert view.message_widget("m399").selected_text() == chosen


def test_focus_outlives_scrolling(view: ConversationView, qtbot: QtBot) -> None:
    view.set_rows(many_rows(400))
    view.activateWindow()
    view.focus_row("m399")
    qtbot.waitUntil(lambda: view.message_widget("m399").hasFocus(), timeout=2000)
    for _ in range(60):
        scroll_by(view, -700)
    assert view.message_widget("m399").hasFocus()


# keyboard


def test_arrows_go_from_message_to_message(view: ConversationView, qtbot: QtBot) -> None:
    view.set_rows(many_rows(50))
    view.focus_row("m49")
    for expected in ("m48", "m47", "m46"):
        qtbot.keyClick(view, Qt.Key.Key_Up)
        assert view._current == expected
        assert expected in on_screen(view)
    qtbot.keyClick(view, Qt.Key.Key_Down)
    assert view._current == "m47"


def test_page_keys_scroll_a_page(view: ConversationView, qtbot: QtBot) -> None:
    view.set_rows(many_rows(100))
    before = on_screen(view)
    qtbot.keyClick(view, Qt.Key.Key_PageUp)
    assert on_screen(view) != before
    qtbot.keyClick(view, Qt.Key.Key_PageDown)
    assert on_screen(view)[-1] == "m99"


def test_alt_arrows_ask_for_siblings_within_bounds(view: ConversationView, qtbot: QtBot) -> None:
    view.set_rows([UserRow("u", "q"), AnswerRow("a", "text", siblings=(3, 3))])
    view.focus_row("a")
    asked: list[tuple[str, int]] = []
    view.sibling_requested.connect(lambda row_id, by: asked.append((row_id, by)))
    qtbot.keyClick(view, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    qtbot.keyClick(view, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert asked == [("a", -1)]


def test_enter_opens_the_fold_of_the_message(view: ConversationView, qtbot: QtBot) -> None:
    view.set_rows([AnswerRow("a", "text", samples.STEPS, "Searched 3×")])
    view.focus_row("a")
    qtbot.keyClick(view, Qt.Key.Key_Return)
    shown = [w.text() for w in view.message_widget("a").findChildren(QLabel) if w.isVisible()]
    assert "12 items" in shown


def test_messages_say_where_they_stand(view: ConversationView) -> None:
    rows: list[Row] = [VerbatimRow(), *many_rows(10, 5)]
    view.set_rows(rows, older=330)
    view.scroll_to("m0")
    assert view.message_widget("m1").accessibleName() == "Message 332 of 340, assistant"
    assert view.message_widget("m0").accessibleName() == "Message 331 of 340, you"


# actions


def actions_of(view: ConversationView, row_id: str) -> dict[str, QAction]:
    menu = view.context_menu(row_id)
    assert menu is not None
    return {action.objectName(): action for action in menu.actions() if action.objectName()}


def test_right_click_offers_what_can_be_done(view: ConversationView, qtbot: QtBot) -> None:
    view.set_rows([UserRow("u", "question"), AnswerRow("a", "answer")])
    wishes: list[tuple[str, str]] = []
    for name in ("retry", "retry_with", "edit", "fork"):
        signal = getattr(view, f"{name}_requested")
        signal.connect(lambda row_id, name=name: wishes.append((name, row_id)))
    for name in ("retryAction", "retryWithAction", "forkAction"):
        actions_of(view, "a")[name].trigger()
    actions_of(view, "u")["editAction"].trigger()
    assert wishes == [("retry", "a"), ("retry_with", "a"), ("fork", "a"), ("edit", "u")]


def test_action_that_is_not_allowed_says_why(view: ConversationView) -> None:
    def allowed(action: Action, row_id: str) -> str | None:
        return "An answer is being written" if action == "retry" else None

    view.set_allowed(allowed)
    view.set_rows([UserRow("u", "question"), AnswerRow("a", "answer")])
    actions = actions_of(view, "a")
    assert not actions["retryAction"].isEnabled()
    assert actions["retryAction"].toolTip() == "An answer is being written"
    assert actions["forkAction"].isEnabled()
    retry = view.message_widget("a").findChild(QToolButton, "retryButton")
    assert not retry.isEnabled()
    assert retry.toolTip() == "An answer is being written"


def test_checkpoint_can_neither_be_forked_nor_retried(view: ConversationView) -> None:
    view.set_rows([CheckpointRow("c", "Compacted", samples.SUMMARY), AnswerRow("a", "x")])
    actions = actions_of(view, "c")
    for name in ("retryAction", "retryWithAction", "editAction", "forkAction"):
        assert not actions[name].isEnabled()
        assert "checkpoint" in actions[name].toolTip()


def test_answer_cannot_be_edited(view: ConversationView) -> None:
    view.set_rows([AnswerRow("a", "x")])
    assert not actions_of(view, "a")["editAction"].isEnabled()


def test_context_menu_opens_where_the_message_is(view: ConversationView, qtbot: QtBot) -> None:
    view.set_rows([UserRow("u", "question"), AnswerRow("a", "answer")])
    text = view.message_widget("a").views()[0]
    place = text.viewport().mapTo(view.viewport(), QPoint(5, 5))
    assert view.row_id_of(view.viewport().childAt(place)) == "a"


def test_copying_gives_readable_citations(view: ConversationView, qtbot: QtBot) -> None:
    view.set_rows([AnswerRow("a", f"**Small** {samples.HU}.", citations=samples.CITATIONS)])
    view._on_copy_requested("a", "markdown")
    assert QGuiApplication.clipboard().text() == "**Small** (Hu et al. 2020, p. 218)."
    view._on_copy_requested("a", "plain")
    assert QGuiApplication.clipboard().text() == "Small Hu et al. 2020, p. 218."
    with qtbot.waitSignal(view.copy_requested) as caught:
        view._on_copy_requested("a", "citations")
    assert caught.args == ["a", "citations"]
    with qtbot.waitSignal(view.quote_requested) as caught:
        view._on_copy_requested("a", "quote")
    assert caught.args == ["Small Hu et al. 2020, p. 218."]


def test_versions_are_switched_by_the_arrows_at_the_message(view: ConversationView, qtbot: QtBot) -> None:
    view.set_rows([UserRow("u", "q", siblings=(1, 2)), AnswerRow("a", "x", siblings=(2, 3))])
    switch = view.message_widget("a").findChild(QFrame, "siblingSwitcher")
    before, after = switch.findChildren(QToolButton)
    with qtbot.waitSignal(view.sibling_requested) as caught:
        after.click()
    assert caught.args == ["a", 1]
    first = view.message_widget("u").findChild(QFrame, "siblingSwitcher").findChildren(QToolButton)[0]
    assert not first.isEnabled()
    assert before.isEnabled()


def test_failed_answer_keeps_its_text_and_offers_retry(view: ConversationView, qtbot: QtBot) -> None:
    row = AnswerRow("a", "what arrived", status="failed", error_title="The answer broke off")
    view.set_rows([row])
    shown = [w.text() for w in view.message_widget("a").findChildren(QLabel) if w.isVisible()]
    assert "The answer broke off" in shown
    assert "what arrived" in view.message_widget("a").plain_text()
    button = next(b for b in view.message_widget("a").findChildren(QPushButton) if b.text() == "Retry")
    with qtbot.waitSignal(view.retry_requested):
        button.click()


def test_damaged_message_says_why(view: ConversationView) -> None:
    view.set_rows([PlaceholderRow("p", "Its parent does not exist")])
    assert "Its parent does not exist" in [w.text() for w in view.message_widget("p").findChildren(QLabel)]


def test_card_of_ones_own_is_built_and_rebuilt(view: ConversationView) -> None:
    view.set_rows([WidgetRow("w", lambda: QLabel("first"), version=1)])
    assert view.message_widget("w").findChild(QLabel).text() == "first"
    view.update_row(WidgetRow("w", lambda: QLabel("second"), version=2))
    assert view.message_widget("w").findChild(QLabel).text() == "second"


def test_citation_card_opens_its_page(view: ConversationView, qtbot: QtBot) -> None:
    view.set_rows([AnswerRow("a", f"x {samples.CORDI}", citations=samples.CITATIONS)])
    text = view.message_widget("a").views()[0]
    text.card_requested.emit(samples.CITATIONS[samples.CORDI], text.geometry(), True)
    card = view.findChild(QFrame, "citationCard")
    words = [w.text() for w in card.findChildren(QLabel)]
    assert "How robust are sleep-mediated memory benefits?" in words
    assert "Quote found word for word on page 3" in words
    with qtbot.waitSignal(view.citation_opened) as caught:
        card.findChild(QPushButton, "openInZotero").click()
    assert caught.args[0].link.startswith("zotero://")


def test_time_of_ones_own_message_takes_no_room(view: ConversationView) -> None:
    view.set_rows([UserRow("with", "words", meta="14:02", siblings=(1, 2)), UserRow("without", "words")])
    assert box_of(view, "with").height() == box_of(view, "without").height()


def test_time_and_actions_of_ones_own_message_come_with_the_focus(
    view: ConversationView, qtbot: QtBot
) -> None:
    view.activateWindow()
    view.set_rows([UserRow("u", "words", meta="14:02"), AnswerRow("a", "text")])

    def seen() -> bool:
        labels = [w for w in view.message_widget("u").findChildren(QLabel) if w.isVisible()]
        return "14:02" in [w.text() for w in labels]

    assert not seen()
    before = view.message_widget("u").geometry(), top_of(view, "a")
    view.focus_row("u")
    qtbot.waitUntil(seen, timeout=2000)
    edit = view.message_widget("u").findChild(QToolButton, "editButton")
    assert edit.isVisible()
    assert edit.mapTo(view.viewport(), edit.rect().bottomLeft()).y() < top_of(view, "a")
    edit.setFocus()
    assert seen()
    assert (view.message_widget("u").geometry(), top_of(view, "a")) == before
    view.setFocus()
    qtbot.waitUntil(lambda: not seen(), timeout=2000)


def test_actions_stay_while_the_keyboard_is_on_them(view: ConversationView, qtbot: QtBot) -> None:
    view.activateWindow()
    view.set_rows([AnswerRow("a", "text"), AnswerRow("b", "newest")])
    view.focus_row("a")
    copy = view.message_widget("a").findChild(QToolButton, "copyButton")
    copy.setFocus()
    qtbot.waitUntil(copy.hasFocus, timeout=2000)
    assert copy.isVisible()
    view.focus_row("b")
    qtbot.waitUntil(lambda: not copy.isVisible(), timeout=2000)


@pytest.mark.parametrize("width", [420, 560, 640, 900])
def test_texts_get_the_height_they_need_in_a_window_of_any_width(qtbot: QtBot, width: int) -> None:
    view = ConversationView()
    qtbot.addWidget(view)
    view.set_rows([*samples.wide_rows(), *many_rows(2, words=20), *samples.card_rows()[1:]])
    view.resize(width, 3000)
    view.show()
    settle(qtbot)
    for message in view._live.values():
        for text in message.views():
            assert text.height() == text.heightForWidth(text.width())
            assert text.verticalScrollBar().maximum() == 0


# fit


@pytest.mark.parametrize("scale", [0.8, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("scene", ["main", "streaming", "compacted", "card", "wide"])
def test_nothing_is_clipped(qtbot: QtBot, light_theme: theme.Theme, scale: float, scene: str) -> None:
    light_theme.set_scale(scale)
    view = ConversationView()
    holder = box(column(view), surface="canvas")
    qtbot.addWidget(holder)
    holder.resize(760, 2600)
    holder.show()
    view.set_rows(getattr(samples, f"{scene}_rows")())
    for row in view.rows:
        if isinstance(row, CheckpointRow):
            view.message_widget(row.id).toggle_fold()
    settle(qtbot)
    assert clipped_texts(holder) == []


def test_nothing_is_clipped_in_a_longer_language(qtbot: QtBot, light_theme: theme.Theme) -> None:
    translator = LongTranslator()
    QCoreApplication.installTranslator(translator)
    try:
        view = ConversationView()
        holder = box(column(view), surface="canvas")
        qtbot.addWidget(holder)
        holder.resize(620, 3000)
        holder.show()
        view.set_rows([*samples.compacted_rows(), AnswerRow("s", "", streaming=True)])
        view.message_widget("c1").toggle_fold()
        settle(qtbot)
        assert clipped_texts(holder) == []
    finally:
        QCoreApplication.removeTranslator(translator)


@pytest.mark.parametrize("seed", range(6))
def test_any_sequence_of_changes_leaves_the_column_whole(
    view: ConversationView, qtbot: QtBot, seed: int
) -> None:
    dice = random.Random(seed)
    rows, first = many_rows(400), 200
    view.set_rows(rows[first:], older=first)
    for made in range(1, 121):
        match dice.randrange(9):
            case 0:
                view.append(AnswerRow(f"x{made}", "text " * dice.randrange(1, 400)))
            case 1:
                batch = min(first, dice.randrange(1, 40))
                view.prepend(rows[first - batch : first], older=first - batch)
                first -= batch
            case 2:
                row = dice.choice(view.rows)
                view.update_row(AnswerRow(row.id, "changed " * dice.randrange(1, 600)))
            case 3:
                view.remove(dice.choice(view.rows).id)
            case 4:
                view.resize(dice.randrange(420, 1100), dice.randrange(200, 900))
            case 5:
                view.scroll_to(dice.choice(view.rows).id)
            case 6:
                view.verticalScrollBar().setValue(dice.randrange(view.verticalScrollBar().maximum() + 1))
            case 7:
                view.scroll_to_end()
            case _:
                scroll_by(view, dice.randrange(-900, 900))
        if made % 10 == 0:
            qtbot.wait(1)
        shown, ids = on_screen(view), [row.id for row in view.rows]
        places = [ids.index(row_id) for row_id in shown]
        assert places == list(range(places[0], places[0] + len(places))), "rows are missing or out of order"
        boxes = [box_of(view, row_id) for row_id in shown]
        for above, below in pairwise(boxes):
            assert below.top() - above.bottom() - 1 == pytest.approx(theme.gap(24), abs=1)
        page = view.viewport().height()
        assert boxes[0].top() <= theme.gap(24) + 2, "empty room above"
        assert boxes[-1].bottom() >= page - theme.gap(24) - 2 or places[-1] == len(ids) - 1
        assert view.live_widgets <= max(MOST_WIDGETS, len(shown) + 2)


def test_theme_changes_under_an_open_conversation(
    view: ConversationView, light_theme: theme.Theme, qtbot: QtBot
) -> None:
    view.set_rows(many_rows(100))
    view.scroll_to("m40")
    light_theme.set_mode("dark")
    light_theme.set_scale(1.5)
    settle(qtbot)
    assert top_of(view, "m40") == pytest.approx(theme.gap(24), abs=14)
