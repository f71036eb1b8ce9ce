"""`find_in_document`: where words or a pattern stand in a document."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import regex

from bibgenie_desktop.domain.errors import DocumentUnreadable
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
from bibgenie_desktop.zotero.model.library import Attachment
from bibgenie_desktop.zotero.model.links import item_label
from bibgenie_desktop.zotero.service import ZoteroLibrary

MOST, DEFAULT = 50, 20
_CONTEXT, _MOST_CONTEXT = 160, 600
_BATCH = 50
_REGEX_TIME_S = 2.0
"""For one page: a pattern that needs longer is of the kind that never ends."""
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

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            given = Arguments(arguments, (*self.spec.parameters["properties"], "item_id"))
            full_id = given.required("attachment_id", "item_id")
            query = given.required("query")
            pattern = compile_query(query, bool(given.flag("regex")))
            limit = given.integer("limit", DEFAULT, 1, MOST)
            context = given.integer("context", _CONTEXT, 20, _MOST_CONTEXT)
            offset = given.integer("offset", 0, 0, 10**9)
            await self._library.ensure_loaded()
            item, attachment = await find_document(self._library, full_id)
            unreadable = 0
            if attachment.kind == "pdf":
                hits, extent, unreadable = await self._in_pages(attachment, pattern)
            else:
                hits, extent = await self._in_sections(attachment, pattern)
        except BadArguments as error:
            return ToolResult(str(error), error=True)
        except DocumentUnreadable as error:
            return ToolResult(error.text, error=True)
        shown = hits[offset : offset + limit]
        data: dict[str, Any] = {
            "attachment_id": attachment.id,
            "item_id": item.id,
            "source": f"{item_label(item)}: {item.title}",
            "total": len(hits),
            "returned": len(shown),
            "scope": extent if len(hits) < _MOST_HITS else f"the first {len(hits)} hits",
        }
        if offset + len(shown) < len(hits):
            data["next_offset"] = offset + len(shown)
        if not hits:
            data["hint"] = "the words do not stand together like this; try fewer, or read the pages"
        if unreadable:
            data["garbled"] = (
                f"the text of {unreadable} pages is extracted badly by this file's fonts: words on them are"
                " not found here; search_fulltext and read_document may know them from Zotero's own extract"
            )
        unit = "per_page" if attachment.kind == "pdf" else "per_section"
        data[unit] = {str(page + 1): n for page, n in Counter(h.page.index for h in hits).items()}
        data["hits"] = [_row(hit, context) for hit in shown]
        places = {
            hit.page.index: page_resource(item, attachment, hit.page)
            if hit.section is None
            else section_resource(item, attachment, hit.section, hit.start)
            for hit in shown
        }
        return ToolResult(fenced(data), tuple(places.values()), note=counted(len(hits), "hit"))

    async def _in_pages(
        self, attachment: Attachment, pattern: regex.Pattern[str]
    ) -> tuple[list[_Hit], str, int]:
        """(hits, where was looked, pages whose text is unreadable)."""
        info = await self._library.document_info(attachment)
        hits: list[_Hit] = []
        unreadable = 0
        for first in range(0, info.pages, _BATCH):
            pages = await self._pages(attachment, first, min(first + _BATCH, info.pages) - 1)
            hits.extend(await asyncio.to_thread(_find, pattern, pages))
            unreadable += sum(garbled(page.text) for page in pages)
            if len(hits) >= _MOST_HITS:
                break
        return hits, f"all {info.pages} pages", unreadable

    async def _in_sections(
        self, attachment: Attachment, pattern: regex.Pattern[str]
    ) -> tuple[list[_Hit], str]:
        hits: list[_Hit] = []
        index, total = 0, 1
        while index < total and len(hits) < _MOST_HITS:
            section = await self._library.section_text(attachment, index)
            total = section.sections
            page = PageText(index, "", section.text)
            found = await asyncio.to_thread(_find, pattern, [page])
            hits += [replace(hit, section=section) for hit in found]
            index += 1
        return hits, f"all {total} sections" if total > 1 else "the whole text"

    async def _pages(self, attachment: Any, first: int, last: int) -> list[PageText]:
        """A stretch of pages; one without any text is no error while others may have some."""
        pages: list[PageText] = []
        while first <= last:
            pages.extend(await self._library.pages_text(attachment, first, last))
            first = pages[-1].index + 1
        return pages


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
