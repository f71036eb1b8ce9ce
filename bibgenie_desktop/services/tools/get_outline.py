"""`get_outline`: how a document is divided: headings of a PDF, sections of an EPUB."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bibgenie_desktop.domain.errors import DocumentUnreadable
from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.services.tools.arguments import Arguments, BadArguments
from bibgenie_desktop.services.tools.base import ToolResult
from bibgenie_desktop.services.tools.presenting import counted, fenced, item_resource, page_of, without_empty
from bibgenie_desktop.services.tools.sections import section_rows, source_of
from bibgenie_desktop.services.tools.targets import find_document
from bibgenie_desktop.zotero.model.library import Attachment
from bibgenie_desktop.zotero.service import ZoteroLibrary

MOST, DEFAULT = 300, 150


class GetOutline:
    spec = ToolSpec(
        name="get_outline",
        description="Headings of a PDF with pages, or sections of an EPUB.",
        parameters={
            "type": "object",
            "properties": {"attachment_id": {"type": "string"}, "offset": {"type": "integer"}},
            "required": ["attachment_id"],
        },
    )

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            given = Arguments(arguments, (*self.spec.parameters["properties"], "item_id", "limit"))
            full_id = given.required("attachment_id", "item_id")
            offset, limit = given.integer("offset", 0, 0, 10**9), given.integer("limit", DEFAULT, 1, MOST)
            await self._library.ensure_loaded()
            item, attachment = await find_document(self._library, full_id)
            rows, extra = await self._rows(attachment)
        except BadArguments as error:
            return ToolResult(str(error), error=True)
        except DocumentUnreadable as error:
            return ToolResult(error.text, error=True)
        shown, said = page_of(rows, offset, limit)
        data = {**source_of(item, attachment), **extra, **said, "outline": list(shown)}
        return ToolResult(fenced(data), (item_resource(item),), note=counted(len(rows), "heading"))

    async def _rows(self, attachment: Attachment) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        if attachment.kind != "pdf":
            return section_rows(await self._library.sections(attachment)), {}
        info = await self._library.document_info(attachment)
        headings, guessed = await self._library.outline(attachment)
        rows = []
        for heading in headings:
            page = heading.page_index
            known = page is not None and page < len(info.labels)
            row = {
                "title": heading.title,
                "level": heading.level,
                "page": page + 1 if page is not None else None,
                "label": info.labels[page] if page is not None and known else "",
            }
            rows.append(without_empty(row))
        extra: dict[str, Any] = {"pages_total": info.pages, "headings_guessed": guessed}
        return rows, extra
