"""Whole numbers in texts from outside: files, models, headers, links. Other texts are no numbers, never an error."""

from __future__ import annotations

_MOST_DIGITS = 18


def whole_number(text: str) -> int | None:
    """The number a text of decimal digits stands for; None for any other text, `²` or thousands of digits too."""
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None
