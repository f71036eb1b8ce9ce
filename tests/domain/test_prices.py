"""What a request costs."""

from __future__ import annotations

import pytest

from bibgenie_desktop.domain.prices import FREE, Prices, cost_of
from bibgenie_desktop.domain.usage import Usage


def used(input_total: int, output_total: int = 0, **more: int) -> Usage:
    return Usage("p", "https://p.example", "m", input_total, output_total, **more)


PLAIN = Prices(3, 15, 0.3, 3.75)
LONG = Prices(1.25, 10, 0.125, long_from=200_000, long=Prices(2.5, 15, 0.25))


@pytest.mark.parametrize(
    ("usage", "prices", "dollars"),
    [
        (used(1_000_000), PLAIN, 3.0),
        (used(1_000_000, 100_000), PLAIN, 4.5),
        (used(1_000_000, cache_read=900_000), PLAIN, 0.3 + 0.27),
        (used(1_000_000, cache_read=500_000, cache_write=500_000), PLAIN, 0.15 + 1.875),
        (used(1_000, 1_000, reasoning=900), PLAIN, 0.018),
        (used(1_000_000, cache_read=900_000), Prices(3, 15), 3.0),
        (used(1_000, cache_read=5_000, cache_write=5_000), PLAIN, 0.0003),
        (used(200_000), LONG, 0.25),
        (used(200_001, 1_000), LONG, 200_001 * 2.5e-6 + 0.015),
        (used(1_000_000, 1_000_000), FREE, 0.0),
    ],
)
def test_cached_tokens_have_their_own_price_and_reasoning_is_output(
    usage: Usage, prices: Prices, dollars: float
) -> None:
    assert cost_of(usage, prices) == pytest.approx(dollars)


def test_only_prices_of_nothing_are_free() -> None:
    assert FREE.free
    assert not PLAIN.free
    assert not Prices(0, 0, 0.1).free
