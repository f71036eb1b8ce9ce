"""The settings, as a person uses them: by clicking and typing, on the real application and a scripted
server."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QCheckBox, QLabel, QLineEdit, QPushButton, QToolButton, QWidget

from bibgenie_desktop.compose.application import Application
from bibgenie_desktop.compose.options import Options
from bibgenie_desktop.domain.entries import ModelEntry, ProviderEntry
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.gui import theme
from bibgenie_desktop.gui.desk.desk import Desk
from bibgenie_desktop.gui.popovers.models import ModelSwitcher
from bibgenie_desktop.gui.settings.dialog import SettingsDialog
from bibgenie_desktop.gui.settings.provider_list import ProviderRow
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tr import number
from bibgenie_desktop.gui.window import MainWindow
from bibgenie_desktop.settings.secrets import SecretStore
from tests.gui.bench import Bench, NoLibraries
from tests.gui.fit import clipped
from tests.scripted_server import ScriptedServer, error, text
from tests.services.configuring.test_provider_setup import Ring

KEY = "sk-secret-4711-abcdefgh"


class Settings(Bench):
    """Hands on the settings as well."""

    application: Application
    ring: Ring

    @property
    def dialog(self) -> SettingsDialog:
        return next(d for d in self.window.findChildren(SettingsDialog) if d.isVisible())

    @property
    def closed(self) -> bool:
        return not any(d.isVisible() for d in self.window.findChildren(SettingsDialog))

    def field(self, name: str) -> QLineEdit:
        return self.hands.find(QLineEdit, name, self.dialog)

    def label(self, name: str) -> str:
        found = self.dialog.findChild(QLabel, name)
        assert found is not None
        return found.text() if found.isVisible() else ""

    def push(self, name: str) -> None:
        self.hands.click(self.hands.find(QPushButton, name, self.dialog))

    def fill(self, name: str, words: str) -> None:
        self.field(name).clear()
        self.hands.type(self.field(name), words)

    async def pick(self, button: str, entry: str) -> None:
        """Opens the menu of a button and takes one of its entries."""
        self.push(button)
        await self.until(lambda: self.dialog.findChild(QAction, entry) is not None)
        action = self.dialog.findChild(QAction, entry)
        assert action is not None
        action.trigger()
        menu = action.parent()
        assert isinstance(menu, QWidget)
        menu.hide()

    def state(self, id: str) -> str:  # type: ignore[override]
        rows = [r for r in self.dialog.findChildren(ProviderRow, f"provider:{id}") if r.isVisible()]
        return rows[-1].accessibleName() if rows else ""

    @property
    def config(self) -> str:
        path = self.application.data.config
        return path.read_text() if path.exists() else ""


@asynccontextmanager
async def settings(
    folder: Path,
    server: ScriptedServer,
    *providers: ProviderEntry,
    ring: Ring | None = None,
    libraries: NoLibraries | None = None,
) -> AsyncIterator[Settings]:
    ring = ring or Ring()
    application = Application(Options(data_dir=folder / "data", home=folder / "home", environment={}))
    application.secrets = SecretStore({}, keyring=lambda: ring)
    await application.open()
    for entry in providers:
        await application.providers.put(entry)
    faults: list[BaseException] = []
    tasks, window = Tasks(faults.append), MainWindow()
    window.resize(1440, 900)
    links: list[str] = []
    desk = Desk(
        window,
        application.workspace,
        libraries or NoLibraries(),
        tasks,
        open_link=lambda link: links.append(link) is None,
        adjustable=application,
    )
    on = Settings(window, desk, server)
    on.application, on.ring, on.faults, on.links = application, ring, faults, links
    window.show()
    try:
        await desk.start()
        await on.until(lambda: desk.chats.chat is not None and bool(window.toolbar.switcher.text()))
        if window.frame.side_shown:
            on.hands.click(on.hands.find(QToolButton, "openSettings"))
        else:  # at large sizes of text the sidebar has no room; Ctrl+, does the same
            window.settings_requested.emit()
        await on.until(lambda: not on.closed)
        yield on
    finally:
        await desk.finish()
        window.leave()
        window.deleteLater()
        await application.close()
    assert not faults, faults


def lab(server: ScriptedServer, *models: str) -> ProviderEntry:
    return ProviderEntry("lab", "openai-chat", server.base_url, tuple(ModelEntry(m) for m in models))


async def test_a_provider_is_added_tested_and_answers_without_a_restart(tmp_path: Path) -> None:
    with ScriptedServer(models=("qwen",)) as server:
        server.script(text("Hello", usage=(5, 1)), text("Sleep helps.", usage=(50, 4)))
        async with settings(tmp_path, server) as on:
            await on.pick("addProvider", "preset:other")
            on.fill("providerName", "lab")
            on.fill("providerAddress", f"{server.base_url}/chat/completions")
            on.fill("providerKey", KEY)
            on.push("testProvider")
            await on.until(lambda: on.label("testSaid").startswith("Works."))
            assert "1 model" in on.label("testSaid")
            assert on.config == ""  # nothing counts before it is added
            on.push("saveProvider")
            await on.until(lambda: on.ring.kept)
            await on.until(lambda: on.label("keySaid").startswith("In the system keyring."))
            assert on.field("providerAddress").text() == server.base_url
            assert on.field("providerKey").text() == ""
            on.push("settingsDone")
            await on.until(lambda: on.closed)
            on.hands.click(on.button("modelSwitcher"))
            await on.until(lambda: any(s.isVisible() for s in on.window.findChildren(ModelSwitcher)))
            sheet = next(s for s in on.window.findChildren(ModelSwitcher) if s.isVisible())
            line = sheet.line("lab/qwen")
            assert line is not None
            on.hands.click(line)
            await on.until(lambda: "qwen" in on.window.toolbar.switcher.text())
            on.write("Does sleep help?")
            on.enter()
            await on.until(lambda: on.answers and not on.answers[-1].streaming)
            assert on.answers[-1].text == "Sleep helps."
            assert KEY not in on.config
            assert "lab" in on.config


async def test_a_wrong_key_is_said_beside_the_test_and_in_the_list(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(error(401, "Incorrect API key provided", code="invalid_api_key"))
        async with settings(tmp_path, server, lab(server, "scripted")) as on:
            on.fill("providerKey", KEY)
            on.push("testProvider")
            await on.until(lambda: "does not accept the key" in on.label("testSaid"))
            assert "does not accept the key" in on.state("lab")
            assert KEY not in on.label("testSaid")


async def test_a_test_that_hangs_can_be_stopped(tmp_path: Path) -> None:
    never = threading.Event()
    with ScriptedServer() as server:
        server.script(text("Hello").held(never))
        async with settings(tmp_path, server, lab(server, "scripted")) as on:
            on.push("testProvider")
            await on.until(lambda: server.bodies)
            on.push("testProvider")
            await on.until(lambda: on.label("testSaid") == "The test was stopped.")
            server.wait_aborted()
        never.set()


async def test_without_a_keyring_the_key_can_be_kept_for_this_run(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with settings(tmp_path, server, lab(server, "scripted"), ring=Ring(locked=True)) as on:
            on.fill("providerKey", KEY)
            on.push("saveProvider")
            await on.until(lambda: "keyring could not be opened" in on.label("keySaid"))
            on.push("keepKey")
            await on.until(lambda: on.label("keySaid").startswith("Kept for this run only"))
            assert await on.application.secrets.get("lab") == KEY
            assert KEY not in on.config


async def test_an_own_window_counts_at_once_and_takes_the_assumption_away(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with settings(tmp_path, server, lab(server, "scripted")) as on:
            workspace = on.application.workspace
            assert workspace.models.profile("lab/scripted").window_source == "assumed"
            assert any(x.text() == "assumed" for x in on.dialog.findChildren(QLabel) if x.isVisible())
            on.fill("window:scripted", "64k")
            on.hands.press(on.field("window:scripted"), Qt.Key.Key_Return)
            await on.until(lambda: workspace.models.profile("lab/scripted").window == 64_000)
            await on.until(lambda: on.field("window:scripted").text() == number(64_000))
            assert not any(x.text() == "assumed" for x in on.dialog.findChildren(QLabel) if x.isVisible())
            on.fill("window:scripted", "12")
            on.hands.press(on.field("window:scripted"), Qt.Key.Key_Return)
            await on.until(lambda: "too small" in on.label("formSaid"))
            assert workspace.models.profile("lab/scripted").window == 64_000


async def test_remove_takes_a_second_click(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with settings(tmp_path, server, lab(server, "scripted")) as on:
            on.push("removeProvider")
            assert "lab" in on.config
            on.push("removeProvider")
            await on.until(lambda: not on.state("lab"))
            assert "lab" not in on.config


async def test_a_name_that_is_taken_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with settings(tmp_path, server, lab(server, "scripted")) as on:
            await on.pick("addProvider", "preset:other")
            on.fill("providerName", "lab")
            on.fill("providerAddress", "https://example.org/v1")
            on.push("settingsDone")
            await on.until(lambda: "already" in on.label("formSaid"))
            assert not on.closed
            assert on.field("providerAddress").text() == "https://example.org/v1"
            assert "example.org" not in on.config


async def test_automatic_compaction_is_switched_live_and_kept(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with settings(tmp_path, server) as on:
            on.push("page:compaction")
            on.hands.click(on.hands.find(QCheckBox, "automaticCompaction", on.dialog), None)
            box = on.hands.find(QCheckBox, "automaticCompaction", on.dialog)
            if box.isChecked():  # a click in the middle of a wide box may miss its words
                on.hands.click(box, box.rect().topLeft() + box.rect().center() / 20)
            assert not box.isChecked()
            assert on.application.config.load().automatic_compaction is False
            assert on.application.automatic_compaction is False


async def test_the_data_folder_is_named_and_shown(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with settings(tmp_path, server) as on:
            on.push("page:data")
            folder = tmp_path / "data"
            assert any(x.text() == str(folder) for x in on.dialog.findChildren(QLabel) if x.isVisible())
            on.push("showDataFolder")
            assert [QUrl(link).toLocalFile() for link in on.links] == [folder.as_posix()]


async def test_everything_is_reached_by_the_keyboard_and_esc_leaves(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with settings(tmp_path, server, lab(server, "scripted")) as on:
            wanted = {
                "page:providers", "page:appearance", "addProvider", "provider:lab", "providerName",
                "providerAddress", "providerKey", "testProvider", "removeProvider", "window:scripted",
                "modelName", "defaultModel", "settingsDone",
            }  # fmt: skip
            reached = set()
            start = widget = on.dialog.focusWidget() or on.dialog
            for _ in range(400):
                widget = widget.nextInFocusChain()
                if widget.isVisible() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
                    reached.add(widget.objectName())
                if widget is start:
                    break
            reached.add(start.objectName())
            assert wanted - reached == set()
            on.hands.press(on.dialog, Qt.Key.Key_Escape)
            await on.until(lambda: on.closed)
            assert not any(w.isVisible() for w in on.window.findChildren(QWidget, "scrim"))


@pytest.mark.parametrize("scale", [0.8, 1.0, 2.0])
async def test_no_text_of_the_settings_is_clipped(tmp_path: Path, scale: float) -> None:
    with ScriptedServer() as server:
        server.script(text("Hello"))
        theme.current().set_appearance(theme.Appearance(mode="light", scale=scale, reduced_motion=True))
        async with settings(tmp_path, server, lab(server, "scripted")) as on:
            on.push("testProvider")
            await on.until(lambda: on.label("testSaid").startswith("Works."))
            for page in ("providers", "zotero", "compaction", "appearance", "data"):
                on.push(f"page:{page}")
                for _ in range(10):
                    await on.hands.pause(0.02)
                cut = [(w.objectName(), r) for w in on.dialog.findChildren(QWidget) if (r := clipped(w))]
                assert cut == [], page


async def test_choosing_another_provider_saves_what_was_typed(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        other = ProviderEntry("other", "openai-chat", "https://example.org/v1")
        async with settings(tmp_path, server, lab(server, "scripted"), other) as on:
            on.fill("providerAddress", "https://example.com")
            on.hands.click(on.hands.find(ProviderRow, "provider:other", on.dialog))
            await on.until(lambda: on.field("providerName").text() == "other")
            assert "https://example.com" in on.config


async def test_a_form_that_was_not_touched_is_dropped_by_done(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with settings(tmp_path, server) as on:
            await on.pick("addProvider", "preset:other")
            on.push("settingsDone")
            await on.until(lambda: on.closed)
            assert on.config == ""


async def test_a_provider_without_a_name_is_asked_for_one(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with settings(tmp_path, server) as on:
            await on.pick("addProvider", "preset:other")
            on.fill("providerAddress", "https://example.org/v1")
            on.push("saveProvider")
            await on.until(lambda: on.label("formSaid").startswith("Give the provider a name"))
            assert on.config == ""


class Refusing(NoLibraries):
    async def choose(self, path: Path | None) -> None:
        raise UserError("This folder holds no Zotero library.", "Choose the one with zotero.sqlite.")


async def test_a_library_that_is_not_taken_is_explained_on_its_page(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with settings(tmp_path, server, libraries=Refusing()) as on:
            on.push("page:zotero")
            on.push("library:")
            await on.until(lambda: "holds no Zotero library" in on.label("libraryFailed"))


def files_holding(folder: Path, words: str) -> list[str]:
    return [p.name for p in folder.rglob("*") if p.is_file() and words.encode() in p.read_bytes()]


async def test_a_key_typed_for_a_test_is_kept_nowhere(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("Hello"))
        async with settings(tmp_path, server, lab(server, "scripted")) as on:
            on.fill("providerKey", KEY)
            on.push("testProvider")
            await on.until(lambda: on.label("testSaid").startswith("Works."))
            assert on.ring.kept == {}
            on.hands.press(on.dialog, Qt.Key.Key_Escape)  # asks: the key was typed and not saved
            on.hands.press(on.dialog, Qt.Key.Key_Escape)
            await on.until(lambda: on.closed)
            assert await on.application.secrets.get("lab") is None
        assert files_holding(tmp_path, "lab")
        assert not files_holding(tmp_path, KEY)
