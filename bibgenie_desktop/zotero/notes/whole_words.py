"""Markdown in which no word is lost: what CommonMark or its parser would drop in silence stays as words.

That is what is nested too deep, the cells of a table's row beyond its head, and definitions of links that
no link uses. How tokens are written is left to whoever asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping, Sequence
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.rules_block import StateBlock, blockquote, list_block, table
from markdown_it.rules_block.table import escapedSplit
from markdown_it.token import Token

DEEPEST: Final = 50
"""Levels of blocks; a list takes two. markdown-it leaves out everything that lies deeper."""
_Rule = Callable[[StateBlock, int, int, bool], bool]


def keep_words(parser: MarkdownIt) -> MarkdownIt:
    """The same parser: deeper lists and quotations become text, a table's rows keep all their cells."""
    parser.options["maxNesting"] = DEEPEST
    parser.options["store_labels"] = True
    ruler = parser.block.ruler
    ruler.at("list", _not_deeper(list_block, 2), {"alt": ["paragraph", "reference", "blockquote"]})
    ruler.at(
        "blockquote",
        _not_deeper(blockquote, 1),
        {"alt": ["paragraph", "reference", "blockquote", "list"]},
    )
    ruler.at("table", _whole_table, {"alt": ["paragraph", "reference"]})
    return parser


def tokens_of(parser: MarkdownIt, text: str, env: MutableMapping[str, Any]) -> Sequence[Token]:
    """The tokens of a text. Where a definition serves no link, all of them stay as they were written."""
    tokens = parser.parse(text, env)
    defined = env.get("references", {})
    if not env.get("duplicate_refs") and set(defined) <= set(_labels(tokens)):
        return tokens
    env.pop("references", None)
    env.pop("duplicate_refs", None)
    with parser.reset_rules():
        parser.disable("reference")
        return parser.parse(text, env)


def _labels(tokens: Iterable[Token]) -> Iterable[str]:
    for token in tokens:
        if label := token.meta.get("label"):
            yield normalizeReference(str(label))
        yield from _labels(token.children or ())


def _not_deeper(rule: _Rule, levels: int) -> _Rule:
    def wrapped(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        return state.level + levels < DEEPEST and rule(state, start, end, silent)

    return wrapped


def _whole_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Cells beyond those of the head stand in the last one of their row."""
    before = len(state.tokens)
    if not table(state, start, end, silent):
        return False
    rows: dict[int, list[Token]] = {}
    for token in state.tokens[before:]:
        if token.type == "inline" and token.map is not None and token.map[0] > start:
            rows.setdefault(token.map[0], []).append(token)
    for line, shown in rows.items():
        text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].strip()
        cells = [cell.strip() for cell in escapedSplit(text)]
        if cells and not cells[0]:
            del cells[0]
        while len(cells) > len(shown) and not cells[-1]:
            del cells[-1]
        if len(cells) > len(shown):
            shown[-1].content = " | ".join(cells[len(shown) - 1 :])
    return True
