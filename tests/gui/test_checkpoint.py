"""An opened checkpoint reads as statements: whose each one is, what is nested, what is empty."""

import pytest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from bibgenie_desktop.gui import theme
from bibgenie_desktop.gui.conversation.checkpoint import StatementText
from bibgenie_desktop.gui.conversation.rows import CheckpointRow
from bibgenie_desktop.gui.conversation.statements import Statement, mark_words, statements_of
from bibgenie_desktop.gui.conversation.view import ConversationView
from tests.gui import samples


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("- [user] Goal.", [Statement("Goal.", "user")]),
        ("* [tool] a\n• [inference] b", [Statement("a", "tool"), Statement("b", "inference")]),
        ("[user] without a bullet", [Statement("without a bullet", "user")]),
        (
            "- [tool] a\n  - [inference] b\n    - c\n- d",
            [Statement("a", "tool"), Statement("b", "inference", 1), Statement("c", "", 2), Statement("d")],
        ),
        ("- [tool] a\n\t- b\n\t- c", [Statement("a", "tool"), Statement("b", "", 1), Statement("c", "", 1)]),
        ("- [user] begins\n  and goes on", [Statement("begins and goes on", "user")]),
        ("one line\nand another", [Statement("one line"), Statement("and another")]),
        ("1. [user] a\n2. [user] b", [Statement("1. a", "user"), Statement("2. b", "user")]),
        ("- [user] a\n\n- [user] b", [Statement("a", "user"), Statement("b", "user")]),
        (
            "• Source: read\n  • Inferred: thought",
            [Statement("read", "tool"), Statement("thought", "inference", 1)],
        ),
        ("- [inference] Nothing recorded.", []),
        ("Nothing recorded.", []),
        ("• Inferred: Nothing recorded.", []),
        ("- None", []),
        ("", []),
        ("- [user] Nothing recorded was lost", [Statement("Nothing recorded was lost", "user")]),
    ],
)
def test_section_is_taken_apart(qapp: object, text: str, statements: list[Statement]) -> None:
    assert list(statements_of(text)) == statements


@pytest.fixture
def opened(qtbot: QtBot) -> ConversationView:
    view = ConversationView()
    qtbot.addWidget(view)
    view.resize(800, 900)
    view.show()
    view.set_rows([CheckpointRow("c", "Compacted · 48 k → 6 k", samples.SUMMARY, 9)])
    view.message_widget("c").toggle_fold()
    qtbot.wait(20)
    return view


def shown(view: ConversationView) -> list[QLabel]:
    return [w for w in view.message_widget("c").findChildren(QLabel) if w.isVisible() and w.text()]


def test_no_mark_and_no_bullet_is_left_in_the_words(opened: ConversationView) -> None:
    opened.findChild(QPushButton, "showAllSections").click()
    words = [w.text() for w in shown(opened)]
    assert not [
        w for w in words if "[user]" in w or "[tool]" in w or "[inference]" in w or w.startswith("- ")
    ]
    assert {"You", "Source", "Inferred"} <= set(words)


def test_mark_says_what_it_means(opened: ConversationView) -> None:
    tips = {w.text(): w.toolTip() for w in shown(opened)}
    for name, meaning in mark_words().values():
        assert tips[name] == meaning


def test_nested_statement_stands_further_in(opened: ConversationView) -> None:
    outer = next(w for w in shown(opened) if w.text().startswith("Nesting of"))
    inner = next(w for w in shown(opened) if w.text().startswith("Found in 12"))
    assert inner.contentsRect().left() + inner.x() >= outer.contentsRect().left() + outer.x() + theme.gap(14)


def test_sections_with_content_are_counted(opened: ConversationView) -> None:
    assert "5 of 8 sections · 9 resources kept" in [w.text() for w in shown(opened)]


def test_empty_section_is_dim_and_on_one_line(opened: ConversationView) -> None:
    empty = next(w for w in shown(opened) if "Nothing recorded" in w.text())
    assert "Research Progress" in empty.text()
    assert empty.property("tone") == "3"


def test_show_all_shows_the_rest_and_goes(opened: ConversationView) -> None:
    assert not [w for w in shown(opened) if w.text() == "Next Steps"]
    button = opened.findChild(QPushButton, "showAllSections")
    button.click()
    assert [w for w in shown(opened) if w.text() == "Next Steps"]
    assert not button.isVisible()


def test_keys_are_quiet_and_words_are_never_markup(qtbot: QtBot, light_theme: theme.Theme) -> None:
    text = StatementText('See u-ABCD2345 and [[g7-ABCD2345 p.3 "a <b> c"]] <i>so</i>')
    qtbot.addWidget(text)
    quiet = f"color:{theme.current().colors.text3}"
    assert text.text().count(quiet) == 2
    assert "&lt;i&gt;so&lt;/i&gt;" in text.text()
    light_theme.set_mode("dark")
    assert f"color:{theme.current().colors.text3}" in text.text()
    assert quiet not in text.text()
