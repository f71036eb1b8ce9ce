"""Faults other programs had in their windows, provoked again in ours: sizes, long talks, languages."""

import asyncio
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication, QLabel, QToolButton
from pytestqt.qtbot import QtBot

from bibgenie_desktop.domain.parts import Draft
from bibgenie_desktop.domain.states import Action, SessionState
from bibgenie_desktop.gui import theme
from bibgenie_desktop.gui.conversation.citation_card import CitationCard
from bibgenie_desktop.gui.conversation.rows import CitationState, CitationView
from bibgenie_desktop.gui.conversation.virtual_column import MOST_WIDGETS
from bibgenie_desktop.gui.popovers.models import ModelSwitcher
from bibgenie_desktop.gui.session_rows import SessionLine
from tests.fakes import Notebook
from tests.gui.bench import Bench, bench
from tests.gui.test_settings import settings
from tests.scripted_server import ScriptedServer, text, tool_calls
from tests.services.desk import summary_text
from tests.storage.helpers import opened, turn

LONG = "word " * 400


def lines_of(on: Bench) -> list[SessionLine]:
    """The sessions in the sidebar."""
    return [x for x in on.window.sidebar.list.lines if isinstance(x, SessionLine)]


# -- Aria#59/#64, paper-chat#35, papersgpt#54: sizes of text, light and dark


@pytest.mark.parametrize(("scale", "mode"), [(0.8, "light"), (1.25, "dark"), (1.5, "light"), (2.0, "dark")])
async def test_aria_59_nothing_is_clipped_in_the_window_at_any_size_of_text(
    qapp: QApplication, tmp_path: Path, light_theme: theme.Theme, scale: float, mode: theme.Mode
) -> None:
    with ScriptedServer() as server:
        answer = text("# One\n\nSleep *helps*: $x^2$.")
        server.script(tool_calls(("search_items", {"query": "sleep"})), answer, text("Two."))
        async with bench(tmp_path, server, tools=(Notebook(),)) as on:
            light_theme.set_mode(mode)
            light_theme.set_scale(scale)
            assert await on.clipped() == []
            await on.ask_and_wait("Why?")
            await on.ask_and_wait("U2 " + LONG)
            for name in ("branches", "context", "library", "checkpoints"):
                on.window.open_dock(name)
                assert await on.clipped() == []
            assert on.window.composer.edit.fontInfo().pixelSize() >= round(13 * scale)
            body = on.window.conversation.message_widget(on.answers[0].id)
            assert body is not None
            assert min(view.font().pixelSize() for view in body.views()) >= round(12 * scale)


# -- locally-uncensored#139, llama.cpp PR#19557: a conversation of 2,000 messages


def filled(folder: Path, turns: int) -> None:
    """A conversation in the database that a window will open."""
    with opened(folder / "bibgenie.sqlite") as store:
        session = store.create_session("A long conversation", "test/scripted")
        for n in range(turns):
            session, _, _ = turn(store, session, f"Question {n}?", f"Answer {n}. " + "words of it " * 30)


def calls_of(work: Any) -> int:
    """How many functions are called in this thread: the same on every machine, however busy it is."""
    count = 0

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


async def typed(on: Bench, turns: int) -> int:
    """The work of forty keystrokes in a conversation of so many turns."""
    await on.until(lambda: lines_of(on))
    chosen = next(x.id for x in lines_of(on) if x.title == "A long conversation")
    on.window.sidebar.list.session_chosen.emit(chosen)
    await on.until(lambda: on.answers and on.answers[-1].text.startswith(f"Answer {turns - 1}."))
    await on.until_idle()
    assert on.window.conversation.live_widgets <= MOST_WIDGETS
    await asyncio.sleep(0.5)  # what follows the opening is done
    letters = "does sleep help memory or not at all ok?"
    return calls_of(lambda: on.write(letters))


async def test_locally_uncensored_139_a_key_costs_the_same_among_2000_messages_as_among_two(
    qapp: QApplication, tmp_path: Path
) -> None:
    """And of 2,000 messages only those in sight have a widget."""
    costs = []
    for turns in (1, 1_000):
        folder = tmp_path / str(turns)
        folder.mkdir()
        filled(folder, turns)
        with ScriptedServer() as server:
            async with bench(folder, server) as on:
                costs.append(await typed(on, turns))
    few, many = costs
    assert few > 100
    assert many < 2 * few, costs


# -- earendil-works/pi#7253, little-coder#109


async def test_pi_7253_compact_is_not_to_be_had_while_it_compacts_by_itself_and_says_why(
    qapp: QApplication, tmp_path: Path
) -> None:
    go_on = threading.Event()
    with ScriptedServer() as server:
        summary, long = text(summary_text()).held(go_on, 0), text("A " + "word " * 1_500)
        server.reply_with(lambda body: summary if "<span>" in str(body["messages"]) else long)
        async with bench(tmp_path, server, window=8_192) as on:
            for n in range(8):
                on.ask(f"U{n}")
                await on.until(lambda n=n: len(on.asked) > n or on.state is SessionState.COMPACTING)
                await on.until(lambda: on.state in (SessionState.IDLE, SessionState.COMPACTING))
                if on.state is SessionState.COMPACTING:
                    break
            assert on.state is SessionState.COMPACTING
            button = on.window.toolbar.compact
            await on.until(lambda: not button.isEnabled())
            reason = on.desk.chats.refusal(Action.COMPACT)
            assert reason is not None
            assert "being compacted" in reason
            assert button.toolTip() == reason
            button.click()
            go_on.set()
            await on.until_idle()
            await on.until(button.isEnabled)
            asked = sum("<span>" in str(body["messages"]) for body in server.bodies)
            assert len(on.checkpoints) == asked == 1


