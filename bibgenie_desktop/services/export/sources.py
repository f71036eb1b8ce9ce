"""The sources that a conversation cites: each once, in the order of first use, with its pages and a link."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bibgenie_desktop.domain.citations import citations_in
from bibgenie_desktop.domain.ledger import used_in
from bibgenie_desktop.domain.locators import Locator, Resource, split_id
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Message
from bibgenie_desktop.domain.parts import text_of
from bibgenie_desktop.domain.topology import Placeholder


@dataclass(frozen=True, slots=True)
class Source:
    """`pages` are physical and 1-based; `title` is empty where nothing in the conversation names it."""

    id: str
    title: str
    pages: tuple[int, ...]
    link: str


def sources_of(path: Iterable[Message | Placeholder]) -> tuple[Source, ...]:
    """The sources that the answers of a path cite."""
    messages = [m for m in path if not isinstance(m, Placeholder)]
    pages: dict[str, set[int]] = {}
    for message in messages:
        if isinstance(message, AssistantMessage):
            for citation in citations_in(text_of(message.parts)):
                cited = pages.setdefault(citation.id, set())
                if citation.page is not None:
                    cited.add(citation.page)
    known: dict[str, Resource] = {}
    for resource in _resources(messages):
        for full_id in (resource.locator.att_id, resource.locator.item_id):
            # One source may be called in several ways; the longest says most.
            if full_id and (full_id not in known or len(resource.title) > len(known[full_id].title)):
                known[full_id] = resource
    return tuple(
        Source(
            full_id,
            known[full_id].title if full_id in known else "",
            tuple(sorted(cited)),
            _link(full_id, sorted(cited), known[full_id].locator if full_id in known else None),
        )
        for full_id, cited in pages.items()
    )


def _resources(messages: Iterable[Message]) -> Iterator[Resource]:
    for message in messages:
        if isinstance(message, Checkpoint):
            for entry in message.ledger:
                if entry.locator is not None:
                    yield Resource(entry.locator, entry.title)
        else:
            yield from used_in(message)


def _link(full_id: str, pages: list[int], locator: Locator | None) -> str:
    """Opens Zotero at the first cited page of a PDF, else at the item."""
    split = split_id(full_id)
    if split is None:
        return ""
    lib, key = split
    where = f"{'library' if lib == 'u' else f'groups/{lib[1:]}'}/items/{key}"
    is_pdf = locator.kind == "pdf" and locator.att == key if locator is not None else bool(pages)
    if not is_pdf:
        return f"zotero://select/{where}"
    return f"zotero://open-pdf/{where}" + (f"?page={pages[0]}" if pages else "")
