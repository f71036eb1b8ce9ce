"""The web library, as a person chooses it: the real application, a server that behaves like zotero.org."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QLineEdit, QProgressBar, QPushButton, QToolButton, QWidget

from bibgenie_desktop.app import _Libraries
from bibgenie_desktop.compose.application import Application
from bibgenie_desktop.compose.options import Options
from bibgenie_desktop.gui import theme
from bibgenie_desktop.gui.desk.desk import Desk
from bibgenie_desktop.gui.settings.dialog import SettingsDialog
from bibgenie_desktop.gui.settings.zotero_web import WebLibraryDialog
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.window import MainWindow
from bibgenie_desktop.settings.secrets import SecretStore
from tests.gui.bench import Bench
from tests.gui.fit import clipped
from tests.scripted_server import ScriptedServer
from tests.services.configuring.test_provider_setup import Ring
from tests.zotero.helpers import SAMPLE
from tests.zotero.online.test_liveness import zotero
from tests.zotero.online.web_bench import many
from tests.zotero.online.web_json import USER, web_libraries
from tests.zotero.online.web_server import KEY, Fault, Gate, WebServer


class Web(Bench):
    application: Application
    ring: Ring

    @property
    def dialog(self) -> WebLibraryDialog:
        return next(d for d in self.window.findChildren(WebLibraryDialog) if d.isVisible())

    @property
    def is_open(self) -> bool:
        return any(d.isVisible() for d in self.window.findChildren(WebLibraryDialog))

    def open_from_welcome(self) -> None:
        self.hands.click(self.hands.find(QPushButton, "chooseWebLibrary", self.window.welcome))

    def type_key(self, key: str = KEY) -> None:
        field = self.hands.find(QLineEdit, "webKey", self.dialog)
        field.clear()
        self.hands.type(field, key)

    def push(self, name: str) -> None:
        self.hands.click(self.hands.find(QPushButton, name, self.dialog))

    def said(self, name: str = "webSaid") -> str:
        found = self.dialog.findChild(QLabel, name)
        assert found is not None
        return found.text() if found.isVisible() else ""

    def shows(self, name: str) -> bool:
        found = self.dialog.findChild(QPushButton, name)
        return found is not None and found.isVisible()

    async def tight(self) -> list[str]:
        """What of the dialog has no room."""
        for _ in range(5):
            await asyncio.sleep(0.02)
        return [f"{w.objectName()}: {why}" for w in self.dialog.findChildren(QWidget) if (why := clipped(w))]

    def card(self) -> str:
        return " ".join(label.text() for label in self.window.welcome.findChildren(QLabel))


@asynccontextmanager
async def window_on(folder: Path, org: WebServer, ring: Ring | None = None) -> AsyncIterator[Web]:
    ring = ring or Ring()
    options = Options(folder / "data", home=folder / "home", environment={}, zotero_org=org.address)
    application = Application(options)
    application.secrets = SecretStore({}, keyring=lambda: ring)
    await application.open()
    faults: list[BaseException] = []
    tasks, window = Tasks(faults.append), MainWindow()
    window.resize(1440, 900)
    links: list[str] = []
    desk = Desk(
        window,
        application.workspace,
        _Libraries(application),
        tasks,
        open_link=lambda link: links.append(link) is None,
        adjustable=application,
    )
    with ScriptedServer() as server:
        on = Web(window, desk, server)
        on.application, on.ring, on.faults, on.links = application, ring, faults, links
        window.show()
        try:
            await desk.start()
            await on.until(lambda: desk.chats.chat is not None and desk.library.settled)
            yield on
        finally:
            await desk.finish()
            window.leave()
            window.deleteLater()
            await application.close()
    assert not faults, faults


async def test_a_key_is_tested_its_library_fetched_and_questions_can_be_asked_of_it(tmp_path: Path) -> None:
    with WebServer(web_libraries(SAMPLE)) as org:
        async with window_on(tmp_path, org) as on:
            assert org.requests == []
            on.open_from_welcome()
            await on.until(lambda: on.said("webKeySaid").startswith("It goes into the system keyring"))
            assert org.requests == []
            on.type_key()
            on.push("webTest")
            await on.until(lambda: on.said().startswith("The key works"))
            assert on.said() == "The key works: account reader, 30 items, 1 group."
            await on.until(lambda: on.ring.kept == {"zotero-web": KEY})
            await on.until(lambda: on.hands.find(QLineEdit, "webKey", on.dialog).text() == "")
            on.push("webUse")
            await on.until(lambda: not on.is_open)
            await on.until(lambda: "Zotero web library in use" in on.card())
            assert "fetched" in on.card()
            assert on.application.preferences.zotero_dir == f"web:{USER}"
            assert KEY not in on.application.data.config.read_text("utf-8")
            assert org.asked("/file") == []  # the questions to begin with were made from titles alone
            await on.ask_and_wait("What does “Practice with Sleep Makes Perfect” find?")
            await on.until(lambda: on.answers[-1].citations)
            assert {c.state for c in on.answers[-1].citations.values()} == {"verified"}
            assert len(org.asked("/items/3Z63DMR5/file")) == 1
            asked = len(org.requests)
            on.desk.library.refresh()
            await on.until(lambda: len(org.requests) > asked and on.desk.library.settled)


async def test_a_wrong_key_and_a_missing_network_say_what_to_do(tmp_path: Path) -> None:
    with WebServer(many(3)) as org:
        async with window_on(tmp_path, org) as on:
            on.open_from_welcome()
            on.type_key("wrong-key")
            on.push("webTest")
            await on.until(lambda: "does not know this key" in on.said())
            assert on.ring.kept == {}
            org.faults.append(Fault("/keys/current", times=9))
            on.type_key()
            on.push("webTest")
            await on.until(lambda: "could not be reached" in on.said())
            on.push("webClose")
            await on.until(lambda: not on.is_open)
            assert on.application.library is None


async def test_fetching_shows_progress_can_be_stopped_and_goes_on(tmp_path: Path) -> None:
    with WebServer(many(430)) as org:
        async with window_on(tmp_path, org) as on:
            on.open_from_welcome()
            on.type_key()
            gate = org.gate = Gate("/items", after=3)
            on.push("webUse")
            await on.until(lambda: "200 of 430" in on.said())
            bar = on.hands.find(QProgressBar, "webProgress", on.dialog)
            assert 0 < bar.value() < bar.maximum()
            on.push("webStop")
            await on.until(lambda: on.said() == "Stopped. What came so far is kept.")
            assert on.application.library is None
            gate.open()
            button = on.hands.find(QPushButton, "webUse", on.dialog)
            assert button.text() == "Continue fetching"
            on.push("webUse")
            await on.until(lambda: not on.is_open)
            assert on.application.library is not None
            assert len(on.application.library.items) == 430


async def test_a_key_that_the_keyring_refuses_can_be_kept_for_this_run(tmp_path: Path) -> None:
    ring = Ring(locked=True)
    with WebServer(many(3)) as org:
        async with window_on(tmp_path, org, ring) as on:
            on.open_from_welcome()
            on.type_key()
            on.push("webUse")
            await on.until(lambda: on.shows("webKeepKey"))
            assert "Choose what should become of the key" in on.said()
            on.push("webKeepKey")
            await on.until(lambda: on.said("webKeySaid").startswith("Kept for this run only"))
            on.push("webUse")
            await on.until(lambda: not on.is_open)
            await on.until(lambda: "3 items" in on.card())


async def test_the_page_where_keys_are_made_is_shown_as_text_and_opened_on_request(tmp_path: Path) -> None:
    with WebServer(many(3)) as org:
        async with window_on(tmp_path, org) as on:
            on.open_from_welcome()
            button = on.hands.find(QPushButton, "webKeyPage", on.dialog)
            assert button.text() == "zotero.org/settings/keys"
            assert on.links == []
            on.hands.click(button)
            assert on.links == ["https://www.zotero.org/settings/keys/new"]
            assert org.requests == []


async def test_54yyyu_43_289_logseq_11543_the_settings_say_how_zotero_is_and_what_to_do(
    tmp_path: Path,
) -> None:
    """54yyyu/zotero-mcp#43, #289, logseq#11543: closed, switched off, port taken, each with its fix."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = free.getsockname()[1]
    with (
        WebServer(many(3)) as org,
        zotero() as running,
        zotero(api=403) as off,
        zotero(version="", ping="Hello") as other,
    ):
        async with window_on(tmp_path, org) as on:
            expected = (
                (closed, "Zotero is not running.", "Start it"),
                (running, "Zotero 10.0.1 is running and lets other applications in.", ""),
                (off, "does not let other applications in", "under Advanced, tick “Allow other applications"),
                (other, f"Another program uses Zotero's port, {other}.", "Quit that program"),
            )
            on.application.web._port = closed
            on.hands.click(on.hands.find(QToolButton, "openSettings"))
            await on.until(lambda: any(d.isVisible() for d in on.window.findChildren(SettingsDialog)))
            settings = on.window.findChild(SettingsDialog)
            assert settings is not None
            settings.show_page("zotero")
            state = settings.findChild(QLabel, "zoteroState")
            fix = settings.findChild(QLabel, "zoteroFix")
            assert state is not None
            assert fix is not None
            for port, words, advice in expected:
                on.application.web._port = port
                await on.until(lambda: on.hands.find(QPushButton, "lookForZotero", settings).isEnabled())
                on.hands.click(on.hands.find(QPushButton, "lookForZotero", settings))
                await on.until(lambda words=words: words in state.text())
                assert advice in (fix.text() if fix.isVisible() else "")
            settings.accept()


@pytest.mark.parametrize("scale", [1.0, 2.0])
async def test_every_word_of_the_dialog_has_room(tmp_path: Path, scale: float) -> None:
    with WebServer(many(3)) as org:
        async with window_on(tmp_path, org) as on:
            theme.current().set_appearance(theme.Appearance(mode="dark", scale=scale, reduced_motion=True))
            on.open_from_welcome()
            on.type_key()
            await on.until(lambda: bool(on.said("webKeySaid")))
            assert await on.tight() == []
            on.push("webTest")
            await on.until(lambda: on.said().startswith("The key works"))
            await on.until(lambda: on.shows("webForgetKey"))
            assert await on.tight() == []
