"""The headings of a PDF: from its own outline, else guessed from lines that look like headings."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import pypdfium2

MOST: Final = 1_000
_DEEPEST: Final = 8
_GUESSED_PAGES: Final = 200
_NUMBERED: Final = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,3})\.?\s+([A-Z].{2,80})")
_KNOWN: Final = re.compile(
    r"(abstract|introduction|background|methods?|materials and methods|results?|discussion|conclusions?|"
    r"references|acknowledge?ments|appendix( [a-z])?|limitations|related work|"
    r"einleitung|methoden|ergebnisse|diskussion|literatur|résumé|méthodes|résultats|conclusion)",
    re.IGNORECASE,
)


def outline_of(document: Any, text_of: Callable[[int], str], clean: Callable[[str], str]) -> dict[str, Any]:
    """`{entries: [[title, level, page index or -1]], guessed}`."""
    try:
        entries = [
            [clean(entry.get_title() or "").strip()[:200], entry.level + 1, _page(entry)]
            for _, entry in zip(range(MOST), document.get_toc(max_depth=_DEEPEST), strict=False)
        ]
    except (pypdfium2.PdfiumError, ValueError, RecursionError):
        entries = []
    entries = [e for e in entries if e[0]]
    if entries:
        return {"entries": entries, "guessed": False}
    guessed: list[list[Any]] = []
    for index in range(min(_GUESSED_PAGES, len(document))):
        guessed += _headings(text_of(index), index)
        if len(guessed) >= MOST:
            break
    return {"entries": guessed[:MOST], "guessed": True}


def _page(entry: Any) -> int:
    target = entry.get_dest()
    index = target.get_index() if target is not None else None
    return -1 if index is None else int(index)


def _headings(text: str, page: int) -> list[list[Any]]:
    lines = [line.strip() for line in text.split("\n")]
    found: list[list[Any]] = []
    for place, line in enumerate(lines):
        following = next((other for other in lines[place + 1 :] if other), "")
        if numbered := _NUMBERED.fullmatch(line):
            if not line.endswith((".", ",", ";")) and len(following) > 20:
                found.append([line, numbered[1].count(".") + 1, page])
        elif _KNOWN.fullmatch(line.rstrip(":")) or (place < 4 and _heads(line, following)):
            found.append([line, 1, page])
    return found


def _heads(line: str, following: str) -> bool:
    """Whether a line at the top of a page looks like the heading of what follows it."""
    if not (4 <= len(line) <= 70 and len(line.split()) <= 9 and len(following) > max(40, 1.3 * len(line))):
        return False
    return line[0].isupper() and line[-1] not in ".,;:" and sum(c.isdigit() for c in line) <= 2
