"""The form in which answers cite: `[[u-ATTKEY p.4 "quoted words"]]`, physical page, quote optional."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bibgenie_desktop.domain.locators import KEY

MOST_QUOTED: Final = 300

MARKER: Final = re.compile(
    rf"\[\[\s*(?P<id>(?:u|g[0-9]{{1,12}})-{KEY})"
    r"(?:\s*,?\s*(?:p|pp|page)\.?\s*(?P<page>[0-9]{1,5})(?:\s*[-–]\s*[0-9]{1,5})?)?"
    rf"(?:\s*,?\s*[\"“„«](?P<quote>[^\n]{{0,{MOST_QUOTED}}}?)[\"”“»])?\s*\]\]"
)


@dataclass(frozen=True, slots=True)
class Citation:
    """One marker of an answer. `page` is physical and 1-based, None where the marker names none."""

    raw: str
    id: str
    page: int | None
    quote: str
    start: int
    end: int


def citations_in(text: str) -> Iterator[Citation]:
    """The markers of a text, in order. What does not fit the form is left to be shown as plain text."""
    for match in MARKER.finditer(text):
        page = int(match["page"]) if match["page"] else None
        yield Citation(match[0], match["id"], page, match["quote"] or "", match.start(), match.end())
