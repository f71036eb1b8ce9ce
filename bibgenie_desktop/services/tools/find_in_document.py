"""`find_in_document`: where words or a pattern stand in a document."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import regex

from bibgenie_desktop.domain.errors import DocumentUnreadable
from bibgenie_desktop.domain.locators import Resource
from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.services.tools.arguments import Arguments, BadArguments
from bibgenie_desktop.services.tools.base import ToolResult
from bibgenie_desktop.services.tools.presenting import counted, fenced, page_resource, without_empty
from bibgenie_desktop.services.tools.sections import section_resource
from bibgenie_desktop.services.tools.targets import find_document
from bibgenie_desktop.zotero.files.books import SectionText
from bibgenie_desktop.zotero.files.documents import PageText
from bibgenie_desktop.zotero.files.garbled import garbled
from bibgenie_desktop.zotero.model.folding import fold_same_length
from bibgenie_desktop.zotero.model.library import Attachment, Item
from bibgenie_desktop.zotero.model.links import item_label
from bibgenie_desktop.zotero.service import ZoteroLibrary

MOST, DEFAULT = 50, 20
_CONTEXT, _MOST_CONTEXT = 160, 600
_BATCH = 50
_REGEX_TIME_S = 2.0
"""For one page: a pattern that needs longer is of the kind that never ends."""
TIME_LIMIT_S = 30.0
"""For one search in a document; what it did not come to is named, and `from` goes on there."""
_MOST_HITS = 5_000
_LONGEST_QUERY = 300
_GAP = r"[\s\-\u00ad\u2010-\u2015]+"
_BROKEN = r"(?:[-\u00ad\u2010]\s*\n\s*)?"


@dataclass(frozen=True, slots=True)
class _Hit:
    page: PageText
    start: int
    end: int
    section: SectionText | None = None
    """Of a document without pages the section; `page` then has its number and text."""


@dataclass(slots=True)
class _Found:
    """What was found so far. Hits that are not shown are only counted: a section may be millions of
    characters long, and none is kept."""

    item: Item
    attachment: Attachment
    context: int
    offset: int
    limit: int
    total: int = 0
    per: Counter[int] = field(default_factory=Counter)
    rows: list[dict[str, Any]] = field(default_factory=list)
    places: dict[int, Resource] = field(default_factory=dict)
    units: int = 0
    """How many pages or sections the document has, 0 not known; `done` were looked through to here."""
    first: int = 0
    done: int = 0
    unreadable: int = 0
    garbled: int = 0

    @property
    def full(self) -> bool:
        return self.total >= _MOST_HITS

    def add(self, hit: _Hit) -> None:
        page = hit.page
        if self.offset <= self.total < self.offset + self.limit:
            self.rows.append(_row(hit, self.context))
            self.places[page.index] = (
                page_resource(self.item, self.attachment, page)
                if hit.section is None
                else section_resource(self.item, self.attachment, hit.section, hit.start)
            )
        self.total += 1
        self.per[page.index] += 1


class FindInDocument:
    spec = ToolSpec(
        name="find_in_document",
        description=(
            "Find words in a document (case, accents, hyphenation and line breaks do not matter; the words "
            "stand together in this order) or a regular expression. Returns pages or sections with context."
        ),
        parameters={
            "type": "object",
            "properties": {
                "attachment_id": {"type": "string"},
                "query": {"type": "string"},
                "regex": {"type": "boolean"},
                "limit": {"type": "integer", "maximum": MOST, "default": DEFAULT},
                "context": {"type": "integer", "maximum": _MOST_CONTEXT, "default": _CONTEXT},
                "offset": {"type": "integer"},
                "from": {"type": "integer", "description": "page or section to begin with"},
            },
            "required": ["attachment_id", "query"],
        },
        slim_description="Find words in a document: pages and context.",
        slim_parameters={
            "type": "object",
            "properties": {"attachment_id": {"type": "string"}, "query": {"type": "string"}},
            "required": ["attachment_id", "query"],
        },
    )

    def __init__(self, library: ZoteroLibrary, time_limit: float = TIME_LIMIT_S) -> None:
        self._library = library
        self._time_limit = time_limit

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            given = Arguments(arguments, (*self.spec.parameters["properties"], "item_id"))
            full_id = given.required("attachment_id", "item_id")
            query = given.required("query")
            pattern = compile_query(query, bool(given.flag("regex")))
            limit = given.integer("limit", DEFAULT, 1, MOST)
            context = given.integer("context", _CONTEXT, 20, _MOST_CONTEXT)
            offset = given.integer("offset", 0, 0, 10**9)
            first = given.integer("from", 1, 1, 10**6) - 1
            await self._library.ensure_loaded()
            item, attachment = await find_document(self._library, full_id)
            found = _Found(item, attachment, context, offset, limit, first=first, done=first)
            look = self._in_pages if attachment.kind == "pdf" else self._in_sections
            try:
                async with asyncio.timeout(self._time_limit):
                    await look(attachment, pattern, found)
            except TimeoutError:
                if found.done == first:
                    return ToolResult("This document takes too long to be looked through.", error=True)
        except BadArguments as error:
            return ToolResult(str(error), error=True)
        except DocumentUnreadable as error:
            return ToolResult(error.text, error=True)
        return ToolResult(
            fenced(self._told(found, arguments)),
            tuple(found.places.values()),
            note=counted(found.total, "hit"),
        )

    def _told(self, found: _Found, arguments: Mapping[str, Any]) -> dict[str, Any]:
        shown, paged = len(found.rows), found.attachment.kind == "pdf"
        data: dict[str, Any] = {
            "attachment_id": found.attachment.id,
            "item_id": found.item.id,
            "source": f"{item_label(found.item)}: {found.item.title}",
            "total": found.total,
            "returned": shown,
            "scope": _extent(found, "page" if paged else "section"),
        }
        if found.offset + shown < found.total:
            data["next_offset"] = found.offset + shown
        elif found.done < found.units:
            data["next"] = {"attachment_id": found.attachment.id, "query": arguments["query"]}
            data["next"] |= {"from": found.done + 1, **({"regex": True} if arguments.get("regex") else {})}
        if not found.total and found.done >= found.units:
            data["hint"] = "the words do not stand together like this; try fewer, or read the pages"
        if found.unreadable:
            data["unreadable"] = f"{counted(found.unreadable, 'section')} could not be read"
        if found.garbled:
            data["garbled"] = (
                f"the text of {found.garbled} pages is extracted badly by this file's fonts: words on them"
                " are not found here; search_fulltext and read_document may know them from Zotero's own"
                " extract"
            )
        data["per_page" if paged else "per_section"] = {str(page + 1): n for page, n in found.per.items()}
        data["hits"] = found.rows
        return data

    async def _in_pages(self, attachment: Attachment, pattern: regex.Pattern[str], found: _Found) -> None:
        info = await self._library.document_info(attachment)
        found.units = info.pages
        _must_exist(found)
        while found.done < info.pages and not found.full:
            pages = await self._pages(attachment, found.done, min(found.done + _BATCH, info.pages) - 1)
            for hit in await asyncio.to_thread(_find, pattern, pages):
                found.add(hit)
            found.garbled += sum(garbled(page.text) for page in pages)
            found.done = pages[-1].index + 1

    async def _in_sections(self, attachment: Attachment, pattern: regex.Pattern[str], found: _Found) -> None:
        while (not found.units or found.done < found.units) and not found.full:
            try:
                section = await self._library.section_text(attachment, found.done)
            except DocumentUnreadable:
                if not found.units:
                    raise
                found.unreadable += 1
                found.done += 1
                continue
            found.units = section.sections
            page = PageText(found.done, "", section.text)
            for hit in await asyncio.to_thread(_find, pattern, [page]):
                found.add(_Hit(hit.page, hit.start, hit.end, section))
            found.done += 1

    async def _pages(self, attachment: Any, first: int, last: int) -> list[PageText]:
        """A stretch of pages; one without any text is no error while others may have some."""
        pages: list[PageText] = []
        while first <= last:
            pages.extend(await self._library.pages_text(attachment, first, last))
            first = pages[-1].index + 1
        return pages


def _must_exist(found: _Found) -> None:
    if found.first >= found.units:
        raise BadArguments(f"from is past the end: this document has {counted(found.units, 'page')}.")


def _extent(found: _Found, unit: str) -> str:
    """Where was looked."""
    if found.full:
        return f"the first {found.total} hits"
    if found.first == 0 and found.done >= found.units:
        return "the whole text" if unit == "section" and found.units == 1 else f"all {found.units} {unit}s"
    so_far = f"looked through {found.done - found.first} of {found.units} {unit}s"
    reached = f"{so_far}, from {found.first + 1} to {found.done}"
    return f"{reached}; then the time was over" if found.done < found.units else reached


def compile_query(query: str, as_regex: bool) -> regex.Pattern[str]:
    """A pattern over folded text: the regular expression itself, or words that may be broken over lines."""
    if len(query) > _LONGEST_QUERY:
        raise BadArguments(f"query is longer than {_LONGEST_QUERY} characters; use its most telling words.")
    if as_regex:
        try:
            return regex.compile(query, regex.IGNORECASE | regex.MULTILINE)
        except regex.error as error:
            raise BadArguments(f"The regular expression is not valid: {error}.") from None
    pieces = regex.split(r"[\s\-\u2010-\u2015]+", fold_same_length(query).strip(" \"'“”„«».,;:!?"))
    spelled = [_BROKEN.join(_letter(c) for c in piece) for piece in pieces if piece]
    if not spelled:
        raise BadArguments("query has no words.")
    return regex.compile(_GAP.join(spelled))


def _letter(char: str) -> str:
    if char in "'’‘":
        return "['’‘]"
    if char in '"“”„':
        return '["“”„]'
    return str(regex.escape(char))


def _find(pattern: regex.Pattern[str], pages: list[PageText]) -> list[_Hit]:
    hits = []
    for page in pages:
        text = page.text if pattern.flags & regex.IGNORECASE else fold_same_length(page.text)
        try:
            for match in pattern.finditer(text, timeout=_REGEX_TIME_S):
                if match.end() > match.start():
                    hits.append(_Hit(page, match.start(), match.end()))
        except TimeoutError:
            raise BadArguments("The regular expression takes too long; use a simpler one.") from None
        if len(hits) >= _MOST_HITS:
            break
    return hits[:_MOST_HITS]


def _row(hit: _Hit, context: int) -> dict[str, Any]:
    half = max(0, context - (hit.end - hit.start)) // 2
    text = hit.page.text
    start, end = max(0, hit.start - half), min(len(text), hit.end + half)
    while start > 0 and not text[start - 1].isspace() and hit.start - start < half + 20:
        start -= 1
    while end < len(text) and not text[end].isspace() and end - hit.end < half + 20:
        end += 1
    snippet = " ".join(text[start:end].split())
    shown = f"{'…' if start else ''}{snippet}{'…' if end < len(text) else ''}"
    if (section := hit.section) is not None:
        place = {"section": section.index + 1, "href": section.href, "cfi": section.cfi_at(hit.start)}
        return without_empty({**place, "text": shown})
    return without_empty({"page": hit.page.index + 1, "label": hit.page.label, "text": shown})
