"""By which word an item stands in a list of people."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from bibgenie_desktop.zotero.model.folding import key
from bibgenie_desktop.zotero.model.library import Creator, Item

NOBODY: Final = chr(0x10FFFF)
"""Comes after every name."""


def first_name(item: Item) -> str:
    """The folded name of the first author."""
    authors = item.authors
    return _folded(authors[0].first, authors[0].last) if authors else NOBODY


@lru_cache(50_000)
def _folded(first: str, last: str) -> str:
    return key(Creator("", first, last, primary=True).sort_name)
