"""What a conversation cost: cached tokens apart, what is not known said, summaries and branches included."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.domain.messages import Checkpoint
from bibgenie_desktop.domain.parts import Draft
from bibgenie_desktop.domain.prices import FREE, Prices
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.services.costs import (
    Cached,
    Cost,
    Costs,
    cached,
    dollars_of,
    in_words,
    money,
    reset_warning,
    total,
)
from bibgenie_desktop.services.preview import dry_run
from tests.scripted_server import ScriptedServer, text, tool_calls
from tests.services.desk import Desk, ask, desk, summary_text

PRICES = Prices(2, 10, 0.2)


def usage(input_total: int = 1_000, output_total: int = 100, **more: Any) -> Usage:
    return Usage("test", "https://x.example", "m", input_total, output_total, **more)


def costs(at: Desk, prices: Prices | None = PRICES) -> Costs:
    return Costs(at.store, lambda used: prices)


async def test_session_costs_every_request_of_every_branch(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        reported = {
            "prompt_tokens": 1_000,
            "completion_tokens": 100,
            "prompt_tokens_details": {"cached_tokens": 900},
        }
        server.script(
            tool_calls(("no_such_tool", {}), usage=(1_000, 50)),
            text("One.", usage=reported),
            text("Two.", usage=(2_000, 100)),
            text("Without usage."),
        )
        async with desk(tmp_path, server) as at:
            chat = await at.chat()
            await chat.send(ask("First?"))
            first = chat.path[-1]
            await chat.send(ask("Second?"))
            both = await costs(at).session(chat.session_id)
            assert both.branch == both.tree
            assert both.branch == Cost(0.0025 + 0.00138 + 0.005, 3, 0, 0, 4_000, 900, 250)
            await chat.retry(chat.path[-1].id)
            fork = await chat.fork(first.id)
            after = await costs(at).session(chat.session_id)
            assert (after.branch.requests, after.branch.estimated) == (3, 1)
            assert (after.tree.requests, after.tree.estimated) == (4, 1)
            forked = await costs(at).session(fork.id)
            assert forked.branch.requests == 2
            assert forked.tree == after.tree
            unknown = await costs(at, None).session(chat.session_id)
            assert (unknown.tree.dollars, unknown.tree.unpriced) == (0.0, 4)


async def test_summaries_are_paid_for_too_and_never_count_as_occupancy(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(
            text("a " * 900, usage=(1_000, 1_000)),
            text("b " * 900, usage=(2_000, 1_000)),
            text(summary_text(), usage=(3_000, 200)),
        )
        async with desk(tmp_path, server) as at:
            chat = await at.chat()
            await chat.send(ask("First? " * 50))
            await chat.send(ask("Second? " * 50))
            await chat.compact()
            assert isinstance(chat.path[-1], Checkpoint)
            spent = await costs(at).session(chat.session_id)
            assert (spent.branch.requests, spent.branch.input_tokens, spent.summaries) == (3, 6_000, 0)
            assert spent.branch.dollars == pytest.approx(6_000 * 2e-6 + 2_200 * 10e-6)
            plan = await chat.plan(Draft())
            assert plan.occupancy.tokens < 6_000
            await chat.reload()
            assert (await costs(at).session(chat.session_id)).branch == spent.branch


async def test_dry_run_uses_the_models_own_prices(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("a " * 900, usage=(1_000, 1_000)), text("b " * 900, usage=(2_000, 1_000)))
        async with desk(tmp_path, server) as at:
            chat = await at.chat()
            await chat.send(ask("First? " * 50))
            await chat.send(ask("Second? " * 50))
            plan = await chat.plan(Draft())
            guessed = dry_run(at.workspace.planner, plan)
            priced = replace(plan, profile=replace(plan.profile, prices=Prices(2, 4, 1)))
            known = dry_run(at.workspace.planner, priced)
            free = dry_run(at.workspace.planner, replace(plan, profile=replace(plan.profile, prices=FREE)))
    assert guessed.outcome == known.outcome == "compact"
    assert guessed.dollars is None
    assert known.dollars == pytest.approx(known.cost * 2e-6)
    assert known.cost < guessed.cost  # an output token is twice an input token there, not five times
    assert known.saved_per_turn > guessed.saved_per_turn
    assert (free.dollars, free.cost) == (0.0, guessed.cost)


def test_what_the_provider_charged_beats_the_price_list() -> None:
    def price(used: Usage) -> Prices:
        return PRICES

    assert dollars_of(usage(cost=0.5), price) == 0.5
    assert dollars_of(usage(), price) == pytest.approx(0.003)
    both = total([usage(cost=0.0), usage(cost=0.25, source="estimate")], price)
    assert both == Cost(0.25, 2, 0, 0, 2_000, 0, 200)


def test_cached_share_is_that_of_the_last_reported_request() -> None:
    def share(*usages: Usage) -> float | None:
        found = cached(usages, lambda used: None)
        return None if found is None else found.share

    assert share() is None
    assert share(usage(source="estimate")) is None
    assert share(usage(), usage(cache_read=750)) == 0.75
    assert share(usage(cache_read=750), usage(source="estimate")) == 0.75
    assert share(usage(cache_read=750), usage()) == 0.0
    assert share(usage(cache_read=9_999)) == 1.0


def test_loss_of_a_cache_is_said_beforehand_where_there_is_one() -> None:
    kept = cached([usage(100_000, cache_read=90_000)], lambda used: PRICES)
    assert kept == Cached(90_000, 0.9, pytest.approx(90_000 * 1.8e-6))
    assert reset_warning(kept) == (
        "The provider's cache of 90,000 tokens is then of no more use, which saved $0.162 last time."
    )
    unpriced = cached([usage(100_000, cache_read=90_000, cost=0.1)], lambda used: None)
    assert reset_warning(unpriced) == "The provider's cache of 90,000 tokens is then of no more use."
    assert reset_warning(cached([usage(1_000, cache_read=900)], lambda used: PRICES)) == ""
    assert reset_warning(None) == ""


@pytest.mark.parametrize(
    ("cost", "summaries", "words"),
    [
        (Cost(), 0, "Nothing was sent yet."),
        (Cost(0.42, 12), 0, "$0.420 for 12 requests."),
        (Cost(1_234.5, 1), 0, "$1,234.50 for 1 request."),
        (Cost(0.0, 3), 0, "$0 for 3 requests."),
        (Cost(0.00001, 1), 0, "less than $0.0001 for 1 request."),
        (Cost(0.42, 12, 0, 2), 0, "About $0.420 for 12 requests."),
        (
            Cost(0.42, 12, 2),
            1,
            "$0.420 for 10 requests. 2 requests have no known price. 1 summary not counted.",
        ),
        (Cost(0.0, 1, 1), 0, "The cost is not known: 1 request has no known price."),
    ],
)
def test_cost_is_said_with_what_is_not_known(cost: Cost, summaries: int, words: str) -> None:
    assert in_words(cost, summaries) == words


def test_amounts_are_short() -> None:
    assert [money(d) for d in (0, 0.0012, 0.123, 1, 12.345)] == ["$0", "$0.0012", "$0.123", "$1.00", "$12.35"]
