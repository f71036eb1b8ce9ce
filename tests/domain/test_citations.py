"""The citation form is read with tolerance and never mistaken for other brackets."""

from __future__ import annotations

import pytest

from bibgenie_desktop.domain.citations import citations_in


@pytest.mark.parametrize(
    ("text", "key", "page", "quote"),
    [
        ('[[u-ABCD2345 p.4 "quoted words"]]', "u-ABCD2345", 4, "quoted words"),
        ("[[u-ABCD2345 p.4 “quoted words”]]", "u-ABCD2345", 4, "quoted words"),
        ("[[g4512345-ABCD2345 p. 12]]", "g4512345-ABCD2345", 12, ""),
        ("[[u-ABCD2345]]", "u-ABCD2345", None, ""),
        ('[[ u-ABCD2345, p. 4, "with [brackets] inside" ]]', "u-ABCD2345", 4, "with [brackets] inside"),
        ('[[u-ABCD2345 pp.4–5 "x"]]', "u-ABCD2345", 4, "x"),
    ],
)
def test_markers_are_read(text: str, key: str, page: int | None, quote: str) -> None:
    (found,) = citations_in(f"before {text} after")
    assert (found.id, found.page, found.quote) == (key, page, quote)
    assert f"before {text} after"[found.start : found.end] == found.raw == text


@pytest.mark.parametrize(
    "text",
    [
        "[[1]]",
        "[[u-abcd2345 p.4]]",
        "[[u-ABCD234 p.4]]",
        "[u-ABCD2345]",
        '[[u-ABCD2345 p.4 "two\nlines"]]',
        "[[a|b]]",
    ],
)
def test_other_brackets_are_left_alone(text: str) -> None:
    assert list(citations_in(text)) == []
