"""The real window on a real workspace, with a scripted server as its model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from bibgenie_desktop.domain.prices import Prices
from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.gui.conversation.rows import AnswerRow, CheckpointRow, Row, UserRow
from bibgenie_desktop.gui.desk.desk import Desk
from bibgenie_desktop.gui.tasks import Tasks
from bibgenie_desktop.gui.tour.hands import Hands
from bibgenie_desktop.gui.welcome import LibraryOffer
from bibgenie_desktop.gui.window import MainWindow
from bibgenie_desktop.services.tools.base import Tool
from bibgenie_desktop.services.workspace import Workspace
from tests.gui.fit import clipped
from tests.scripted_server import ScriptedServer
from tests.services.desk import desk

PATIENCE_S = 10.0


class NoLibraries:
    """Nothing to choose from but the sample library, which is never chosen here."""

    def __init__(self) -> None:
        self.chosen: list[Path | None] = []

    def offers(self) -> Sequence[LibraryOffer]:
        return (LibraryOffer("", "Use the sample library", ""),)

    async def choose(self, path: Path | None) -> None:
        self.chosen.append(path)

    async def load(self) -> None:
        return None

    async def watch(self, changed: Callable[[], None]) -> None:
        return None

    async def starters(self, most: int) -> Sequence[str]:
        return ("What is sleep for?",)[:most]


class Bench:
    """Hands on a window, and what is to be seen there."""

    def __init__(self, window: MainWindow, on: Desk, server: ScriptedServer) -> None:
        self.window, self.desk, self.server = window, on, server
        self.hands = Hands(window)
        self.links: list[str] = []
        self.faults: list[BaseException] = []

    # -- waiting

    async def until(self, condition: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, "did not happen"
            assert not self.faults, self.faults
            await asyncio.sleep(0.01)

    async def until_idle(self) -> None:
        await self.until(lambda: self.state is SessionState.IDLE)

    @property
    def state(self) -> SessionState:
        return self.desk.chats.state

    # -- seeing

    @property
    def rows(self) -> tuple[Row, ...]:
        return self.window.conversation.rows

    @property
    def asked(self) -> list[UserRow]:
        return [r for r in self.rows if isinstance(r, UserRow)]

    @property
    def answers(self) -> list[AnswerRow]:
        return [r for r in self.rows if isinstance(r, AnswerRow)]

    @property
    def checkpoints(self) -> list[CheckpointRow]:
        return [r for r in self.rows if isinstance(r, CheckpointRow)]

    @property
    def text(self) -> str:
        return self.window.composer.text

    def button(self, name: str) -> QPushButton | QToolButton:
        for kind in (QPushButton, QToolButton):
            found = [b for b in self.window.findChildren(kind, name) if b.isVisible()]
            if found:
                return found[-1]
        raise AssertionError(f"no {name} in the window")

    def banner(self, name: str) -> QWidget | None:
        return self.window.bottom.banner(name)

    def said(self, widget: QWidget | None) -> str:
        return widget.accessibleName() if widget is not None else ""

    @property
    def toast(self) -> str:
        return self.said(self.window.bottom.toasts.toast)

    async def clipped(self) -> list[str]:
        """Texts that do not get the room they need, after everything was laid out.

        No event is processed from inside the coroutine: that would run the loop within itself.
        """
        await asyncio.sleep(0.1)
        reasons = ((w, clipped(w)) for w in self.window.findChildren(QWidget))
        return [f"{type(w).__name__} “{w.accessibleName() or w.objectName()}” {r}" for w, r in reasons if r]

    # -- doing

    def write(self, text: str) -> None:
        self.hands.type(self.window.composer.edit, text)

    def enter(self) -> None:
        self.hands.press(self.window.composer.edit, Qt.Key.Key_Return)

    def ask(self, text: str) -> None:
        self.write(text)
        self.enter()

    async def ask_and_wait(self, text: str) -> AnswerRow:
        count = len(self.answers)
        self.ask(text)
        await self.until(lambda: len(self.answers) > count and not self.answers[-1].streaming)
        await self.until_idle()
        return self.answers[-1]

    async def menu(self, row_id: str, name: str) -> None:
        self.window.conversation.focus_row(row_id)
        await asyncio.sleep(0.02)
        menu = self.window.conversation.context_menu(row_id)
        assert menu is not None
        action = next(a for a in menu.actions() if a.objectName() == name)
        assert action.isEnabled(), action.toolTip()
        action.trigger()
        menu.deleteLater()


@asynccontextmanager
async def bench(
    folder: Path,
    server: ScriptedServer,
    *,
    window: int = 100_000,
    small: int = 4_096,
    tools: tuple[Tool, ...] = (),
    prices: Prices | None = None,
    vision: bool = False,
    prepare: Callable[[Workspace], None] = lambda _: None,
) -> AsyncIterator[Bench]:
    """A shown window at its default size, with a session open and its first page up.

    `prepare` is given the workspace before there is a window.
    """
    async with desk(
        folder, server, window=window, small=small, tools=tools, prices=prices, vision=vision
    ) as services:
        prepare(services.workspace)
        faults: list[BaseException] = []
        links: list[str] = []
        tasks = Tasks(faults.append)
        main = MainWindow()
        main.resize(1440, 900)

        def remember(link: str) -> bool:
            links.append(link)
            return True

        on = Desk(main, services.workspace, NoLibraries(), tasks, open_link=remember)
        result = Bench(main, on, server)
        result.faults, result.links = faults, links
        main.show()
        await on.start()
        await result.until(lambda: on.chats.chat is not None and bool(main.toolbar.switcher.text()))
        try:
            yield result
        finally:
            await on.finish()
            main.leave()
            main.deleteLater()
        assert not faults, faults
