"""Numbers in texts from outside: what is no number is none, and never an error."""

from __future__ import annotations

import pytest

from bibgenie_desktop.domain.numbers import whole_number


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", 7), ("007", 7), ("٣", 3), ("", None), ("²", None), ("④", None), ("-1", None), ("1.5", None)],
)
def test_only_decimal_digits_are_a_number(text: str, number: int | None) -> None:
    assert whole_number(text) == number


def test_more_digits_than_any_number_has_are_none() -> None:
    assert whole_number("9" * 18) == 10**18 - 1
    assert whole_number("9" * 5_000) is None
