"""The pieces of HTML and XML text, whatever state it is in: tags, text, nothing else.

No document type, no entity definitions and no external references are ever followed, so a file can neither
expand nor reach beyond itself; broken markup ends as text. Time grows with the length of the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Literal

_NAME = re.compile(r"[A-Za-z_][^\s/>]*")
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+)))?""")
_STOP = re.compile(r""">|=\s*["']""")
_RAW = frozenset({"script", "style"})
_LONGEST_TAG = 200_000
"""Characters; what is not closed within them is no tag."""
VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track"}
    | {"wbr"}
)


@dataclass(frozen=True, slots=True)
class Piece:
    """`text` of a text; of a tag its lower-case `name` without prefix, and in `text` what follows the name.

    `empty` marks a tag without an inside.
    """

    kind: Literal["text", "start", "end"]
    name: str = ""
    text: str = ""
    empty: bool = False

    def attributes(self) -> dict[str, str]:
        """By lower-case name, prefixes kept; the first of a name wins."""
        found: dict[str, str] = {}
        for match in _ATTRIBUTE.finditer(self.text):
            value = next((g for g in match.groups()[1:] if g is not None), "")
            found.setdefault(match[1].lower(), unescape(value))
        return found


def pieces(source: str) -> Iterator[Piece]:
    """All pieces of a text in order, without comments, instructions, document types, scripts and styles."""
    at, size = 0, len(source)
    missing: set[str] = set()

    def find(wanted: str, start: int) -> int:
        # An end that was once not found is not looked for again.
        if wanted in missing:
            return -1
        found = source.find(wanted, start)
        if found < 0:
            missing.add(wanted)
        return found

    while at < size:
        start = find("<", at)
        if start < 0:
            yield Piece("text", text=unescape(source[at:]))
            return
        if start > at:
            yield Piece("text", text=unescape(source[at:start]))
        at = start
        follows = source[at + 1 : at + 2]
        if source.startswith("<!--", at):
            end = find("-->", at + 4)
            at = end + 3 if end >= 0 else size
        elif source.startswith("<![CDATA[", at):
            end = find("]]>", at)
            yield Piece("text", text=source[at + 9 : end if end >= 0 else size])
            at = end + 3 if end >= 0 else size
        elif follows in ("!", "?"):
            end = _declaration_end(source, at)
            at = end + 1 if end >= 0 else size
        elif follows == "/" or follows.isalpha() or follows == "_":
            end = _tag_end(source, at)
            name = _NAME.match(source, at + (2 if follows == "/" else 1))
            if end < 0:  # nothing in reach closes it: text as far as was looked
                end = min(size, at + _LONGEST_TAG)
                yield Piece("text", text=source[at:end])
                at = end
                continue
            if name is None:
                yield Piece("text", text=source[at : at + 2])
                at += 2
                continue
            plain = name[0].lower().rpartition(":")[2]
            inside = source[name.end() : end]
            at = end + 1
            if follows == "/":
                yield Piece("end", plain)
                continue
            yield Piece("start", plain, inside, inside.endswith("/") or plain in VOID)
            if plain in _RAW and not inside.endswith("/"):
                end = find(f"</{plain}", at)
                at = end if end >= 0 else size
                if end < 0:
                    return
        else:
            yield Piece("text", text="<")
            at += 1


def _tag_end(source: str, at: int) -> int:
    """The `>` that ends a tag, not counting one inside a quoted value where the quotes are closed."""
    limit = min(len(source), at + _LONGEST_TAG)
    place = at
    while stop := _STOP.search(source, place, limit):
        if stop[0] == ">":
            return stop.start()
        after = source.find(stop[0][-1], stop.end(), limit)
        if after < 0:
            return source.find(">", stop.end(), limit)
        place = after + 1
    return -1


def _declaration_end(source: str, at: int) -> int:
    """The end of `<!…>` or `<?…>`; a document type may hold definitions in brackets."""
    limit = min(len(source), at + _LONGEST_TAG)
    close = source.find(">", at, limit)
    bracket = source.find("[", at, close) if close >= 0 else -1
    if bracket >= 0:
        inner = source.find("]", bracket, limit)
        if inner >= 0:
            return source.find(">", inner, limit)
    return close
