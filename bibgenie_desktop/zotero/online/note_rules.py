"""What notes have beside CommonMark: formulas, citations, highlights, raised text; as rules of markdown-it.

`note_parser` reads Markdown into tokens, `note_html` writes them. A citation is recognised where `Naming`
knows what it leads to; otherwise its words stay words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from bibgenie_desktop.domain.citations import MARKER
from bibgenie_desktop.domain.locators import KEY
from bibgenie_desktop.zotero.notes.whole_words import keep_words

Rule: TypeAlias = Callable[[StateInline, bool], bool]

_ID: Final = rf"(?:u|g\d{{1,12}})-{KEY}"
_CITE: Final = re.compile(rf"\[@{_ID}[^\]\n]{{0,400}}\]")
_ENTRY: Final = re.compile(
    rf"\s*@(?P<id>{_ID})(?:\s*,\s*(?:(?P<label>p|pp|ch|sec)\.\s*)?(?P<place>[^;\]]{{1,80}}))?\s*"
)
_QUOTED: Final = re.compile(
    rf"“(?P<quote>[^“”\n]{{1,2000}})”\s?\[@(?P<id>{_ID})(?: p\.(?P<page>\d{{1,5}}))?\]"
)
_SOURCE: Final = re.compile(rf"\[@(?P<id>{_ID})(?: p\.(?P<page>\d{{1,5}}))?\]")
_MATH: Final = re.compile(
    r"\$\$(?P<c>[^$]{1,4000}?)\$\$"
    r"|\$(?P<a>[^\s$](?:(?:[^$\\\n]|\\.|\n(?![ \t]*\n)){0,4000}?[^\s$\\])?)\$(?![\w$])"
    r"|\\\((?P<b>(?:(?!\\\)|\n[ \t]*\n).){1,4000}?)\\\)",
    re.DOTALL,
)
_PRICE: Final = re.compile(r"\d[\d.,]*(?:\s|[-–](?!\d*\s*$)).*[A-Za-z]{2}", re.DOTALL)
_RAISED: Final = re.compile(r"<(sub|sup|u)>([^<>\n]{1,400})</\1>")
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_PAIR: Final = re.compile(r"\\.")
_STOP: Final = re.compile(r"[\n!#$%&*+\-:<=>@\[\]\\^_`{}~]")
"""Signs at which markdown-it's own rule for text stops."""
_LABELS: Final = {"ch": "chapter", "sec": "section"}


@dataclass(frozen=True, slots=True)
class Cited:
    """What a citation leads to: the work's address and its name, and where in it.

    `page` is the printed number. `attachment_uri`, `annotation` and `color` are those of a mark with exactly
    these words.
    """

    uri: str
    label: str
    page: str = ""
    attachment_uri: str = ""
    annotation: str = ""
    color: str = ""
    page_index: int | None = None


class Naming(Protocol):
    def cited(self, full_id: str, page: int | None, quote: str) -> Cited | None:
        """What an id of a work, attachment or annotation leads to; `page` is physical and begins with 1."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One work of a citation; `kind` says what `place` is, as Zotero calls it."""

    cited: Cited
    place: str = ""
    kind: str = "page"


def note_parser(naming: Naming) -> MarkdownIt:
    """Its own tokens: `formula`, `formulas` and `raised` with `content`, `cite` and `quoted` with `meta`."""
    parser = keep_words(MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]))
    parser.inline.ruler.before("escape", "formula", _formula)
    parser.inline.ruler.before("link", "cite", _cite_rule(naming))
    parser.inline.ruler.before("autolink", "raised", _raised)
    parser.block.ruler.before("fence", "formulas", _formulas, {"alt": ["paragraph", "blockquote", "list"]})
    # Text runs up to the next sign that could begin something: a quotation mark has to be one of them.
    parser.inline.ruler.before("text", "quoted", _quoted_rule(naming))
    parser.inline.ruler.before("text", "stop", _text_before_quote)
    return parser


def _text_before_quote(state: StateInline, silent: bool) -> bool:
    end = state.src.find("“", state.pos + 1, state.posMax)
    if end < 0:
        return False
    if _STOP.search(state.src, state.pos, end) is not None:
        return False
    if not silent:
        state.pending += state.src[state.pos : end]
    state.pos = end
    return True


