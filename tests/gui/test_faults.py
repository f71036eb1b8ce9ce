"""Faults that people met, each tested as a whole kind: texts that could not be stored, refusals in the real
window, keys that must do something.
"""

from __future__ import annotations

import ast
import asyncio
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget

from bibgenie_desktop import gui
from bibgenie_desktop.domain.errors import StoreUnavailable
from bibgenie_desktop.domain.ids import MessageId, SessionId
from bibgenie_desktop.domain.parts import Draft
from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.gui.dialogs import WholeTextDialog
from bibgenie_desktop.gui.popovers.models import ModelSwitcher
from bibgenie_desktop.gui.render.markdown_view import MarkdownView
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.services.workspace import Workspace
from tests.gui.bench import bench
from tests.scripted_server import ScriptedServer, text


class FullDisk:
    """Refuses to store drafts as long as it is full."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = True
        self.tries = 0
        store = Workspace.save_draft

        async def save(on: Workspace, session: SessionId, edits: MessageId | None, draft: Draft) -> None:
            self.tries += 1
            if self.full:
                raise StoreUnavailable("The disk is full.", "Make room.")
            await store(on, session, edits, draft)

        monkeypatch.setattr(Workspace, "save_draft", save)


async def test_a_draft_that_could_not_be_stored_is_stored_as_soon_as_it_can_be(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk(monkeypatch)
    with ScriptedServer() as server:
        async with bench(tmp_path, server) as on:
            chat = on.desk.chats.chat
            assert chat is not None
            on.write("half a thought")
            await on.until(lambda: on.banner("unsaved") is not None)
            assert "The disk is full." in on.said(on.banner("unsaved"))
            disk.full = False
            on.write("!")
            await on.until(lambda: on.banner("unsaved") is None)
            assert (await on.desk.workspace.draft(chat.session_id)).text == "half a thought!"


async def test_quitting_tries_once_more_to_store_a_draft(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk(monkeypatch)
    with ScriptedServer() as server:
        async with bench(tmp_path, server) as on:
            on.write("half a thought")
            await on.until(lambda: on.banner("unsaved") is not None)
            disk.full = False
        async with bench(tmp_path, server) as on:
            assert on.text == "half a thought"


async def test_quitting_with_a_full_disk_ends_all_the_same(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk(monkeypatch)
    with ScriptedServer() as server:
        async with bench(tmp_path, server) as on:
            on.write("half a thought")
            await on.until(lambda: disk.tries > 0)


async def test_a_draft_that_could_not_be_stored_is_there_when_its_session_is_shown_again(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk(monkeypatch)
    with ScriptedServer() as server:
        server.script(text("One."))
        async with bench(tmp_path, server) as on:
            first = on.desk.chats.front
            assert first is not None
            await on.ask_and_wait("Why?")
            on.write("for the first")
            await on.until(lambda: on.banner("unsaved") is not None)
            on.hands.click(on.button("newSession"))
            await on.until(lambda: on.desk.chats.front is not first)
            on.write("for the second")
            on.desk.open_session(first.id)
            await on.until(lambda: on.desk.chats.front is first)
            assert on.text == "for the first"
            disk.full = False
            await on.desk.chats.drafts.flush()
            assert on.banner("unsaved") is None
            assert (await on.desk.workspace.draft(first.chat.session_id)).text == "for the first"


async def test_the_text_in_the_composer_outlives_a_follow_up_that_is_sent(
    qapp: QApplication, tmp_path: Path
) -> None:
    go_on = threading.Event()
    with ScriptedServer() as server:
        server.script(text("One.").held(go_on, after=1), text("Two."))
        async with bench(tmp_path, server) as on:
            chat = on.desk.chats.chat
            assert chat is not None
            on.ask("First?")
            await on.until(lambda: on.state is SessionState.STREAMING)
            on.ask("Second?")
            await on.until(lambda: on.banner("queue") is not None)
            on.write("a third, not finished")
            on.window.composer.flush_draft()
            await on.desk.chats.drafts.flush()
            go_on.set()
            await on.until(lambda: len(on.answers) == 2 and not on.answers[-1].streaming)
            await on.until_idle()
            assert on.text == "a third, not finished"
            assert (await on.desk.workspace.draft(chat.session_id)).text == "a third, not finished"


@pytest.mark.parametrize(("window", "size"), [(2_100, 30_000), (200_000, 3_000_000)])
async def test_a_refused_paste_shows_the_notice_each_time_and_its_offer_works(
    qapp: QApplication, tmp_path: Path, window: int, size: int
) -> None:
    pasted = "lorem ipsum " * (size // 12)
    with ScriptedServer() as server:
        async with bench(tmp_path, server, window=window) as on:
            for _ in range(2):  # the second time says it again
                on.window.composer.edit.setPlainText(pasted)
                on.enter()
                await on.until(lambda: on.banner("notice") is not None)
                await on.until_idle()
                assert "tokens too many" in on.said(on.banner("notice"))
                assert on.text == pasted
                assert server.bodies == []
                on.hands.click(on.button("offer_choose_model"))
                await on.until(lambda: any(s.isVisible() for s in on.window.findChildren(ModelSwitcher)))
                for sheet in on.window.findChildren(ModelSwitcher):
                    sheet.close()


async def test_what_was_said_of_one_attempt_goes_with_the_next(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server, window=4_096) as on:
            on.window.composer.edit.setPlainText("long " * 5_000)
            on.enter()
            await on.until(lambda: on.banner("notice") is not None)
            await on.until_idle()
            server.script(text("A1"))
            on.window.composer.edit.setPlainText("short")
            on.enter()
            await on.until(lambda: len(server.bodies) == 1)
            await on.until_idle()
            assert on.banner("notice") is None


async def test_return_on_an_empty_composer_says_why_nothing_is_sent(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server) as on:
            on.enter()
            await on.until(lambda: "Nothing to send yet" in on.toast)
            assert server.bodies == []


async def test_the_composer_promises_nothing_that_is_not_there(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server) as on:
            assert on.window.composer.edit.placeholderText() == "Ask about your library"


async def test_ctrl_q_asks_to_quit(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server) as on:
            asked: list[bool] = []
            on.window.close_requested.connect(lambda: asked.append(True))
            keys = on.window.findChildren(QShortcut)
            next(k for k in keys if k.key() == QKeySequence("Ctrl+Q")).activated.emit()
            assert asked == [True]


@pytest.mark.parametrize("paragraphs", [True, False])
async def test_an_answer_without_end_leaves_the_window_at_hand(
    qapp: QApplication, tmp_path: Path, paragraphs: bool
) -> None:
    piece = "Some words of a sentence that goes on. " * 250 + ("\n\n" if paragraphs else "")
    with ScriptedServer() as server:
        server.script(text(*[piece] * 320))  # more than 3 MB
        async with bench(tmp_path, server) as on:
            loop = asyncio.get_running_loop()
            longest, last = 0.0, loop.time()
            on.ask("Why?")
            await on.until(lambda: on.answers and len(on.answers[-1].text) > 1_000_000)
            while on.state is SessionState.STREAMING:
                await asyncio.sleep(0.005)
                now = loop.time()
                longest, last = max(longest, now - last), now
            assert len(on.answers[-1].text) > 3_000_000
            shown = sum(v.document().characterCount() for v in on.window.findChildren(MarkdownView))
            assert shown < 200_000
            assert longest < 1.0
            on.hands.click(on.button("showWholeText"))
            whole = on.window.findChild(WholeTextDialog)
            assert len(whole.text.toPlainText()) >= len(on.answers[-1].text)
            whole.accept()
        async with bench(tmp_path, server) as on:
            await on.until(lambda: bool(on.answers))
            assert on.button("showWholeText").isVisible()


HOSTILE = "\u202eevil \u2066title\x1b[31m \x07bell"


async def test_direction_marks_and_control_characters_of_a_title_do_nothing_to_the_interface(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.script(text("One."))
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait(HOSTILE)
            chat = on.desk.chats.chat
            assert chat is not None
            await on.desk.workspace.rename(chat.session_id, HOSTILE)
            on.desk.sessions.refresh()
            on.window.open_dock("branches")
            await on.until(lambda: "evil" in on.window.windowTitle())
            await on.until(lambda: len(on.window.branches.outline.rows) == 1)
            said = [on.window.windowTitle(), on.window.branches.outline.rows[0].words]
            model = on.window.sidebar.list.model()
            for place in range(model.rowCount()):
                for role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
                    said.append(str(model.index(place, 0).data(role)))
            for widget in on.window.findChildren(QWidget):
                if isinstance(widget, QLabel | QAbstractButton):
                    said.append(widget.text())
                said += [widget.toolTip(), widget.accessibleName()]
            assert any("evil title" in words for words in said)
            for words in said:
                assert not set(words) & set("\u202e\u2066\x1b\x07"), words


async def test_quitting_does_not_wait_for_a_task_that_will_not_end(qapp: QApplication) -> None:
    faults: list[BaseException] = []
    tasks, enough = Tasks(faults.append), asyncio.Event()

    async def stubborn() -> None:
        while not enough.is_set():
            with suppress(asyncio.CancelledError):
                await enough.wait()

    task = tasks.start(stubborn(), "stubborn")
    await asyncio.sleep(0)
    assert await tasks.cancel_all(0.2) is False
    assert tasks.names() == ("stubborn",)
    enough.set()
    assert task is not None
    await task
    assert faults == []


async def test_stop_ends_a_fast_answer_of_many_small_pieces_at_once(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.script(text(*["word and more words "] * 60_000))
        async with bench(tmp_path, server) as on:
            loop = asyncio.get_running_loop()
            on.ask("Why?")
            await on.until(lambda: on.answers and len(on.answers[-1].text) > 50_000)
            assert on.state is SessionState.STREAMING
            longest, last = 0.0, loop.time()
            on.hands.click(on.button("stopButton"))
            while on.state is not SessionState.IDLE:
                await asyncio.sleep(0.005)
                now = loop.time()
                longest, last = max(longest, now - last), now
            assert longest < 1.0
            assert on.answers[-1].status == "stopped"
            assert len(on.answers[-1].text) < 1_200_000


def test_no_class_connects_a_signal_before_its_own_object_is_made() -> None:
    """Qt then loses the connection, or says that its source was deleted."""
    early = []
    for file in sorted(Path(gui.__file__).parent.rglob("*.py")):
        for made in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(made, ast.FunctionDef) or made.name != "__init__":
                continue
            written = [ast.unparse(statement) for statement in made.body]
            own = next((n for n, line in enumerate(written) if line.startswith("super().__init__")), 0)
            early += [f"{file.name}: {line}" for line in written[:own] if ".connect(" in line]
    assert early == []
