"""Names of tags and collections in a proposal: one a line, `-` before what goes, nothing invisible.

A comma belongs to the name it stands in. Whether the names fit the library is left to `building`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container
from typing import Final

from bibgenie_desktop.services.tools.arguments import BadArguments

MOST_NAMES: Final = 30
_LINE: Final = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_JOINERS: Final = "\u200c\u200d"
"""They shape the signs beside them, as in Persian words and in emoji."""
_SHOWN: Final = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2")
"""Signs that Unicode files under formatting and that can be seen."""
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Signs that Unicode files elsewhere and that cannot be seen."""
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_ALONE: Final = frozenset({"Mn", "Me", "Zs"})


def visible(name: str) -> str:
    """A name without what cannot be seen and may deceive: control signs, changes of direction, zero widths.

    Joiners stay between two other signs. Empty where nothing of it can be seen.
    """
    kept = "".join(" " if c.isspace() else c for c in name if c.isspace() or c in _JOINERS or _is_seen(c))
    kept = re.sub(rf"(?<![^\s{_JOINERS}])[{_JOINERS}]+|[{_JOINERS}]+(?=\s|$)", "", kept)
    kept = " ".join(kept.split())
    return "" if all(unicodedata.category(c) in _ALONE or c in _JOINERS for c in kept) else kept


def signed(content: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names to add and to remove. `+` before a name that itself begins with a sign."""
    add: dict[str, None] = {}
    remove: dict[str, None] = {}
    for line in _LINE.split(content):
        name = visible(line)
        if not name:
            if line.strip():
                raise BadArguments("A name of invisible characters alone is no name. Leave that line out.")
            continue
        names = remove if name.startswith("-") else add
        if name := (name[1:] if name[0] in "+-" else name).strip():
            names[name] = None
    both = [n for n in add if n in remove]
    if both:
        raise BadArguments(f"{both[0]} is to be added and removed at once.")
    if not add and not remove:
        raise BadArguments("content names nothing: one tag or collection a line, -name for what goes.")
    if len(add) + len(remove) > MOST_NAMES:
        raise BadArguments(f"At most {MOST_NAMES} names at a time.")
    return tuple(add), tuple(remove)


def shown_lines(content: str) -> str:
    """The same as it is shown and edited."""
    return "\n".join(filter(None, map(visible, _LINE.split(content))))


def split_list(content: str, known: Container[str]) -> str:
    """A model's list with commas on a single line as lines, unless the whole is a name that is known."""
    lines = [line for line in _LINE.split(content) if line.strip()]
    if len(lines) != 1 or visible(lines[0]).lstrip("+-").strip() in known:
        return content
    return "\n".join(part.strip() for part in lines[0].split(","))


def _is_seen(sign: str) -> bool:
    return sign in _SHOWN or (sign not in _BLANK and unicodedata.category(sign) not in _UNSEEN)
