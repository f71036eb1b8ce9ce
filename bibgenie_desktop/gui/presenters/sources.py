"""Which works the messages in view used, and on which pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bibgenie_desktop.domain.ledger import extend_ledger
from bibgenie_desktop.domain.messages import AssistantMessage, UserMessage
from bibgenie_desktop.domain.parts import ResourcePart
from bibgenie_desktop.domain.works import was_read
from bibgenie_desktop.gui.docks.library import UsedSource
from bibgenie_desktop.gui.presenters.transcript import Entry
from bibgenie_desktop.gui.tr import tr

MOST_PAGES = 12


def used_sources(entries: Sequence[Entry]) -> tuple[UsedSource, ...]:
    """Works that were read or attached, most used first; what a search only listed does not count."""
    messages = [e for e in entries if isinstance(e, UserMessage | AssistantMessage)]
    attached = {p.locator.id for m in messages for p in m.parts if isinstance(p, ResourcePart)}
    found: dict[str, tuple[str, int, set[int]]] = {}
    for entry in extend_ledger((), messages):
        at = entry.locator
        if at is None or not (was_read(at) or at.id in attached):
            continue
        work = at.item_id or at.att_id
        title, count, pages = found.get(work, (entry.title, 0, set()))
        here = {at.page_index + 1} if at.page_index is not None else set()
        title = entry.title if at.kind == "item" else title  # an annotation is called after its words
        found[work] = (title, count + entry.count, pages | here)
    ranked = sorted(found.items(), key=lambda x: (-x[1][1], x[1][0]))
    copies = Counter(title for title, _, _ in found.values())
    return tuple(
        UsedSource(title, count, _detail(work, pages, copied=copies[title] > 1), id=work)
        for work, (title, count, pages) in ranked
    )


def _detail(work: str, pages: set[int], *, copied: bool) -> str:
    """Pages; and of a work that several libraries have, which of them it is."""
    where = tr("In a group library") if work.startswith("g") else tr("In My Library")
    return " · ".join(filter(None, (where if copied else "", _pages(pages) if pages else "")))


def _pages(pages: set[int]) -> str:
    listed = sorted(pages)
    shown = ", ".join(str(p) for p in listed[:MOST_PAGES])
    more = ", …" if len(listed) > MOST_PAGES else ""
    return tr("Page {0}").format(shown) if len(listed) == 1 else tr("Pages {0}").format(shown + more)
