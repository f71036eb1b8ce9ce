"""The provider's prompt cache: what of the last request came from it, how long it stays warm, and what an
action that leaves it behind costs.

Nobody can ask a provider what it holds. What is said here rests on what the last requests reported, on the
prices and on the times that providers name; where one of them is missing, nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Message, Path
from bibgenie_desktop.domain.prices import MILLION, Prices, cost_of
from bibgenie_desktop.domain.usage import Usage

WORTH_SAYING: Final = 2_000  # cached tokens; reading fewer again costs next to nothing
LEAST_DOLLARS: Final = 0.001  # below it no sentence is worth its reading
WARM_MS: Final = 5 * 60_000
"""Anthropic, and the least that OpenAI and Google name: five minutes from the last use."""
WARM_LONGER_MS: Final = {"api.deepseek.com": 2 * 3_600_000}  # on disk there, for "a few hours"


@dataclass(frozen=True, slots=True)
class Cached:
    """What the provider kept of the last request's input: tokens, their share of it, and the dollars that
    this saved (None: prices not known)."""

    tokens: int
    share: float
    saved: float | None


@dataclass(frozen=True, slots=True)
class WarmCache:
    """A prompt cache that the next request would profit from. `model` is `provider/model`."""

    model: str
    tokens: int
    until: int
    """UTC milliseconds; after it nothing can be lost any more."""
    prices: Prices

    def loss(self, tokens: int | None = None) -> float:
        """Dollars that reading so many tokens (None: all it holds) anew costs more than from the cache."""
        count = self.tokens if tokens is None else min(tokens, self.tokens)
        asked = self.prices.at(self.tokens)
        cached = asked.input if asked.cache_read is None else asked.cache_read
        anew = asked.input if asked.cache_write is None else max(asked.input, asked.cache_write)
        return count * max(0.0, anew - cached) / MILLION

    def worth(self, now: int, tokens: int | None = None) -> bool:
        """Whether losing it now is worth a word."""
        count = self.tokens if tokens is None else min(tokens, self.tokens)
        return now < self.until and count >= WORTH_SAYING and self.loss(count) >= LEAST_DOLLARS


def cached(usages: Iterable[Usage], price_of: Callable[[Usage], Prices | None]) -> Cached | None:
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


def warm_cache(path: Path, price_of: Callable[[Usage], Prices | None]) -> WarmCache | None:
    """What the provider of the newest answer on a path holds of it.

    None after a checkpoint, for a provider without a price for cached input, and where no request has shown
    that anything is cached.
    """
    newest = (m for m in reversed(path) if isinstance(m, Checkpoint) or _answered(m))
    answer = next(newest, None)
    if not isinstance(answer, AssistantMessage):
        return None
    last = [usage for usage in answer.usage if not usage.refused][-1]
    if last.source != "provider" or not (last.cache_read or last.cache_write):
        return None
    prices = price_of(last)
    if prices is None or prices.cache_read is None or prices.cache_read >= prices.input:
        return None
    # Who charges for writing says what was written; with the others the whole prefix is kept.
    held = last.cache_read + last.cache_write if last.cache_write else last.input_total
    ages = (WARM_LONGER_MS[host] for host in WARM_LONGER_MS if host in last.base_url)
    until = answer.created_at + next(ages, WARM_MS)
    return WarmCache(f"{last.provider}/{last.model}", min(held, last.input_total), until, prices)


def _answered(message: Message) -> bool:
    """Whether a provider worked on an answer: one that it refused leaves its cache as it was."""
    return isinstance(message, AssistantMessage) and any(not usage.refused for usage in message.usage)
