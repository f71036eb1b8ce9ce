"""Single values of zotero.org's objects in the form in which Zotero's database keeps them: dates of several
parts, times, the titles of notes, the stored path of a file. Pure functions; whatever is of a wrong form is
read as nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from bibgenie_desktop.domain.mend import mended_text
from bibgenie_desktop.zotero.notes.markup import pieces

_PARSED: Final = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?")
_YEAR: Final = re.compile(r"(?<!\d)[12]\d{3}(?!\d)")
_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z?")
_LONGEST_TITLE: Final = 120
_READ_FOR_TITLE: Final = 20_000
_DEEPEST: Final = 20
_LINES: Final = frozenset(
    {"p", "div", "br", "h1", "h2", "h3", "h4", "h5", "h6", "li", "tr", "pre", "blockquote"}
)


def said(value: object) -> str:
    """A text as it is, half characters mended, numbers as text, nothing else."""
    if isinstance(value, str):
        return value if value.isascii() else mended_text(value)
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def number(value: object) -> int:
    """A whole number that a table can hold; anything else is 0."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53:
        return value
    return 0


def part(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object inside another one; empty where there is none."""
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def entries(value: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects of a list."""
    found = value.get(name)
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def multipart(typed: str, parsed: str) -> str:
    """A date as Zotero stores it: the part that was understood, then the words that were typed."""
    if not typed:
        return ""
    match = _PARSED.match(parsed)
    if match is None and _YEAR.search(typed):
        return typed
    year, month, day = match.groups() if match else ("0000", None, None)
    return f"{year}-{month or '00'}-{day or '00'} {typed}"


def stored_time(value: str) -> str:
    """`2020-09-19T02:06:04Z` as `2020-09-19 02:06:04`; anything else as it is."""
    match = _TIME.fullmatch(value.strip())
    return f"{match[1]} {match[2]}" if match else value


def stored_path(data: Mapping[str, Any]) -> str:
    """The path of an attachment as the database has it."""
    if data.get("linkMode") == "linked_file":
        return said(data.get("path"))
    name = said(data.get("filename"))
    return f"storage:{name}" if name else ""


def note_title(html: str) -> str:
    """The first line of a note, as Zotero names notes in its lists."""
    line = ""
    for piece in pieces(html[:_READ_FOR_TITLE]):
        if piece.kind == "text":
            line += piece.text
        elif piece.name in _LINES and line.strip():
            break
    line = " ".join(line.split())
    return line if len(line) <= _LONGEST_TITLE else f"{line[: _LONGEST_TITLE - 1].rstrip()}…"


def relations(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(predicate, address) of each relation; a predicate has one address or several."""
    found = []
    for predicate, objects in part(data, "relations").items():
        for target in objects if isinstance(objects, list) else [objects]:
            if isinstance(target, str):
                found.append((said(predicate), said(target)))
    return found


def as_json(value: object) -> str:
    """What a table can hold, whatever it is: half characters are mended, what lies too deep is left out."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        text.encode()
    except (UnicodeEncodeError, RecursionError):
        text = json.dumps(_flat(value, _DEEPEST), ensure_ascii=False, separators=(",", ":"))
    return text


def _flat(value: object, levels: int) -> object:
    if isinstance(value, str):
        return mended_text(value)
    if isinstance(value, dict | list) and not levels:
        return None
    if isinstance(value, dict):
        return {mended_text(name): _flat(each, levels - 1) for name, each in value.items()}
    if isinstance(value, list):
        return [_flat(each, levels - 1) for each in value]
    return value
