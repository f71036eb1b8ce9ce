"""What was spent: on a request, on an answer, in a conversation. Billing only; how full the context is, is
another figure.

What the provider itself said it charged counts; else its usage times the price known for the model. What has
no known price is counted as such and never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from bibgenie_desktop.domain.ids import SessionId
from bibgenie_desktop.domain.prices import Prices, cost_of
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.storage.store import Store
from bibgenie_desktop.storage.worker import StoreWorker

PriceOf = Callable[[Usage], Prices | None]

WORTH_SAYING: Final = 2_000  # cached tokens; rebuilding fewer costs next to nothing


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars for so many requests. `unpriced` of them have no known price and are not in `dollars`;
    `estimated` of them rest on our own count of tokens."""

    dollars: float = 0.0
    requests: int = 0
    unpriced: int = 0
    estimated: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.dollars + other.dollars,
            self.requests + other.requests,
            self.unpriced + other.unpriced,
            self.estimated + other.estimated,
            self.input_tokens + other.input_tokens,
            self.cached_tokens + other.cached_tokens,
            self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True, slots=True)
class SessionCost:
    """`branch`: the active path; `tree`: with every other branch and fork of the conversation.

    `summaries` checkpoints of the tree were written by requests whose usage was not recorded.
    """

    branch: Cost
    tree: Cost
    summaries: int


class Costs:
    """`price_of` knows what a recorded request was charged at, None where nobody does."""

    def __init__(self, store: StoreWorker, price_of: PriceOf) -> None:
        self._store = store
        self._price_of = price_of

    def dollars(self, usage: Usage) -> float | None:
        """What one request cost; None where its price is not known."""
        return dollars_of(usage, self._price_of)

    def cached(self, usages: Iterable[Usage]) -> Cached | None:
        """The prompt cache as the last of these requests met it."""
        return cached(usages, self._price_of)

    def of(self, usages: Iterable[Usage]) -> Cost:
        """What these requests cost together: those of an answer, say."""
        return total(usages, self._price_of)

    async def session(self, session_id: SessionId) -> SessionCost:
        """What a session cost so far."""
        spent = await self._store.run(Store.spent, session_id)
        return SessionCost(self.of(spent.path), self.of(spent.tree), spent.unrecorded)


def dollars_of(usage: Usage, price_of: PriceOf) -> float | None:
    if usage.cost is not None:
        return usage.cost
    prices = price_of(usage)
    return None if prices is None else cost_of(usage, prices)


def total(usages: Iterable[Usage], price_of: PriceOf) -> Cost:
    return sum((_one(usage, dollars_of(usage, price_of)) for usage in usages), Cost())


def _one(usage: Usage, dollars: float | None) -> Cost:
    return Cost(
        dollars=dollars or 0.0,
        requests=1,
        unpriced=int(dollars is None),
        estimated=int(usage.source == "estimate" and usage.cost is None),
        input_tokens=usage.input_total,
        cached_tokens=usage.cache_read,
        output_tokens=usage.output_total,
    )


@dataclass(frozen=True, slots=True)
class Cached:
    """What the provider kept of the last request's input: tokens, their share of it, and the dollars that
    this saved (None: prices not known)."""

    tokens: int
    share: float
    saved: float | None


def cached(usages: Iterable[Usage], price_of: PriceOf) -> Cached | None:
    """The prompt cache as the last reported request met it; None where nothing was reported."""
    reported = [usage for usage in usages if usage.source == "provider" and usage.input_total > 0]
    if not reported:
        return None
    last = reported[-1]
    tokens = min(last.cache_read, last.input_total)
    prices = price_of(last)
    saved = None
    if prices is not None:
        saved = cost_of(replace(last, cache_read=0, cost=None), prices) - cost_of(last, prices)
    return Cached(tokens, tokens / last.input_total, saved)


def reset_warning(kept: Cached | None) -> str:
    """What to say before the model is changed or the context is compacted; empty where nothing is lost."""
    if kept is None or kept.tokens < WORTH_SAYING:
        return ""
    price = f", which saved {money(kept.saved)} last time" if kept.saved and kept.saved >= 0.0001 else ""
    return f"The provider's cache of {kept.tokens:,} tokens is then of no more use{price}."


def money(dollars: float) -> str:
    """An amount as people read it: two digits, or as many as a small one needs."""
    if dollars == 0:
        return "$0"
    if dollars < 0.0001:
        return "less than $0.0001"
    digits = 2 if dollars >= 1 else 3 if dollars >= 0.1 else 4
    return f"${dollars:,.{digits}f}"


def in_words(cost: Cost, summaries: int = 0) -> str:
    """A sentence about a cost that says what is not in it."""
    if not cost.requests:
        return "Nothing was sent yet."
    priced = cost.requests - cost.unpriced
    parts = []
    if priced:
        about = "About " if cost.estimated and cost.dollars else ""
        parts.append(f"{about}{money(cost.dollars)} for {_count(priced, 'request')}.")
    if cost.unpriced:
        whole = "" if priced else "The cost is not known: "
        has = "has" if cost.unpriced == 1 else "have"
        parts.append(f"{whole}{_count(cost.unpriced, 'request')} {has} no known price.")
    if summaries:
        parts.append(f"{_count(summaries, 'summary', 'summaries')} not counted.")
    return " ".join(parts)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
