"""The window does what a person wants of it: by typing and clicking, over real HTTP and a real database."""

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QDialog, QPlainTextEdit, QPushButton, QWidget

from bibgenie_desktop.domain.states import Action, SessionState
from bibgenie_desktop.gui.frame import CENTRE_LEAST, DOCK_WIDTH, SIDE_WIDTH
from bibgenie_desktop.gui.popovers.models import ModelLine, ModelSwitcher
from bibgenie_desktop.gui.session_rows import SessionLine
from bibgenie_desktop.gui.theme import px
from tests.fakes import Notebook
from tests.gui.bench import Bench, bench
from tests.scripted_server import ScriptedServer, text, tool_calls
from tests.services.desk import summary_text

LONG = "word " * 400


async def models(on: Bench) -> ModelSwitcher:
    on.hands.click(on.button("modelSwitcher"))
    await on.until(lambda: any(s.isVisible() for s in on.window.findChildren(ModelSwitcher)))
    return next(s for s in on.window.findChildren(ModelSwitcher) if s.isVisible())


async def test_typing_and_enter_sends_and_shows_the_answer(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("Sleep ", "helps.", usage=(100, 5)))
        async with bench(tmp_path, server) as on:
            assert on.window.welcome_shown
            on.write("Does sleep help?")
            on.hands.click(on.button("sendButton"))
            await on.until(lambda: on.answers and not on.answers[-1].streaming)
            assert [r.text for r in on.asked] == ["Does sleep help?"]
            assert on.answers[-1].text == "Sleep helps."
            assert on.text == ""
            assert not on.window.welcome_shown
            assert server.bodies[0]["messages"][-1]["content"] == "Does sleep help?"


async def test_a_session_is_named_after_its_first_question(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("Yes."))
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait("Does sleep help?")
            await on.until(lambda: "Does sleep help?" in on.window.windowTitle())
            lines = [x for x in on.window.sidebar.list.lines if isinstance(x, SessionLine)]
            assert [x.title for x in lines] == ["Does sleep help?"]


