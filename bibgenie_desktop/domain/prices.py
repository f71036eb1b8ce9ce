"""What a request costs: its usage times what the provider asks for a token, in US dollars.

Billing only. How large the next request is, is another figure and `occupancy`'s business.
"""

from __future__ import annotations

from dataclasses import dataclass

from bibgenie_desktop.domain.usage import Usage

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million tokens. A cache price that is None is that of plain input.

    Some providers ask more once a request is longer than `long_from` tokens; `long` then holds for all of it.
    """

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    long_from: int = 0
    long: Prices | None = None

    def at(self, input_total: int) -> Prices:
        """The prices of a request with so many input tokens."""
        return self.long if self.long is not None and input_total > self.long_from else self

    @property
    def free(self) -> bool:
        return self.input == self.output == 0 and not self.cache_read and not self.cache_write


FREE = Prices(0, 0, 0, 0)
"""A model that runs on the person's own machine, or is given away."""


def cost_of(usage: Usage, prices: Prices) -> float:
    """Dollars for one request. Cached tokens have their own price; reasoning is output like any other."""
    asked = prices.at(usage.input_total)
    read = min(usage.cache_read, usage.input_total)
    written = min(usage.cache_write, usage.input_total - read)
    plain = usage.input_total - read - written
    total = (
        plain * asked.input
        + read * (asked.input if asked.cache_read is None else asked.cache_read)
        + written * (asked.input if asked.cache_write is None else asked.cache_write)
        + usage.output_total * asked.output
    )
    return total / MILLION
