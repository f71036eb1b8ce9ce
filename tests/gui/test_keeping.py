"""What the window keeps: drafts over a restart, damaged sessions as they are, long sessions page by page."""

import sqlite3
import threading
from pathlib import Path

from PySide6.QtWidgets import QApplication

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.messages import Checkpoint
from bibgenie_desktop.domain.parts import TextPart
from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.gui.conversation.rows import PlaceholderRow
from bibgenie_desktop.storage.store import Store
from tests.gui.bench import bench
from tests.scripted_server import ScriptedServer, text
from tests.services.desk import desk, summary_text


async def test_a_restart_brings_the_draft_back(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("One."))
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait("Why?")
            on.write("And what about na")
        async with bench(tmp_path, server) as on:
            await on.until(lambda: bool(on.rows))
            assert on.text == "And what about na"
            assert [r.text for r in on.asked] == ["Why?"]


async def test_a_restart_brings_an_unfinished_edit_back(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("One."))
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait("Why?")
            await on.menu(on.asked[-1].id, "editAction")
            await on.until(lambda: on.window.composer.is_editing)
            on.write(" Because of")
        async with bench(tmp_path, server) as on:
            await on.until(lambda: bool(on.rows))
            assert on.window.composer.is_editing
            assert on.text == "Why? Because of"


async def test_each_session_has_its_own_draft(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("One."))
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait("Why?")
            first = on.desk.chats.front
            assert first is not None
            on.write("for the first")
            on.hands.click(on.button("newSession"))
            await on.until(lambda: on.desk.chats.front is not first)
            assert on.text == ""
            on.write("for the second")
            on.window.sidebar.list.session_chosen.emit(first.id)
            await on.until(lambda: on.desk.chats.front is first)
            assert on.text == "for the first"


async def test_quitting_keeps_what_had_arrived_and_what_was_waiting(
    qapp: QApplication, tmp_path: Path
) -> None:
    go_on = threading.Event()
    with ScriptedServer() as server:
        server.script(text("Sleep ", "helps.").held(go_on, after=2))
        async with bench(tmp_path, server) as on:
            on.ask("Why?")
            await on.until(lambda: on.answers and on.answers[-1].text)
            on.ask("And then?")
            await on.until(lambda: on.banner("queue") is not None)
        go_on.set()
        async with bench(tmp_path, server) as on:
            await on.until(lambda: bool(on.answers))
            assert on.answers[-1].text.startswith("Sleep")
            assert on.answers[-1].status == "stopped"
            assert on.text == "And then?"


async def test_an_answer_goes_on_while_another_session_is_shown(qapp: QApplication, tmp_path: Path) -> None:
    go_on = threading.Event()
    with ScriptedServer() as server:
        server.script(text("Sleep ", "helps.").held(go_on, after=2))
        async with bench(tmp_path, server) as on:
            on.ask("Why?")
            await on.until(lambda: on.answers and on.answers[-1].text)
            first = on.desk.chats.front
            assert first is not None
            on.hands.click(on.button("newSession"))
            await on.until(lambda: on.window.welcome_shown)
            assert on.state is SessionState.IDLE
            go_on.set()
            await on.until(lambda: first.chat.state is SessionState.IDLE)
            on.window.sidebar.list.session_chosen.emit(first.id)
            await on.until(lambda: on.answers and on.answers[-1].text == "Sleep helps.")


async def test_a_damaged_session_is_read_only_says_why_and_can_be_copied(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.script(text("One."), text("Two."))
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait("U1")
            await on.ask_and_wait("U2")
            broken = on.answers[0].id
        database = sqlite3.connect(tmp_path / "bibgenie.sqlite")
        for (trigger,) in database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            database.execute(f"DROP TRIGGER {trigger}")
        database.execute("UPDATE message SET parts = '{' WHERE id = ?", (broken,))
        database.commit()
        database.close()
        before = (tmp_path / "bibgenie.sqlite").read_bytes()
        async with bench(tmp_path, server) as on:
            await on.until(lambda: on.state is SessionState.READ_ONLY)
            banner = on.button("copyReadableButton")
            assert on.window._top_banner is not None
            assert on.window._top_banner.objectName() == "readOnlyBanner"
            assert broken[:13] in on.window._top_banner.accessibleName()
            assert any(isinstance(r, PlaceholderRow) for r in on.rows)
            assert not on.window.composer.edit.isEnabled()
            assert not on.window.toolbar.compact.isEnabled()
            assert (tmp_path / "bibgenie.sqlite").read_bytes() == before
            on.hands.click(banner)
            await on.until(lambda: on.state is SessionState.IDLE)
            await on.until(lambda: [r.text for r in on.asked] == ["U2"])
            assert on.window._top_banner is None
            assert on.window.composer.edit.isEnabled()


async def test_a_long_session_opens_at_its_end_and_pages_back_to_its_beginning(
    qapp: QApplication, tmp_path: Path
) -> None:
    turns = 60
    with ScriptedServer() as server:
        server.script(text(summary_text()))
        async with desk(tmp_path, server) as before:
            session = await before.workspace.new_session("Long")
            for number in range(turns):
                asked = (TextPart(f"Question {number}?"),)
                reply = MessageId(f"answer-{number:03d}")
                await before.store.run(Store.send, session.id, session.head, asked, reply, "test/scripted")
                answer = (TextPart("Because " * 20),)
                done = await before.store.run(Store.finish, session.id, "complete", "", answer, ())
                session = done.session
            chat = await before.chat(session.id)
            await chat.compact()
            assert isinstance(chat.path[-1], Checkpoint)
        async with bench(tmp_path, server) as on:
            await on.until(lambda: bool(on.rows))
            front = on.desk.chats.front
            assert front is not None
            loaded = len(on.asked)
            assert loaded < turns
            assert on.asked[-1].text == f"Question {turns - 1}?"
            while not front.at_beginning:
                before = len(on.asked)
                on.window.conversation.older_requested.emit()
                await on.until(lambda before=before: len(on.asked) > before)  # type: ignore[misc]
            assert [r.text for r in on.asked] == [f"Question {n}?" for n in range(turns)]


async def test_what_is_typed_while_the_session_changes_stays_with_the_old_one(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.script(text("One."))
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait("Why?")
            first = on.desk.chats.front
            assert first is not None
            on.desk.sessions.new()
            on.write("typed in between")
            await on.until(lambda: on.desk.chats.front is not first)
            assert on.text == ""
            on.window.sidebar.list.session_chosen.emit(first.id)
            await on.until(lambda: on.desk.chats.front is first)
            assert on.text == "typed in between"
