"""Whole numbers in texts from outside: files, models, headers, links. Another text is none, and no error."""

from __future__ import annotations

_MOST_DIGITS = 18


def whole_number(text: str) -> int | None:
    """The number of a text of decimal digits; None for any other, also `²` and thousands of digits."""
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None
