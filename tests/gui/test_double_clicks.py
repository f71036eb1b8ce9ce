"""A double click on a card is one decision, whatever comes in the place of what was pressed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.gui.conversation.presses import Presses
from tests.gui.bench import Bench
from tests.gui.test_proposals import CALL, cards, proposed, shown, window
from tests.scripted_server import ScriptedServer, text, tool_calls
from tests.zotero.online.helpers import MemoryKeyring
from tests.zotero.online.zotero_server import ZoteroServer


def test_a_second_press_at_once_and_in_the_same_place_is_a_repetition(qapp: QApplication) -> None:
    presses = Presses()
    assert not presses.repeats(QPointF(100, 100))
    assert presses.repeats(QPointF(101, 100))
    assert not presses.repeats(QPointF(300, 100))
    QTest.qWait(QGuiApplication.styleHints().mouseDoubleClickInterval() + 20)
    assert not presses.repeats(QPointF(300, 100))


def press(on: Bench, at: QPoint) -> None:
    """A press of the mouse at a place of the window, on whatever lies there now."""
    found: QWidget = on.window.childAt(at) or on.window
    QTest.mouseClick(found, Qt.MouseButton.LeftButton, pos=found.mapFrom(on.window, at))


def place(on: Bench, button: QWidget) -> QPoint:
    return button.mapTo(on.window, button.rect().center())


@pytest.mark.parametrize("after_ms", [0, 30, 80, 200])
@pytest.mark.parametrize("name", ["acceptButton", "declineButton"])
async def test_a_double_click_decides_once_and_no_card_says_meanwhile_that_it_was_not_answered(
    qapp: QApplication, tmp_path: Path, name: str, after_ms: int
) -> None:
    seen: list[str] = []
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with window(tmp_path, server, zotero, MemoryKeyring()) as on:
            zotero.dialog("always")
            await proposed(on)
            at = place(on, on.button(name))
            press(on, at)
            for _ in range(after_ms // 10):
                seen += [c.card.state for c in cards(on)]
                await asyncio.sleep(0.01)
            press(on, at)
            while on.state is not SessionState.IDLE:
                seen += [c.card.state for c in cards(on)]
                assert len(cards(on)) == 1
                await asyncio.sleep(0.005)
            await shown(on, "written" if name == "acceptButton" else "declined")
            assert "unanswered" not in seen
            assert len(zotero.notes) == (name == "acceptButton")


async def test_a_double_click_on_one_card_does_not_decide_the_next(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with window(tmp_path, server, zotero, MemoryKeyring()) as on:
            zotero.dialog("always")
            other = {**CALL, "content": CALL["content"].replace("Sleep", "Naps")}
            server.script(tool_calls(("propose_change", CALL), ("propose_change", other)), text("Done."))
            on.ask("Save both")
            await on.until(lambda: on.state is SessionState.AWAITING_APPROVAL and cards(on))
            button = on.button("acceptButton")
            where = button.mapToGlobal(button.rect().center())
            press(on, place(on, button))
            await on.until(lambda: [c.card.state for c in cards(on)][1:] == ["waiting"])
            following = [
                b for b in cards(on)[1].findChildren(QPushButton) if b.objectName() == "acceptButton"
            ]
            # The card that follows comes to lie where the first was.
            on.window.move(on.window.pos() + where - following[0].mapToGlobal(following[0].rect().center()))
            press(on, place(on, following[0]))
            await asyncio.sleep(0.1)
            assert cards(on)[1].card.state == "waiting"
            await asyncio.sleep(QGuiApplication.styleHints().mouseDoubleClickInterval() / 1000)
            press(on, place(on, following[0]))
            await on.until_idle()
            await shown_all(on, ["written", "written"])
            assert len(zotero.notes) == 2


async def test_a_double_click_on_propose_again_accepts_nothing(qapp: QApplication, tmp_path: Path) -> None:
    keyring = MemoryKeyring()
    with ScriptedServer() as server, ZoteroServer() as zotero:
        async with window(tmp_path, server, zotero, keyring) as on:
            await proposed(on)
        async with window(tmp_path, server, zotero, keyring) as on:
            await shown(on, "unanswered")
            at = place(on, on.button("proposeAgainButton"))
            press(on, at)
            await shown(on, "waiting")
            press(on, at)
            await asyncio.sleep(0.2)
            assert [c.card.state for c in cards(on)] == ["waiting"]
            assert zotero.writes == []


async def shown_all(on: Bench, states: list[str]) -> None:
    await on.until(lambda: [c.card.state for c in cards(on)] == states)
