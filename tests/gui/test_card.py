"""A proposal waits for a person: nothing is accepted by accident, and what was edited is handed on."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from bibgenie_desktop.gui import theme
from bibgenie_desktop.gui.conversation.card import CardState, CardView, ProposalCard
from bibgenie_desktop.gui.conversation.rows import WidgetRow
from bibgenie_desktop.gui.conversation.view import ConversationView
from bibgenie_desktop.gui.render.markdown_view import MarkdownView
from tests.gui.fit import clipped_texts
from tests.gui.samples import CARD, TAGS_CARD, card_rows, many_rows

Make = Callable[..., ProposalCard]


@pytest.fixture
def decided() -> list[tuple[str, ...]]:
    return []


@pytest.fixture
def make(qtbot: QtBot, decided: list[tuple[str, ...]]) -> Make:
    def build(card: CardView = CARD) -> ProposalCard:
        widget = ProposalCard(card)
        widget.accepted.connect(lambda call: decided.append(("accepted", call)))
        widget.edited.connect(lambda call, text: decided.append(("edited", call, text)))
        widget.declined.connect(lambda call: decided.append(("declined", call)))
        widget.proposed_again.connect(lambda call: decided.append(("again", call)))
        widget.copied.connect(lambda call, text: decided.append(("copied", call, text)))
        widget.undo_requested.connect(lambda call: decided.append(("undo", call)))
        widget.show_requested.connect(lambda link: decided.append(("show", link)))
        qtbot.addWidget(widget)
        widget.resize(600, 320)
        widget.show()
        widget.activateWindow()
        return widget

    return build


def button(card: ProposalCard, name: str) -> QPushButton:
    found = card.findChild(QPushButton, name)
    assert found is not None
    return found


def words_of(card: ProposalCard) -> str:
    """Everything that can be read on it."""
    shown = [w.text() for w in card.findChildren(QLabel) if w.isVisibleTo(card)]
    texts = [v.toPlainText() for v in card.findChildren(MarkdownView) if v.isVisibleTo(card)]
    return "\n".join((*shown, *texts))


def test_card_says_what_would_be_written_and_where(make: Make) -> None:
    words = words_of(make())
    for said in (CARD.title, CARD.target, "Waiting for you", "TMR: pooled effects by stage", "N2 g = 0.32"):
        assert said in words
    assert "**" not in words


def test_card_of_tags_shows_what_comes_and_what_goes(make: Make) -> None:
    words = words_of(make(TAGS_CARD))
    for said in (TAGS_CARD.target, "+ meta-analysis", "+ TMR", "− to read"):
        assert said in words


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space])
def test_nothing_is_preselected(
    make: Make, qtbot: QtBot, decided: list[tuple[str, ...]], key: Qt.Key
) -> None:
    card = make()
    assert not any(b.isDefault() or b.autoDefault() or b.hasFocus() for b in card.findChildren(QPushButton))
    qtbot.keyClick(card, key)
    assert decided == []


@pytest.mark.parametrize(("name", "made"), [("acceptButton", "accepted"), ("declineButton", "declined")])
def test_enter_does_what_the_focused_button_says(
    make: Make, qtbot: QtBot, decided: list[tuple[str, ...]], name: str, made: str
) -> None:
    card = make()
    button(card, name).setFocus()
    qtbot.waitUntil(lambda: button(card, name).hasFocus(), timeout=2000)
    qtbot.keyClick(button(card, name), Qt.Key.Key_Return)
    assert decided == [(made, "call_1")]


def test_it_is_decided_once(make: Make, decided: list[tuple[str, ...]]) -> None:
    card = make()
    button(card, "acceptButton").click()
    button(card, "declineButton").click()
    button(card, "acceptButton").click()
    assert decided == [("accepted", "call_1")]


def test_edited_text_is_handed_on(make: Make, qtbot: QtBot, decided: list[tuple[str, ...]]) -> None:
    card = make()
    button(card, "editFirstButton").click()
    editor = card.findChild(QPlainTextEdit, "contentEditor")
    assert editor.toPlainText() == CARD.content
    editor.setPlainText("Another note")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert decided == []
    editor.setPlainText("Another note")
    button(card, "acceptButton").click()
    assert decided == [("edited", "call_1", "Another note")]


def test_editing_without_a_change_is_accepting(make: Make, decided: list[tuple[str, ...]]) -> None:
    card = make()
    button(card, "editFirstButton").click()
    button(card, "acceptButton").click()
    assert decided == [("accepted", "call_1")]


def test_escape_gives_the_edit_up_and_decides_nothing(
    make: Make, qtbot: QtBot, decided: list[tuple[str, ...]]
) -> None:
    card = make()
    button(card, "editFirstButton").click()
    editor = card.findChild(QPlainTextEdit, "contentEditor")
    editor.setPlainText("Another note")
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert not card.is_editing
    button(card, "acceptButton").click()
    assert decided == [("accepted", "call_1")]


@pytest.mark.parametrize("state", ["writing", "declined", "copied", "undone"])
def test_card_that_is_settled_offers_nothing_but_its_text(make: Make, state: CardState) -> None:
    card = make(replace(CARD, state=state, words="As it was"))
    names = {b.objectName() for b in card.findChildren(QPushButton)}
    assert names == (set() if state == "writing" else {"textButton"})
    assert "As it was" in words_of(card)


def test_text_of_a_settled_card_can_be_opened_and_closed(make: Make) -> None:
    card = make(replace(CARD, state="declined"))
    assert "pooled effects" not in words_of(card)
    button(card, "textButton").click()
    assert "pooled effects" in words_of(card)
    button(card, "textButton").click()
    assert "pooled effects" not in words_of(card)


def test_what_was_written_can_be_shown_in_zotero_and_undone(
    make: Make, decided: list[tuple[str, ...]]
) -> None:
    card = make(
        replace(CARD, state="written", link="zotero://select/library/items/NOTE2345", words="Written.")
    )
    assert "In Zotero" in words_of(card)
    button(card, "showButton").click()
    button(card, "undoButton").click()
    button(card, "undoButton").click()
    assert decided == [("show", "zotero://select/library/items/NOTE2345"), ("undo", "call_1")]


def test_what_failed_says_why_and_can_be_tried_again(make: Make, decided: list[tuple[str, ...]]) -> None:
    card = make(replace(CARD, state="failed", words="Zotero did not answer."))
    assert "Zotero did not answer." in words_of(card)
    button(card, "acceptButton").click()
    assert decided == [("accepted", "call_1")]


def test_where_nothing_can_be_written_the_text_can_be_copied(
    make: Make, decided: list[tuple[str, ...]]
) -> None:
    card = make(replace(CARD, refusal="In Zotero, open Settings, Advanced."))
    assert "In Zotero, open Settings" in words_of(card)
    assert not card.findChildren(QPushButton, "editFirstButton")
    button(card, "copyButton").click()
    assert decided == [("copied", "call_1", CARD.content)]


def test_copying_an_edited_text_copies_what_is_there_now(make: Make, decided: list[tuple[str, ...]]) -> None:
    card = make()
    button(card, "editFirstButton").click()
    card.findChild(QPlainTextEdit, "contentEditor").setPlainText("Another note")
    button(card, "copyButton").click()
    assert decided == [("copied", "call_1", "Another note")]


def test_unanswered_card_can_be_proposed_again(make: Make, decided: list[tuple[str, ...]]) -> None:
    card = make(replace(CARD, state="unanswered"))
    button(card, "proposeAgainButton").click()
    assert decided == [("again", "call_1")]


@pytest.fixture
def view(qtbot: QtBot) -> ConversationView:
    result = ConversationView()
    qtbot.addWidget(result)
    result.resize(800, 700)
    result.show()
    return result


def test_card_stands_in_the_conversation_and_is_edited_there(view: ConversationView, qtbot: QtBot) -> None:
    view.set_rows(card_rows())
    before = view.message_widget("call_1").height()
    view.findChild(QPushButton, "editFirstButton").click()
    editor = view.findChild(QPlainTextEdit, "contentEditor")
    qtbot.wait(20)
    assert view.message_widget("call_1").height() == pytest.approx(before, abs=theme.gap(14))
    editor.setPlainText("line\n" * 14)
    qtbot.wait(20)
    assert view.message_widget("call_1").height() > before
    assert editor.verticalScrollBar().maximum() <= 1


def test_edited_card_outlives_scrolling(view: ConversationView) -> None:
    view.set_rows([*many_rows(300), WidgetRow("call_1", lambda: ProposalCard(CARD), "proposal")])
    view.findChild(QPushButton, "editFirstButton").click()
    view.findChild(QPlainTextEdit, "contentEditor").setPlainText("Another note")
    view.setFocus()
    for _ in range(60):
        view.verticalScrollBar().setValue(view.verticalScrollBar().value() - 700)
    assert view.message_widget("m299") is None
    assert view.findChild(QPlainTextEdit, "contentEditor").toPlainText() == "Another note"


@pytest.mark.parametrize("scale", [0.8, 1.0, 2.0])
def test_nothing_of_a_card_is_clipped(
    view: ConversationView, qtbot: QtBot, light_theme: theme.Theme, scale: float
) -> None:
    light_theme.set_scale(scale)
    view.resize(760, 2000)
    tags = tuple(f"a tag of some length {i}" for i in range(9))
    for card in (
        replace(CARD, title=CARD.title * 5, refusal="Switch it on. " * 20),
        replace(TAGS_CARD, add=tags),
    ):
        view.set_rows(card_rows(card))
        qtbot.wait(20)
        assert clipped_texts(view) == []
