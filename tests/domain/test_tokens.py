"""The estimate leans high, adds up and never sleeps on a script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.domain.estimate import PER_IMAGE, PER_MESSAGE, Estimator
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.parts import ImagePart, ReasoningPart, TextPart, ToolPart
from bibgenie_desktop.domain.projection import ProjectedMessage
from bibgenie_desktop.domain.tokens import estimate_text
from tests.domain.paths import profile_of

# Counts of the o200k tokenizer for the same texts, taken once outside the project.
COUNTED = [
    ("The benefit is real but small, and it depends on sleep stage.", 14),
    ("Die Wirkung ist klein, aber sie lässt sich nachweisen.", 13),
    ("睡眠对记忆巩固有重要作用。", 9),
    ("0.32,0.04,0.60,15\n0.27,0.20,0.35,53", 26),
]


@pytest.mark.parametrize(("text", "counted"), COUNTED)
def test_estimate_is_not_below_a_real_tokenizer(text: str, counted: int) -> None:
    assert counted <= estimate_text(text) <= 3 * counted


def test_only_the_empty_text_costs_nothing() -> None:
    assert estimate_text("") == 0
    assert estimate_text(" ") == 1


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_text_costs_about_what_its_halves_cost(left: str, right: str) -> None:
    together = estimate_text(left + "\n" + right)
    apart = estimate_text(left) + estimate_text(right)
    assert together <= apart + 8


def test_an_image_costs_the_same_whatever_its_size_or_place() -> None:
    estimator = Estimator(profile_of())
    small, large = (ImagePart("sha", "a.png", "image/png", n, n) for n in (10, 4_000))
    assert estimator.part(small) == estimator.part(large) == PER_IMAGE


def test_reasoning_counts_only_where_the_model_gets_it_again() -> None:
    part = ReasoningPart("a long thought " * 50)
    for replay, stored, pending in (("none", False, False), ("turn", False, True), ("always", True, True)):
        estimator = Estimator(profile_of(replays_reasoning=replay))
        costs = [
            estimator.message(ProjectedMessage(MessageId("A"), "assistant", (part,), status))  # type: ignore[arg-type]
            for status in ("complete", "pending")
        ]
        assert [c > PER_MESSAGE for c in costs] == [stored, pending]


def test_a_tool_result_counts_as_it_was_sent_not_as_it_was() -> None:
    estimator = Estimator(profile_of())
    part = ToolPart("1", "search_items", {"query": "sleep"}, "done", result="x " * 10_000, sent="cut")
    assert estimator.part(part) < 60


def test_calibration_scales_estimates_of_messages_and_the_cache_is_uncalibrated() -> None:
    entry = ProjectedMessage(MessageId("U"), "user", (TextPart("several plain words " * 40),))
    known: dict[MessageId, int] = {}
    plain = Estimator(profile_of(), 1.0, known).message(entry)
    assert Estimator(profile_of(), 0.5, known).message(entry) == pytest.approx(plain / 2, abs=1)
    assert known == {MessageId("U"): plain}
