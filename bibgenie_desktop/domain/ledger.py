"""The resource ledger: the Zotero resources a conversation used, listed by code and never by a model."""

from __future__ import annotations

from dataclasses import dataclass

from bibgenie_desktop.domain.locators import Locator


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One used place. `last_used` is the depth of the newest message that used it; `pinned` ones are never dropped."""

    locator: Locator
    title: str
    count: int
    last_used: int
    pinned: bool = False
