"""The resource ledger: the Zotero resources a conversation used, listed by code and never by a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from bibgenie_desktop.domain.locators import FULL_KEY, LedgerEntry, Locator, Resource
from bibgenie_desktop.domain.messages import AssistantMessage, UserMessage
from bibgenie_desktop.domain.parts import ResourcePart, TextPart, ToolPart
from bibgenie_desktop.domain.tokens import estimate_text

NAMED: Final = "named by the person"
"""The title of a place that no tool has looked up."""
_NOTICE: Final = estimate_text("and 999,999 more: read_result with handle “ledger”")


def used_in(message: UserMessage | AssistantMessage) -> Iterator[Resource]:
    """The resources a message attached or its tools returned."""
    for part in message.parts:
        if isinstance(part, ResourcePart):
            yield Resource(part.locator, part.title)
        elif isinstance(part, ToolPart):
            yield from part.resources


def extend_ledger(
    previous: Iterable[LedgerEntry],
    span: Iterable[UserMessage | AssistantMessage],
    pins: Iterable[LedgerEntry] = (),
) -> tuple[LedgerEntry, ...]:
    """The whole ledger after a span: every place once, in the order of first use, pinned as `pins` say now.

    An id that the person wrote and no tool has looked up is a place as well: a list of works survives. A
    sentence that is no longer pinned leaves the ledger; a place only loses its mark.
    """
    span = tuple(span)
    entries = {key_of(e): _unpinned(e) for e in previous if e.locator is not None}
    for message in span:
        for resource in used_in(message):
            used = LedgerEntry(_place(resource.locator), resource.title, 1, message.depth)
            known = entries.get(key_of(used))
            if known is not None:
                title = used.title if known.title == NAMED else known.title
                used = replace(known, title=title, count=known.count + 1, last_used=message.depth)
            entries[key_of(used)] = used
    known_keys = keys_of(entries.values())
    for message in span:
        for entry in _written(message):
            if entry.locator is not None and entry.locator.id not in known_keys:
                entries.setdefault(key_of(entry), entry)
    for pin in pins:
        known = entries.get(key_of(pin), pin)
        entries[key_of(pin)] = replace(known, pinned=True)
    return tuple(entries.values())


def _written(message: UserMessage | AssistantMessage) -> Iterator[LedgerEntry]:
    """The ids in what a person wrote."""
    for part in message.parts if isinstance(message, UserMessage) else ():
        if isinstance(part, TextPart):
            for match in FULL_KEY.finditer(part.text):
                place = Locator(match[1], "item", item=match[2])
                yield LedgerEntry(place, NAMED, 1, message.depth)


def key_of(entry: LedgerEntry) -> Locator | str:
    """What makes two entries the same: the place, or the words of a pinned sentence."""
    return entry.title if entry.locator is None else _place(entry.locator)


def _place(locator: Locator) -> Locator:
    return replace(locator, quote="") if locator.quote else locator  # two quotes from one page are one place


def _unpinned(entry: LedgerEntry) -> LedgerEntry:
    return replace(entry, pinned=False) if entry.pinned else entry


def keys_of(ledger: Iterable[LedgerEntry]) -> frozenset[str]:
    """The full keys of all places of a ledger, those of their items and attachments included."""
    places = (e.locator for e in ledger if e.locator is not None)
    return frozenset(key for at in places for key in (at.id, at.item_id, at.att_id) if key)


def project_ledger(ledger: Iterable[LedgerEntry], budget: int) -> str:
    """The ranked head of a ledger within a budget of tokens: pins first, then the newest and most used."""
    ranked = sorted(ledger, key=lambda e: (not e.pinned, -e.last_used, -e.count))
    lines: list[str] = []
    room = budget - _NOTICE
    for index, entry in enumerate(ranked):
        line = _line(entry)
        room -= estimate_text(line + "\n")
        if room < 0:
            lines.append(f"and {len(ranked) - index:,} more: read_result with handle “ledger”")
            break
        lines.append(line)
    return "\n".join(lines)


def pins_fit(ledger: Iterable[LedgerEntry], budget: int) -> bool:
    """Whether the projection of a ledger within this budget holds every pin."""
    return pins_cost(e for e in ledger if e.pinned) + _NOTICE <= budget


def pins_cost(pins: Iterable[LedgerEntry]) -> int:
    """Tokens that pins take in every projected ledger."""
    return sum(estimate_text(_line(replace(p, pinned=True)) + "\n") for p in pins)


def _line(entry: LedgerEntry) -> str:
    at = entry.locator
    if at is None:
        return f"Never drop: {entry.title}"
    page = "" if at.page_index is None else f" p.{at.page_index + 1}"
    return f"{at.id}{page} {entry.title} ×{entry.count}{' (pinned)' if entry.pinned else ''}"
