"""Where the verbatim part starts, one row for every branch of the rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.domain.boundary import Compaction, NothingToDo, Situation, Way, decide
from bibgenie_desktop.domain.capacity import limits_of
from bibgenie_desktop.domain.estimate import Estimator
from bibgenie_desktop.domain.projection import newest_checkpoint, position, project
from tests.domain.paths import ids, path_of, profile_of
from tests.domain.test_projection import chains

WINDOW = 10_000  # safe limit 8,000, trigger 7,200, tail budget 1,820 with fixed 1,000


def decided(
    notation: str,
    way: Way,
    sizes: dict[str, int] | None = None,
    *,
    draft: int = 0,
    window: int = WINDOW,
    fixed: int = 1_000,
) -> str:
    """`boundary | span | tail`, or `nothing`."""
    path = path_of(notation, sizes)
    profile = profile_of(window)
    estimator = Estimator(profile)
    occupancy = fixed + estimator.projection(project(path)) + draft
    situation = Situation(path, limits_of(profile, fixed), estimator, occupancy, draft)
    decision = decide(situation, way)
    if isinstance(decision, NothingToDo):
        return "nothing"
    return f"{decision.first_kept_id} | {ids(decision.span)} | {ids(decision.tail)}"


BIG = 3_000
TOO_BIG = 6_500  # with fixed, summary and ledger more than 0.8 of the safe limit


@pytest.mark.parametrize(
    ("case", "notation", "sizes", "expected"),
    [
        ("nothing yet", "", {}, "nothing"),
        ("one turn", "U1 A1", {}, "nothing"),
        ("two turns that fit", "U1 A1 U2 A2", {}, "U2 | U1 A1 | U2 A2"),
        ("three turns that fit", "U1 A1 U2 A2 U3 A3", {}, "U3 | U1 A1 U2 A2 | U3 A3"),
        ("the tail budget decides", "U1 A1 U2 A2 U3 A3", {"A1": BIG}, "U2 | U1 A1 | U2 A2 U3 A3"),
        ("a large turn in the middle", "U1 A1 U2 A2 U3 A3", {"A2": BIG}, "U3 | U1 A1 U2 A2 | U3 A3"),
        ("the newest turn is kept though large", "U1 A1 U2 A2", {"A2": BIG}, "U2 | U1 A1 | U2 A2"),
        ("the newest turn is too large", "U1 A1 U2 A2", {"A2": TOO_BIG}, "None | U1 A1 U2 A2 | "),
        ("one turn that is too large", "U1 A1", {"A1": TOO_BIG}, "None | U1 A1 | "),
        ("the checkpoint is the leaf", "U1 A1 U2 A2 C1@U2", {}, "nothing"),
        ("refresh: everything since still fits", "U1 A1 U2 A2 C1@U2 U3 A3", {}, "U2 |  | U2 A2 U3 A3"),
        ("advance", "U1 A1 U2 A2 C1@U2 U3 A3", {"A2": BIG}, "U3 | U2 A2 | U3 A3"),
        ("after a null boundary", "U1 A1 C1@null U2 A2 U3 A3", {"A2": BIG}, "U3 | U2 A2 | U3 A3"),
        (
            "leaf checkpoint above the trigger",
            "U1 A1 U2 A2 C1@U1",
            {"A1": BIG, "A2": 3_300},
            "U2 | U1 A1 | U2 A2",
        ),
        ("only the summary is left to condense", "U1 A1 C1@null", {"C1": 7_000}, "None |  | "),
    ],
)
def test_manual_compaction(case: str, notation: str, sizes: dict[str, int], expected: str) -> None:
    assert decided(notation, "manual", sizes) == expected, case


@pytest.mark.parametrize(
    ("case", "notation", "sizes", "expected"),
    [
        ("frees enough", "U1 A1 U2 A2", {"A1": BIG}, "U2 | U1 A1 | U2 A2"),
        ("everything fits the tail", "U1 A1 U2 A2", {}, "nothing"),
        ("one giant turn does not advance", "U1 A1", {"A1": TOO_BIG}, "nothing"),
        ("null is never taken by itself", "U1 A1 U2 A2", {"A1": BIG, "A2": TOO_BIG}, "U2 | U1 A1 | U2 A2"),
        ("too little gain", "U1 A1 U2 A2", {"A1": 300, "A2": 1_900}, "nothing"),
        (
            "the gain must be twice the summary's cost",
            "U1 A1 C1@null U2 A2 U3 A3",
            {"C1": 1_500, "A2": 1_900},
            "nothing",
        ),
    ],
)
def test_automatic_compaction_after_an_answer(
    case: str, notation: str, sizes: dict[str, int], expected: str
) -> None:
    assert decided(notation, "automatic", sizes) == expected, case


@pytest.mark.parametrize(
    ("case", "notation", "sizes", "draft", "expected"),
    [
        ("as after an answer", "U1 A1 U2 A2", {"A1": BIG}, 100, "U2 | U1 A1 | U2 A2"),
        (
            "a draft that needs the tail",
            "U1 A1 U2 A2 U3 A3",
            {"A1": BIG, "A2": 1_000},
            4_500,
            "U3 | U1 A1 U2 A2 | U3 A3",
        ),
        (
            "a draft that needs everything",
            "U1 A1 U2 A2",
            {"A1": BIG, "A2": 1_000},
            5_200,
            "None | U1 A1 U2 A2 | ",
        ),
        ("a giant turn goes when nothing else helps", "U1 A1", {"A1": TOO_BIG}, 900, "None | U1 A1 | "),
        (
            "directly after a checkpoint for a large draft",
            "U1 A1 U2 A2 C1@U1",
            {"A1": BIG},
            4_000,
            "U2 | U1 A1 | U2 A2",
        ),
    ],
)
def test_preflight_lets_the_tail_shrink_for_the_draft(
    case: str, notation: str, sizes: dict[str, int], draft: int, expected: str
) -> None:
    assert decided(notation, "preflight", sizes, draft=draft) == expected, case


def test_a_tail_larger_than_a_newly_chosen_small_model_shrinks() -> None:
    sizes = {"A1": 20_000, "A2": 9_000, "A3": 1_000}
    large = decided("U1 A1 U2 A2 U3 A3", "manual", sizes, window=200_000)
    small = decided("U1 A1 U2 A2 U3 A3 C1@U2 U4 A4", "preflight", sizes, window=WINDOW)
    assert large.startswith("U3")  # everything would fit: only the last turn stays
    assert small == "U3 | U2 A2 | U3 A3 U4 A4"


@given(
    chains(),
    st.dictionaries(st.sampled_from([f"{k}{n}" for k in "UAC" for n in range(1, 13)]), st.integers(1, 9_000)),
    st.sampled_from(["manual", "automatic", "preflight"]),
    st.integers(2_048, 200_000),
    st.integers(0, 6_000),
)
def test_any_decision_is_monotone_whole_and_keeps_every_message_once(
    notation: str, sizes: dict[str, int], way: Way, window: int, draft: int
) -> None:
    path = path_of(notation, sizes)
    profile = profile_of(window)
    limits = limits_of(profile, 300)
    estimator = Estimator(profile)
    occupancy = 300 + estimator.projection(project(path)) + draft
    decision = decide(Situation(path, limits, estimator, occupancy, draft), way)
    if not isinstance(decision, Compaction):
        return
    newest = newest_checkpoint(path)
    start = 0 if newest is None else position(path, newest)
    since = [m.id for m in path[start:] if m.id[0] != "C"]
    assert [m.id for m in (*decision.span, *decision.tail)] == since
    assert decision.first_kept_id == (decision.tail[0].id if decision.tail else None)
    assert not decision.tail or decision.tail[0].id[0] == "U"
    if way != "manual":
        assert decision.span, "an automatic compaction must advance"
        assert decision.gain >= 0.1 * limits.safe_limit
        if decision.first_kept_id is None:
            assert way == "preflight"
            assert occupancy > limits.safe_limit
