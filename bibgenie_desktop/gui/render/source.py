"""What must be taken out of a message before Markdown reads it: formulas and citation markers.

Both are replaced by placeholders that Markdown leaves alone (an image `math:N`, a link `cite:N`), never
inside code. Does not know what a citation means: a formula is TeX, a marker is a string. Pictures become
links on the way.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bibgenie_desktop.gui.tr import tr, visible

FENCE: Final = re.compile(r" {0,3}(?:(?:[-*+]|\d{1,9}[.)])\s+)*(?P<mark>`{3,}|~{3,})(?P<rest>[^\n]*)$")
LIST_ITEM: Final = re.compile(r"\s{0,3}(?:[-*+]|\d{1,9}[.)])\s")
MARKER: Final = re.compile(
    r"\[\[(?:u|g\d{1,12})-[A-Z0-9]{4,12}\b[^\[\]\"“”\n]{0,40}(?:[\"“][^\n]{0,320}?[\"”])?[ ]?\]\]"
)
OPEN_MARKER: Final = re.compile(r"\[\[(?:u|g\d{0,12})?(?:-[^\]\n]*)?\]?$|\[$")
DISPLAY: Final = re.compile(
    r"\$\$(?P<a>(?:(?!\$\$|\n[ \t]*\n).)+?)\$\$|\\\[(?P<b>(?:(?!\n[ \t]*\n).)+?)\\\]", re.DOTALL
)
INLINE: Final = re.compile(
    r"\\\((?P<a>(?:(?!\n[ \t]*\n).)+?)\\\)"
    r"|(?<![\\$\w])\$(?P<b>[^\s$](?:(?:[^$\\\n]|\\.|\n(?![ \t]*\n))*?(?:[^\s$\\]|\\[^\s$]))?)\$(?![\w$])",
    re.DOTALL,
)
# "$5 and 10$": begins like a price, holds words, and nothing that only TeX has.
PRICE: Final = re.compile(r"\d[\d.,]*(?:\s|[-–](?!\d*\s*$)).*[A-Za-z]{2}", re.DOTALL)
TEX: Final = re.compile(r"[\\^_{}=<>]")
# Below a line it would be swallowed and make a heading of that; who wants one writes more of them.
LONE_EQUALS: Final = re.compile(r"^( {0,3})(={1,2})(?=[ \t]*$)", re.MULTILINE)
MOST_TEX: Final = 4000
IMAGE: Final = re.compile(r"(?<!\\)!\[")
CHIP: Final = "\ue000"  # what a citation's link says until its chip is set; taken out of what comes in


@dataclass(frozen=True, slots=True)
class Formula:
    """TeX and whether it stands on a line of its own."""

    tex: str
    display: bool


@dataclass(frozen=True, slots=True)
class Source:
    """Markdown with placeholders, and what they stand for, by number."""

    markdown: str
    formulas: tuple[Formula, ...]
    markers: tuple[str, ...]


def clean(text: str) -> str:
    """Line ends and signs that would upset positions in a document: one kind of newline, no NUL, no
    halves.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2029", "\n\n").replace("\u2028", "\n")
    text = visible(text)
    text = text.replace("\0", "\ufffd").replace("\ufffc", "\ufffd").replace(CHIP, "")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _blocks(text: str) -> Iterator[tuple[bool, str]]:
    """(is code, text) by lines: fences and indented code against everything else."""
    fence, was_blank, in_list, was_code = "", True, False, False
    for line in _lines(text):
        bare = line.rstrip("\n")
        found = FENCE.match(bare)
        if fence:
            closing = bare.strip()
            if closing and set(closing) == {fence[0]} and len(closing) >= len(fence):
                fence = ""
            yield True, line
            continue
        if found and not (found["mark"][0] == "`" and "`" in found["rest"]):
            fence = found["mark"]
            yield True, line
            continue
        blank = not bare.strip()
        indented = bare.startswith(("    ", "\t")) and not blank
        code = indented and (was_blank or was_code) and not in_list
        if not blank and not indented:
            in_list = bool(LIST_ITEM.match(bare)) or (in_list and not was_blank)
        yield code, line
        was_code = code or (was_code and blank)
        was_blank = blank


