"""The composer sends what was meant, keeps drafts, and says why it cannot."""

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QColor, QImage, QInputMethodEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from bibgenie_desktop.gui import theme
from bibgenie_desktop.gui.components import Banner, box, column, push
from bibgenie_desktop.gui.composer import Composer, ComposerState
from bibgenie_desktop.gui.composer_dock import ComposerDock
from bibgenie_desktop.gui.composer_edit import Dropped
from bibgenie_desktop.gui.conversation.rows import AttachmentView
from bibgenie_desktop.services.library.payloads import Payload
from tests.gui.fit import clipped_texts


@pytest.fixture
def composer(qtbot: QtBot) -> Composer:
    result = Composer()
    holder = box(column(None, result))
    qtbot.addWidget(holder)
    holder.resize(700, 500)
    holder.show()
    result.holder = holder  # type: ignore[attr-defined]
    return result


def sent(composer: Composer) -> list[str]:
    texts: list[str] = []
    composer.send_requested.connect(texts.append)
    return texts


def test_enter_sends_and_shift_enter_begins_a_line(composer: Composer, qtbot: QtBot) -> None:
    texts = sent(composer)
    qtbot.keyClicks(composer.edit, "one")
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(composer.edit, "two")
    assert texts == []
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert texts == ["one\ntwo"]


def test_enter_inside_a_composed_word_does_not_send(composer: Composer, qtbot: QtBot) -> None:
    texts = sent(composer)
    qtbot.keyClicks(composer.edit, "a")
    QApplication.sendEvent(composer.edit, QInputMethodEvent("にほん", []))
    assert composer.edit.is_composing
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    qtbot.keyClick(composer.edit, Qt.Key.Key_Enter)
    assert texts == []
    done = QInputMethodEvent("", [])
    done.setCommitString("日本")
    QApplication.sendEvent(composer.edit, done)
    text = composer.text
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert texts == [text]
    assert "日本" in text


def test_nothing_is_sent_from_an_empty_composer(composer: Composer, qtbot: QtBot) -> None:
    texts = sent(composer)
    qtbot.keyClicks(composer.edit, "  ")
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert texts == []
    assert not composer.findChild(QToolButton, "sendButton").isEnabled()


def test_attachment_alone_can_be_sent(composer: Composer, qtbot: QtBot) -> None:
    texts = sent(composer)
    composer.set_attachments([AttachmentView("Hu et al. 2020", key="u-HUTM2020")])
    composer.findChild(QToolButton, "sendButton").click()
    assert texts == [""]


def test_send_that_is_not_allowed_says_why(composer: Composer, qtbot: QtBot) -> None:
    texts, reasons = sent(composer), []
    composer.send_refused.connect(reasons.append)
    qtbot.keyClicks(composer.edit, "text")
    composer.set_state(ComposerState(send_reason="Too large by 12,400 tokens", share=1.07))
    button = composer.findChild(QToolButton, "sendButton")
    assert not button.isEnabled()
    assert button.toolTip() == "Too large by 12,400 tokens"
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert (texts, reasons) == ([], ["Too large by 12,400 tokens"])
    assert composer.text == "text"


def test_stop_takes_the_place_of_send_and_enter_queues(composer: Composer, qtbot: QtBot) -> None:
    texts = sent(composer)
    composer.set_state(ComposerState(streaming=True))
    send, stop = (composer.findChild(QToolButton, name) for name in ("sendButton", "stopButton"))
    assert stop.isVisible()
    assert not send.isVisible()
    with qtbot.waitSignal(composer.stop_requested):
        stop.click()
    qtbot.keyClicks(composer.edit, "and then?")
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert texts == ["and then?"]


def test_escape_ends_an_edit_before_it_stops(composer: Composer, qtbot: QtBot) -> None:
    composer.set_state(ComposerState(streaming=True))
    composer.set_editing(True)
    with qtbot.waitSignal(composer.edit_cancelled), qtbot.assertNotEmitted(composer.stop_requested):
        qtbot.keyClick(composer.edit, Qt.Key.Key_Escape)
    composer.set_editing(False)
    with qtbot.waitSignal(composer.stop_requested):
        qtbot.keyClick(composer.edit, Qt.Key.Key_Escape)


