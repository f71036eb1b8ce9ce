"""A Zotero note as Markdown: structure, citations as `[@id]`, marked text with its page, formulas untouched.

Notes are HTML from many hands and versions; whatever they hold, their words come out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

from bibgenie_desktop.domain.locators import KEY
from bibgenie_desktop.zotero.markup import Piece, pieces

MOST: Final = 2_000_000
"""Characters of HTML that are read: eight times what Zotero can sync."""
_DEEPEST: Final = 100
_DEEPEST_LIST: Final = 8
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_INLINE: Final = {
    "strong": "**",
    "b": "**",
    "em": "*",
    "i": "*",
    "s": "~~",
    "del": "~~",
    "strike": "~~",
    "code": "`",
}
_KEPT_TAGS: Final = frozenset({"sub", "sup", "u"})
_BLOCKS: Final = frozenset({"p", "div", "section", "article", "figure", "figcaption", "dl", "dt", "dd"})
_SPECIAL: Final = re.compile(r"([\\`*\[\]<])")
_URI: Final = re.compile(rf"/(?:(users)/(?:local/)?[^/]+|groups/(\d{{1,12}}))/items/({KEY})(?:[/?#]|$)")


def note_markdown(html: str, library: str) -> str:
    """The Markdown of a note that lives in `library` (`u` or `g<groupID>`)."""
    writer = _Writer(library)
    for piece in pieces(html[:MOST]):
        writer.take(piece)
    return writer.finish()


def item_id_of(uri: str) -> str:
    """The id of an item's address, `u-KEY` or `g<groupID>-KEY`; empty for another address."""
    match = _URI.search(uri)
    if match is None:
        return ""
    return f"u-{match[3]}" if match[1] else f"g{match[2]}-{match[3]}"


def cited_ids(html: str) -> tuple[str, ...]:
    """The items that a note cites, each once, in order."""
    found: dict[str, None] = {}
    for value in re.findall(r'data-(?:citation|annotation)="([^"]*)"', html[:MOST]):
        data = _decoded(value)
        entries = [*_entries(data), data.get("citationItem")]
        for entry in entries:
            if isinstance(entry, dict):
                found.update(dict.fromkeys(filter(None, map(item_id_of, _uris(entry)))))
    return tuple(found)


@dataclass(slots=True)
class _Frame:
    """An open element: what is put after it, and what it holds so far where that is needed whole."""

    name: str
    after: str = ""
    held: list[str] | None = None
    replaces: str = ""
    verbatim: bool = False


@dataclass(slots=True)
class _List:
    """An open list: the last number given, None with bullets."""

    number: int | None
    items: int = 0


