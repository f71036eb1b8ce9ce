"""`list_items`: what lies in a collection, carries a tag, is filed nowhere, or came last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.services.tools.arguments import Arguments, BadArguments
from bibgenie_desktop.services.tools.base import ToolResult
from bibgenie_desktop.services.tools.presenting import (
    counted,
    fenced,
    item_resource,
    page_of,
    teach,
    without_empty,
)
from bibgenie_desktop.services.tools.search_items import item_row
from bibgenie_desktop.zotero.index.filters import Filters, UnknownValue, compile_filters, find_collections
from bibgenie_desktop.zotero.index.listing import Order, ordered_ids
from bibgenie_desktop.zotero.model.folding import key
from bibgenie_desktop.zotero.model.library import Note
from bibgenie_desktop.zotero.service import ZoteroLibrary

MOST, DEFAULT = 50, 25
NO_SAVED_SEARCHES = (
    "Saved searches of Zotero cannot be run here: their conditions are known to Zotero only. Use "
    "search_items with the words and filters that are meant, or ask the person to put what the search finds "
    "into a collection."
)
_ORDERS: tuple[Order, ...] = ("title", "year", "date_added", "date_modified")


class ListItems:
    spec = ToolSpec(
        name="list_items",
        description="All items of a collection, with a tag, unfiled, or recent. Brief rows.",
        parameters={
            "type": "object",
            "properties": {
                "collection": {"type": "string"},
                "recursive": {"type": "boolean", "default": True},
                "tag": {"type": "string"},
                "unfiled": {"type": "boolean"},
                "recent": {"type": "boolean", "description": "newest first"},
                "library": {"type": "string"},
                "sort": {"enum": list(_ORDERS)},
                "limit": {"type": "integer", "maximum": MOST, "default": DEFAULT},
                "offset": {"type": "integer"},
            },
        },
        slim_description="Items of a collection or with a tag.",
        slim_parameters={
            "type": "object",
            "properties": {
                "collection": {"type": "string"},
                "tag": {"type": "string"},
                "offset": {"type": "integer"},
            },
        },
    )

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        if isinstance(arguments, Mapping) and arguments.get("saved_search"):
            return ToolResult(NO_SAVED_SEARCHES, error=True)
        try:
            given = Arguments(arguments, self.spec.parameters["properties"])
            collection, recursive = given.text("collection"), given.flag("recursive") is not False
            unfiled, recent = bool(given.flag("unfiled")), bool(given.flag("recent"))
            newest: Order = "date_added" if recent else "title"
            order = given.choice("sort", _ORDERS, newest)
            limit, offset = given.integer("limit", DEFAULT, 1, MOST), given.integer("offset", 0, 0, 10**9)
            await self._library.ensure_loaded()
            contents = self._library.contents
            tags = (given.text("tag"),) if given.text("tag") else ()
            filters = Filters(tags=tags, library=given.text("library"), collection=collection)
            scope = compile_filters(filters, contents)[1]
            only: frozenset[str] | None = None
            if collection and not recursive:
                below, name = find_collections(collection, contents)
                only = frozenset(c.id for c in contents.collections if c.id in below and c.display == name)
                scope = scope.replace(" with its subcollections", " itself")
        except BadArguments as error:
            return ToolResult(str(error), error=True)
        except UnknownValue as unknown:
            return ToolResult(teach(unknown), error=True)
        if unfiled and collection:
            return ToolResult("unfiled items lie in no collection: give one or the other.", error=True)

        def fitting() -> list[str | Note]:
            ids = ordered_ids(contents, filters, order, only=only, unfiled=unfiled)
            return [*ids, *self._notes(collection, only, tags, unfiled)]

        rows = await self._library.apart(fitting)
        shown, data = page_of(rows, offset, limit)
        data["scope"] = "; ".join([scope, *(["in no collection"] if unfiled else [])])
        if not rows:
            data["hint"] = f"0 of {len(contents.items)} items are there"
        located = {
            i.id: i
            for i in await self._library.located(contents.items[r] for r in shown if isinstance(r, str))
        }
        several = len(contents.libraries) > 1
        data["items"] = [
            item_row(located[r], several, abstract=0) if isinstance(r, str) else _note_row(r) for r in shown
        ]
        return ToolResult(
            fenced(data),
            tuple(item_resource(located[r]) for r in shown if isinstance(r, str)),
            note=counted(len(rows), "item"),
        )

    def _notes(
        self, collection: str, only: frozenset[str] | None, tags: tuple[str, ...], unfiled: bool
    ) -> list[Note]:
        """Notes that stand alone and lie there too."""
        if not collection and not tags and not unfiled:
            return []
        contents = self._library.contents
        inside = only
        if collection and only is None:
            inside = find_collections(collection, contents)[0]
        wanted = {key(t) for t in tags}
        return [
            n
            for n in contents.notes.values()
            if not n.item_id
            and (inside is None or any(c.id in inside for c in n.collections))
            and wanted <= {key(t.name) for t in n.tags}
            and not (unfiled and n.collections)
        ]


def _note_row(note: Note) -> dict[str, Any]:
    return without_empty({"id": note.id, "type": "note", "title": note.title})