def test_up_in_an_empty_composer_edits_the_last_message(composer: Composer, qtbot: QtBot) -> None:
    with qtbot.waitSignal(composer.edit_last_requested):
        qtbot.keyClick(composer.edit, Qt.Key.Key_Up)
    qtbot.keyClicks(composer.edit, "text")
    with qtbot.assertNotEmitted(composer.edit_last_requested):
        qtbot.keyClick(composer.edit, Qt.Key.Key_Up)


def test_editing_strip_is_shown_and_cancelled(composer: Composer, qtbot: QtBot) -> None:
    assert not composer.findChild(QPushButton, "cancelEditButton").isVisible()
    composer.set_editing(True)
    assert "Editing message" in [w.text() for w in composer.findChildren(QLabel) if w.isVisible()]
    with qtbot.waitSignal(composer.edit_cancelled):
        composer.findChild(QPushButton, "cancelEditButton").click()


def test_draft_is_reported_once_typing_rests(composer: Composer, qtbot: QtBot) -> None:
    drafts: list[str] = []
    composer.draft_changed.connect(drafts.append)
    qtbot.keyClicks(composer.edit, "hello")
    assert drafts == []
    qtbot.waitUntil(lambda: drafts == ["hello"], timeout=2000)
    composer.set_text("set by the program")
    qtbot.wait(350)
    assert drafts == ["hello"]


def test_draft_is_reported_before_it_is_sent_and_on_demand(composer: Composer, qtbot: QtBot) -> None:
    drafts: list[str] = []
    composer.draft_changed.connect(drafts.append)
    qtbot.keyClicks(composer.edit, "a")
    composer.flush_draft()
    assert drafts == ["a"]
    composer.flush_draft()
    assert drafts == ["a"]


def test_composer_grows_to_eight_lines_and_shrinks_again(composer: Composer, qtbot: QtBot) -> None:
    one = composer.edit.height()
    composer.set_text("\n".join("x" * 4))
    four = composer.edit.height()
    composer.set_text("\n".join("x" * 8))
    eight = composer.edit.height()
    composer.set_text("\n".join("x" * 40))
    assert composer.edit.height() == eight > four > one
    assert composer.edit.verticalScrollBar().maximum() > 0
    composer.set_text("")
    assert composer.edit.height() == one


def test_long_line_wraps_into_more_height(composer: Composer, qtbot: QtBot) -> None:
    one = composer.edit.height()
    composer.set_text("word " * 60)
    assert composer.edit.height() > one


def test_frozen_composer_shows_its_text_and_takes_none(composer: Composer, qtbot: QtBot) -> None:
    composer.set_text("waits")
    composer.set_attachments([AttachmentView("Hu et al. 2020")])
    composer.set_state(ComposerState(frozen="Sent when compaction is through"))
    qtbot.keyClicks(composer.edit, "more")
    assert composer.text == "waits"
    assert not composer.findChild(QToolButton, "sendButton").isEnabled()
    assert composer.findChild(QToolButton, "sendButton").toolTip() == "Sent when compaction is through"
    assert not composer.findChild(QToolButton, "attachButton").isEnabled()


def test_read_only_composer_says_so_in_its_place(composer: Composer, qtbot: QtBot) -> None:
    composer.set_state(ComposerState(read_only="Read-only: a message can be sent in the copy"))
    assert composer.edit.placeholderText() == "Read-only: a message can be sent in the copy"
    qtbot.keyClicks(composer.edit, "x")
    assert composer.text == ""


def test_removed_attachment_is_reported_by_key(composer: Composer, qtbot: QtBot) -> None:
    composer.set_attachments([AttachmentView("Hu et al. 2020", key="k1"), AttachmentView("Cordi", key="k2")])
    buttons = [b for b in composer.findChildren(QToolButton) if b.toolTip() == "Remove Cordi"]
    with qtbot.waitSignal(composer.attachment_removed) as caught:
        buttons[0].click()
    assert caught.args == ["k2"]


def test_share_of_the_context_is_shown(composer: Composer, qtbot: QtBot) -> None:
    composer.set_state(ComposerState(share=0.36))
    assert "36\u202f%" in [w.text() for w in composer.findChildren(QLabel) if w.isVisible()]
    with qtbot.waitSignal(composer.context_requested):
        composer.findChild(QToolButton, "contextRing").click()
    composer.set_state(ComposerState())
    assert not composer.findChild(QToolButton, "contextRing").isVisible()


