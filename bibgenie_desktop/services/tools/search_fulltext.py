"""`search_fulltext`: the words of documents, notes and annotations, with the places where they stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bibgenie_desktop.domain.errors import DocumentUnreadable
from bibgenie_desktop.domain.locators import Resource
from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.services.tools.arguments import Arguments, BadArguments
from bibgenie_desktop.services.tools.base import ToolResult
from bibgenie_desktop.services.tools.presenting import (
    counted,
    fenced,
    item_resource,
    note_resource,
    page_resource,
    teach,
    without_empty,
)
from bibgenie_desktop.services.tools.targets import unknown_id
from bibgenie_desktop.zotero.citing.quotes import check_quote
from bibgenie_desktop.zotero.files.documents import PageText
from bibgenie_desktop.zotero.index.filters import Filters, UnknownValue, compile_filters
from bibgenie_desktop.zotero.index.listing import fitting_ids
from bibgenie_desktop.zotero.index.terms import Mode, question
from bibgenie_desktop.zotero.index.text_search import Snippet, TextHit
from bibgenie_desktop.zotero.model.links import item_label
from bibgenie_desktop.zotero.service import ZoteroLibrary

MOST, DEFAULT = 25, 10
_IDS = 50
_MODES: tuple[Mode, ...] = ("all_words", "phrase", "any")
_CHECKED = 30
"""Snippets of one answer whose page is looked up in the file itself."""


class SearchFulltext:
    spec = ToolSpec(
        name="search_fulltext",
        description=(
            "Search the texts of documents, notes and annotations. Few telling words; returns items with "
            "snippets and pages. `coverage` says how many files are indexed."
        ),
        parameters={
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "mode": {"enum": list(_MODES)},
                "item_ids": {"type": "array", "items": {"type": "string"}},
                "collection": {"type": "string"},
                "library": {"type": "string"},
                "limit": {"type": "integer", "maximum": MOST, "default": DEFAULT},
                "offset": {"type": "integer"},
            },
            "required": ["query"],
        },
        slim_description="Search the texts of documents, notes and annotations.",
        slim_parameters={
            "type": "object",
            "properties": {"query": {"type": "string"}, "mode": {"enum": list(_MODES)}},
            "required": ["query"],
        },
    )

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            given = Arguments(arguments, self.spec.parameters["properties"])
            query = _worded(given.required("query"))
            mode = given.choice("mode", _MODES, "all_words")
            ids = given.texts("item_ids", _IDS)
            limit, offset = given.integer("limit", DEFAULT, 1, MOST), given.integer("offset", 0, 0, 10**9)
            await self._library.ensure_loaded()
            accepts, scope = await self._library.apart(lambda: self._scope(given, ids))
        except BadArguments as error:
            return ToolResult(str(error), error=True)
        except UnknownValue as unknown:
            return ToolResult(teach(unknown), error=True)
        found = await self._library.search_texts(query, mode, accepts, limit, offset)
        relaxed = not found.items and mode == "all_words" and len(query.split()) > 1
        if relaxed:
            found = await self._library.search_texts(query, "any", accepts, limit, offset)
        rows: dict[str, dict[str, Any]] = {}
        resources: dict[str, Resource] = {}
        checks = _CHECKED
        for hit in found.hits:
            row = rows.setdefault(hit.item_id, self._head(hit))
            checks -= len(hit.snippets)
            row["hits"].append(await self._hit(hit, resources, check=checks >= 0))
        data: dict[str, Any] = {"total": len(found.items), "returned": len(rows), "scope": scope}
        if relaxed and found.items:
            data["relaxed"] = "no text has all words; these have some"
        if offset + len(rows) < len(found.items):
            data["next_offset"] = offset + len(rows)
        if not rows:
            data["hint"] = (
                f"offset {offset} is past the last of {len(found.items)}"
                if found.items
                else "no indexed text has this; try fewer or other words, mode=any, or search_items"
            )
        coverage = self._library.coverage
        data["coverage"] = without_empty(
            {
                "indexed": coverage.indexed,
                "files": coverage.attachments,
                "without_text": coverage.unreadable or None,
                "state": "still indexing" if coverage.running else "",
            }
        )
        data["items"] = list(rows.values())
        return ToolResult(fenced(data), tuple(resources.values()), note=counted(len(found.items), "item"))

    def _scope(self, given: Arguments, ids: tuple[str, ...]) -> tuple[Callable[[str], bool], str]:
        contents = self._library.contents
        filters = Filters(library=given.text("library"), collection=given.text("collection"))
        scope = compile_filters(filters, contents)[1]
        inside = fitting_ids(contents, filters)
        chosen = set()
        for full_id in ids:
            attachment = contents.attachments.get(full_id)
            item = self._library.item(attachment.item_id if attachment else full_id)
            if item is None:
                raise BadArguments(unknown_id(self._library, full_id))
            chosen.add(item.id)
        if chosen:
            scope = (
                f"{scope}; {counted(len(chosen), 'item')}"
                if inside is not None
                else counted(len(chosen), "item")
            )

        def fits(item_id: str) -> bool:
            if chosen and item_id not in chosen:
                return False
            return inside is None or item_id in inside

        return fits, scope

    def _head(self, hit: TextHit) -> dict[str, Any]:
        item = self._library.item(hit.item_id)
        if item is None:
            note = self._library.contents.notes[hit.item_id]
            row = {"id": note.id, "library": note.library.name, "type": "note", "title": note.title}
            return {**row, "hits": []}
        row = {"id": item.id, "library": item.library.name, "source": item_label(item), "title": item.title}
        return {**row, **without_empty({"retracted": item.retraction}), "hits": []}

    async def _hit(self, hit: TextHit, resources: dict[str, Resource], *, check: bool) -> dict[str, Any]:
        contents = self._library.contents
        attachment = contents.attachments.get(hit.id)
        if hit.kind == "note":
            note = contents.notes.get(hit.id)
            if note is not None:
                resources.setdefault(note.id, note_resource(note))
            return {"note_id": hit.id, "snippets": [{"text": s.text} for s in hit.snippets]}
        item = contents.items[hit.item_id]
        shown = []
        for snippet in hit.snippets:
            row: dict[str, Any] = {"text": snippet.text}
            if hit.kind == "annotations":
                annotation = contents.annotations.get(snippet.mark)
                page = annotation.place.page_index if annotation else None
                row |= {"annotation": snippet.mark, "page": page + 1 if page is not None else None}
                row["label"] = annotation.page_label if annotation else ""
            elif attachment is not None and attachment.kind == "pdf":
                place = await self._page(hit, snippet, check=check)
                if place is not None:
                    row |= {"page": place.index + 1, "label": place.label}
                    resource = page_resource(item, attachment, place)
                    resources.setdefault(f"{hit.id} {place.index}", resource)
                else:
                    row["page_unknown"] = True
            shown.append(without_empty(row))
        resources.setdefault(item.id, item_resource(item))
        name = "annotations_of" if hit.kind == "annotations" else "attachment_id"
        return {name: hit.id, "snippets": shown}

    async def _page(self, hit: TextHit, snippet: Snippet, *, check: bool) -> PageText | None:
        """The page of a snippet: sure for texts read from the file, looked up for Zotero's own extract."""
        attachment = self._library.contents.attachments[hit.id]
        sure = hit.source == "file"
        if not sure and (not check or (hit.parts < 2 and (attachment.pages or 0) > 1)):
            return None
        unread = PageText(snippet.part, "", "") if sure else None
        if not check:
            return unread
        try:
            (page,) = await self._library.pages_text(attachment, snippet.part, snippet.part)
        except (DocumentUnreadable, ValueError):
            return unread
        if sure or (snippet.core and check_quote(snippet.core, page.text) == "verified"):
            return page
        return None


def _worded(query: str) -> str:
    if not question(query, "all_words"):
        raise BadArguments("query has no words.")
    if len(query) > 300:
        raise BadArguments("query is longer than 300 characters; use its most telling words.")
    return query
