"""The estimate leans high, adds up and never sleeps on a script."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
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
    seen, unseen = (ToolPart("t", "view_page", {}, "done", images=images) for images in ((large, small), ()))
    assert estimator.part(seen) - estimator.part(unseen) == 2 * PER_IMAGE


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


ACCENTED = "\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u1e00-\u1eff"
WEIGHTS = {
    "[A-Z]": 0.38,
    "[a-z](?=[A-Z])|[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])": 0.4,
    "[0-9]": 1.2,
    r"[!-/:-@\[-`{-~]": 0.64,
    r"[ \t]{2,}|\t": 1.1,
    "[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff]": 1.3,
    "[\u0080-\u00bf\u00d7\u00f7]": 1.5,
    "[\u0100-\u036f\u1e00-\u1eff]": 3.8,
    "[\u0370-\u04ff]": 0.76,
    "[\u0500-\u10ff\u1200-\u1cff]": 1.18,
    "[\u3400-\u9fff\uf900-\ufaff]": 1.13,
    "[\u3040-\u30ff]": 1.08,
    "[\u1100-\u11ff\uac00-\ud7ff]": 1.52,
    "[\u1d00-\u1dff\u1f00-\u303f\u3100-\u33ff\ua000-\uabff\ue000-\uf8ff\ufb00-\U0010ffff]": 1.8,
}
"""The rule written as plain patterns, one character class each."""


def by_pattern(text: str) -> float:
    words = re.findall(f"[A-Za-z{ACCENTED}]+", text)
    cost = sum(1.3 + 0.6 * max(0, len(word) - 6) for word in words)
    return cost + sum(weight * len(re.findall(pattern, text)) for pattern, weight in WEIGHTS.items())


@given(
    st.one_of(
        st.text(max_size=300),
        st.text("aZé?ł 9\t\n.ß中かж한ع😀\u0301«×-。", max_size=60),
        st.text("abcdefgéł XY1", max_size=60),
    )
)
@example("Donaudampfschifffahrtsgesellschaft")
def test_counting_by_whole_text_operations_is_the_rule_character_by_character(text: str) -> None:
    assert estimate_text(text) == pytest.approx(by_pattern(text) + 0.5 if text else 0, abs=0.51)


@pytest.mark.parametrize("script", ["ﷺﷻ", "ἀρχὴν", "ㄅㄆ", "㊙", "ᏣᎳᎩ", "𝔘", "ɕʃ"])
def test_no_script_is_free(script: str) -> None:
    assert estimate_text(script * 10) > 10


def test_half_a_character_is_no_error() -> None:
    assert estimate_text("\ud800 half") >= estimate_text(" half")