# -- NousResearch/hermes-agent#71960


async def test_hermes_71960_a_fork_never_typed_in_stands_in_the_sidebar_after_a_restart(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.script(text("One."), text("Two."))
        async with bench(tmp_path, server) as on:
            first = await on.ask_and_wait("Why?")
            await on.ask_and_wait("And then?")
            origin = on.desk.chats.front
            await on.menu(first.id, "forkAction")
            await on.until(lambda: on.desk.chats.front is not origin)
        async with bench(tmp_path, server) as on:
            await on.until(lambda: [x.depth for x in lines_of(on)] == [0, 1])
            fork = next(x for x in lines_of(on) if x.depth)
            on.window.sidebar.list.session_chosen.emit(fork.id)
            await on.until(lambda: [r.text for r in on.answers] == ["One."])
            assert [r.text for r in on.asked] == ["Why?"]


# -- papersgpt#66, in the window


async def test_papersgpt_66_gemma3_12b_is_added_and_chosen_in_the_window(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer(models=("gemma3:12b",)) as server:
        server.script(text("Hello"), text("Sleep helps."))
        async with settings(tmp_path, server) as on:
            await on.pick("addProvider", "preset:other")
            on.fill("providerName", "here")
            on.fill("providerAddress", server.base_url)
            on.push("testProvider")
            await on.until(lambda: on.label("testSaid").startswith("Works."))
            on.push("saveProvider")
            await on.until(lambda: "here" in on.config and on.state("here"))
            on.push("settingsDone")
            await on.until(lambda: on.closed)
            on.hands.click(on.button("modelSwitcher"))
            await on.until(lambda: any(s.isVisible() for s in on.window.findChildren(ModelSwitcher)))
            sheet = next(s for s in on.window.findChildren(ModelSwitcher) if s.isVisible())
            line = sheet.line("here/gemma3:12b")
            assert line is not None
            on.hands.click(line)
            await on.until(lambda: "gemma3:12b" in on.window.toolbar.switcher.text())
            on.write("Does sleep help?")
            on.enter()
            await on.until(lambda: on.answers and not on.answers[-1].streaming)
            assert on.answers[-1].text == "Sleep helps."
            assert {body["model"] for body in server.bodies} == {"gemma3:12b"}
            assert all("authorization" not in r.headers for r in server.requests)


# -- llm4z#195, beaver#162: the language of the system changes no request and no words of the window


async def said(folder: Path) -> tuple[list[Any], list[str]]:
    """What a model is sent, and what the buttons of the window say."""
    with ScriptedServer() as server:
        server.script(tool_calls(("search_items", {"query": "sleep"})), text("One."), text("Two."))
        async with bench(folder, server, tools=(Notebook(),)) as on:
            await on.ask_and_wait("Why 1,234.5?")
            await on.ask_and_wait("And?")
            body = await on.desk.chats.chat.plan(Draft("x"))  # type: ignore[union-attr]
            assert body.occupancy.tokens > 0
            words = sorted({b.text() for b in on.window.findChildren(QToolButton) if b.isVisible()})
        return [b["messages"] for b in server.bodies], words


@pytest.mark.parametrize("name", ["de_DE", "ar_EG", "zh_CN", "hi_IN"])
async def test_llm4z_195_the_language_of_the_system_leaks_into_no_request(
    qapp: QApplication, tmp_path: Path, name: str
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    plain = await said(tmp_path / "one")
    before = QLocale()
    QLocale.setDefault(QLocale(name))
    try:
        other = await said(tmp_path / "two")
    finally:
        QLocale.setDefault(before)
    assert without_ids(other[0]) == without_ids(plain[0])
    assert other[1] == plain[1]


def without_ids(bodies: list[Any]) -> list[Any]:
    """The ids of calls are drawn anew each time."""
    return [
        [(m["role"], m.get("content"), [c["function"] for c in m.get("tool_calls", ())]) for m in messages]
        for messages in bodies
    ]


# -- beaver#267: the card of a citation shows the quote and what became of looking for it


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("verified", "Quote found word for word on page 218"),
        ("paraphrase", "Not word for word, but close to what the page says"),
        ("missing", "These words were not found there"),
        ("unverified", "Not checked"),
    ],
)
def test_beaver_267_the_card_shows_the_quote_and_whether_it_was_found(
    qtbot: QtBot, light_theme: theme.Theme, state: CitationState, words: str
) -> None:
    card = CitationCard(CitationView("Hu 2020, p. 218", state, quote="reliably above zero", page="218"))
    qtbot.addWidget(card)
    shown = [label.text() for label in card.findChildren(QLabel)]
    assert words in shown
    assert any("reliably above zero" in text for text in shown)


# -- Aria#12, aider-desk#187: the end of a turn that had more to do


async def test_aria_12_an_answer_that_reached_the_limit_can_go_on(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:

        def reply(body: dict[str, object]) -> Any:
            said = str(body["messages"])
            if "Go on" in said:
                return text("Here is the rest.")
            return text("So far.") if "Answer now" in said else tool_calls(("search_items", {"query": "x"}))

        server.reply_with(reply)
        async with bench(tmp_path, server, tools=(Notebook(),)) as on:
            await on.ask_and_wait("Search for ever")
            on.write("half a thought")
            on.hands.click(on.button("goOn"))
            await on.until(lambda: "composer" in on.toast)
            assert on.window.composer.edit.toPlainText() == "half a thought"
            on.window.composer.edit.clear()
            on.hands.click(on.button("goOn"))
            await on.until(lambda: on.answers[-1].text == "Here is the rest.")
            await on.until_idle()
            assert [r.text for r in on.asked][-1] == "Go on"
