"""Places in sources: one type for citations, tool results, checkpoints and exports.

An item or attachment is named `u-KEY` in the person's own library and `g<groupID>-KEY` in a group.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

KEY = "[23456789ABCDEFGHIJKLMNPQRSTUVWXYZ]{8}"
FULL_KEY = re.compile(rf"\b(u|g[0-9]{{1,12}})-({KEY})\b")

LocatorKind = Literal["item", "pdf", "epub", "html", "note", "annotation", "collection", "tag"]


@dataclass(frozen=True, slots=True)
class Locator:
    """A place in a Zotero library.

    `lib` is `u` or `g<groupID>`; `item`, `att` and `annotation` are bare eight-letter keys; `page_index`
    is the physical page, 0-based (shown 1-based), `page_label` the printed one.
    """

    lib: str
    kind: LocatorKind
    item: str = ""
    att: str = ""
    page_index: int | None = None
    page_label: str = ""
    annotation: str = ""
    section: int | None = None
    href: str = ""
    cfi: str = ""
    quote: str = ""

    @property
    def item_id(self) -> str:
        return f"{self.lib}-{self.item}" if self.item else ""

    @property
    def att_id(self) -> str:
        return f"{self.lib}-{self.att}" if self.att else ""

    @property
    def id(self) -> str:
        """The most specific full key of the place."""
        key = self.annotation or self.att or self.item
        return f"{self.lib}-{key}" if key else self.lib


@dataclass(frozen=True, slots=True)
class Resource:
    """A Zotero thing that was used: where it is and how a person would call it."""

    locator: Locator
    title: str


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One used place, or (without a locator) a pinned sentence, which is then the title.

    `last_used` is the depth of the newest message that used it; `pinned` ones are never dropped.
    """

    locator: Locator | None
    title: str
    count: int
    last_used: int
    pinned: bool = False


def split_id(full: str) -> tuple[str, str] | None:
    """(`u` or `g<id>`, key) of a full key, None if it is not one. `1-KEY` is read as the own library."""
    if match := FULL_KEY.fullmatch(full.strip()):
        return match[1], match[2]
    if match := re.fullmatch(rf"1-({KEY})", full.strip()):
        return "u", match[1]
    return None
