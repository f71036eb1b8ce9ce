"""`get_items`: the metadata of items whose ids are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bibgenie_desktop.domain.locators import Locator
from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.services.tools.arguments import Arguments, BadArguments
from bibgenie_desktop.services.tools.base import ToolResult
from bibgenie_desktop.services.tools.presenting import (
    attachment_row,
    counted,
    fenced,
    item_resource,
    names,
    shorten,
    without_empty,
)
from bibgenie_desktop.services.tools.targets import unknown_id
from bibgenie_desktop.zotero.citing.csl import csl_item
from bibgenie_desktop.zotero.index.overview import notes_of
from bibgenie_desktop.zotero.model.library import Creator, Item
from bibgenie_desktop.zotero.service import ZoteroLibrary

MOST = 20
_CREATORS, _FIELD, _NOTES, _RELATED = 30, 2_000, 20, 20
_SHOWN = frozenset({"title", "abstractNote", "extra", "DOI", "citationKey", "date", "publicationTitle"})


class GetItems:
    spec = ToolSpec(
        name="get_items",
        description="Metadata of items by id: all fields, abstract, tags, collections, attachments, link.",
        parameters={
            "type": "object",
            "properties": {
                "ids": {"type": "array", "items": {"type": "string"}, "maxItems": MOST},
                "fields": {"enum": ["brief", "full", "csl"], "default": "full"},
            },
            "required": ["ids"],
        },
        slim_description="Metadata of items by id.",
        slim_parameters={
            "type": "object",
            "properties": {"ids": {"type": "array", "items": {"type": "string"}}},
            "required": ["ids"],
        },
    )

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            given = Arguments(arguments, self.spec.parameters["properties"])
            ids = given.texts("ids", MOST)
            form = given.choice("fields", ("brief", "full", "csl"), "full")
        except BadArguments as error:
            return ToolResult(str(error), error=True)
        if not ids:
            return ToolResult("ids is missing: a list of item ids from search_items.", error=True)
        await self._library.ensure_loaded()
        found: dict[str, Item] = {}
        missing = []
        for full_id in ids:
            attachment = self._library.contents.attachments.get(full_id)
            item = self._library.item(attachment.item_id if attachment else full_id)
            if item is None:
                missing.append(unknown_id(self._library, full_id))
            else:
                found[item.id] = item
        if not found:
            return ToolResult(" ".join(missing), error=True)
        items = await self._library.located(found.values())
        rows = [csl_item(i) if form == "csl" else self._row(i, form == "full") for i in items]
        data: dict[str, Any] = {"total": len(ids), "returned": len(items)}
        if missing:
            data["not_found"] = missing
        data["items"] = rows
        return ToolResult(
            fenced(data), resources=tuple(item_resource(i) for i in items), note=counted(len(items), "item")
        )

    def _row(self, item: Item, full: bool) -> dict[str, Any]:
        row: dict[str, Any] = {
            "id": item.id,
            "library": item.library.name,
            "type": item.type,
            "title": item.title,
            "retracted": item.retraction,
            "creators": names(item, 3) if not full else [_creator(c) for c in item.creators[:_CREATORS]],
            "n_creators": len(item.creators) if full and len(item.creators) > _CREATORS else None,
            "date": item.date,
            "year": item.year,
            "venue": item.venue,
            "citekey": item.citekey,
            "doi": item.doi,
            "attachments": [attachment_row(a) for a in item.attachments],
        }
        if full:
            tags = sorted(item.tags, key=lambda t: t.name.lower())
            row |= {
                "abstract": item.abstract,
                "fields": {k: shorten(v, _FIELD) for k, v in item.fields.items() if k not in _SHOWN},
                "extra": item.extra[:_FIELD],
                "tags": [t.name for t in tags if not t.automatic],
                "automatic_tags": [t.name for t in tags if t.automatic],
                "collections": [c.display for c in item.collections],
                "notes": [
                    {"id": n.id, "title": shorten(n.title, 80)}
                    for n in notes_of(self._library.contents, item.id)[:_NOTES]
                ]
                if item.notes
                else [],
                "n_notes": item.notes or None,
                "n_annotations": item.annotations or None,
                "related": list(self._library.contents.related.get(item.id, ()))[:_RELATED],
                "link": self._library.zotero_link(Locator(item.library.id, "item", item=item.key)),
            }
        return without_empty(row)


def _creator(creator: Creator) -> str:
    return creator.name if creator.primary else f"{creator.name} ({creator.role})"