def _lines(text: str) -> list[str]:
    # Not splitlines(): it also breaks at signs that Markdown takes for spaces.
    return [part + "\n" for part in text.split("\n")[:-1]] + [text.rsplit("\n", 1)[-1]]


def _regions(text: str) -> Iterator[tuple[bool, str]]:
    """(is code, text) with neighbouring lines joined."""
    current: bool | None = None
    held: list[str] = []
    for code, line in _blocks(text):
        if code is not current and held:
            yield bool(current), "".join(held)
            held = []
        current = code
        held.append(line)
    if held:
        yield bool(current), "".join(held)


def _spans(prose: str) -> Iterator[tuple[bool, str]]:
    """(is code, text): code spans of a paragraph against the rest."""
    at = 0
    for run in re.finditer(r"(?<!`)(`+)(?!`)", prose):
        if run.start() < at or (run.start() and prose[run.start() - 1] == "\\"):
            continue
        close = re.compile(rf"(?<!`){run[1]}(?!`)").search(prose, run.end())
        if close is None or re.search(r"\n[ \t]*\n", prose[run.end() : close.start()]):
            continue
        yield False, prose[at : run.start()]
        yield True, prose[run.start() : close.end()]
        at = close.end()
    yield False, prose[at:]


def extract(text: str, *, streaming: bool = False) -> Source:
    """Put placeholders for formulas and citation markers. While `streaming`, a marker that is still being
    written is left out."""
    text = clean(text)
    formulas: list[Formula] = []
    markers: list[str] = []

    def formula(tex: str, display: bool) -> str:
        formulas.append(Formula(tex.strip(), display))
        return f"![formula](math:{len(formulas) - 1})"

    def display(match: re.Match[str]) -> str:
        tex = match["a"] or match["b"]
        return formula(tex, display=True) if tex.strip() and len(tex) <= MOST_TEX else match[0]

    def inline(match: re.Match[str]) -> str:
        tex = match["a"] or match["b"]
        if not tex.strip() or len(tex) > MOST_TEX:
            return match[0]
        if match["b"] and PRICE.match(tex) and not TEX.search(tex):
            return match[0]
        return formula(tex, display=False)

    def marker(match: re.Match[str]) -> str:
        markers.append(match[0])
        return f"[{CHIP}](cite:{len(markers) - 1})"

    out: list[str] = []
    for is_code, region in _regions(text):
        for is_span, part in [(True, region)] if is_code else _spans(region):
            if not is_span:
                # Pictures become links: none is ever loaded, and none but ours gets into the document.
                part = IMAGE.sub("[" + tr("image:") + " ", part)
                part = MARKER.sub(marker, part)
                part = INLINE.sub(inline, DISPLAY.sub(display, part))
                part = LONE_EQUALS.sub(r"\1\\\2", part)
            out.append(part)
    markdown = "".join(out)
    if streaming:
        markdown = OPEN_MARKER.sub("", markdown)
    return Source(markdown, tuple(formulas), tuple(markers))


def settled_length(text: str) -> int:
    """Up to where a text that is still being written will not change its look: the last top-level blank line
    outside fences and display formulas, before something that does not continue a list."""
    at = settled = 0
    was_blank, in_display = False, False
    for code, line in _blocks(text):
        if not code:
            if was_blank and not in_display and line[:1].strip() and not LIST_ITEM.match(line):
                settled = at
            if line.count("$$") % 2:
                in_display = not in_display
        elif was_blank and line[:1].strip() and not in_display and _opens_fence(line):
            settled = at
        was_blank = not line.strip() and not code
        at += len(line)
    return settled


def _opens_fence(line: str) -> bool:
    return FENCE.match(line.rstrip("\n")) is not None
