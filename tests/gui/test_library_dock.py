"""The library in the window: browsing, previewing, attaching, mentioning, copying; on the sample library."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QItemSelectionModel, QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication, QInputMethodEvent
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QPushButton,
    QToolButton,
    QWidget,
)

from bibgenie_desktop.domain.ids import MessageId, TreeId
from bibgenie_desktop.domain.locators import Locator
from bibgenie_desktop.domain.messages import UserMessage
from bibgenie_desktop.domain.parts import ResourcePart
from bibgenie_desktop.gui import theme
from bibgenie_desktop.gui.components import Chip
from bibgenie_desktop.gui.docks.library import LibraryPanel
from bibgenie_desktop.gui.docks.library.items import ROW
from bibgenie_desktop.gui.docks.library.pieces import PieceLine
from bibgenie_desktop.gui.docks.library.used import SourceLine
from bibgenie_desktop.gui.popovers.mentions import MentionList
from bibgenie_desktop.gui.popovers.styles import StyleChooser
from bibgenie_desktop.gui.presenters.sources import used_sources
from bibgenie_desktop.gui.session_rows import SessionLine
from bibgenie_desktop.gui.window import MainWindow
from bibgenie_desktop.services.library.browsing import Page, Scope
from bibgenie_desktop.zotero.service import ZoteroLibrary
from tests.gui.bench import Bench, bench
from tests.gui.fit import LongTranslator, clipped
from tests.scripted_server import ScriptedServer, text
from tests.zotero.helpers import SAMPLE, opened_library, titled

ARROW = {Qt.Key.Key_Down: "↓", Qt.Key.Key_Up: "↑"}


class Room:
    """Hands on the library of a window."""

    def __init__(self, on: Bench, library: ZoteroLibrary) -> None:
        self.on, self.library = on, library
        self.panel: LibraryPanel = on.window.library

    @property
    def list(self) -> QListView:
        return self.panel.browse.list

    def titles(self) -> list[str]:
        model = self.list.model()
        rows = [model.index(i, 0).data(ROW) for i in range(model.rowCount())]
        return [r.title if r is not None else "…" for r in rows]

    async def settled(self) -> None:
        await self.on.until(lambda: not self.on.desk.library_desk.browser.busy)
        await self.on.until(lambda: self.panel.browse.preview.complete)
        await asyncio.sleep(0.02)

    async def search(self, words: str) -> None:
        self.panel.browse.field.setText(words)
        await self.settled()

    def choose(self, *beginnings: str) -> None:
        model, flags = self.list.model(), QItemSelectionModel.SelectionFlag
        for at, beginning in enumerate(beginnings):
            row = next(i for i, t in enumerate(self.titles()) if t.startswith(beginning))
            how = flags.ClearAndSelect if at == 0 else flags.Select
            self.list.selectionModel().setCurrentIndex(model.index(row, 0), how)

    def texts(self) -> str:
        shown = self.panel.findChildren(QLabel)
        return "\n".join(w.text() for w in shown if w.isVisible())

    @property
    def attached(self) -> list[str]:
        return [a.text for a in self.on.window.composer.attachments]


@asynccontextmanager
async def room(folder: Path, server: ScriptedServer) -> AsyncIterator[Room]:
    async with bench(folder, server) as on:
        library = opened_library(SAMPLE, folder / "private")
        on.desk.workspace.use_library(library)
        await library.ensure_loaded()
        on.window.open_dock("library")
        on.desk.library.redraw()
        result = Room(on, library)
        await on.until(lambda: result.panel.browse.tree.rows and result.titles())
        await result.settled()
        try:
            yield result
        finally:
            on.desk.library.texts.halt()
            await on.desk.tasks.settle(5.0)
            on.desk.workspace.use_library(None)
            await library.close()


def pasted(on: Bench, words: str, *, html: str = "", **formats: bytes) -> None:
    data = QMimeData()
    data.setText(words)
    if html:
        data.setHtml(html)
    for name, value in formats.items():
        data.setData(name.replace("__", "/"), value)
    on.window.composer.edit.insertFromMimeData(data)


async def test_the_newest_come_first_and_a_collection_narrows_the_list(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        async with room(tmp_path, server) as there:
            items = sorted(there.library.contents.items.values(), key=lambda i: (i.added, i.id))
            assert there.titles()[0] == items[-1].title
            tree = there.panel.browse.tree
            top = next(r for r in tree.rows if r.name == "Sleep & memory")
            assert top.place.children
            assert not top.unfolded
            tree.place_chosen.emit(top.place.scope)
            await there.settled()
            assert len(there.titles()) == top.place.count
            assert there.panel.browse.tree.chosen is not None
            assert there.panel.browse.tree.chosen.name == "Sleep & memory"
            tree.setFocus()
            there.on.hands.press(tree, Qt.Key.Key_Right)
            assert any(r.name == "Reviews" for r in tree.rows)
            there.on.hands.press(tree, Qt.Key.Key_Down)
            await there.settled()
            assert tree.chosen is not None
            assert tree.chosen.place.depth == 2
            assert len(there.titles()) == tree.chosen.place.count


async def test_search_follows_the_typing_and_only_the_last_words_count(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        async with room(tmp_path, server) as there:
            whole = there.titles()
            for words in ("r", "ri", "ripple"):
                there.panel.browse.field.setText(words)
            await there.settled()
            assert 0 < len(there.titles()) < len(whole)
            assert there.on.desk.library_desk.browser.listing.words == "ripple"
            await there.search("ripple zebrafish")
            assert "some of them" in there.texts()
            await there.search("zebrafish")
            assert there.titles() == []
            assert "Nothing in the library has these words." in there.texts()
            await there.search("")
            assert there.titles() == whole


async def test_the_preview_shows_what_belongs_to_an_item(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with room(tmp_path, server) as there:
            there.choose("Practice with Sleep")
            await there.on.until(lambda: there.panel.browse.preview.isVisible())
            await there.settled()
            shown = there.texts()
            assert "Practice with Sleep Makes Perfect" in shown
            assert "Neuron 35(1), 205" in shown
            pieces = [p for p in there.panel.findChildren(PieceLine) if p.isVisible()]
            assert [p.piece.kind for p in pieces] == ["attachment", *["annotation"] * 3, "note"]
            assert all(p.accessibleName() for p in pieces)


async def test_an_item_and_its_annotation_are_added_to_the_question_and_sent(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.script(text("Read."))
        async with room(tmp_path, server) as there:
            on = there.on
            there.choose("Practice with Sleep")
            on.hands.press(there.list, Qt.Key.Key_Return)
            await on.until(lambda: len(there.attached) == 1)
            on.hands.press(there.list, Qt.Key.Key_Return)
            await there.settled()
            assert len(there.attached) == 1  # once is enough
            await on.until(lambda: there.panel.findChildren(PieceLine))
            mark = next(p for p in there.panel.findChildren(PieceLine) if p.piece.kind == "annotation")
            on.hands.press(mark, Qt.Key.Key_Return)
            await on.until(lambda: len(there.attached) == 2)
            await on.ask_and_wait("What does it find?")
            sent = str(server.bodies[-1]["messages"][-1]["content"])
            assert "[attached item u-FQ3D7P4Y]" in sent
            assert "[attached annotation" in sent
            assert sent.endswith("What does it find?")
            assert there.attached == []
            assert on.asked[0].attachments[0].text.startswith("Walker et al. 2002")
            await on.until(lambda: [s.id for s in there.panel.used.sources] == ["u-FQ3D7P4Y"])


async def test_several_items_are_chosen_and_added_together(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with room(tmp_path, server) as there:
            there.choose("Practice with Sleep", "The memory function of sleep")
            data = there.list.model().mimeData(there.list.selectionModel().selectedIndexes())
            there.on.window.composer.edit.insertFromMimeData(data)
            await there.on.until(lambda: len(there.attached) == 2)
            assert not there.panel.browse.preview.isVisible()
            assert there.on.text == ""


async def test_what_is_dropped_on_text_or_frame_is_attached_and_a_reference_means_its_work(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        async with room(tmp_path, server) as there:
            composer = there.on.window.composer
            there.choose("The memory function of sleep")
            own = there.list.model().mimeData(there.list.selectionModel().selectedIndexes())
            dropped(composer.edit.viewport(), own)
            await there.on.until(lambda: len(there.attached) == 1)
            item = titled(there.library.contents, "Practice with Sleep")
            reference = QMimeData()
            reference.setText(f"Walker, M. P. (2002). {item.title}. Neuron. https://doi.org/{item.doi}")
            dropped(composer, reference)
            await there.on.until(lambda: len(there.attached) == 2)
            assert there.on.text == ""
            prose = QMimeData()
            prose.setText("Sleep on it.")
            dropped(composer.edit.viewport(), prose)
            await there.on.until(lambda: there.on.text == "Sleep on it.")


def dropped(widget: QWidget, data: QMimeData) -> None:
    left, none, copy = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, Qt.DropAction.CopyAction
    enter = QDragEnterEvent(QPoint(8, 8), copy, data, left, none)
    QApplication.sendEvent(widget, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(widget, QDropEvent(QPointF(8, 8), copy, data, left, none))


async def test_asking_about_an_item_begins_a_session_with_it(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("One."))
        async with room(tmp_path, server) as there:
            on = there.on
            await on.ask_and_wait("First?")
            before = on.desk.chats.chat
            there.panel.wished.emit("ask", ("u-FQ3D7P4Y",))
            await on.until(lambda: on.desk.chats.chat is not before and there.attached)
            assert on.asked == []


async def test_typing_an_at_finds_items_and_leaves_words_and_a_chip(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        async with room(tmp_path, server) as there:
            on = there.on
            on.window.activateWindow()
            on.window.composer.focus_text()
            on.write("compare @practice sl")
            sheet = await mention(on)
            assert sheet.rows[0].title.startswith("Practice with Sleep")
            on.hands.press(on.window.composer.edit, Qt.Key.Key_Tab)
            await on.until(lambda: there.attached)
            assert on.text == "compare Walker et al. 2002 "
            assert not shown_mentions(on)


async def test_arrows_choose_and_escape_keeps_the_text(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with room(tmp_path, server) as there:
            on = there.on
            on.window.activateWindow()
            edit = on.window.composer.edit
            on.window.composer.focus_text()
            on.hands.click(on.button("mentionButton"))
            sheet = await mention(on)
            second = sheet.rows[1]
            on.hands.press(edit, Qt.Key.Key_Down)
            on.hands.press(edit, Qt.Key.Key_Up)
            on.hands.press(edit, Qt.Key.Key_Down)
            on.hands.press(edit, Qt.Key.Key_Return)
            await on.until(lambda: there.attached)
            assert on.text == f"{second.label} "
            on.write("@sleep")
            await mention(on)
            on.hands.press(edit, Qt.Key.Key_Escape)
            assert not shown_mentions(on)
            on.write(" is good")
            await asyncio.sleep(0.2)
            assert not shown_mentions(on)
            assert on.text.endswith("@sleep is good")


async def test_an_input_method_keeps_its_keys_while_it_composes(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with room(tmp_path, server) as there:
            on = there.on
            on.window.activateWindow()
            edit = on.window.composer.edit
            on.window.composer.focus_text()
            on.write("@sleep")
            await mention(on)
            QApplication.sendEvent(edit, QInputMethodEvent("ni", []))
            on.hands.press(edit, Qt.Key.Key_Return)
            assert there.attached == []
            commit = QInputMethodEvent()
            QApplication.sendEvent(edit, commit)
            on.hands.press(edit, Qt.Key.Key_Escape)


def shown_mentions(on: Bench) -> list[MentionList]:
    return [s for s in on.window.findChildren(MentionList) if s.isVisible()]


async def mention(on: Bench) -> MentionList:
    await on.until(lambda: shown_mentions(on) and shown_mentions(on)[0].rows)
    await asyncio.sleep(0.15)
    return shown_mentions(on)[0]


async def test_what_zotero_copies_becomes_a_chip_and_what_is_unknown_stays_text(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        async with room(tmp_path, server) as there:
            on = there.on
            item = titled(there.library.contents, "Practice with Sleep")
            pasted(on, f"[Walker 2002](zotero://select/library/items/{item.key})")
            await on.until(lambda: len(there.attached) == 1)
            mark = next(a for a in there.library.contents.annotations.values() if a.item_id == item.id)
            attachment = mark.attachment_id.partition("-")[2]
            link = f"zotero://open-pdf/library/items/{attachment}?page=1&annotation={mark.key}"
            pasted(on, f"“{mark.text}” ([pdf]({link}))")
            await on.until(lambda: len(there.attached) == 2)
            assert on.text == ""
            pasted(on, "10.1000/nowhere")
            await on.until(lambda: on.text == "10.1000/nowhere")
            pasted(on, "", zotero__item=b"999999")
            await on.until(lambda: on.toast.startswith("Not attached"))


async def test_removing_a_chip_takes_the_item_out_of_the_question(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with room(tmp_path, server) as there:
            on = there.on
            pasted(on, "u-FQ3D7P4Y")
            await on.until(lambda: there.attached)
            chip = on.window.composer.findChild(Chip)
            assert chip is not None
            on.hands.click(chip.findChild(QToolButton))
            assert there.attached == []


async def test_an_answer_is_copied_in_a_chosen_style_that_is_used_again(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        async with room(tmp_path, server) as there:
            on = there.on
            item = titled(there.library.contents, "Practice with Sleep")
            server.script(text(f"Sleep helps [[{next(item.pdfs).id} p.1]]."))
            answer = await on.ask_and_wait("Does sleep help?")
            on.window.conversation.copy_requested.emit(answer.id, "cite_as")
            await on.until(lambda: choosers(on))
            assert choosers(on)[0].titles == ("Author-date (built in)",)
            on.hands.press(choosers(on)[0]._find, Qt.Key.Key_Return)
            await on.until(lambda: on.toast.startswith("Copied"))
            data = QGuiApplication.clipboard().mimeData()
            assert data.text().startswith("Sleep helps (Walker et al. 2002, p. 205).\n\nWalker, M. P.")
            assert "Neuron" in data.html()
            QGuiApplication.clipboard().clear()
            on.window.conversation.copy_requested.emit(answer.id, "citations")
            await on.until(lambda: QGuiApplication.clipboard().text().startswith("Sleep helps (Walker"))


def choosers(on: Bench) -> list[StyleChooser]:
    return [s for s in on.window.findChildren(StyleChooser) if s.isVisible()]


async def test_the_bibliography_of_a_conversation_is_copied_for_other_programs(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.script(text("Read."))
        async with room(tmp_path, server) as there:
            on = there.on
            there.panel.bibliography_requested.emit("bibtex", False)
            await on.until(lambda: on.toast.startswith("No bibliography"))
            pasted(on, "u-FQ3D7P4Y")
            await on.until(lambda: there.attached)
            await on.ask_and_wait("What does it find?")
            there.panel.bibliography_requested.emit("bibtex", False)
            await on.until(lambda: QGuiApplication.clipboard().text().startswith("@article{walker"))


async def test_a_bibliography_is_saved_in_a_file_in_the_chosen_style(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.script(text("Read."))
        async with room(tmp_path, server) as there:
            on = there.on
            pasted(on, "u-FQ3D7P4Y")
            await on.until(lambda: there.attached)
            await on.ask_and_wait("What does it find?")
            there.panel.bibliography_requested.emit("bibliography", True)
            await on.until(lambda: choosers(on))
            on.hands.press(choosers(on)[0].findChild(QLineEdit), Qt.Key.Key_Return)
            await on.until(lambda: on.window.findChildren(QFileDialog))
            dialog = on.window.findChildren(QFileDialog)[0]
            dialog.fileSelected.emit(str(tmp_path / "works.txt"))
            dialog.reject()
            await on.until(lambda: on.toast.startswith("Saved"))
            assert (tmp_path / "works.txt").read_text("utf-8").startswith("Walker, M. P.")
            there.panel.bibliography_requested.emit("ris", True)
            await on.until(lambda: [d for d in on.window.findChildren(QFileDialog) if d.isVisible()])
            other = next(d for d in on.window.findChildren(QFileDialog) if d.isVisible())
            other.fileSelected.emit(str(tmp_path / "nowhere" / "works.ris"))
            other.reject()
            await on.until(lambda: on.toast.startswith("The file could not be written"))


async def test_the_menu_copies_one_work_and_finds_the_sessions_that_used_it(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.script(text("Read."), text("Nothing."))
        async with room(tmp_path, server) as there:
            on = there.on
            pasted(on, "u-FQ3D7P4Y")
            await on.until(lambda: there.attached)
            await on.ask_and_wait("What does it find?")
            on.hands.click(on.button("newSession"))
            await on.until(lambda: on.asked == [])
            await on.ask_and_wait("Something else?")
            there.choose("Practice with Sleep")
            await there.settled()
            menu = await item_menu(there)
            on.hands.choose(menu, "item_sessions")
            await on.until(lambda: lines(on) == ["What does it find?"])
            only = on.window.sidebar.findChild(QToolButton, "allSessions")
            assert only.isVisible()
            on.hands.click(only)
            assert len(lines(on)) == 2
            there.panel.wished.emit("copy:link", ("u-FQ3D7P4Y",))
            wanted = "[Walker et al. 2002](zotero://select/library/items/FQ3D7P4Y)"
            await on.until(lambda: QGuiApplication.clipboard().text() == wanted)
            there.panel.wished.emit("open", ("u-FQ3D7P4Y",))
            await on.until(lambda: on.links == ["zotero://select/library/items/FQ3D7P4Y"])


async def item_menu(there: Room) -> QMenu:
    there.on.hands.click(there.on.button("itemMore"))
    await there.on.until(lambda: [m for m in there.panel.findChildren(QMenu) if m.isVisible()])
    return next(m for m in there.panel.findChildren(QMenu) if m.isVisible())


def lines(on: Bench) -> list[str]:
    return [x.title for x in on.window.sidebar.list.lines if isinstance(x, SessionLine)]


async def test_a_used_work_is_shown_in_the_library(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("Read."))
        async with room(tmp_path, server) as there:
            on = there.on
            pasted(on, "u-FQ3D7P4Y")
            await on.until(lambda: there.attached)
            await on.ask_and_wait("What does it find?")
            tab = next(b for b in there.panel.findChildren(QPushButton) if b.text() == "Used here")
            on.hands.click(tab)
            line = next(s for s in there.panel.findChildren(SourceLine) if s.isVisible())
            on.hands.press(line, Qt.Key.Key_Return)
            await on.until(lambda: there.panel.browse.preview.isVisible())
            details = there.panel.browse.preview.details
            assert details is not None
            assert details.id == "u-FQ3D7P4Y"


async def test_texts_are_read_in_the_background_and_it_is_said_how_far(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        async with room(tmp_path, server) as there:
            on = there.on
            texts = on.desk.library.texts
            texts.begin()
            assert texts.running
            texts.cancel()
            await on.until(lambda: not texts.running)
            texts.begin()
            assert not texts.running  # what was stopped stays stopped
            await on.until(lambda: there.panel.findChild(QPushButton, "resumeTexts").isVisible())
            on.hands.click(on.button("resumeTexts"))
            await on.until(lambda: texts.texts.words and not texts.running)
            assert there.library.coverage.indexed == 26
            assert "Texts of 26 files can be searched" in there.texts()


async def test_tags_are_chosen_from_a_sheet_and_taken_away_as_chips(
    qapp: QApplication, tmp_path: Path
) -> None:
    from bibgenie_desktop.gui.docks.library.tags import TagSheet

    with ScriptedServer() as server:
        async with room(tmp_path, server) as there:
            on, whole = there.on, len(there.titles())
            on.hands.click(on.button("libraryTags"))
            await on.until(lambda: on.window.findChildren(TagSheet))
            sheet = on.window.findChildren(TagSheet)[0]
            tag = sheet._model.shown[0]
            on.hands.press(sheet._find, Qt.Key.Key_Return)
            await there.settled()
            assert len(there.titles()) == tag.count < whole
            chip = next(c for c in there.panel.findChildren(Chip) if c.isVisible())
            on.hands.click(chip.findChild(QToolButton))
            await there.settled()
            assert len(there.titles()) == whole


async def test_another_library_takes_the_place_of_the_first(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with room(tmp_path, server) as there:
            there.choose("Practice with Sleep")
            await there.settled()
            there.on.desk.workspace.use_library(None)
            there.on.desk.library.redraw()
            assert there.titles() == []
            assert there.panel.browse.tree.rows == ()
            assert not there.panel.browse.preview.isVisible()
            assert there.on.button("chooseLibrary").isVisible()
            there.on.desk.workspace.use_library(there.library)


async def test_until_the_library_is_read_what_changed_last_is_listed(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        async with room(tmp_path, server) as there:
            while not await there.library.newest(1):  # noqa: ASYNC110 - the index is made beside everything
                await asyncio.sleep(0.01)
            again = opened_library(SAMPLE, tmp_path / "private")
            there.on.desk.workspace.use_library(again)
            there.on.desk.library.redraw()
            await there.on.until(lambda: len(there.titles()) > 20)
            assert there.panel.browse.tree.rows == ()
            await again.ensure_loaded()
            there.on.desk.library.redraw()
            await there.on.until(lambda: there.panel.browse.tree.rows)
            await there.settled()
            there.on.desk.workspace.use_library(there.library)
            await again.close()


async def test_f6_reaches_the_search_and_down_the_list(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with room(tmp_path, server) as there:
            there.on.window.activateWindow()
            there.panel.focus_first()
            field = there.panel.browse.field
            assert field.hasFocus()
            there.on.hands.press(field, Qt.Key.Key_Down)
            assert there.list.hasFocus()
            assert there.list.currentIndex().row() == 0
            spoken = there.list.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole)
            assert there.titles()[0] in spoken


def test_a_long_list_asks_only_for_what_is_seen(qapp: QApplication) -> None:
    from bibgenie_desktop.gui.docks.library.items import ItemList
    from bibgenie_desktop.services.library.browsing import ItemRow

    listed = ItemList()
    asked: list[int] = []
    listed.items.page_wanted.connect(asked.append)
    listed.resize(320, 400)
    rows = tuple(ItemRow(f"u-{i}", f"Item {i}", "") for i in range(100))
    listed.show_first(Page(100_000, 0, rows))
    listed.show()
    bar, end = listed.verticalScrollBar(), time.monotonic() + 10
    while bar.maximum() < 100_000 * 40 and time.monotonic() < end:  # it is laid out in pieces
        qapp.processEvents()
    assert asked == []
    bar.setValue(bar.maximum() // 2)
    qapp.processEvents()
    listed.grab()
    assert 1 <= len(set(asked)) <= 2
    offset = asked[0]
    listed.show_page(Page(100_000, offset, tuple(ItemRow(f"u-x{i}", f"Late {i}", "") for i in range(100))))
    assert listed.items.index(offset, 0).data() == "Late 0"
    assert listed.items.held == 200
    listed.close()
    listed.deleteLater()


def test_places_are_spoken_with_count_level_and_fold(qapp: QApplication) -> None:
    from bibgenie_desktop.gui.docks.library import PlaceRow
    from bibgenie_desktop.gui.docks.library.places import PlaceModel
    from bibgenie_desktop.services.library.browsing import Place

    model = PlaceModel()
    place = Place(Scope("collection", "u", "u-ABCDEFGH"), "Sleep", 12, 1, Scope("library", "u"), True)
    model.show_rows([PlaceRow(place, "Sleep", "folder", unfolded=True)])
    spoken = model.index(0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "Sleep, 12 items, level 2, unfolded"
    model.deleteLater()


@pytest.mark.parametrize(("scale", "width"), [(100, 336), (200, 336), (100, 240)])
async def test_nothing_in_the_dock_is_clipped(
    qapp: QApplication, tmp_path: Path, light_theme: theme.Theme, scale: int, width: int
) -> None:
    translator = LongTranslator()
    QCoreApplication.installTranslator(translator)
    try:
        with ScriptedServer() as server:
            async with room(tmp_path, server) as there:
                window = there.on.window
                light_theme.set_appearance(
                    theme.Appearance(mode="light", scale=scale / 100, reduced_motion=True)
                )
                window.frame.restore(side=True, side_width=264, dock="library", dock_width=width)
                window.open_dock("library")
                there.choose("Practice with Sleep")
                await there.settled()
                inside = [
                    f"{type(w).__name__} \u201c{w.accessibleName() or w.objectName()}\u201d {reason}"
                    for w in there.panel.findChildren(QWidget)
                    if (reason := clipped(w))
                ]
                assert inside == []
    finally:
        QCoreApplication.removeTranslator(translator)


def test_the_style_chosen_last_outlives_the_window(qapp: QApplication, tmp_path: Path) -> None:
    for wanted in ("", "apa"):
        window = MainWindow(tmp_path / "window.ini")
        assert window.kept("citation_style") == wanted
        window.keep("citation_style", "apa")
        window.leave()
        window.deleteLater()


def test_copies_of_a_work_say_which_library_they_are_in() -> None:
    def used(id: str) -> ResourcePart:
        library, _, key = id.partition("-")
        return ResourcePart(Locator(library, "item", item=key), "Walker et al. 2002: Practice", "")

    parts = (used("u-AAAAAAAA"), used("g12-BBBBBBBB"), replace(used("u-CCCCCCCC"), title="Another"))
    question = UserMessage(MessageId("m1"), TreeId("t"), None, 0, parts, 0)
    details = {source.id: source.pages for source in used_sources([question])}
    assert details == {
        "u-AAAAAAAA": "In My Library",
        "g12-BBBBBBBB": "In a group library",
        "u-CCCCCCCC": "",
    }
