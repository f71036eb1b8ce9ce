"""The resource ledger: the Zotero resources a conversation used, listed by code and never by a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bibgenie_desktop.domain.locators import Locator, Resource
from bibgenie_desktop.domain.parts import ResourcePart, ToolPart
from bibgenie_desktop.domain.tokens import estimate_text

if TYPE_CHECKING:
    from bibgenie_desktop.domain.messages import AssistantMessage, UserMessage


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One used place.

    `last_used` is the depth of the newest message that used it; `pinned` ones are never dropped.
    """

    locator: Locator
    title: str
    count: int
    last_used: int
    pinned: bool = False


def used_in(message: UserMessage | AssistantMessage) -> Iterator[Resource]:
    """The resources a message attached or its tools returned."""
    for part in message.parts:
        if isinstance(part, ResourcePart):
            yield Resource(part.locator, part.title)
        elif isinstance(part, ToolPart):
            yield from part.resources


def extend_ledger(
    previous: Iterable[LedgerEntry], span: Iterable[UserMessage | AssistantMessage]
) -> tuple[LedgerEntry, ...]:
    """The whole ledger after a span: every place once, in the order of first use."""
    entries = {_place(e.locator): e for e in previous}
    for message in span:
        for resource in used_in(message):
            place = _place(resource.locator)
            known = entries.get(place)
            if known is None:
                entries[place] = LedgerEntry(place, resource.title, 1, message.depth)
            else:
                entries[place] = replace(known, count=known.count + 1, last_used=message.depth)
    return tuple(entries.values())


def _place(locator: Locator) -> Locator:
    return replace(locator, quote="")  # two quotes from one page are one place


def project_ledger(ledger: Iterable[LedgerEntry], budget: int) -> str:
    """The ranked head of a ledger within a budget of tokens: pins first, then the newest and most used."""
    ranked = sorted(ledger, key=lambda e: (not e.pinned, -e.last_used, -e.count))
    lines: list[str] = []
    room = budget - estimate_text("and 999,999 more: read_result with handle “ledger”")
    for index, entry in enumerate(ranked):
        line = _line(entry)
        room -= estimate_text(line + "\n")
        if room < 0:
            lines.append(f"and {len(ranked) - index:,} more: read_result with handle “ledger”")
            break
        lines.append(line)
    return "\n".join(lines)


def _line(entry: LedgerEntry) -> str:
    at = entry.locator
    page = "" if at.page_index is None else f" p.{at.page_index + 1}"
    return f"{at.id}{page} {entry.title} ×{entry.count}{' (pinned)' if entry.pinned else ''}"
