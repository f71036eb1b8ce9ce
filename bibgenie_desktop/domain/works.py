"""Which works a message used: attached, read, asked for by id or cited. A hit of a search alone is no use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bibgenie_desktop.domain.citations import citations_in
from bibgenie_desktop.domain.locators import Locator
from bibgenie_desktop.domain.parts import Part, ResourcePart, TextPart, ToolPart

BY_ID = frozenset({"get_items", "format_citation", "get_outline", "find_in_document"})
"""Tools that are asked for works by their ids."""


def ids_used(parts: Iterable[Part]) -> Iterator[str]:
    """Full ids of items and attachments in the order of their use, perhaps several times."""
    for part in parts:
        match part:
            case TextPart():
                yield from (citation.id for citation in citations_in(part.text))
            case ResourcePart():
                yield from _ids(part.locator)
            case ToolPart():
                for resource in part.resources:
                    if part.name in BY_ID or was_read(resource.locator):
                        yield from _ids(resource.locator)
            case _:
                continue


def was_read(locator: Locator) -> bool:
    """Whether a place lies inside a document, or is what a person wrote."""
    inside = locator.page_index is not None or locator.section is not None
    return inside or locator.kind in ("note", "annotation") or bool(locator.annotation)


def _ids(locator: Locator) -> Iterator[str]:
    yield from (full_id for full_id in (locator.item_id, locator.att_id) if full_id)
