"""An annotation as a value: what was marked, where, by whom, and in which colour.

Positions are JSON written by Zotero or by other programs, so they are taken as far as they make sense.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from bibgenie_desktop.zotero.model.tags import Tag

AnnotationType = Literal["highlight", "note", "image", "ink", "underline", "text"]

TYPES: Final[dict[int, AnnotationType]] = {
    1: "highlight",
    2: "note",
    3: "image",
    4: "ink",
    5: "underline",
    6: "text",
}
COLORS: Final = {
    "yellow": "#ffd400",
    "red": "#ff6666",
    "green": "#5fb236",
    "blue": "#2ea8e5",
    "purple": "#a28ae5",
    "magenta": "#e56eee",
    "orange": "#f19837",
    "gray": "#aaaaaa",
    "black": "#000000",
    "white": "#ffffff",
}
_BY_HEX: Final = {value: name for name, value in COLORS.items()}
_MOST_POSITION = 200_000
"""Characters of a position that are parsed; drawings can be longer and need no more than their page."""
_PAGE = re.compile(r'"pageIndex"\s*:\s*(\d{1,6})\b')
_NUMBER = r"\s*-?\d{1,6}(?:\.\d{1,20})?\s*"
_RECTANGLE = re.compile(rf'"rects"\s*:\s*\[\s*\[({_NUMBER}(?:,{_NUMBER}){{3}})\]\s*\]')
_MOST_RECTANGLE = 400
"""Characters in which the only rectangle of a position stands; several lines are longer."""
_SORT_PAGE = re.compile(r"(\d{5})\|")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a position lies: a page of a PDF (from 0), a CFI of an EPUB, or a selector of a web page.

    `area` is the rectangle or the drawing of a mark, as `left bottom right top` in points of the page; empty
    for marks of several lines.
    """

    page_index: int | None = None
    cfi: str = ""
    selector: str = ""
    area: str = ""

    @property
    def rectangle(self) -> tuple[float, ...]:
        return tuple(float(number) for number in self.area.split())


@dataclass(frozen=True, slots=True)
class Annotation:
    """A mark in a document. `text` is what was marked, `comment` what the person wrote beside it.

    `page_label` is the printed number; `sort_index` orders the marks of one document as they are read.
    `external` ones come from inside the file.
    """

    id: str
    key: str
    attachment_id: str
    item_id: str
    type: AnnotationType
    text: str
    comment: str
    color: str
    author: str
    place: Place
    page_label: str
    sort_index: str
    tags: tuple[Tag, ...]
    external: bool
    modified: str

    @property
    def color_name(self) -> str:
        return color_name(self.color)


def color_name(value: str) -> str:
    """The name of Zotero's colour nearest to `#rrggbb`; empty for something else."""
    value = value.strip().lower()
    if value in _BY_HEX:
        return _BY_HEX[value]
    if re.fullmatch("#[0-9a-f]{6}", value) is None:
        return ""
    wanted = _rgb(value)
    return min(COLORS, key=lambda n: sum((a - b) ** 2 for a, b in zip(wanted, _rgb(COLORS[n]), strict=True)))


def place_of(position: str, sort_index: str, kind: str) -> Place:
    """The place of an annotation in a document of this kind, as far as its position can be read."""
    if kind == "pdf":
        match = _PAGE.search(position[:_MOST_POSITION]) or _SORT_PAGE.match(sort_index)
        return Place(page_index=int(match[1]) if match else None, area=_area(position))
    value = _parsed(position)
    selector = value.get("value")
    if not isinstance(selector, str):
        return Place()
    if value.get("type") == "FragmentSelector" or selector.startswith("epubcfi("):
        return Place(cfi=selector)
    return Place(selector=selector)


def _area(position: str) -> str:
    """Of a rectangle its corners, of a drawing what its lines span."""
    if match := _RECTANGLE.search(position[:_MOST_RECTANGLE]):
        numbers = match[1].split(",")
        return " ".join(number.strip() for number in numbers) if len(numbers) == 4 else ""
    if '"paths"' not in position[:_MOST_RECTANGLE]:
        return ""
    paths = _parsed(position).get("paths")
    across: list[float] = []
    down: list[float] = []
    for path in paths if isinstance(paths, list) else ():
        if not isinstance(path, list) or any(type(n) not in (int, float) for n in path):
            return ""
        across += path[0::2]
        down += path[1::2]
    spans = (min(across), min(down), max(across), max(down)) if across and down else ()
    return " ".join(f"{n:.2f}" for n in spans) if all(abs(n) < 1e6 for n in spans) else ""


def _parsed(position: str) -> dict[str, Any]:
    if len(position) > _MOST_POSITION:
        return {}
    try:
        value = json.loads(position)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _rgb(value: str) -> tuple[int, int, int]:
    return int(value[1:3], 16), int(value[3:5], 16), int(value[5:7], 16)
