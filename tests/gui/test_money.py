"""What people see of money and of the provider's prompt cache, in the real window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFrame, QLabel, QPushButton

from bibgenie_desktop.domain.prices import FREE, Prices
from bibgenie_desktop.gui.docks.context.money import CostCard
from bibgenie_desktop.gui.docks.trial import TrialCard
from bibgenie_desktop.gui.popovers.models import ModelSwitcher
from bibgenie_desktop.gui.presenters.cost_words import answer_words, cost_view
from bibgenie_desktop.services.spending.costs import Cost, SessionCost
from bibgenie_desktop.services.spending.prompt_cache import WARM_MS
from tests.fakes import Clock, Notebook
from tests.gui.bench import Bench, bench
from tests.scripted_server import ScriptedServer, text

PRICES = Prices(3, 15, 0.3)


def reported(read: int, total: int = 50_000) -> dict[str, object]:
    return {
        "prompt_tokens": total,
        "completion_tokens": 1_000,
        "prompt_tokens_details": {"cached_tokens": read},
    }


def card(on: Bench) -> CostCard:
    found = on.window.context.findChild(CostCard)
    assert isinstance(found, CostCard)
    return found


async def test_the_dock_says_what_a_session_cost_and_where_it_went(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.script(text("One.", usage=reported(0)), text("Two.", usage=reported(40_000)))
        async with bench(tmp_path, server, prices=PRICES) as on:
            on.window.open_dock("context")
            assert not card(on).isVisible()
            answer = await on.ask_and_wait("U1")
            assert answer.meta.endswith("about $0.17")
            await on.ask_and_wait("U2")
            await on.until(lambda: card(on).title == "This session cost about $0.22")
            line = card(on).findChild(QLabel, "cacheLine")
            assert "80" in line.text()
            assert line.text().endswith("which saved $0.11.")
            on.hands.click(on.button("costHead"))
            said = [f.accessibleName() for f in card(on).findChildren(QFrame) if f.accessibleName()]
            lines = {s.replace("\u202f", " ") for s in said}
            assert {
                "Requests: 2",
                "Input, read anew: 60.0 k",
                "Input from the cache: 40.0 k",
                "Output: 2.0 k",
                "scripted: 2 requests · $0.22",
            } <= lines
            assert await on.clipped() == []


async def test_a_free_model_has_no_price_and_an_unknown_one_says_so(
    qapp: QApplication, tmp_path: Path
) -> None:
    for prices, title in ((FREE, "This session cost nothing"), (None, "What this session cost is not known")):
        with ScriptedServer() as server:
            server.script(text("One.", usage=reported(0)))
            async with bench(tmp_path / title[:4], server, prices=prices) as on:
                on.window.open_dock("context")
                answer = await on.ask_and_wait("U1")
                await on.until(lambda title=title: card(on).title == title)  # type: ignore[misc]
                assert "$" not in answer.meta


@pytest.mark.parametrize(
    ("cost", "title", "answer"),
    [
        (Cost(0.42, 12), "This session cost about $0.42", "about $0.42"),
        (Cost(0.42, 2, stated=2), "This session cost $0.42", "$0.42"),
        (Cost(0.42, 12, 2), "This session cost at least $0.42", ""),
        (Cost(0.0, 3, 3), "What this session cost is not known", ""),
        (Cost(0.0, 3, 0, free=3), "This session cost nothing", ""),
        (Cost(0.00001, 1), "This session cost about less than $0.0001", "about less than $0.0001"),
    ],
)
def test_a_cost_never_says_more_than_is_known(cost: Cost, title: str, answer: str) -> None:
    view = cost_view(SessionCost(cost, cost, 0), None, str)
    assert view is not None
    assert view.title == title
    assert answer_words(cost) == answer
    assert cost_view(SessionCost(Cost(), Cost(), 0), None, str) is None


async def models_warning(on: Bench) -> str:
    on.hands.click(on.button("modelSwitcher"))
    await on.until(lambda: on.window.findChild(ModelSwitcher) is not None)
    sheet = on.window.findChild(ModelSwitcher)
    said = sheet.findChild(QLabel, "cacheWarning")
    words = said.text() if said is not None else ""
    on.hands.press(sheet, Qt.Key.Key_Escape)
    await on.until(lambda: on.window.findChild(ModelSwitcher) is None)
    return words


async def test_leaving_a_warm_cache_is_said_beside_the_choice_of_models_and_compact(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.script(text("One.", usage=reported(0)), text("Two.", usage=reported(40_000)))
        async with bench(tmp_path, server, prices=PRICES) as on:
            on.window.open_dock("context")
            await on.ask_and_wait("U1")
            assert await models_warning(on) == ""  # nothing shows yet that anything is cached
            await on.ask_and_wait("U2")
            said = await models_warning(on)
            assert said.startswith("50")
            assert said.endswith("about $0.14 more.")
            compact = on.button("compactAction")
            await on.until(lambda: "at most $0.14" in compact.toolTip())
            on.hands.click(on.button("tryCompact"))
            await on.until(lambda: on.window.context.findChild(TrialCard) is not None)
            clock = on.desk.workspace.clock
            assert isinstance(clock, Clock)
            clock.now += WARM_MS
            assert await models_warning(on) == ""
            on.desk.context.refresh()
            await on.until(lambda: "at most" not in compact.toolTip())


async def test_a_cache_without_a_price_is_not_spoken_of(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("One.", usage=reported(0)), text("Two.", usage=reported(40_000)))
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait("U1")
            await on.ask_and_wait("U2")
            assert await models_warning(on) == ""
            assert isinstance(on.button("compactAction"), QPushButton)
            assert "cache" not in on.button("compactAction").toolTip()


async def test_another_branch_says_that_the_cache_holds_the_first_one(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.script(
            text("One."), text("Two.", usage=reported(0, 30_000)), text("Three.", usage=reported(40_000))
        )
        async with bench(tmp_path, server, prices=PRICES) as on:
            await on.ask_and_wait("U1")
            await on.ask_and_wait("U2 ")
            first = on.answers[-1].id
            on.desk.chats.edit_last()
            await on.until(lambda: on.desk.chats.drafts.editing is not None)
            on.window.composer.set_text("")
            on.ask("U3")
            await on.until(lambda: on.answers[-1].text == "Three.")
            await on.until_idle()
            assert on.toast == ""
            on.desk.chats.switch_to(first)
            await on.until(lambda: "holds the other branch" in on.toast)
            assert "Go back" in {b.text() for b in on.window.bottom.toasts.findChildren(QPushButton)}


async def test_another_answer_to_the_same_question_is_no_loss(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("One."), text("Two.", usage=reported(40_000)))
        async with bench(tmp_path, server, prices=PRICES) as on:
            first = await on.ask_and_wait("U1 ")
            on.desk.chats.retry(first.id)
            await on.until(lambda: on.answers[-1].text == "Two.")
            await on.until_idle()
            on.desk.chats.switch_to(first.id)
            await on.until(lambda: on.answers[-1].id == first.id)
            await on.desk.tasks.settle(2.0)
            assert on.toast == ""


async def test_editing_an_earlier_message_says_what_it_may_cost(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(
            text("One.", usage=reported(0, 20_000)), text("Two."), text("Three.", usage=reported(40_000))
        )
        async with bench(tmp_path, server, prices=PRICES) as on:
            await on.ask_and_wait("U1 ")
            await on.ask_and_wait("U2")
            await on.ask_and_wait("U3")
            on.desk.chats.edit(on.asked[1].id)
            await on.until(lambda: "may cost up to $" in on.toast)
            assert len(server.bodies) == 3


async def test_another_set_of_tools_says_that_the_cache_is_of_no_use(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.script(text("One.", usage=reported(40_000)))
        async with bench(tmp_path, server, prices=PRICES, tools=(Notebook(),)) as on:
            await on.ask_and_wait("U1")
            on.desk.library.library_changed.emit()
            await on.desk.tasks.settle(2.0)
            assert on.toast == ""  # the same tools: nothing is lost
            on.desk.workspace.use_tools(())
            on.desk.library.library_changed.emit()
            await on.until(lambda: "The tools are others now" in on.toast)
            assert "about $0.14 more" in on.toast
