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
from bibgenie_desktop.services.preview import dry_run
from bibgenie_desktop.services.spending.costs import Cost, Costs, dollars_of, money, total
from tests.scripted_server import ScriptedServer, cut, error, text, tool_calls
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
            cold = dry_run(at.workspace.planner, priced, warm=False)
    assert cold.cost < known.cost
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
    assert both == Cost(0.25, 2, 0, 0, 2_000, 0, 200, stated=2)


async def test_a_refused_request_costs_nothing_and_a_cut_one_what_arrived(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(error(429, "slow"), cut("so far"))
        async with desk(tmp_path, server) as at:
            chat = await at.chat()
            await chat.send(ask("First?"))
            assert (await costs(at).session(chat.session_id)).tree == Cost()
            await chat.retry(chat.path[-1].id)
            spent = await costs(at).session(chat.session_id)
            assert (spent.tree.requests, spent.tree.estimated) == (1, 1)
            assert spent.tree.dollars > 0


async def test_only_what_is_new_in_a_tree_is_read_again(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        server.script(text("One.", usage=(1_000, 100)), text("Two.", usage=(2_000, 100)))
        async with desk(tmp_path, server) as at:
            asked: list[Usage] = []

            def price(used: Usage) -> Prices:
                asked.append(used)
                return PRICES

            kept = Costs(at.store, price)
            chat = await at.chat()
            await chat.send(ask("First?"))
            first = await kept.session(chat.session_id)
            seen = len(asked)
            assert await kept.session(chat.session_id) is first
            assert len(asked) == seen
            await chat.send(ask("Second?"))
            both = await kept.session(chat.session_id)
            assert {used.input_total for used in asked[seen:]} == {2_000}
            assert both.tree.requests == 2
            kept.forget()
            assert await kept.session(chat.session_id) == both
            assert len(asked) > seen + 2


async def test_costs_are_kept_apart_by_model_and_kind(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        reported = {
            "prompt_tokens": 1_000,
            "completion_tokens": 100,
            "prompt_tokens_details": {"cached_tokens": 700, "cache_write_tokens": 200},
            "completion_tokens_details": {"reasoning_tokens": 40},
        }
        server.script(text("One.", usage=reported), text("Two.", usage=(3_000, 100)))
        async with desk(tmp_path, server) as at:
            chat = await at.chat()
            await chat.send(ask("First?"))
            await chat.choose_model("test/small")
            await chat.send(ask("Second?"))

            def price(used: Usage) -> Prices:
                return FREE if used.model == "small" else PRICES

            spent = await Costs(at.store, price).session(chat.session_id)
            assert [model for model, _ in spent.models] == ["test/scripted", "test/small"]
            paid, free = (cost for _, cost in spent.models)
            assert (paid.plain_tokens, paid.cached_tokens, paid.written_tokens) == (100, 700, 200)
            assert (paid.output_tokens, paid.reasoning_tokens) == (100, 40)
            assert paid.dollars == pytest.approx(300 * 2e-6 + 700 * 0.2e-6 + 100 * 10e-6)
            assert (free.dollars, free.free, free.unpriced) == (0.0, 1, 0)
            assert spent.tree == paid + free


def test_amounts_are_short() -> None:
    assert [money(d) for d in (0, 0.0012, 0.034, 0.123, 1, 12.345)] == [
        "$0",
        "$0.0012",
        "$0.034",
        "$0.12",
        "$1.00",
        "$12.35",
    ]
