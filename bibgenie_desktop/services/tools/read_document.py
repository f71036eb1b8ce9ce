"""`read_document`: the text of a document by pages, with physical and printed numbers, or by sections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bibgenie_desktop.domain.errors import DocumentUnreadable
from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.services.tools.arguments import Arguments, BadArguments
from bibgenie_desktop.services.tools.base import ToolResult
from bibgenie_desktop.services.tools.page_ranges import extent, parse_pages
from bibgenie_desktop.services.tools.presenting import counted, fenced, page_resource, without_empty
from bibgenie_desktop.services.tools.sections import extract_result, read_section
from bibgenie_desktop.services.tools.targets import find_document
from bibgenie_desktop.zotero.files.documents import NO_TEXT, PageText
from bibgenie_desktop.zotero.files.garbled import garbled
from bibgenie_desktop.zotero.model.library import Attachment, Item
from bibgenie_desktop.zotero.model.links import item_label
from bibgenie_desktop.zotero.service import ZoteroLibrary

MOST, DEFAULT = 40_000, 12_000
_OTHER_NAMES = ("item_id", "href", "from_cfi")
_TRIED = 20_000
"""Characters of an extract that show whether it is better."""
_BATCH = 8
"""Pages asked for at once: a few more than usually fit one answer."""


class ReadDocument:
    spec = ToolSpec(
        name="read_document",
        description=(
            "Text of a document. Takes an attachment id, or an item id for its best document. PDF: pages, "
            "physical numbers from 1 (“3-7”) or printed labels; EPUB and web pages: section. Without them it "
            "starts at the beginning; `next` holds the arguments to read on. Cite the physical page."
        ),
        parameters={
            "type": "object",
            "properties": {
                "attachment_id": {"type": "string"},
                "pages": {"type": "string"},
                "section": {"type": "string", "description": "number, href or cfi"},
                "max_chars": {"type": "integer", "maximum": MOST, "default": DEFAULT},
                "offset": {"type": "integer", "description": "characters to skip"},
            },
            "required": ["attachment_id"],
        },
        slim_description="Text of a document, a PDF by physical pages (“3-7”); `next` reads on.",
        slim_parameters={
            "type": "object",
            "properties": {
                "attachment_id": {"type": "string"},
                "pages": {"type": "string"},
                "max_chars": {"type": "integer"},
            },
            "required": ["attachment_id"],
        },
    )

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            given = Arguments(arguments, (*self.spec.parameters["properties"], *_OTHER_NAMES))
            full_id = given.required("attachment_id", "item_id")
            most = given.integer("max_chars", DEFAULT, 200, MOST)
            offset = given.integer("offset", 0, 0, 10**9)
            await self._library.ensure_loaded()
            item, attachment = await find_document(self._library, full_id)
        except BadArguments as error:
            return ToolResult(str(error), error=True)
        try:
            if attachment.kind != "pdf":
                place = given.text("section") or given.text("href") or given.text("from_cfi")
                return await read_section(self._library, item, attachment, place, most, offset)
            return await self._pdf(item, attachment, given, most, offset)
        except BadArguments as error:
            return ToolResult(str(error), error=True)
        except DocumentUnreadable as error:
            result = await extract_result(self._library, item, attachment, error, most, offset)
            return replace(result, for_eyes=_look(attachment, 0)) if error.title == NO_TEXT else result

    async def _pdf(
        self, item: Item, attachment: Attachment, given: Arguments, most: int, offset: int
    ) -> ToolResult:
        info = await self._library.document_info(attachment)
        wanted = parse_pages(given.text("pages"), info) or list(range(info.pages))
        if (better := await self._better_extract(attachment, wanted[0])) is not None:
            result = await extract_result(self._library, item, attachment, better, most, offset)
            return replace(result, for_eyes=_look(attachment, wanted[0]))
        pages, rest, cut = await self._read(attachment, wanted, offset, most)
        if not pages:
            return ToolResult(f"offset {offset} is past the end of the page. {extent(info)}", error=True)
        asked_for_all = not given.text("pages")
        data: dict[str, Any] = {
            "attachment_id": attachment.id,
            "item_id": item.id,
            "source": f"{item_label(item)}: {item.title}",
            "pages_total": info.pages,
            "has_text_layer": True,
            "truncated": bool(rest),
        }
        following = self._next(attachment, rest, cut, pages[-1].index, info.pages, asked_for_all)
        if following:
            data["next"] = following
        data["pages"] = [_row(page) for page in pages]
        if any(garbled(page.text) for page in pages):
            data["garbled"] = (
                "the text of some pages is extracted badly by this file's fonts; do not quote it"
            )
        unread = next((p for p in pages if not p.text.strip() or garbled(p.text)), None)
        return ToolResult(
            fenced(data),
            _resources(item, attachment, pages),
            note=counted(len(pages), "page"),
            for_eyes=_look(attachment, unread.index) if unread is not None else "",
        )

    async def _better_extract(self, attachment: Attachment, index: int) -> DocumentUnreadable | None:
        """Why Zotero's own extract is the better text: the file's fonts give signs that mean nothing."""
        for looked_at in dict.fromkeys((index, 0)):  # the whole file, not some page of it
            (page, *_) = await self._library.pages_text(attachment, looked_at, looked_at)
            if not garbled(page.text):
                return None
        extract = (await self._library.extract(attachment))[:_TRIED]
        if not extract.strip() or garbled(extract):
            return None
        return DocumentUnreadable("The fonts of this file make its text unreadable.", "")

    async def _read(
        self, attachment: Attachment, wanted: list[int], offset: int, most: int
    ) -> tuple[list[PageText], list[int], int]:
        """(pages that fit, or a part of one that does not; the pages left; where the first goes on)."""
        shown: list[PageText] = []
        room = most
        at = 0
        while at < len(wanted):
            run = 1
            while run < _BATCH and at + run < len(wanted) and wanted[at + run] == wanted[at] + run:
                run += 1
            for page in await self._library.pages_text(attachment, wanted[at], wanted[at] + run - 1):
                start = offset if at == 0 else 0
                text = page.text[start:]
                if start and not text:
                    return [], wanted, 0
                if len(text) > room:
                    if shown:
                        return shown, wanted[at:], 0
                    cut = _word_end(text, room)
                    return [PageText(page.index, page.label, text[:cut])], wanted[at:], start + cut
                shown.append(PageText(page.index, page.label, text))
                room -= len(text)
                at += 1
        return shown, [], 0

    def _next(
        self, attachment: Attachment, rest: list[int], cut: int, last: int, total: int, whole: bool
    ) -> dict[str, Any]:
        if rest:
            pages = f"{rest[0] + 1}-" if whole else _as_ranges(rest)
            following = {"attachment_id": attachment.id, "pages": pages}
            return {**following, "offset": cut} if cut else following
        return {"attachment_id": attachment.id, "pages": f"{last + 2}-"} if last + 1 < total else {}


def _look(attachment: Attachment, index: int) -> str:
    return f"view_page can show such a page: attachment_id {attachment.id}, page {index + 1}."


def _row(page: PageText) -> dict[str, Any]:
    row = without_empty({"page": page.index + 1, "label": page.label, "text": page.text})
    return row if page.text.strip() else {**row, "note": "no text on this page"}


def _resources(item: Item, attachment: Attachment, pages: list[PageText]) -> tuple[Any, ...]:
    return tuple(page_resource(item, attachment, page) for page in pages)


def _word_end(text: str, most: int) -> int:
    """The last blank before the limit, so that no word is cut, if there is one near."""
    blank = max(text.rfind(" ", 0, most), text.rfind("\n", 0, most))
    return blank + 1 if blank > most - 200 and blank > 0 else most


def _as_ranges(indices: list[int]) -> str:
    pieces: list[str] = []
    start = previous = indices[0]
    for index in [*indices[1:], -1]:
        if index == previous + 1:
            previous = index
            continue
        pieces.append(f"{start + 1}-{previous + 1}" if previous > start else str(start + 1))
        start = previous = index
    return ",".join(pieces)
