"""Colours of code blocks, by Pygments."""

from functools import lru_cache
from typing import Any, Final

from PySide6.QtGui import QTextBlock, QTextCharFormat, QTextCursor, QTextFormat

from bibgenie_desktop.gui.theme import Theme

LANGUAGE: Final = QTextFormat.Property.BlockCodeLanguage
FENCE: Final = QTextFormat.Property.BlockCodeFence
MOST_CHARS: Final = 40_000
ROLES: Final = (
    ("Comment", "code_comment"),
    ("String", "code_string"),
    ("Number", "code_number"),
    ("Keyword", "code_keyword"),
    ("Operator.Word", "code_keyword"),
    ("Name.Builtin", "code_name"),
    ("Name.Function", "code_name"),
    ("Name.Class", "code_name"),
    ("Name.Tag", "code_name"),
)


def is_code(block: QTextBlock) -> bool:
    """Whether a block of a document is a line of code."""
    layout = block.blockFormat()
    return block.isValid() and (layout.hasProperty(LANGUAGE) or layout.hasProperty(FENCE))


def units(text: str) -> int:
    """Length as Qt counts: UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


@lru_cache(maxsize=32)
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=256)
def _role(kind: str) -> str:
    name = kind.removeprefix("Token.").removeprefix("Literal.")
    return next((role for prefix, role in ROLES if name.startswith(prefix)), "")


def highlight(cursor: QTextCursor, first: QTextBlock, lines: list[str], language: str, theme: Theme) -> None:
    """Colour consecutive code blocks that begin with `first`."""
    code = "\n".join(lines)
    lexer = _lexer(language.strip().split(" ")[0].lower()) if language.strip() else None
    if lexer is None or len(code) > MOST_CHARS:
        return
    at = first.position()
    for kind, value in lexer.get_tokens(code):
        length = units(value)
        role = _role(str(kind))
        if role and value.strip():
            cursor.setPosition(at)
            cursor.setPosition(at + length, QTextCursor.MoveMode.KeepAnchor)
            style = QTextCharFormat()
            style.setForeground(theme.color(role))
            cursor.mergeCharFormat(style)
        at += length
