"""What was spent: on a request, on an answer, in a conversation. Billing only; how full the context is, is
another figure, and what the provider keeps in its cache is `prompt_cache`'s.

What the provider itself said it charged counts; else its usage times the price known for the model. What has
no known price is counted as such and never guessed. A tree only grows: what was read of it once is not read
again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import TypeAlias

from bibgenie_desktop.domain.ids import MessageId, SessionId, TreeId
from bibgenie_desktop.domain.prices import Prices, cost_of
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.values import Spending, SpendingMark, Spent
from bibgenie_desktop.storage.worker import StoreWorker

PriceOf: TypeAlias = Callable[[Usage], Prices | None]


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars and tokens for so many requests.

    `unpriced` of them have no known price and are not in `dollars`; `estimated` rest on our own count of
    tokens; `free` went to a model that nobody pays for; of `stated` the provider itself said the amount.
    """

    dollars: float = 0.0
    requests: int = 0
    unpriced: int = 0
    estimated: int = 0
    input_tokens: int = 0
    """With cached and cache-written tokens once."""
    cached_tokens: int = 0
    output_tokens: int = 0
    """With reasoning."""
    written_tokens: int = 0
    reasoning_tokens: int = 0
    free: int = 0
    stated: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.dollars + other.dollars,
            self.requests + other.requests,
            self.unpriced + other.unpriced,
            self.estimated + other.estimated,
            self.input_tokens + other.input_tokens,
            self.cached_tokens + other.cached_tokens,
            self.output_tokens + other.output_tokens,
            self.written_tokens + other.written_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.free + other.free,
            self.stated + other.stated,
        )

    @property
    def plain_tokens(self) -> int:
        """Input that the provider had to read anew."""
        return max(0, self.input_tokens - self.cached_tokens - self.written_tokens)

    @property
    def exact(self) -> bool:
        """Whether every amount in it comes from the provider."""
        return self.stated + self.free == self.requests


Bill: TypeAlias = dict[str, Cost]
"""Costs by `provider/model`."""


@dataclass(frozen=True, slots=True)
class SessionCost:
    """`branch`: the active path; `tree`: with every other branch and fork of the conversation; `models`: the
    tree by `provider/model`, dearest first.

    `summaries` checkpoints of the tree were written by requests whose usage was not recorded.
    """

    branch: Cost
    tree: Cost
    summaries: int
    models: tuple[tuple[str, Cost], ...] = ()


@dataclass
class _Known:
    """What was read of a tree, message by message, so that a path can be added up without reading."""

    bills: dict[MessageId, Bill] = field(default_factory=dict)
    whole: Bill = field(default_factory=dict)
    summaries: int = 0


class Costs:
    """`price_of` knows what a recorded request was charged at, None where nobody does."""

    def __init__(self, store: StoreWorker, price_of: PriceOf) -> None:
        self._store = store
        self._price_of = price_of
        self._trees: dict[TreeId, _Known] = {}
        self._last: dict[SessionId, tuple[SpendingMark, SessionCost]] = {}
        self._one_at_a_time = asyncio.Lock()

    def forget(self) -> None:
        """Prices may be others now: everything is added up anew when it is asked for."""
        self._trees, self._last = {}, {}

    def of(self, usages: Iterable[Usage]) -> Cost:
        """What these requests cost together: those of an answer, say."""
        return total(usages, self._price_of)

    def price(self, usage: Usage) -> Prices | None:
        """What a recorded request was charged at."""
        return self._price_of(usage)

    async def session(self, session_id: SessionId) -> SessionCost:
        """What a session cost so far. Cheap while nothing was added: one count of the tree's messages."""
        async with self._one_at_a_time:
            mark = await self._store.run(Store.spending_mark, session_id)
            before = self._last.get(session_id)
            if before is not None and before[0] == mark:
                return before[1]
            trees = self._trees
            known = trees.get(mark[0]) or _Known()
            spent = await self._store.run(Store.spent, session_id, frozenset(known.bills))
            cost = await asyncio.to_thread(_add_up, known, spent, self._price_of)
            if trees is self._trees:  # not forgotten meanwhile
                trees[mark[0]] = known
                self._last[session_id] = mark, cost
            return cost


def _add_up(known: _Known, spent: Spent, price_of: PriceOf) -> SessionCost:
    for each in spent.fresh:
        bill = known.bills[each.message_id] = _bill(each, price_of)
        _add(known.whole, bill)
        known.summaries += each.unrecorded
    branch: Bill = {}
    for message_id in spent.path:
        _add(branch, known.bills.get(message_id, {}))
    dearest = sorted(known.whole.items(), key=lambda i: (-i[1].dollars, -i[1].requests, i[0]))
    return SessionCost(_sum(branch.values()), _sum(known.whole.values()), known.summaries, tuple(dearest))


def _bill(spending: Spending, price_of: PriceOf) -> Bill:
    bill: Bill = {}
    for usage in spending.usages:
        if not usage.refused:
            _add(bill, {f"{usage.provider}/{usage.model}": _one(usage, price_of)})
    return bill


def _add(to: Bill, bill: Bill) -> None:
    for model, cost in bill.items():
        to[model] = to[model] + cost if model in to else cost


def _sum(costs: Iterable[Cost]) -> Cost:
    return reduce(add, costs, Cost())


def dollars_of(usage: Usage, price_of: PriceOf) -> float | None:
    """What one request cost; None where its price is not known."""
    if usage.cost is not None:
        return usage.cost
    prices = price_of(usage)
    return None if prices is None else cost_of(usage, prices)


def total(usages: Iterable[Usage], price_of: PriceOf) -> Cost:
    """What requests cost together."""
    return _sum(_one(usage, price_of) for usage in usages)


def _one(usage: Usage, price_of: PriceOf) -> Cost:
    if usage.refused:
        return Cost()
    prices = price_of(usage)
    dollars = dollars_of(usage, price_of)
    read = min(usage.cache_read, usage.input_total)
    return Cost(
        dollars=dollars or 0.0,
        requests=1,
        unpriced=int(dollars is None),
        estimated=int(usage.source == "estimate" and usage.cost is None),
        input_tokens=usage.input_total,
        cached_tokens=read,
        output_tokens=usage.output_total,
        written_tokens=min(usage.cache_write, usage.input_total - read),
        reasoning_tokens=min(usage.reasoning, usage.output_total),
        free=int(not dollars and prices is not None and prices.free),
        stated=int(usage.cost is not None),
    )


def money(dollars: float) -> str:
    """An amount as people read it: two digits, or as many as a small one needs."""
    if dollars == 0:
        return "$0"
    if dollars < 0.0001:
        return "less than $0.0001"
    digits = 2 if dollars >= 0.1 else 3 if dollars >= 0.01 else 4
    return f"${dollars:,.{digits}f}"
