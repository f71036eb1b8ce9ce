"""Providers that make wait, in the real window: the countdown with Retry, and the busy one asked again."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from bibgenie_desktop.domain.states import SessionState
from bibgenie_desktop.gui.banners import duration
from tests.fakes import Clock
from tests.gui.bench import Bench, bench
from tests.scripted_server import ScriptedServer, error, text


def clock_of(on: Bench) -> Clock:
    clock = on.desk.workspace.clock
    assert isinstance(clock, Clock)
    return clock


def limited(seconds: int) -> object:
    return error(429, "slow", headers={"Retry-After": str(seconds)})


async def test_a_rate_limit_counts_down_and_retry_opens_at_its_end(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.script(limited(34))
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait("U1")
            on.write("kept while I wait")
            retry = on.button("offer_retry")
            assert retry.text() == "Retry in 34 s"
            assert not retry.isEnabled()
            assert "takes requests again in 34 s" in retry.toolTip()
            assert on.button("retryAtOnce").isEnabled()
            await on.until(lambda: on.button("retryAnswer").isEnabled())
            assert await on.clipped() == []
            clock_of(on).now += 30_000
            await on.until(lambda: on.button("offer_retry").text() == "Retry in 4 s")
            clock_of(on).now += 4_000
            await on.until(lambda: on.button("offer_retry").isEnabled())
            assert on.button("offer_retry").text() == "Retry"
            assert "You can retry now." in on.said(on.banner("notice"))
            server.script(text("Here"))
            on.hands.click(on.button("offer_retry"))
            await on.until(lambda: on.answers[-1].text == "Here")
            assert on.banner("notice") is None
            assert on.text == "kept while I wait"


async def test_retry_at_once_does_not_wait_for_the_end(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(limited(3_600), text("Here"))
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait("U1")
            assert on.button("offer_retry").text() == "Retry in 60 min"
            on.hands.click(on.button("retryAtOnce"))
            await on.until(lambda: on.answers[-1].text == "Here")
            await on.until_idle()


async def test_the_countdown_goes_on_while_another_session_is_shown(
    qapp: QApplication, tmp_path: Path
) -> None:
    with ScriptedServer() as server:
        server.script(limited(34))
        async with bench(tmp_path, server) as on:
            await on.ask_and_wait("U1")
            first = on.desk.chats.front
            assert first is not None
            on.hands.click(on.button("newSession"))
            await on.until(lambda: on.desk.chats.front is not first)
            assert on.banner("notice") is None
            clock_of(on).now += 20_000
            on.desk.open_session(first.id)
            await on.until(lambda: on.desk.chats.front is first and on.banner("notice") is not None)
            await on.until(lambda: on.button("offer_retry").text() == "Retry in 14 s")


async def test_a_busy_provider_says_when_it_is_asked_again_and_can_be_stopped(
    qapp: QApplication, tmp_path: Path
) -> None:
    busy = error(503, "Loading model", headers={"Retry-After": "14"})
    with ScriptedServer() as server:
        server.script(busy)
        async with bench(tmp_path, server) as on:
            on.ask("U1")
            await on.until(lambda: on.banner("waiting") is not None)
            assert "Trying again in 14 s (2 of 4)" in on.said(on.banner("waiting"))
            assert await on.clipped() == []
            clock_of(on).now += 11_000
            await on.until(lambda: "Trying again in 3 s (2 of 4)" in on.said(on.banner("waiting")))
            on.hands.click(on.button("stopWaiting"))
            await on.until_idle()
            assert on.banner("waiting") is None
            assert on.answers[-1].status == "stopped"
        assert len(server.requests) == 1


async def test_the_word_of_waiting_goes_when_the_answer_comes(qapp: QApplication, tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(error(503, "Loading model"), text("Here"))
        async with bench(tmp_path, server) as on:
            on.ask("U1")
            await on.until(lambda: on.banner("waiting") is not None)
            await on.until(lambda: bool(on.answers) and on.answers[-1].text == "Here")
            await on.until_idle()
            assert on.banner("waiting") is None
            assert on.state is SessionState.IDLE


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [(1, "1 s"), (3_000, "3 s"), (99_001, "2 min"), (720_000, "12 min"), (11_100_000, "3 h 5 min")],
)
def test_waits_are_short_words(milliseconds: int, words: str) -> None:
    assert duration(milliseconds) == words