def test_mention_is_followed_while_it_is_typed(composer: Composer, qtbot: QtBot) -> None:
    seen: list[object] = []
    composer.mention_changed.connect(seen.append)
    qtbot.keyClicks(composer.edit, "see @hu")
    assert seen[-1] == "hu"
    qtbot.keyClicks(composer.edit, " x")
    assert seen[-1] == "hu x"
    composer.edit.take_mention()
    assert composer.text == "see "
    qtbot.keyClicks(composer.edit, "mail me@home")
    assert seen[-1] is None


def test_a_mention_may_follow_a_chinese_word_without_a_blank(composer: Composer, qtbot: QtBot) -> None:
    seen: list[object] = []
    composer.mention_changed.connect(seen.append)
    composer.edit.insertPlainText("\u8bf7\u770b@\u80e1")
    assert seen[-1] == "\u80e1"


def test_open_mention_list_gets_its_keys(composer: Composer, qtbot: QtBot) -> None:
    texts = sent(composer)
    qtbot.keyClicks(composer.edit, "see @hu")
    composer.edit.set_mention_open(True)
    with qtbot.waitSignal(composer.mention_key) as caught:
        qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert caught.args == [Qt.Key.Key_Return.value]
    assert texts == []
    composer.edit.take_mention()
    assert composer.text == "see "


def test_pasted_things_are_reported_and_text_is_plain(
    composer: Composer, qtbot: QtBot, tmp_path: object
) -> None:
    got: list[Dropped] = []
    composer.dropped.connect(got.append)
    picture = QImage(4, 4, QImage.Format.Format_RGB32)
    picture.fill(QColor("red"))
    data = QMimeData()
    data.setImageData(picture)
    composer.edit.insertFromMimeData(data)
    assert got[-1].image is not None
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/x/paper.pdf")])
    composer.edit.insertFromMimeData(data)
    assert got[-1].files == ("/x/paper.pdf",)
    data = QMimeData()
    data.setData("zotero/item", b"1")
    data.setText("Hu et al.")
    named: list[Payload] = []
    composer.resources_dropped.connect(named.append)
    composer.edit.insertFromMimeData(data)
    assert [(p.formats, p.text) for p in named] == [((("zotero/item", b"1"),), "Hu et al.")]
    assert len(got) == 2
    data = QMimeData()
    data.setHtml("<b>bold</b>")
    data.setText("bold\u2028text")
    composer.edit.insertFromMimeData(data)
    assert composer.text == "bold\ntext"


def test_quote_becomes_markdown(composer: Composer, qtbot: QtBot) -> None:
    composer.set_text("As said:")
    composer.quote("first\nsecond")
    assert composer.text == "As said:\n\n> first\n> second\n\n"


@pytest.mark.parametrize("scale", [0.8, 1.0, 1.5, 2.0])
def test_nothing_is_clipped(qtbot: QtBot, light_theme: theme.Theme, scale: float) -> None:
    light_theme.set_scale(scale)
    dock = ComposerDock()
    frame = box(column(None, dock))
    qtbot.addWidget(frame)
    frame.resize(620, 1400)
    frame.show()
    dock.composer.set_attachments([AttachmentView("Hu et al. 2020"), AttachmentView("Cordi & Rasch 2021")])
    dock.composer.set_editing(True)
    dock.composer.set_state(ComposerState(share=0.94))
    actions = [push("Choose model…", dense=True), push("Show context", "quiet", dense=True)]
    words = "Compacting would free 9,800. Remove an attachment, shorten the text, or choose a larger model."
    dock.set_banner("overshoot", Banner("bad", "Draft too large by 12,400 tokens", words, actions))
    dock.toasts.show_toast("Forked. You are in the new session.", action="Undo", on_action=dock.toasts.clear)
    qtbot.wait(10)
    assert clipped_texts(frame) == []


def test_banner_is_replaced_by_name(qtbot: QtBot) -> None:
    dock = ComposerDock()
    qtbot.addWidget(dock)
    dock.show()
    first, second = Banner("warn", "one"), Banner("warn", "two")
    dock.set_banner("overshoot", first)
    dock.set_banner("overshoot", second)
    assert dock.banner("overshoot") is second
    assert second.isVisible()
    dock.set_banner("overshoot", None)
    assert dock.banner("overshoot") is None
