"""Tool results read back: JSON inside its fence, perhaps cut short, perhaps not what was expected."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bibgenie_desktop.domain.locators import split_id
from bibgenie_desktop.domain.parts import ToolPart

_FILES = frozenset({"pdf", "epub", "html", "text"})
_FENCE = re.compile(r"<zotero_data[^>]*>\s*")
_CUT = re.compile(r"\n\[cut here: [^\n]*\]\s*$")


@dataclass(frozen=True, slots=True)
class Found:
    """A row of a search. `pdf` is the id to read, empty without one; `pages` 0: not known.

    `gone`: there should be a PDF, but its file is not on this computer. `why`: what else keeps its PDF from
    being read, as the tool says it. `filed`: it has a file of any kind.
    """

    id: str
    title: str
    authors: str
    year: str
    pdf: str
    pages: int
    abstract: str
    gone: bool = False
    why: str = ""
    filed: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """The text of a page, or what a search inside a document showed of it."""

    att: str
    source: str
    number: int
    text: str


def data_of(part: ToolPart) -> Mapping[str, Any]:
    """What a result holds; empty for an error or something else."""
    return read_fenced(part.sent) if part.state == "done" else {}


def read_fenced(text: str) -> Mapping[str, Any]:
    start = _FENCE.search(text)
    body = text[start.end() :] if start else text
    end = body.rfind("</zotero_data>")
    body = (body[:end] if end >= 0 else _CUT.sub("", body)).strip()
    brace = body.find("{")
    return parse_partial(body[brace:]) if brace >= 0 else {}


def parse_partial(text: str) -> Mapping[str, Any]:
    """A JSON object as far as it goes: what was cut off is left out, a cut text ends where it was cut."""
    try:
        value = json.loads(text)
    except RecursionError:
        return {}
    except ValueError:
        value = next(_mended(text), {})
    return value if isinstance(value, dict) else {}


def _mended(text: str) -> Iterator[Any]:
    """The object with its open ends closed, at the latest places where that works."""
    stack: list[str] = []
    commas: list[tuple[int, str]] = []
    quoted = escaped = False
    for index, char in enumerate(text):
        if quoted:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                quoted = False
        elif char == '"':
            quoted = True
        elif char in "{[":
            stack.append("}" if char == "{" else "]")
        elif char in "}]":
            if not stack:
                break
            stack.pop()
        elif char == ",":
            commas.append((index, "".join(reversed(stack))))
    closing = "".join(reversed(stack))
    candidates = [re.sub(r"\\(u[0-9a-fA-F]{0,3})?$", "", text) + ('"' if quoted else "") + closing]
    candidates += [text[:index] + closers for index, closers in reversed(commas[-3:])]
    for candidate in candidates:
        try:
            yield json.loads(candidate)
        except (ValueError, RecursionError):
            continue


def rows_of(data: Mapping[str, Any]) -> list[Found]:
    """The items of a search result."""
    return [row for entry in _dicts(data.get("items")) if (row := _row(entry)) is not None]


def _row(entry: Mapping[str, Any]) -> Found | None:
    id = _text(entry.get("id"))
    if split_id(id) is None:
        return None
    creators = entry.get("creators")
    names = [_text(name) for name in creators if _text(name)] if isinstance(creators, list) else []
    pdfs = [
        a for a in _dicts(entry.get("attachments")) if a.get("kind") == "pdf" and split_id(_text(a.get("id")))
    ]
    why = next((reason for a in pdfs if (reason := _text(a.get("reason")))), "")
    pdfs.sort(key=lambda a: a.get("status", "ok") != "ok")
    readable = [a for a in pdfs if a.get("status", "ok") in {"ok", "unchecked", "online"}]
    return Found(
        id=id,
        title=_text(entry.get("title")) or "Untitled",
        authors=", ".join(names),
        year=_text(entry.get("year")),
        pdf=_text(readable[0].get("id")) if readable else "",
        pages=_whole(readable[0].get("pages")) if readable else 0,
        abstract=_text(entry.get("abstract")),
        gone=bool(pdfs) and not readable and not why,
        why="" if readable else why,
        filed=any(_text(a.get("kind")) in _FILES for a in _dicts(entry.get("attachments"))),
    )


def pages_of(data: Mapping[str, Any]) -> list[Page]:
    """The pages of a document that was read."""
    return _pages(data, "pages")


def hits_of(data: Mapping[str, Any]) -> list[Page]:
    """The places of a search inside a document."""
    return _pages(data, "hits")


def found_in(data: Mapping[str, Any]) -> list[str]:
    """The PDFs in which a search through all texts found something on a certain page, best first.

    Of a work that is in several libraries one, from the person's own if it is there.
    """
    found: dict[tuple[str, str], str] = {}
    for item in _dicts(data.get("items")):
        work = (_text(item.get("source")), _text(item.get("title")))
        for hit in _dicts(item.get("hits")):
            att = _text(hit.get("attachment_id"))
            on_page = any(_whole(snippet.get("page")) for snippet in _dicts(hit.get("snippets")))
            if split_id(att) is None or not on_page:
                continue
            if work not in found or (att.startswith("u-") and found[work].startswith("g")):
                found[work] = att
    return list(found.values())


def places_in(data: Mapping[str, Any]) -> list[Page]:
    """The places that a search through all texts showed, each on a certain page."""
    return [
        Page(att, _text(item.get("source")), number, _text(snippet.get("text")))
        for item in _dicts(data.get("items"))
        for hit in _dicts(item.get("hits"))
        if split_id(att := _text(hit.get("attachment_id"))) is not None
        for snippet in _dicts(hit.get("snippets"))
        if (number := _whole(snippet.get("page")))
    ]


def _pages(data: Mapping[str, Any], name: str) -> list[Page]:
    att = _text(data.get("attachment_id"))
    if split_id(att) is None:
        return []
    source = _text(data.get("source"))
    return [
        Page(att, source, number, text)
        for entry in _dicts(data.get(name))
        if (number := _whole(entry.get("page"))) and (text := _text(entry.get("text")))
    ]


def _dicts(value: object) -> list[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
