"""Which reported usage is believed, and what is added to it."""

from __future__ import annotations

import pytest

from bibgenie_desktop.domain.capacity import Fixed
from bibgenie_desktop.domain.estimate import Estimator
from bibgenie_desktop.domain.occupancy import occupancy_of
from bibgenie_desktop.domain.parts import Draft
from bibgenie_desktop.domain.usage import Usage
from tests.domain.paths import path_of, profile_of, usage_of, words

FIXED = Fixed("", (), 100, fits=True)
PROFILE = profile_of(200_000)


def measured(notation: str, usage: dict[str, Usage], draft: str = "", sizes: dict[str, int] | None = None):
    path = path_of(notation, sizes, usage)
    return occupancy_of(path, Draft(draft), FIXED, Estimator(PROFILE))


def test_usage_of_the_last_answer_counts_and_the_draft_is_added() -> None:
    found = measured("U1 A1", {"A1": usage_of(5_000, 300)}, sizes={"U1": 4_000})
    assert (found.tokens, found.source) == (5_300, "reported")
    with_draft = measured("U1 A1", {"A1": usage_of(5_000, 300)}, words(100), {"U1": 4_000})
    assert 5_390 <= with_draft.tokens <= 5_430


def test_reasoning_that_is_not_sent_again_does_not_count() -> None:
    found = measured("U1 A1", {"A1": usage_of(5_000, 2_000, reasoning=1_500)}, sizes={"U1": 4_000})
    assert found.tokens == 5_500


def test_cached_tokens_are_part_of_the_input_once() -> None:
    usage = usage_of(100_000, 10, cache_read=99_900)
    assert measured("U1 A1", {"A1": usage}, sizes={"U1": 80_000}).tokens == 100_010


@pytest.mark.parametrize(
    ("reason", "usage"),
    [
        ("all zero", usage_of(0, 0)),
        ("another model", usage_of(5_000, model="other")),
        ("another provider", usage_of(5_000, provider="other")),
        ("another address", usage_of(5_000, base_url="http://127.0.0.2")),
        ("cut off", usage_of(5_000, complete=False)),
        ("larger than the window", usage_of(250_000)),
        ("below a third of the estimate", usage_of(1_000)),
        ("more than three times the estimate", usage_of(15_000)),
        ("our own estimate", usage_of(5_000, source="estimate")),
    ],
)
def test_usage_that_cannot_be_right_is_replaced_by_the_estimate(reason: str, usage: Usage) -> None:
    found = measured("U1 A1", {"A1": usage}, sizes={"U1": 4_000})
    assert found.source == "estimated", reason
    assert 3_900 < found.tokens < 4_400


def test_a_hidden_server_prompt_is_believed_while_the_estimate_is_small() -> None:
    assert measured("U1 A1", {"A1": usage_of(3_000)}).source == "reported"


def test_usage_from_before_the_newest_checkpoint_never_counts() -> None:
    found = measured("U1 A1 U2 A2 C1@U2", {"A2": usage_of(150_000)}, sizes={"U1": 100_000})
    assert found.source == "estimated"
    assert found.tokens < 1_000


def test_usage_after_the_checkpoint_counts_again() -> None:
    found = measured("U1 A1 U2 A2 C1@U2 U3 A3", {"A3": usage_of(300, 20)})
    assert (found.tokens, found.source) == (320, "reported")


def test_an_answer_without_valid_usage_is_estimated_on_top_of_the_one_before() -> None:
    usage = {"A1": usage_of(5_000, 100), "A2": usage_of(0, 0)}
    found = measured("U1 A1 U2 A2", usage, sizes={"U1": 4_000, "A2": 500})
    assert found.source == "reported"
    assert 5_600 < found.tokens < 5_700