async def test_tool_steps_are_folded_into_one_line(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(tool_calls(("search_items", {"query": "sleep"})), text("Found."))
        async with bench(tmp_path, server, tools=(Notebook(),)) as on:
            answer = await on.ask_and_wait("What do I have?")
            assert answer.tool_summary.startswith("Searched 1×")
            assert [(s.text, s.result, s.state) for s in answer.steps] == [("“sleep”", "1 item", "done")]


async def test_stop_ends_the_answer_and_keeps_what_arrived(qapp: QApplication, tmp_path: Path) -> None:
    go_on = threading.Event()
    with ScriptedServer() as server:
        server.script(text("Sleep ", "helps ", "a lot.").held(go_on, after=3))
        async with bench(tmp_path, server) as on:
            on.ask("Why?")
            await on.until(lambda: on.answers and on.answers[-1].text)
            assert on.state is SessionState.STREAMING
            on.hands.click(on.button("stopButton"))
            await on.until_idle()
            go_on.set()
            assert on.answers[-1].status == "stopped"
            assert on.answers[-1].text.startswith("Sleep")


async def test_while_streaming_everything_the_table_forbids_is_disabled_with_its_reason(
    qapp: QApplication, tmp_path: Path
) -> None:
    go_on = threading.Event()
    with ScriptedServer() as server:
        server.script(text("Sleep ", "helps.").held(go_on, after=2))
        async with bench(tmp_path, server) as on:
            on.ask("Why?")
            await on.until(lambda: on.state is SessionState.STREAMING)
            for widget in (on.window.toolbar.switcher, on.window.toolbar.compact):
                assert not widget.isEnabled()
                assert widget.toolTip() == on.desk.chats.refusal(Action.COMPACT)
            assert on.desk.chats.allowed("retry", on.asked[-1].id)
            go_on.set()
            await on.until_idle()
            assert on.window.toolbar.switcher.isEnabled()
            assert on.window.toolbar.compact.isEnabled()


async def test_a_follow_up_waits_as_a_chip_and_is_sent_afterwards(qapp: QApplication, tmp_path: Path) -> None:
    go_on = threading.Event()
    with ScriptedServer() as server:
        server.script(text("One.").held(go_on, after=1), text("Two."))
        async with bench(tmp_path, server) as on:
            on.ask("First?")
            await on.until(lambda: on.state is SessionState.STREAMING)
            on.ask("Second?")
            await on.until(lambda: on.banner("queue") is not None)
            assert on.text == ""
            go_on.set()
            await on.until(lambda: len(on.answers) == 2 and not on.answers[-1].streaming)
            assert [r.text for r in on.asked] == ["First?", "Second?"]
            assert on.banner("queue") is None
            await on.until_idle()


async def test_a_follow_up_taken_back_stands_in_the_composer(qapp: QApplication, tmp_path: Path) -> None:
    go_on = threading.Event()
    with ScriptedServer() as server:
        server.script(text("One.").held(go_on, after=1))
        async with bench(tmp_path, server) as on:
            on.ask("First?")
            await on.until(lambda: on.state is SessionState.STREAMING)
            on.ask("Second?")
            await on.until(lambda: on.banner("queue") is not None)
            strip = on.banner("queue")
            assert strip is not None
            chip = next(b for b in strip.findChildren(QWidget) if b.accessibleName().startswith("Remove"))
            on.hands.click(chip)
            await on.until(lambda: on.text == "Second?")
            go_on.set()
            await on.until_idle()
            assert [r.text for r in on.asked] == ["First?"]


async def test_retry_makes_a_second_version_and_the_switch_goes_back(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.script(text("One."), text("Two."))
        async with bench(tmp_path, server) as on:
            first = await on.ask_and_wait("Why?")
            await on.menu(first.id, "retryAction")
            await on.until(lambda: on.answers[-1].text == "Two." and on.state is SessionState.IDLE)
            await on.until(lambda: on.answers[-1].siblings == (2, 2))
            on.window.conversation.sibling_requested.emit(on.answers[-1].id, -1)
            await on.until(lambda: on.answers[-1].text == "One.")
            assert on.answers[-1].siblings == (1, 2)


async def test_edit_shows_the_old_words_and_sends_beside_them(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("One."), text("Two."))
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait("Why?")
            question = on.asked[-1]
            await on.menu(question.id, "editAction")
            await on.until(lambda: on.window.composer.is_editing and on.text == "Why?")
            on.write(" Really?")
            on.enter()
            await on.until(lambda: on.answers and on.answers[-1].text == "Two.")
            await on.until(lambda: not on.window.composer.is_editing and on.text == "")
            assert on.asked[-1].text == "Why? Really?"
            await on.until(lambda: on.asked[-1].siblings == (2, 2))
            assert len(server.bodies[-1]["messages"]) == len(server.bodies[0]["messages"])


async def test_cancelled_edit_gives_the_normal_draft_back(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("One."))
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait("Why?")
            on.write("Something else")
            await on.menu(on.asked[-1].id, "editAction")
            await on.until(lambda: on.window.composer.is_editing)
            on.hands.click(on.button("cancelEditButton"))
            await on.until(lambda: not on.window.composer.is_editing)
            assert on.text == "Something else"


async def test_fork_opens_a_session_under_its_origin_and_can_be_undone(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.script(text("One."))
        async with bench(tmp_path, server) as on:
            answer = await on.ask_and_wait("Why?")
            origin = on.desk.chats.front
            await on.menu(answer.id, "forkAction")
            await on.until(lambda: on.desk.chats.front is not origin and "Forked" in on.toast)
            await on.until(lambda: len(on.window.sidebar.list.lines) == 3)
            assert [x.depth for x in on.window.sidebar.list.lines if isinstance(x, SessionLine)] == [0, 1]
            assert [r.id for r in on.answers] == [answer.id]
            undo = next(b for b in on.window.bottom.findChildren(QPushButton) if b.text() == "Undo")
            on.hands.click(undo)
            await on.until(lambda: on.desk.chats.front is origin)
            await on.until(lambda: len(on.window.sidebar.list.lines) == 2)


async def test_branches_shows_every_version_and_a_click_goes_there(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.script(text("One."), text("Two."))
        async with bench(tmp_path, server) as on:
            first = await on.ask_and_wait("Why?")
            await on.menu(first.id, "retryAction")
            await on.until(lambda: on.answers[-1].text == "Two." and on.state is SessionState.IDLE)
            on.window.open_dock("branches")
            outline = on.window.branches.outline
            await on.until(lambda: len(outline.rows) == 2)
            assert [(r.kind, r.depth, r.on_path) for r in outline.rows] == [
                ("turn", 0, True),
                ("alt", 1, False),
            ]
            at = outline.visualRect(outline.model().index(1, 0)).center()
            on.hands.click(outline.viewport(), at)
            await on.until(lambda: on.answers[-1].id == first.id)
            await on.until(lambda: outline.rows[0].members[1] == first.id)


async def test_a_branch_can_be_archived_brought_back_and_shown(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("One."), text("Two."))
        async with bench(tmp_path, server) as on:
            first = await on.ask_and_wait("Why?")
            await on.menu(first.id, "retryAction")
            await on.until(lambda: on.answers[-1].text == "Two." and on.state is SessionState.IDLE)
            on.window.open_dock("branches")
            dock = on.window.branches
            await on.until(lambda: len(dock.outline.rows) == 2)
            dock.archive_requested.emit(first.id)
            await on.until(lambda: len(dock.outline.rows) == 1)
            on.hands.click(dock.findChild(QPushButton, "archivedButton"))
            await on.until(lambda: len(dock.outline.rows) == 2)
            assert "archived" in dock.outline.rows[1].badges
            dock.bring_back_requested.emit(first.id)
            await on.until(lambda: "archived" not in dock.outline.rows[1].badges)
            dock.archive_requested.emit(on.answers[-1].id)
            await on.until(lambda: on.window.bottom.toasts.toast is not None)
            assert len(dock.outline.rows) == 2


async def test_compact_shows_progress_and_the_divider_and_the_next_request_starts_with_it(
    qapp: QApplication, tmp_path: Path
) -> None:
    go_on = threading.Event()
    with ScriptedServer() as server:
        server.script(
            text("One."), text("Two."), text(summary_text()[:40], summary_text()[40:]).held(go_on, 2)
        )
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait("U1 " + LONG)
            await on.ask_and_wait("U2")
            on.hands.click(on.button("compactAction"))
            await on.until(lambda: on.banner("compaction") is not None)
            assert on.banner("compaction").objectName() == "compactionBanner"
            await on.until(lambda: "tokens written" in on.said(on.banner("compaction")))
            assert not on.window.toolbar.switcher.isEnabled()
            go_on.set()
            await on.until(lambda: bool(on.checkpoints))
            await on.until_idle()
            assert on.banner("compaction") is None
            assert len(on.checkpoints[-1].sections) == 8
            assert "Compacted" in on.toast
            server.script(text("Three."))
            await on.ask_and_wait("U3")
            sent = [m["content"].split(" ")[0] for m in server.bodies[-1]["messages"][1:]]
            assert sent[0].startswith("<checkpoint>")
            assert sent[1:] == ["U2", "Two.", "U3"]
            assert [r.text.split(" ")[0] for r in on.asked] == ["U1", "U2", "U3"]


async def test_cancelled_compaction_writes_nothing(qapp: QApplication, tmp_path: Path) -> None:
    go_on = threading.Event()
    with ScriptedServer() as server:
        server.script(text("One."), text("Two."), text(summary_text()).held(go_on, 1))
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait("U1 " + LONG)
            await on.ask_and_wait("U2")
            on.hands.click(on.button("compactAction"))
            await on.until(lambda: on.banner("compaction") is not None)
            on.hands.click(on.button("cancelCompactionButton"))
            await on.until_idle()
            go_on.set()
            assert "cancelled" in on.toast
            assert on.checkpoints == []
            assert on.window.toolbar.compact.isEnabled()


async def test_a_send_during_compaction_is_frozen_and_goes_out_afterwards(
    qapp: QApplication, tmp_path: Path
) -> None:
    go_on = threading.Event()
    with ScriptedServer() as server:
        server.script(text("One."), text("Two."), text(summary_text()).held(go_on, 1), text("Three."))
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait("U1 " + LONG)
            await on.ask_and_wait("U2")
            on.hands.click(on.button("compactAction"))
            await on.until(lambda: on.state is SessionState.COMPACTING)
            on.ask("U3")
            await on.until(lambda: bool(on.window.composer.state.frozen))
            assert on.text == "U3"
            on.write("x")
            assert on.text == "U3"
            go_on.set()
            await on.until(lambda: on.asked[-1].text == "U3" and on.state is SessionState.IDLE)
            assert on.text == ""
            assert not on.window.composer.state.frozen


async def test_a_send_that_waits_comes_back_when_the_compaction_is_cancelled(
    qapp: QApplication, tmp_path: Path
) -> None:
    go_on = threading.Event()
    with ScriptedServer() as server:
        server.script(text("One."), text("Two."), text(summary_text()).held(go_on, 1))
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait("U1 " + LONG)
            await on.ask_and_wait("U2")
            on.hands.click(on.button("compactAction"))
            await on.until(lambda: on.state is SessionState.COMPACTING)
            on.ask("U3")
            await on.until(lambda: bool(on.window.composer.state.frozen))
            on.hands.click(on.button("cancelCompactionButton"))
            await on.until_idle()
            go_on.set()
            assert on.text == "U3"
            assert not on.window.composer.state.frozen
            assert [r.text for r in on.asked][-1] == "U2"


async def test_too_small_a_model_sends_nothing_and_names_the_overshoot_a_larger_one_sends(
    qapp: QApplication, tmp_path: Path
) -> None:
    draft = "word " * 3_500
    with ScriptedServer() as server:
        async with bench(tmp_path, server, small=4_096) as on:
            on.window.composer.set_text(draft)
            on.window.composer.draft_changed.emit(draft)
            sheet = await models(on)
            line = sheet.line("test/small")
            assert line is not None
            assert "Too big by" in line.accessibleName()
            on.hands.click(line)
            await on.until(lambda: on.window.toolbar.switcher.text() == "small")
            on.enter()
            await on.until(lambda: "tokens too many for small" in on.said(on.banner("notice")))
            await on.until_idle()
            assert server.bodies == []
            assert on.text == draft
            assert on.rows == ()
            server.script(text("Long."))
            on.hands.click(on.button("offer_choose_model"))
            await on.until(lambda: any(s.isVisible() for s in on.window.findChildren(ModelSwitcher)))
            again = next(s for s in on.window.findChildren(ModelSwitcher) if s.isVisible())
            large = again.line("test/scripted")
            assert large is not None
            assert "Fits" in large.accessibleName()
            on.hands.click(large)
            await on.until(lambda: on.window.toolbar.switcher.text() == "scripted")
            on.enter()
            await on.until(lambda: on.answers and not on.answers[-1].streaming)
            assert len(server.bodies) == 1
            assert on.text == ""
            assert on.banner("notice") is None
            await on.until_idle()


async def test_retry_with_another_model_counts_for_that_answer_only(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.script(text("One."), text("Two."))
        async with bench(tmp_path, server, small=30_000) as on:
            first = await on.ask_and_wait("Why?")
            await on.menu(first.id, "retryWithAction")
            await on.until(lambda: any(s.isVisible() for s in on.window.findChildren(ModelSwitcher)))
            sheet = next(s for s in on.window.findChildren(ModelSwitcher) if s.isVisible())
            on.hands.click(next(x for x in sheet.findChildren(ModelLine) if x.ref == "test/small"))
            await on.until(lambda: on.answers[-1].text == "Two." and on.state is SessionState.IDLE)
            assert server.bodies[-1]["model"] == "small"
            assert on.answers[-1].meta.startswith("small")
            assert on.window.toolbar.switcher.text() == "scripted"


async def test_the_full_request_is_what_send_then_sends(qapp: QApplication, tmp_path: Path) -> None:
    import json

    with ScriptedServer() as server:
        server.script(text("One."), text("Two."))
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait("U1")
            on.write("U2")
            on.window.open_dock("context")
            on.window.composer.flush_draft()
            await on.until(lambda: on.window.toolbar.meter.view is not None)
            on.hands.click(on.button("fullRequest"))
            await on.until(lambda: bool(on.window.findChildren(QDialog, "requestDialog")))
            dialog = on.window.findChild(QDialog, "requestDialog")
            assert dialog is not None
            shown = json.loads(dialog.findChild(QPlainTextEdit).toPlainText())
            dialog.accept()
            on.enter()
            await on.until(lambda: len(server.bodies) == 2)
            assert shown == server.bodies[-1]
            await on.until_idle()


async def test_context_adds_up_to_what_is_used(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("One."))
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait("U1 " + LONG)
            await on.until(
                lambda: (
                    on.window.toolbar.meter.view is not None and on.window.toolbar.meter.view.parts[3] > 300
                )
            )
            view = on.window.toolbar.meter.view
            assert view is not None
            assert sum(view.parts) == view.used
            assert view.safe_limit + view.reserve == view.window


async def test_trash_can_be_undone_and_shown(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("One."))
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait("Why?")
            old = on.desk.chats.front
            assert old is not None
            on.window.sidebar.list.trash_requested.emit(old.id)
            await on.until(lambda: on.desk.chats.front is not old and "in the trash" in on.toast)
            on.hands.click(
                next(
                    b
                    for b in on.window.findChildren(QWidget)
                    if b.accessibleName() == "Trash" and b.isVisible()
                )
            )
            await on.until(lambda: [getattr(x, "id", "") for x in on.window.sidebar.list.lines] == [old.id])
            on.window.sidebar.list.restore_requested.emit(old.id)
            await on.until(lambda: on.desk.chats.front is old)


async def test_a_failed_answer_says_why_and_can_be_retried(qapp: QApplication, tmp_path: Path) -> None:
    from tests.scripted_server import error

    with ScriptedServer() as server:
        server.script(error(401, "wrong key"), text("Now."))
        async with bench(tmp_path, server) as on:
            failed = await on.ask_and_wait("Why?")
            assert failed.status == "failed"
            assert failed.error_title
            await on.menu(failed.id, "retryAction")
            await on.until(lambda: on.answers[-1].text == "Now.")
            await on.until_idle()


@pytest.mark.parametrize(
    ("room", "side", "dock"), [(0, True, True), (-10, True, False), (-10 - 336, False, False)]
)
async def test_what_has_no_room_hides_and_the_switches_say_so(
    qapp: QApplication, tmp_path: Path, room: int, side: bool, dock: bool
) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server) as on:
            on.window.open_dock("branches")
            all_three = px(SIDE_WIDTH) + px(DOCK_WIDTH) + px(CENTRE_LEAST)
            on.window.setMinimumWidth(0)
            on.window.resize(all_three + px(room), 800)
            assert on.window.frame.side_shown == side
            assert bool(on.window.frame.dock_shown) == dock
            toggle = on.button("branchesToggle")
            assert toggle.isChecked() == dock
            if not dock:
                on.hands.click(toggle)
                assert on.window.frame.dock_shown == "branches"
                assert on.window.frame.close_overlay()
                assert on.window.frame.dock_shown == ""


async def test_every_name_that_outsiders_rely_on_is_there(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server) as on:
            names = {w.objectName() for w in on.window.findChildren(QWidget)} | {on.window.objectName()}
            wanted = (
                "mainWindow sessionList conversationView composer sendButton stopButton modelSwitcher "
                "compactAction contextMeter branchNavigator contextPanel libraryPanel"
            )
            assert set(wanted.split()) <= names


async def test_f6_goes_round_the_parts(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("One."))
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait("Why?")
            on.window.open_dock("branches")
            on.window.activateWindow()
            on.window.composer.focus_text()
            seen = []
            for _ in range(4):
                on.window._to_part(1)
                focus = QApplication.focusWidget()
                seen.append(
                    next(
                        name
                        for name, part in (
                            ("dock", on.window.branches),
                            ("side", on.window.sidebar),
                            ("conversation", on.window.conversation),
                            ("composer", on.window.composer),
                        )
                        if focus is not None and (focus is part or part.isAncestorOf(focus))
                    )
                )
            assert seen == ["dock", "side", "conversation", "composer"]


async def test_nothing_is_clipped_in_the_window(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("One."))
        async with bench(tmp_path, server) as on:
            assert await on.clipped() == []
            await on.ask_and_wait("Why?")
            for name in ("branches", "context", "library"):
                on.window.open_dock(name)
                assert await on.clipped() == []


async def test_a_link_is_shown_before_it_is_opened(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        async with bench(tmp_path, server) as on:
            on.window.conversation.link_opened.emit("https://example.org/paper")
            assert "https://example.org/paper" in on.toast
            assert on.links == []
            button = next(b for b in on.window.bottom.findChildren(QPushButton) if b.text() == "Open")
            on.hands.click(button)
            assert on.links == ["https://example.org/paper"]
            on.window.conversation.link_opened.emit("file:///etc/passwd")
            assert on.links == ["https://example.org/paper"]


async def test_a_starter_really_asks(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("For memory."))
        async with bench(tmp_path, server) as on:
            await on.until(lambda: any(w.objectName() == "starter" for w in on.window.findChildren(QWidget)))
            card = on.window.findChild(QWidget, "starter")
            assert card is not None
            on.hands.click(card, QPoint(20, 12))
            await on.until(lambda: on.answers and on.answers[-1].text == "For memory.")
            assert server.bodies[0]["messages"][-1]["content"] == "What is sleep for?"
            assert on.text == ""
            await on.until_idle()


async def test_escape_stops_the_answer(qapp: QApplication, tmp_path: Path) -> None:
    go_on = threading.Event()
    with ScriptedServer() as server:
        server.script(text("Sleep ", "helps.").held(go_on, after=2))
        async with bench(tmp_path, server) as on:
            on.ask("Why?")
            await on.until(lambda: on.state is SessionState.STREAMING)
            on.hands.press(on.window.composer.edit, Qt.Key.Key_Escape)
            await on.until_idle()
            go_on.set()
            assert on.answers[-1].status == "stopped"
