"""The Context dock in the real window: dry run, checkpoints, pins; and proposals that wait for a word."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QToolButton

from bibgenie_desktop.domain.checkpoint import SECTIONS, in_order
from bibgenie_desktop.domain.locators import LedgerEntry
from bibgenie_desktop.domain.messages import Checkpoint
from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.gui.conversation.card import ProposalCard
from bibgenie_desktop.gui.conversation.checkpoint import StatementText
from bibgenie_desktop.gui.docks.checkpoints import Changes, Point, ResourceLine, ReviseDialog
from bibgenie_desktop.gui.docks.context import ContextView
from bibgenie_desktop.gui.docks.trial import TrialCard
from tests.fakes import Notebook, Proposer
from tests.gui.bench import Bench, bench
from tests.scripted_server import ScriptedServer, text, tool_calls
from tests.services.desk import summary_text

LONG = "word " * 400


async def ready(on: Bench) -> None:
    """Two turns, the first with a tool, and the dock open."""
    on.server.script(tool_calls(("search_items", {"query": "sleep"})), text("One."), text("Two."))
    await on.ask_and_wait("U1 " + LONG)
    await on.ask_and_wait("U2")
    on.window.open_dock("context")


async def compact(on: Bench, summary: str) -> None:
    count = len(on.checkpoints)
    on.server.script(text(summary))
    on.hands.click(on.button("compactAction"))
    await on.until(lambda: len(on.checkpoints) > count)
    await on.until_idle()


def point(on: Bench) -> Point | None:
    shown = [p for p in on.window.context.findChildren(Point) if p.isVisible()]
    return shown[0] if shown else None


def undo_enabled(on: Bench) -> bool | None:
    """None while there is no such button, as between two versions of the list."""
    shown = point(on)
    button = shown.findChild(QPushButton, "undoCheckpoint") if shown is not None else None
    return button.isEnabled() if button is not None else None


def path(on: Bench) -> tuple[str, ...]:
    chat = on.desk.chats.chat
    return tuple(m.id for m in chat.path) if chat is not None else ()


async def test_try_compact_says_what_would_happen_and_changes_nothing(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server, tools=(Notebook(),)) as on:
            await ready(on)
            before, sent = path(on), len(server.bodies)
            on.hands.click(on.button("tryCompact"))
            await on.until(lambda: on.window.context.findChild(TrialCard) is not None)
            said = on.window.context.findChild(TrialCard).accessibleName()
            assert "1 turn would be summarised: “U1" in said
            assert "1 turn stays word for word." in said
            assert "lost prompt cache" in said
            assert "Nothing was changed." in said
            assert (path(on), len(server.bodies)) == (before, sent)
            assert on.state is SessionState.IDLE
            assert await on.clipped() == []


async def test_a_measurement_that_comes_late_does_not_take_the_dry_run_away(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server, tools=(Notebook(),)) as on:
            await ready(on)
            shown: list[ContextView] = []
            on.desk.context.context_changed.connect(shown.append)
            on.desk.context.refresh()
            await on.until(lambda: shown)
            # What the window shows is of before the last answer, as on a machine with much to do.
            on.desk.context.context_changed.emit(replace(shown[-1], seen=shown[-1].seen[:1]))
            on.hands.click(on.button("tryCompact"))
            await on.until(lambda: on.window.context.findChild(TrialCard) is not None)
            count = len(shown)
            on.desk.context.refresh()
            await on.until(lambda: len(shown) > count)
            await asyncio.sleep(0.05)
            assert on.window.context.findChild(TrialCard) is not None


async def test_try_compact_on_an_empty_session_says_that_there_is_nothing(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server) as on:
            on.window.open_dock("context")
            on.hands.click(on.button("tryCompact"))
            await on.until(lambda: on.window.context.findChild(TrialCard) is not None)
            assert on.window.context.trial_words == "Nothing to compact"


async def test_the_meter_says_whether_its_figure_is_reported_or_estimated(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.script(text("One.", usage=(900, 5)))
        async with bench(tmp_path, server) as on:
            on.window.open_dock("context")
            state = on.window.context.findChild(QLabel, "meterState")
            await on.until(lambda: state.text() == "Estimated")
            await on.ask_and_wait("U1")
            await on.until(lambda: state.text() == "Reported")


async def test_a_checkpoint_shows_sections_resources_and_what_changed(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server, tools=(Notebook(),)) as on:
            await ready(on)
            await compact(on, summary_text())
            server.script(text("Three."), text("Four."))
            await on.ask_and_wait("U3 " + LONG)
            await on.ask_and_wait("U4")
            changed = dict.fromkeys(SECTIONS, "- [user] kept") | {"Decisions": "- [user] use APA"}
            await compact(on, in_order(changed))
            await on.until(lambda: on.window.context.findChild(Changes) is not None)
            said = [w.text() for w in on.window.context.findChild(Changes).findChildren(QLabel)]
            assert "7 sections unchanged" in said
            assert {"+1", "−1", "use APA", "kept"} <= set(said)
            shown = point(on)
            assert shown is not None
            on.hands.click(shown.findChild(QPushButton, "checkpointHead"))
            lines = shown.findChildren(ResourceLine)
            assert [line.accessibleName().split(",")[0] for line in lines] == ["Sleep"]
            assert await on.clipped() == []
            on.hands.click(lines[0].findChild(QToolButton, "pin"))
            await on.until(lambda: "Pinned: “Sleep”" in on.toast)
            chat = on.desk.chats.chat
            assert chat is not None
            pins = await on.desk.workspace.pins(chat)
            assert [p.locator.id for p in pins if p.locator is not None] == ["u-ABCD2345"]


async def test_any_checkpoint_can_be_compared_with_the_one_before_it(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server) as on:
            on.window.open_dock("context")
            for number in range(1, 5):
                server.script(text(f"A{number} {LONG}"), text("B"))
                await on.ask_and_wait(f"U{number} {LONG}")
                await on.ask_and_wait(f"V{number}")
                await compact(on, summary_text(f"note {number}"))
            await on.until(lambda: on.window.context.findChild(Changes) is not None)

            def said() -> set[str]:
                shown = [c for c in on.window.context.findChildren(Changes) if c.isVisible()]
                return {w.text() for w in shown[-1].findChildren(QLabel)} if shown else set()

            await on.until(lambda: {"note 4", "note 3"} <= said())
            chat = on.desk.chats.chat
            assert chat is not None
            points = await on.desk.workspace.checkpoints(chat)
            assert [p.summary.count(f"note {n}") for n, p in enumerate(points, 1)] == [8] * 4
            on.hands.click(on.button("chooseCheckpoint"))
            name = f"compare:{points[1].id}"
            await on.until(lambda: on.window.findChild(QAction, name) is not None)
            action = on.window.findChild(QAction, name)
            action.trigger()
            action.parent().hide()
            await on.until(lambda: {"note 2", "note 1"} <= said())
            assert "note 4" not in said()
            assert await on.clipped() == []


async def test_undo_takes_the_checkpoint_at_the_end_back(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server, tools=(Notebook(),)) as on:
            await ready(on)
            before = path(on)
            await compact(on, summary_text())
            await on.until(lambda: point(on) is not None)
            on.hands.click(on.button("undoCheckpoint"))
            await on.until(lambda: path(on) == before)
            await on.until(lambda: point(on) is None)


async def test_a_checkpoint_that_messages_follow_says_why_it_cannot_be_undone(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server, tools=(Notebook(),)) as on:
            await ready(on)
            await compact(on, summary_text())
            await on.until(lambda: undo_enabled(on) is True)
            server.script(text("Three."))
            await on.ask_and_wait("U3")
            await on.until(lambda: undo_enabled(on) is False)
            for name in ("undoCheckpoint", "reviseSummary"):
                assert "Messages follow" in on.button(name).toolTip()


async def test_revising_keeps_the_text_until_the_judge_accepts_it(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server, tools=(Notebook(),)) as on:
            await ready(on)
            await compact(on, summary_text())
            await on.until(lambda: point(on) is not None)
            on.hands.click(on.button("reviseSummary"))
            dialog = on.window.findChild(ReviseDialog)
            assert dialog.text.toPlainText() == summary_text()
            dialog.text.setPlainText("only this")
            fault = dialog.findChild(QLabel, "reviseFault")
            on.hands.click(on.button("useSummary"))
            await on.until(lambda: fault.isVisible())
            assert "cannot be used" in fault.text()
            assert dialog.text.toPlainText() == "only this"
            await on.until_idle()
            dialog.text.setPlainText(summary_text("revised by hand"))
            on.hands.click(on.button("useSummary"))
            await on.until(lambda: on.window.findChild(ReviseDialog) is None)
            chat = on.desk.chats.chat
            assert chat is not None
            newest = chat.path[-1]
            assert isinstance(newest, Checkpoint)
            assert "revised by hand" in newest.summary


async def test_a_selected_sentence_is_pinned_listed_and_removed(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server, tools=(Notebook(),)) as on:
            await ready(on)
            view = on.window.conversation
            view.focus_row(on.answers[-1].id)
            message = view._live[on.answers[-1].id]
            message.views()[0].selectAll()
            await on.menu(on.answers[-1].id, "pinSelectionAction")
            await on.until(lambda: "Pinned" in on.toast)
            chat = on.desk.chats.chat
            assert chat is not None
            assert [p.title for p in await on.desk.workspace.pins(chat)] == ["Two."]
            await compact(on, summary_text())
            newest = chat.path[-1]
            assert isinstance(newest, Checkpoint)
            assert [e.title for e in newest.ledger if e.pinned] == ["Two."]
            on.hands.click(on.button("unpin"))
            await on.until(lambda: "Not pinned any more" in on.toast)
            assert await on.desk.workspace.pins(chat) == ()


async def test_a_selected_statement_of_a_checkpoint_is_pinned(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server, tools=(Notebook(),)) as on:
            await ready(on)
            await compact(on, summary_text("Cite by the printed page"))
            row = on.checkpoints[-1].id
            on.hands.click(on.button("checkpointToggle"))
            await on.until(lambda: bool(on.window.conversation.findChildren(StatementText)))
            statement = on.window.conversation.findChildren(StatementText)[0]
            assert statement.contextMenuPolicy() is Qt.ContextMenuPolicy.NoContextMenu
            statement.setSelection(0, len("Cite by the printed page"))
            await on.menu(row, "pinSelectionAction")
            await on.until(lambda: "Pinned" in on.toast)
            chat = on.desk.chats.chat
            assert chat is not None
            assert [p.title for p in await on.desk.workspace.pins(chat)] == ["Cite by the printed page"]


async def test_a_pin_that_does_not_fit_is_refused_at_once(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server) as on:
            on.desk.context.pin(LedgerEntry(None, "word " * 50_000, 0, 0, True))
            await on.until(lambda: "does not fit" in on.toast)
            chat = on.desk.chats.chat
            assert chat is not None
            assert await on.desk.workspace.pins(chat) == ()


def card(on: Bench) -> ProposalCard | None:
    shown = [c for c in on.window.conversation.findChildren(ProposalCard) if c.isVisible()]
    return shown[0] if shown else None


async def proposed(on: Bench) -> ProposalCard:
    on.server.script(tool_calls(("propose_change", {"text": "A note"})), text("Done."))
    on.ask("Write it down")
    await on.until(lambda: on.state is SessionState.AWAITING_APPROVAL and card(on) is not None)
    shown = card(on)
    assert shown is not None
    return shown


async def test_a_proposal_waits_in_the_conversation_and_is_carried_out_when_accepted(
    qapp: QApplication, tmp_path: Path
) -> None:
    tool = Proposer()
    with ScriptedServer() as server:
        async with bench(tmp_path, server, tools=(tool,)) as on:
            await proposed(on)
            assert tool.done == []
            on.hands.click(on.button("acceptButton"))
            await on.until(lambda: on.answers[-1].text == "Done." and on.state is SessionState.IDLE)
            assert tool.done == ["A note"]
            assert card(on) is None


async def test_an_edited_proposal_is_carried_out_as_edited(qapp: QApplication, tmp_path: Path) -> None:
    tool = Proposer()
    with ScriptedServer() as server:
        async with bench(tmp_path, server, tools=(tool,)) as on:
            shown = await proposed(on)
            on.hands.click(on.button("editFirstButton"))
            shown._editor.setPlainText("Another note")
            on.hands.click(on.button("acceptButton"))
            await on.until_idle()
            assert tool.done == ["Another note"]


async def test_a_declined_proposal_changes_nothing(qapp: QApplication, tmp_path: Path) -> None:
    tool = Proposer()
    with ScriptedServer() as server:
        async with bench(tmp_path, server, tools=(tool,)) as on:
            await proposed(on)
            on.hands.click(on.button("declineButton"))
            await on.until_idle()
            assert tool.done == []
            assert card(on) is None


async def test_stop_takes_the_proposal_away_and_nothing_is_changed(
    qapp: QApplication, tmp_path: Path
) -> None:
    tool = Proposer()
    with ScriptedServer() as server:
        async with bench(tmp_path, server, tools=(tool,)) as on:
            await proposed(on)
            on.hands.click(on.button("stopButton"))
            await on.until_idle()
            assert tool.done == []
            assert card(on) is None
            assert on.answers[-1].status == "stopped"
