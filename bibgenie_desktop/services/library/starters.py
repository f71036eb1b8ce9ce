"""Questions to begin with, made from the titles of works in the library that can really be read."""

from __future__ import annotations

import re
from itertools import islice

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.zotero.model.library import Item
from bibgenie_desktop.zotero.service import ZoteroLibrary

LOOKED_AT = 60
"""Items whose files are looked for: a first page must not wait for a large library."""
LEAST_TEXT = 200
MOST_WORDS = 12

_SUBTITLE = re.compile(r"\s*[:?!–—]\s+.*$|\s*[:?!]$")


def topic_of(title: str) -> str:
    """The main title, whole, to be quoted in a question; empty where it is too short or too long for one."""
    main = _SUBTITLE.sub("", " ".join(title.split())).strip(' ,;.“”"')
    return main if 2 <= len(main.split()) <= MOST_WORDS else ""


async def starters(library: ZoteroLibrary, most: int) -> tuple[str, ...]:
    """At most so many questions, each about another work; none where no work can be read."""
    await library.ensure_loaded()

    def first() -> list[Item]:
        items = library.contents.items.values()
        return list(islice((i for i in items if any(i.pdfs) and topic_of(i.title)), LOOKED_AT))

    candidates = await library.apart(first)
    # Spread over the library: neighbours were often added for one purpose.
    step = max(1, len(candidates) // max(1, most))
    ordered = [*candidates[::step], *(c for n, c in enumerate(candidates) if n % step)]
    forms = ("What does “{0}” find?", "What is the evidence in “{0}”?", "What does “{0}” show?")
    found: list[str] = []
    for item in ordered:
        if len(found) == most:
            break
        if await _readable(library, item):
            found.append(forms[len(found) % len(forms)].format(topic_of(item.title)))
    return tuple(found)


async def _readable(library: ZoteroLibrary, item: Item) -> bool:
    for attachment in item.pdfs:
        if (await library.locate(attachment)).status == "online":
            return True  # it is fetched when the question is asked
        try:
            pages = await library.pages_text(attachment, 0, 1)
        except UserError:
            continue
        if sum(len(page.text) for page in pages) >= LEAST_TEXT:
            return True
    return False