def _formula(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "$\\":
        return False
    before = state.src[state.pos - 1 : state.pos] if state.pos else ""
    match = _MATH.match(state.src, state.pos, state.posMax)
    if match is None or before.isalnum() or before == "$":
        return False
    tex = next(g for g in (match["a"], match["b"], match["c"]) if g is not None).strip()
    if not tex or "$" in tex or (match["a"] is not None and _PRICE.match(tex)):
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.content = " ".join(tex.split())
    state.pos = match.end()
    return True


def _formulas(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`$$` … `$$` or `\\[` … `\\]` on lines of their own."""
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]].strip()
    close = "$$" if first.startswith("$$") else "\\]" if first.startswith("\\[") else ""
    if not close or state.is_code_block(start):
        return False
    lines: list[str] = []
    line, text = start, first[2:]
    while True:
        if (at := _closing(text, close)) >= 0:
            if text[at + 2 :].strip():
                return False
            lines.append(text[:at])
            break
        lines.append(text)
        line += 1
        if line >= end or state.isEmpty(line) or state.sCount[line] < state.blkIndent:
            return False
        text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
    tex = "\n".join(part.strip() for part in lines).strip()
    if not tex or "$" in tex:
        return False
    if not silent:
        token = state.push("formulas", "", 0)
        token.content = tex
        token.map = [start, line + 1]
        state.line = line + 1
    return True


def _closing(text: str, close: str) -> int:
    """Where a formula ends in a line, -1 where it goes on; a backslash takes the sign after it along."""
    if close == "$$":
        return text.find(close)
    return next((m.start() for m in _PAIR.finditer(text) if m[0] == close), -1)


def _cite_rule(naming: Naming) -> Rule:
    def rule(state: StateInline, silent: bool) -> bool:
        if state.src[state.pos] != "[":
            return False
        entries: list[Entry] = []
        quote = ""
        if match := MARKER.match(state.src, state.pos, state.posMax):
            page = int(match["page"]) if match["page"] else None
            quote = match["quote"] or ""
            found = naming.cited(match["id"], page, quote)
            if found is not None:
                entries = [Entry(found, found.page or (str(page) if page else ""))]
        elif match := _SOURCE.match(state.src, state.pos, state.posMax):
            page = int(match["page"]) if match["page"] else None
            found = naming.cited(match["id"], page, "")
            if found is not None:
                entries = [Entry(found, found.page or (str(page) if page else ""))]
        elif match := _CITE.match(state.src, state.pos, state.posMax):
            entries = _entries(naming, match[0][1:-1])
        if match is None or not entries:
            return False
        if not silent:
            token = state.push("quoted" if quote else "cite", "", 0)
            token.meta = {"entries": entries, "quote": quote, "cites": True}
        state.pos = match.end()
        return True

    return rule


def _entries(naming: Naming, text: str) -> list[Entry]:
    """All works of `@u-KEY, p. 12; @u-KEY2`; none where one of them is not known."""
    entries = []
    for part in text.split(";"):
        match = _ENTRY.fullmatch(part)
        found = naming.cited(match["id"], None, "") if match else None
        if match is None or found is None:
            return []
        entries.append(
            Entry(found, (match["place"] or "").strip(), _LABELS.get(match["label"] or "", "page"))
        )
    return entries


def _quoted_rule(naming: Naming) -> Rule:
    """Marked words and their source, as `note_markdown` writes a highlight."""

    def rule(state: StateInline, silent: bool) -> bool:
        if state.src[state.pos] != "“":
            return False
        match = _QUOTED.match(state.src, state.pos, state.posMax)
        if match is None:
            return False
        quote = _ESCAPED.sub(r"\1", match["quote"])
        page = int(match["page"]) if match["page"] else None
        found = naming.cited(match["id"], page, quote)
        if found is None or not found.annotation:
            return False
        if not silent:
            token = state.push("quoted", "", 0)
            place = found.page or (str(page) if page else "")
            token.meta = {"entries": [Entry(found, place)], "quote": quote, "cites": False}
        state.pos = match.end()
        return True

    return rule


def _raised(state: StateInline, silent: bool) -> bool:
    match = _RAISED.match(state.src, state.pos, state.posMax) if state.src[state.pos] == "<" else None
    if match is None:
        return False
    if not silent:
        token = state.push("raised", match[1], 0)
        token.content = _ESCAPED.sub(r"\1", match[2])
    state.pos = match.end()
    return True
