"""A Zotero note as Markdown: structure, citations as `[@id]`, marked text with its page, formulas untouched.

Notes are HTML from many hands and versions; whatever they hold, their words come out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from bibgenie_desktop.domain.numbers import whole_number
from bibgenie_desktop.zotero.notes.markup import Piece, pieces
from bibgenie_desktop.zotero.notes.note_citations import MOST, citation, decoded, source_of

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
_SPECIAL: Final = re.compile(
    r"([\\`*\[<]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|~(?=~)|(?<=~)~|&(?=#?\w{1,32};)|(?<!\S)#)"
)
"""What would begin something in Markdown, wherever it stands. `]` ends nothing but the words of a link, and
escaped it would end a formula."""
_OPENING: Final = re.compile(r"\s*([-+>|~:=](?=[\s\-=~:|>]|$)|>|\||\d{1,9}(?=[.)](?:\s|$)))")
"""What would begin something at the beginning of a line."""
_DOLLAR: Final = re.compile(r"\$(?=[^\s$\d]|\d[^$\n]*[^\s$]\$|\$)")
_TICKS: Final = re.compile(r"`+")


def note_markdown(html: str, library: str) -> str:
    """The Markdown of a note that lives in `library` (`u` or `g<groupID>`)."""
    writer = _Writer(library)
    for piece in pieces(html[:MOST]):
        writer.take(piece)
    return writer.finish()


@dataclass(slots=True)
class _Frame:
    """An open element: what is put after it, and what it holds so far where that is needed whole."""

    name: str
    after: str = ""
    held: list[str] | None = None
    replaces: str = ""
    verbatim: bool = False
    fenced: bool = False


@dataclass(slots=True, eq=False)
class _Container:
    """An open list or quotation, and how each of its lines begins.

    `number` is the last number given in a list, None with bullets; `sign` is the bullet, or what follows a
    number.
    """

    kind: Literal["list", "quote"]
    lead: str
    number: int | None = None
    sign: str = "-"
    items: int = 0


@dataclass(slots=True)
class _Writer:
    library: str
    out: list[str] = field(default_factory=list)
    stack: list[_Frame] = field(default_factory=list)
    containers: list[_Container] = field(default_factory=list)
    ended: _Container | None = None
    """The list that has just ended, while nothing follows it."""
    verbatim: int = 0
    heading: int = 0
    row: list[str] | None = None
    rows: int = 0
    wanted: int = 0
    """Line ends to be put before whatever comes next."""
    around: tuple[_Container, ...] = ()
    """What was open around the last line."""
    fresh: bool = True
    """Nothing has been put since the beginning or a list marker."""
    loose: bool = False
    """What was put last is text that ends with a space."""
    at_line: bool = False
    """A line has just been begun."""

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
        return "".join(self.out).replace("\u00a0", " ").strip()

    # -- pieces

    def _text(self, text: str) -> None:
        if self.verbatim:
            self._put(text)
            return
        text = re.sub(r"\s+", " ", text.replace("\0", ""))
        begins = self.fresh or bool(self.wanted) or not self.out or self.at_line
        if begins or self.out[-1].endswith((" ", "\n")):
            text = text.lstrip() if not self._holder() else text
        if any(frame.name == "a" for frame in self.stack):
            text = text.replace("]", "\0]")
        text = _DOLLAR.sub(r"\\$", _SPECIAL.sub(r"\\\1", text))
        if begins and not self._holder() and (match := _OPENING.match(text)):
            at = match.end(1) if match[1].isdigit() else match.start(1)
            text = f"{text[:at]}\\{text[at:]}"
        self._put(text.replace("\0", "\\"))
        self.loose = text.endswith(" ")

    def _start(self, piece: Piece) -> None:
        if len(self.stack) >= _DEEPEST and not piece.empty:
            return
        name = piece.name
        attributes = piece.attributes() if name in {"span", "a", "img", "pre", "ol"} else {}
        frame = _Frame(name)
        if name == "br":
            self._line_break()
        elif name == "hr":
            self._break(2)
            self._put("***" if self.containers else "---")
            self._break(2)
        elif name == "img":
            if key := attributes.get("data-attachment-key", ""):
                self._put(f"![image]({self.library}-{key})")
            elif attributes.get("alt"):
                self._put(f"![{attributes['alt']}]")
        elif name == "pre":
            self._break(2)
            frame.verbatim, frame.held = True, []
            frame.fenced = "math" not in attributes.get("class", "").split()
        elif name == "span":
            self._span(frame, attributes)
        elif name == "a":
            target = attributes.get("href", "").replace("(", "%28").replace(")", "%29").replace(" ", "%20")
            self._put("[")
            frame.after = f"]({target})" if target else "]"
        elif name in _HEADINGS:
            self._break(2)
            self._put("#" * int(name[1]) + " ")
            self.heading += 1
        elif name in ("ul", "ol"):
            self._open_list(name, attributes.get("start", "1"))
        elif name == "li":
            self._item()
        elif name == "blockquote":
            self._break(2)
            if self.out and self.fresh and not self.wanted:
                self.out.append("> ")  # right after a list marker
            self.containers.append(_Container("quote", "> "))
        elif name == "tr":
            self._break(1 if self.rows else 2)
            self.row = []
        elif name in ("td", "th"):
            frame.held = []
        elif name in _INLINE and not self.verbatim:
            if name == "code":
                frame.verbatim, frame.held = True, []
            else:
                sign = _INLINE[name]
                if sign[0] == "*" and self._ends_with_star():
                    sign = "_" * len(sign)  # else the two would be read as one
                self._put(sign)
                frame.after = sign
        elif name in _KEPT_TAGS:
            self._put(f"<{name}>")
            frame.after = f"</{name}>"
        elif name in _BLOCKS:
            self._break(2)
        if not piece.empty:
            self.verbatim += frame.verbatim
            self.stack.append(frame)

    def _ends_with_star(self) -> bool:
        holder = self._holder()
        before = (holder.held if holder is not None else self.out) or [""]
        return before[-1].endswith("*") and not self.wanted

    def _span(self, frame: _Frame, attributes: Mapping[str, str]) -> None:
        if "math" in attributes.get("class", "").split():
            frame.verbatim = True
        elif (value := attributes.get("data-citation")) is not None:
            frame.held, frame.replaces = [], citation(decoded(value))
        elif (value := attributes.get("data-annotation")) is not None:
            frame.after = source_of(decoded(value))

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
            elif frame.name == "pre":
                self._put_lines(_fenced(held) if frame.fenced else held.strip())
            elif frame.name == "code":
                self._put(_ticked(held))
            else:
                self._put(frame.replaces or held)
        self._put(frame.after)
        match frame.name:
            case "li":
                self.fresh = False
            case "ul" | "ol":
                self.ended = self._leave("list")
                self._break(1 if self._in_list() else 2)
            case "blockquote":
                self._break(2)
                self._leave("quote")
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                self.heading -= 1
                self._break(2)
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
            case name if name in _BLOCKS:
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
        around = tuple(self.containers)
        if self.wanted and self.out:
            shared = [c.lead for c, before in zip(around, self.around, strict=False) if c is before]
            blank = "".join(shared).rstrip() if "> " in shared else ""
            self._trim()
            self.out.append("\n" + (blank + "\n") * (self.wanted - 1) + self._prefix())
        elif not self.out:
            self.out.append(self._prefix())
        self.wanted, self.around, self.ended = 0, around, None
        self.fresh = self.at_line = self.loose = False
        self.out.append(text)

    def _trim(self) -> None:
        """Before a new line or paragraph: no line break and no space of a text at the end."""
        if self.at_line:
            self.out.pop()
        if (self.at_line or self.loose) and self.out:
            self.out[-1] = self.out[-1].rstrip(" ")
        self.at_line = self.loose = False

    def _put_lines(self, text: str) -> None:
        """Lines as they are, each behind what its containers demand."""
        if self._holder() is not None:
            self._put(" ".join(text.split("\n")))
            return
        first, *rest = text.split("\n")
        self._put(first or " ")
        prefix = self._prefix()
        self.out.extend("\n" + (prefix + line if line else prefix.rstrip()) for line in rest)

    def _prefix(self) -> str:
        lists = 0
        lead = ""
        for container in self.containers:
            lists += container.kind == "list"
            lead += container.lead if container.kind == "quote" or lists <= _DEEPEST_LIST else ""
        return lead

    def _break(self, lines: int) -> None:
        """What follows begins a new line or paragraph; in a cell, a new word."""
        if (holder := self._holder()) is not None and holder.held is not None:
            holder.held.append(" ")
        elif not self.fresh:
            self.wanted = max(self.wanted, lines)

    def _line_break(self) -> None:
        if self.verbatim:
            self._put("\n")
        elif self.heading or self._holder() is not None:
            self._put(" ")
        elif self.out and not self.wanted and not self.fresh:
            if self.loose:
                self.out[-1] = self.out[-1].rstrip(" ")
            self._put("  \n" + self._prefix())
            self.at_line = True

    # -- lists and quotations

    def _in_list(self) -> bool:
        return any(c.kind == "list" for c in self.containers)

    def _leave(self, kind: str) -> _Container | None:
        """Closes the innermost container of a kind; in broken HTML others may be open inside it."""
        for at in range(len(self.containers) - 1, -1, -1):
            if self.containers[at].kind == kind:
                return self.containers.pop(at)
        return None

    def _open_list(self, name: str, start: str) -> None:
        number = whole_number(start)
        first = number if number is not None and number < 1_000_000 else 1
        inside = bool(self.containers) and self.containers[-1].kind == "list"
        self._break(1 if inside and (name == "ul" or first == 1) else 2)
        opened = _Container("list", "", None if name == "ul" else first - 1, "-" if name == "ul" else ".")
        # Two lists in a row would be read as one.
        if self.ended is not None and self.ended.sign == opened.sign:
            opened.sign = "+" if name == "ul" else ")"
        self.containers.append(opened)

    def _item(self) -> None:
        if not self.containers or self.containers[-1].kind != "list":
            self.containers.append(_Container("list", ""))
        current = self.containers[-1]
        current.items += 1
        bare = self.fresh and not self.wanted and bool(self.out)
        """A list right behind the marker of another."""
        self.fresh = False
        if not bare:
            self._break(1)
        nested = len(self.containers) > 1 and self.containers[-2].kind == "list"
        interrupts = current.number in (None, 0)  # others cannot stand right below a paragraph
        if (nested and interrupts) or current.items > 1:
            self.wanted = min(self.wanted, 1)
        marker = f"{current.sign} "
        if current.number is not None:
            current.number += 1
            marker = f"{current.number}{current.sign} "
        self.containers.pop()  # the marker stands where the text around the list stands
        self._put(marker)
        current.lead = " " * len(marker)
        self.containers.append(current)
        self.around = tuple(self.containers)
        self.fresh = True


def _fenced(code: str) -> str:
    code = code.removeprefix("\n")
    longest = max((len(run) for run in _TICKS.findall(code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{code}\n{fence}"


def _ticked(code: str) -> str:
    """Code within a line; what begins or ends with a tick stands apart from those around it."""
    code = " ".join(code.split("\n"))
    if not code:
        return ""
    longest = max((len(run) for run in _TICKS.findall(code)), default=0)
    ticks = "`" * (longest + 1 if longest else 1)
    apart = " " if code.startswith(("`", " ")) or code.endswith(("`", " ")) else ""
    return f"{ticks}{apart}{code}{apart}{ticks}" if code.strip() else f"{ticks}{code}{ticks}"
