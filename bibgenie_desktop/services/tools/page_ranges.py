"""Which pages are meant: physical numbers first, else the numbers printed on the pages."""

from __future__ import annotations

import re

from bibgenie_desktop.domain.numbers import whole_number
from bibgenie_desktop.services.tools.arguments import BadArguments
from bibgenie_desktop.zotero.files.documents import PdfInfo

_RANGE = re.compile(
    r"(?:pages?|pp?)?\.?\s*([^\s,;–—-]+)(?:\s*[-–—]\s*(?:pp?\.?\s*)?([^\s,;–—-]*))?", re.IGNORECASE
)


def parse_pages(text: str, info: PdfInfo) -> list[int]:
    """The indices (from 0) of pages such as `3-7`, `2, 5`, `iv` or, by printed number, `205-207`."""
    chosen: dict[int, None] = {}
    for piece in filter(None, (p.strip() for p in re.split(r"[,;]", text))):
        if piece in info.labels:  # a label may hold a hyphen of its own
            chosen[_index(piece, info)] = None
            continue
        match = _RANGE.fullmatch(piece)
        if match is None:
            raise BadArguments(f"pages is like 3-7 or 12, not {piece[:30]!r}. {extent(info)}")
        first = _index(match[1], info)
        if match[2] is None:
            last = first
        elif match[2] == "":
            last = info.pages - 1
        else:
            last = _last(match[2], first, info)
        if last < first:
            raise BadArguments(f"pages {piece[:30]} runs backwards. {extent(info)}")
        chosen.update(dict.fromkeys(range(first, last + 1)))
    return list(chosen)


def extent(info: PdfInfo) -> str:
    """The pages there are, by both numbers."""
    printed = ""
    if info.labels and info.labels != tuple(str(i + 1) for i in range(info.pages)):
        printed = f" (printed {info.labels[0] or '?'} to {info.labels[-1] or '?'})"
    return f"The document has pages 1 to {info.pages}{printed}."


def _index(name: str, info: PdfInfo) -> int:
    number = whole_number(name)
    if number is not None and 1 <= number <= info.pages:
        return number - 1
    for index, label in enumerate(info.labels):
        if label.lower() == name.lower():
            return index
    raise BadArguments(f"There is no page {name[:30]}. {extent(info)}")


def _last(name: str, first: int, info: PdfInfo) -> int:
    """The end of a range; one that lies beyond the document ends with it."""
    if (whole_number(name) or 0) > info.pages and name not in info.labels:
        return info.pages - 1
    last = _index(name, info)
    if last < first and name in info.labels:
        return info.labels.index(name)
    return last
