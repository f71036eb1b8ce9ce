"""The judge lets a summary in only whole, marked, in order and short enough."""

from __future__ import annotations

import pytest

from bibgenie_desktop.domain.checkpoint import (
    SECTIONS,
    in_order,
    judge,
    keys_in,
    sections_of,
    strike_unknown_keys,
)

GOOD = in_order({name: f"- [user] Something about {name.lower()}." for name in SECTIONS})


def faults(summary: str, *, finished: bool = True, budget: int = 2_000, replaces: int | None = 5_000) -> str:
    return " ".join(judge(summary, finished=finished, budget=budget, replaces=replaces).faults)


def test_a_good_summary_is_accepted() -> None:
    assert faults(GOOD) == ""
    assert [name for name, _ in sections_of(GOOD)] == list(SECTIONS)


@pytest.mark.parametrize(
    ("summary", "fault"),
    [
        ("", "empty"),
        ("   \n", "empty"),
        ("I cannot help with that.", "missing"),
        (GOOD.replace("## Decisions\n- [user] Something about decisions.\n\n", ""), "missing: Decisions"),
        (
            GOOD.replace("## Decisions", "## X")
            .replace("## Next Steps", "## Decisions")
            .replace("## X", "## Next Steps"),
            "order",
        ),
        (f"{GOOD}\n\n{GOOD}", "order"),
        (GOOD.replace("- [user] Something about decisions.", ""), "Decisions is empty"),
        (GOOD.replace("[user] Something about decisions", "Something"), "mark"),
        (GOOD.replace("about decisions", "words " * 3_000), "too long"),
    ],
)
def test_what_is_wrong_is_named(summary: str, fault: str) -> None:
    assert fault in faults(summary, replaces=100_000)


def test_a_summary_that_was_cut_off_is_refused() -> None:
    assert "cut off" in faults(GOOD, finished=False)


def test_a_summary_as_long_as_what_it_replaces_is_refused() -> None:
    assert "not shorter" in faults(GOOD, replaces=50)
    assert faults(GOOD, replaces=None) == ""


def test_a_little_over_budget_is_tolerated() -> None:
    from bibgenie_desktop.domain.tokens import estimate_text

    size = estimate_text(GOOD)
    assert faults(GOOD, budget=int(size / 1.2)) == ""
    assert "too long" in faults(GOOD, budget=int(size / 1.3))


def test_headings_may_be_bold_numbered_or_of_another_level() -> None:
    varied = GOOD.replace("## Decisions", "### 6. **Decisions:**")
    assert [name for name, _ in sections_of(varied)] == list(SECTIONS)


def test_nested_bullets_need_no_mark_of_their_own() -> None:
    assert faults(GOOD.replace("about decisions.", "about decisions.\n  - a detail")) == ""


def test_invented_keys_are_struck_and_reported_known_ones_stay() -> None:
    text = "u-AAAA2222 and g123-BBBB3333 and u-CCCC4444"
    struck, unknown = strike_unknown_keys(text, frozenset({"u-AAAA2222", "g123-BBBB3333"}))
    assert struck == "u-AAAA2222 and g123-BBBB3333 and [unknown key]"
    assert unknown == ("u-CCCC4444",)
    assert keys_in(text) == {"u-AAAA2222", "g123-BBBB3333", "u-CCCC4444"}