@dataclass(slots=True)
class _Writer:
    library: str
    out: list[str] = field(default_factory=list)
    stack: list[_Frame] = field(default_factory=list)
    lists: list[_List] = field(default_factory=list)
    quotes: int = 0
    verbatim: int = 0
    row: list[str] | None = None
    rows: int = 0
    wanted: int = 0
    """Line ends to be put before whatever comes next."""
    quoted: int = 0
    """How deep in quotations the last line was."""
    fresh: bool = True
    """Nothing has been put since the beginning or a list marker."""

    def take(self, piece: Piece) -> None:
        match piece.kind:
            case "text":
                self._text(piece.text)
            case "start":
                self._start(piece)
            case "end":
                self._end(piece.name)

    def finish(self) -> str:
        while self.stack:
            self._close(self.stack.pop())
        text = re.sub(r"(?<! )[ \t]\n", "\n", "".join(self.out).replace("\u00a0", " "))
        return text.strip()

    # -- pieces

    def _text(self, text: str) -> None:
        if self.verbatim:
            self._put(text)
            return
        text = re.sub(r"\s+", " ", text)
        if self.fresh or self.wanted or (self.out and self.out[-1].endswith((" ", "\n"))):
            text = text.lstrip() if not self._holder() else text
        self._put(_SPECIAL.sub(r"\\\1", text))

    def _start(self, piece: Piece) -> None:
        if len(self.stack) >= _DEEPEST and not piece.empty:
            return
        name = piece.name
        attributes = piece.attributes() if name in {"span", "a", "img", "pre", "ol"} else {}
        frame = _Frame(name)
        if name == "br":
            self._put("\n" if self.verbatim else "  \n" + self._prefix())
        elif name == "hr":
            self._break(2)
            self._put("---")
            self._break(2)
        elif name == "img":
            if key := attributes.get("data-attachment-key", ""):
                self._put(f"![image]({self.library}-{key})")
            elif attributes.get("alt"):
                self._put(f"![{attributes['alt']}]")
        elif name == "pre":
            self._break(2)
            frame.verbatim = True
            if "math" not in attributes.get("class", "").split():
                self._put("```\n")
                frame.after = "\n```"
        elif name == "span":
            self._span(frame, attributes)
        elif name == "a":
            target = attributes.get("href", "")
            self._put("[")
            frame.after = f"]({target})" if target else "]"
        elif name in _HEADINGS:
            self._break(2)
            self._put("#" * int(name[1]) + " ")
        elif name in ("ul", "ol"):
            self._break(1 if self.lists else 2)
            start = attributes.get("start", "1")
            first = int(start) if start.isdigit() and len(start) < 7 else 1
            self.lists.append(_List(None if name == "ul" else first - 1))
        elif name == "li":
            self._item()
        elif name == "blockquote":
            self._break(2)
            self.quotes += 1
        elif name == "tr":
            self._break(1 if self.rows else 2)
            self.row = []
        elif name in ("td", "th"):
            frame.held = []
        elif name in _INLINE and not self.verbatim:
            self._put(_INLINE[name])
            frame.after = _INLINE[name]
            frame.verbatim = name == "code"
        elif name in _KEPT_TAGS:
            self._put(f"<{name}>")
            frame.after = f"</{name}>"
        elif name in _BLOCKS:
            self._break(2)
        if not piece.empty:
            self.verbatim += frame.verbatim
            self.stack.append(frame)

    def _span(self, frame: _Frame, attributes: Mapping[str, str]) -> None:
        if "math" in attributes.get("class", "").split():
            frame.verbatim = True
        elif (value := attributes.get("data-citation")) is not None:
            frame.held, frame.replaces = [], citation(_decoded(value))
        elif (value := attributes.get("data-annotation")) is not None:
            frame.after = _source(_decoded(value))

    def _end(self, name: str) -> None:
        if all(frame.name != name for frame in self.stack):
            return
        while self.stack:
            frame = self.stack.pop()
            self._close(frame)
            if frame.name == name:
                return

    def _close(self, frame: _Frame) -> None:
        self.verbatim -= frame.verbatim
        if frame.held is not None:
            held = "".join(frame.held)
            if frame.name in ("td", "th") and self.row is not None:
                self.row.append(" ".join(held.split()).replace("|", "\\|"))
            else:
                self._put(frame.replaces or held)
        self._put(frame.after)
        match frame.name:
            case "ul" | "ol":
                self.lists.pop()
                self._break(1 if self.lists else 2)
            case "blockquote":
                self._break(2)
                self.quotes -= 1
            case "tr" if self.row is not None:
                row, self.row = self.row, None
                self._put("| " + " | ".join(row) + " |")
                if not self.rows:
                    self._put("\n" + self._prefix() + "|" + " --- |" * max(1, len(row)))
                self.rows += 1
            case "table":
                self.rows = 0
                self._break(2)
            case "pre":
                self._break(2)
            case name if name in _BLOCKS or name in _HEADINGS:
                self._break(2)

    # -- putting

    def _holder(self) -> _Frame | None:
        return next((frame for frame in reversed(self.stack) if frame.held is not None), None)

    def _put(self, text: str) -> None:
        if not text:
            return
        if (holder := self._holder()) is not None and holder.held is not None:
            holder.held.append(text)
            return
        if self.wanted and self.out:
            blank = ">" * min(self.quotes, self.quoted)
            self.out.append("\n" + (blank + "\n") * (self.wanted - 1) + self._prefix())
        elif not self.out:
            self.out.append("> " * self.quotes)
        self.wanted, self.quoted, self.fresh = 0, self.quotes, False
        self.out.append(text)

    def _prefix(self) -> str:
        return "> " * self.quotes + "  " * min(_DEEPEST_LIST, len(self.lists))

    def _break(self, lines: int) -> None:
        """What follows begins a new line or paragraph; in a cell, a new word."""
        if (holder := self._holder()) is not None and holder.held is not None:
            holder.held.append(" ")
        elif not self.fresh:
            self.wanted = max(self.wanted, lines)

    def _item(self) -> None:
        if not self.lists:
            self.lists.append(_List(None))
        current = self.lists[-1]
        current.items += 1
        self.fresh = False
        self._break(1)
        if len(self.lists) > 1 or current.items > 1:
            self.wanted = min(self.wanted, 1)
        marker = "- "
        if current.number is not None:
            current.number += 1
            marker = f"{current.number}. "
        self.lists.pop()  # the marker stands where the outer list's text stands
        self._put(marker)
        self.lists.append(current)
        self.fresh = True


def citation(data: Mapping[str, Any]) -> str:
    """`[@u-KEY, p. 12; @u-KEY2]`; empty where no item can be named."""
    parts = []
    for entry in _entries(data):
        found = next(filter(None, map(item_id_of, _uris(entry))), "")
        if not found:
            continue
        place = str(entry.get("locator") or "")
        label = {"page": "p.", "chapter": "ch.", "section": "sec."}.get(str(entry.get("label") or "page"), "")
        parts.append(f"@{found}" + (f", {label} {place}".replace("  ", " ") if place else ""))
    return f"[{'; '.join(parts)}]" if parts else ""


def _source(data: Mapping[str, Any]) -> str:
    """Where marked text in a note comes from, ` [@u-ATTKEY p.4]` with the physical page."""
    attachment = item_id_of(str(data.get("attachmentURI") or ""))
    if not attachment:
        return ""
    position = data.get("position")
    page = position.get("pageIndex") if isinstance(position, dict) else None
    where = f" p.{page + 1}" if isinstance(page, int) and 0 <= page < 100_000 else ""
    return f" [@{attachment}{where}]"


def _decoded(value: str) -> dict[str, Any]:
    try:
        data = json.loads(unquote(value))
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _entries(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    entries = data.get("citationItems")
    return [e for e in entries if isinstance(e, dict)] if isinstance(entries, list) else []


def _uris(entry: Mapping[str, Any]) -> list[str]:
    uris = entry.get("uris") or entry.get("uri")
    if isinstance(uris, str):
        return [uris]
    return [u for u in uris if isinstance(u, str)] if isinstance(uris, list) else []
