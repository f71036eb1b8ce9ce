"""Limits for every window from 2,048 to two million tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.domain.capacity import FIXED_SHARE, LEAST_WINDOW, fixed_for, limits_of
from bibgenie_desktop.domain.models import ToolSpec
from tests.domain.paths import profile_of, words

PROMPTS = (words(600), words(300), words(90))


def tool(name: str, tokens: int = 200, slim: int = 40) -> ToolSpec:
    return ToolSpec(name, words(tokens), {"type": "object"}, words(slim), {})


TOOLS = (tool("search_items"), tool("read_document"), tool("find_in_document"), tool("get_items"))
READER = tool("read_result", 40, 10)


@pytest.mark.parametrize(
    ("window", "output", "reserve", "safe_limit"),
    [
        (200_000, None, 32_000, 168_000),
        (200_000, 8_000, 8_000, 192_000),
        (16_384, None, 3_276, 13_108),
        (4_096, None, 819, 3_277),
        (2_048, None, 512, 1_536),
        (1_000_000, 64_000, 32_000, 968_000),
    ],
)
def test_reserve_and_safe_limit_follow_the_formula(
    window: int, output: int | None, reserve: int, safe_limit: int
) -> None:
    limits = limits_of(profile_of(window, max_output=output), 0)
    assert (limits.reserve, limits.safe_limit) == (reserve, safe_limit)
    assert limits.trigger == int(0.9 * safe_limit)
    assert limits.landing == int(0.6 * safe_limit)


@given(st.integers(LEAST_WINDOW, 2_000_000), st.none() | st.integers(256, 200_000), st.floats(0, FIXED_SHARE))
def test_a_compaction_that_keeps_to_its_budgets_lands_at_or_below_the_landing(
    window: int, output: int | None, share: float
) -> None:
    profile = profile_of(window, max_output=output)
    fixed = int(share * limits_of(profile, 0).safe_limit)
    limits = limits_of(profile, fixed)
    assert 0 < limits.safe_limit < window
    assert 0 <= limits.tail_budget <= limits.safe_limit
    landed = fixed + limits.summary_budget + limits.ledger_budget + limits.tail_budget
    assert landed <= limits.landing + 3  # each term is rounded down by itself
    assert limits.summary_budget <= limits.reserve


@given(st.integers(LEAST_WINDOW, 2_000_000))
def test_prompt_and_tools_keep_to_their_share_at_every_window(window: int) -> None:
    profile = profile_of(window)
    fixed = fixed_for(profile, PROMPTS, TOOLS, READER)
    assert fixed.fits
    assert fixed.tokens <= FIXED_SHARE * limits_of(profile, 0).safe_limit
    names = [t.name for t in fixed.tools]
    assert names[:-1] == [t.name for t in TOOLS[: len(names) - 1]] if names else True
    assert not names or names[-1] == "read_result"


def test_prompts_shrink_before_tools_are_given_up() -> None:
    sizes = [fixed_for(profile_of(w), PROMPTS, TOOLS, READER) for w in (100_000, 8_000, 6_500, 4_096, 2_048)]
    assert sizes[0].system == PROMPTS[0]
    assert sizes[-1].system == PROMPTS[-1]
    counts = [len(f.tools) for f in sizes]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 5


def test_a_model_without_tools_is_offered_none() -> None:
    assert fixed_for(profile_of(100_000, tools=False), PROMPTS, TOOLS, READER).tools == ()


def test_a_tool_that_shows_pictures_is_offered_to_models_that_see_and_shrinks_with_the_others() -> None:
    shows = ToolSpec("view_page", "Shows a page.", {"type": "object"}, "Page.", needs_vision=True)
    offered = [
        [t.name for t in fixed_for(profile_of(vision=vision), PROMPTS, (*TOOLS, shows), READER).tools]
        for vision in (True, False)
    ]
    assert "view_page" in offered[0]
    assert offered[1] == [name for name in offered[0] if name != "view_page"]
    assert shows.slim() == ToolSpec("view_page", "Page.", {"type": "object"}, needs_vision=True)


def test_a_request_asks_for_what_is_left_of_the_window_at_most() -> None:
    limits = limits_of(profile_of(10_000, max_output=4_000), 0)
    assert limits.output_room(2_000) == 4_000
    assert limits.output_room(9_000) == 1_000
    assert limits_of(profile_of(10_000), 0).output_room(2_000) == 8_000
