"""The provider's prompt cache: its share of a request, how long it is warm, and what leaving it costs."""

from __future__ import annotations

from typing import Any

import pytest

from bibgenie_desktop.domain.ids import MessageId, TreeId
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Path
from bibgenie_desktop.domain.prices import FREE, Prices
from bibgenie_desktop.domain.usage import Usage
from bibgenie_desktop.services.spending.prompt_cache import WARM_MS, Cached, WarmCache, cached, warm_cache

PRICES = Prices(2, 10, 0.2)
CLAUDE = Prices(3, 15, 0.3, 3.75)
DONE_AT = 1_000_000
TREE = TreeId("t")


def usage(input_total: int = 1_000, output_total: int = 100, **more: Any) -> Usage:
    return Usage("test", more.pop("base_url", "https://x.example"), "m", input_total, output_total, **more)


def answered(*usages: Usage) -> Path:
    answer = AssistantMessage(
        MessageId("a"), TREE, MessageId("u"), 1, (), "complete", "test/m", usages, DONE_AT, ""
    )
    return (answer,)


def warm(*usages: Usage, prices: Prices | None = PRICES) -> WarmCache | None:
    return warm_cache(answered(*usages), lambda used: prices)


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


def test_what_a_cache_saved_is_told_by_the_prices() -> None:
    kept = cached([usage(100_000, cache_read=90_000)], lambda used: PRICES)
    assert kept == Cached(90_000, 0.9, pytest.approx(90_000 * 1.8e-6))


@pytest.mark.parametrize(
    ("last", "prices"),
    [
        (usage(50_000), PRICES),  # nothing shows that anything is cached
        (usage(50_000, cache_read=40_000, source="estimate"), PRICES),
        (usage(50_000, cache_read=40_000), None),
        (usage(50_000, cache_read=40_000), FREE),
        (usage(50_000, cache_read=40_000), Prices(2, 10)),  # cached input costs what any does
    ],
)
def test_nothing_is_said_of_a_cache_that_nobody_can_price(last: Usage, prices: Prices | None) -> None:
    assert warm(last, prices=prices) is None


def test_a_refused_request_leaves_the_cache_of_the_answer_before() -> None:
    (answer,) = answered(usage(50_000, cache_read=40_000))
    (refused,) = answered(usage(51_000, 0, source="estimate", complete=False))
    found = warm_cache((answer, refused), lambda used: PRICES)
    assert found is not None
    assert found.tokens == 50_000
    (cut,) = answered(usage(51_000, 20, source="estimate", complete=False))
    assert warm_cache((answer, cut), lambda used: PRICES) is None


def test_a_checkpoint_has_left_the_cache_behind() -> None:
    (answer,) = answered(usage(50_000, cache_read=40_000))
    point = Checkpoint(
        id=MessageId("c"),
        tree_id=TREE,
        parent_id=MessageId("a"),
        depth=2,
        first_kept_id=None,
        summary="s",
        ledger=(),
        ledger_projected="",
        trigger="manual",
        head_leaf_id=MessageId("a"),
        head_revision=1,
        tokens_before=1,
        tokens_after=1,
        model="test/m",
        created_at=DONE_AT,
    )
    assert warm_cache((answer, point), lambda used: PRICES) is None


def test_a_cache_that_is_written_holds_what_was_read_and_written() -> None:
    found = warm(usage(50_000, cache_read=30_000, cache_write=10_000), prices=CLAUDE)
    assert found is not None
    assert found.tokens == 40_000
    # Anew means writing it to the cache again.
    assert found.loss() == pytest.approx(40_000 * (3.75 - 0.3) / 1e6)


def test_a_cache_that_nobody_writes_holds_the_whole_prefix() -> None:
    found = warm(usage(50_000, cache_read=30_000))
    assert found is not None
    assert (found.tokens, found.loss()) == (50_000, pytest.approx(50_000 * 1.8e-6))


def test_losing_a_cache_is_worth_a_word_only_while_it_is_warm_and_large() -> None:
    found = warm(usage(50_000, cache_read=30_000))
    assert found is not None
    assert found.worth(DONE_AT + WARM_MS - 1)
    assert not found.worth(DONE_AT + WARM_MS)
    assert not found.worth(DONE_AT, tokens=1_999)
    small = warm(usage(1_500, cache_read=1_400))
    assert small is not None
    assert not small.worth(DONE_AT)
    cheap = warm(usage(5_000, cache_read=4_000), prices=Prices(0.1, 1, 0.01))
    assert cheap is not None
    assert not cheap.worth(DONE_AT)


def test_a_cache_on_disk_is_warm_for_longer() -> None:
    found = warm(usage(50_000, cache_read=30_000, base_url="https://api.deepseek.com/v1"))
    assert found is not None
    assert found.worth(DONE_AT + 12 * WARM_MS)
