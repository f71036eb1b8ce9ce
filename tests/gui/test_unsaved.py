"""What was typed and not saved, and what stays in its place: dialogs that are left, versions, the model."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.gui.banners import SettingsBanner
from bibgenie_desktop.gui.docks.checkpoints import ReviseDialog
from tests.gui.bench import Bench, bench
from tests.gui.test_context_dock import compact, point
from tests.gui.test_settings import KEY, lab, settings
from tests.scripted_server import ScriptedServer, text
from tests.services.configuring.test_provider_setup import Ring
from tests.services.desk import summary_text


async def test_esc_keeps_a_revised_summary_until_it_is_pressed_again(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server) as on:
            server.script(text("One."), text("Two."))
            await on.ask_and_wait("U1 " + "word " * 400)
            await on.ask_and_wait("U2")
            on.window.open_dock("context")
            await compact(on, summary_text())
            await on.until(lambda: point(on) is not None)
            on.hands.click(on.button("reviseSummary"))
            dialog = on.window.findChild(ReviseDialog)
            on.hands.press(dialog, Qt.Key.Key_Escape)  # nothing was changed
            await on.until(lambda: on.window.findChild(ReviseDialog) is None)
            on.hands.click(on.button("reviseSummary"))
            dialog = on.window.findChild(ReviseDialog)
            dialog.text.setPlainText("half a thought")
            on.hands.press(dialog, Qt.Key.Key_Escape)
            assert dialog.isVisible()
            assert "not used yet" in dialog.findChild(QLabel, "reviseFault").text()
            dialog.text.setPlainText("a whole one")
            on.hands.press(dialog, Qt.Key.Key_Escape)
            assert dialog.isVisible()  # changed again, asked again
            on.hands.press(dialog, Qt.Key.Key_Escape)
            await on.until(lambda: on.window.findChild(ReviseDialog) is None)


async def test_esc_in_the_settings_keeps_what_was_typed_until_it_is_pressed_again(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with settings(tmp_path, server, lab(server, "scripted")) as on:
            on.fill("providerAddress", "http://127.0.0.1:9/v1")
            on.hands.press(on.dialog, Qt.Key.Key_Escape)
            assert not on.closed
            assert "not saved yet" in on.label("formSaid")
            assert on.field("providerAddress").text() == "http://127.0.0.1:9/v1"
            on.hands.press(on.dialog, Qt.Key.Key_Escape)
            await on.until(lambda: on.closed)
            assert "127.0.0.1:9" not in on.config


async def test_esc_closes_settings_in_which_nothing_was_typed(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with settings(tmp_path, server, lab(server, "scripted")) as on:
            on.hands.press(on.dialog, Qt.Key.Key_Escape)
            await on.until(lambda: on.closed)


async def test_saved_is_not_said_while_the_key_has_no_place(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with settings(tmp_path, server, lab(server, "scripted"), ring=Ring(locked=True)) as on:
            said: list[str] = []
            presenter = on.desk.settings.presenter
            assert presenter is not None
            presenter.said.connect(lambda words, _tone: said.append(words))
            on.fill("providerKey", KEY)
            on.push("saveProvider")
            await on.until(lambda: "keyring could not be opened" in on.label("keySaid"))
            await on.until(lambda: "its key is not kept yet" in on.label("formSaid"))
            assert "Saved." not in said


async def test_the_first_page_names_the_model_that_was_chosen(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server) as on:
            assert on.window.welcome_shown
            names = lambda: {w.text() for w in on.window.welcome.findChildren(QLabel)}  # noqa: E731
            await on.until(lambda: "scripted" in names())
            on.desk.chats.choose_model("test/small")
            await on.until(lambda: "small" in names() and "scripted" not in names())


def top_of(on: Bench, row_id: str) -> int | None:
    held = on.window.conversation._top_of(row_id)
    return None if held is None else round(held)


async def test_another_version_stands_where_the_one_before_stood(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server) as on:
            server.script(text("One.\n\n" * 40), text("Two.\n\n" * 70), text("Other.\n\n" * 60))
            await on.ask_and_wait("U1")
            await on.ask_and_wait("U2")
            first = on.answers[-1].id
            on.desk.chats.retry(first)
            await on.until(lambda: on.answers[-1].id != first and not on.answers[-1].streaming)
            await on.until_idle()
            second = on.answers[-1].id
            await on.until(lambda: on.answers[-1].siblings == (2, 2))
            view = on.window.conversation
            view.scroll_to(second)
            await on.desk.tasks.settle(2.0)
            before = top_of(on, second)
            assert before is not None
            view.sibling_requested.emit(second, -1)
            await on.until(lambda: on.answers[-1].id == first)
            assert top_of(on, first) == before
            view.sibling_requested.emit(first, 1)
            await on.until(lambda: on.answers[-1].id == second)
            assert top_of(on, second) == before


async def test_a_wrong_settings_file_is_named_over_the_conversation(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server) as on:
            announcing = on.desk.front.announcing
            asked: list[bool] = []
            announcing.reread_requested.connect(lambda: asked.append(True))
            fault = UserError("The settings file /x/config.toml has a mistake in line 3.", "It was left.")
            announcing.show_settings_fault(fault)
            banner = on.window.findChild(SettingsBanner)
            assert "/x/config.toml has a mistake in line 3" in on.said(banner)
            assert "The last good settings are used" in on.said(banner)
            assert await on.clipped() == []
            on.hands.click(on.button("rereadSettings"))
            assert asked == [True]
            announcing.show_settings_fault(None)
            assert not banner.isVisible()


async def test_quotes_in_a_title_become_single_within_quotes(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server) as on:
            server.script(text("One."))
            await on.ask_and_wait("What is “sleep”?")
            chat = on.desk.chats.chat
            assert chat is not None
            fork = await chat.fork(MessageId(on.answers[-1].id))
            assert fork.title == "from “What is ‘sleep’?”"
            again = await (await on.desk.workspace.chat(fork.id)).fork(MessageId(on.answers[-1].id))
            on.desk.sessions.refresh()
            on.desk.open_session(again.id)
            await on.until(lambda: on.desk.chats.front is not None and on.desk.chats.front.id == again.id)
            origin = lambda: {w.text() for w in on.window.toolbar.findChildren(QLabel)}  # noqa: E731
            await on.until(lambda: "Forked from “from ‘What is ‘sleep’?’”" in origin())


async def test_the_search_of_sessions_looks_into_messages(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server) as on:
            server.script(text("Spindles carry memory."), text("Newest words."))
            await on.ask_and_wait("What is sleep for?")
            await on.ask_and_wait("And then?")
            listed = on.window.sidebar.list
            field = on.window.sidebar.findChild(QLineEdit)
            on.hands.type(field, "carry mem")
            model = listed.model()

            def shown() -> list[str]:
                return [
                    str(model.index(r, 0).data(Qt.ItemDataRole.AccessibleTextRole))
                    for r in range(model.rowCount())
                ]

            await on.until(lambda: any("carry memory" in line for line in shown()))
            field.setText("nowhere")
            await on.until(lambda: shown() == [])
