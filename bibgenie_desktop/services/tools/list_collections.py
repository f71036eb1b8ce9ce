"""`list_collections`: the collections of the library with their figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.services.tools.arguments import Arguments, BadArguments
from bibgenie_desktop.services.tools.base import ToolResult
from bibgenie_desktop.services.tools.presenting import counted, fenced, page_of, teach, without_empty
from bibgenie_desktop.zotero.index.filters import UnknownValue, find_collections, find_library
from bibgenie_desktop.zotero.model.counts import CollectionCount
from bibgenie_desktop.zotero.model.folding import fold
from bibgenie_desktop.zotero.service import ZoteroLibrary

MOST, DEFAULT = 200, 100


class ListCollections:
    spec = ToolSpec(
        name="list_collections",
        description="Collections with item counts, top level first; saved searches by name.",
        parameters={
            "type": "object",
            "properties": {
                "library": {"type": "string"},
                "parent": {"type": "string", "description": "id or path"},
                "recursive": {"type": "boolean"},
                "query": {"type": "string"},
                "limit": {"type": "integer", "maximum": MOST, "default": DEFAULT},
                "offset": {"type": "integer"},
            },
        },
        slim_description="Collections with counts.",
        slim_parameters={"type": "object", "properties": {"query": {"type": "string"}}},
    )

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            given = Arguments(arguments, self.spec.parameters["properties"])
            query, recursive = given.text("query"), bool(given.flag("recursive"))
            limit, offset = given.integer("limit", DEFAULT, 1, MOST), given.integer("offset", 0, 0, 10**9)
            await self._library.ensure_loaded()
            contents = self._library.contents
            library = find_library(given.text("library"), contents) if given.text("library") else ""
            rows = [c for c in await self._library.collection_counts() if _in(c, library)]
            scope = f"library {library}" if library else "all libraries"
            if parent := given.text("parent"):
                below, name = find_collections(parent, contents)
                tops = {c.collection.id for c in rows if c.collection.display == name} & below
                if recursive or query:
                    rows = [c for c in rows if c.collection.id in below - tops]
                else:
                    rows = [c for c in rows if c.collection.parent_id in tops]
                scope = f"below “{name}”"
            elif not recursive and not query:
                rows = [c for c in rows if not c.collection.parent_id]
        except BadArguments as error:
            return ToolResult(str(error), error=True)
        except UnknownValue as unknown:
            return ToolResult(teach(unknown), error=True)
        if query:
            rows = [c for c in rows if all(w in fold(c.collection.display) for w in fold(query).split())]
        shown, data = page_of(rows, offset, limit)
        data["scope"] = scope
        if not rows and query:
            data["hint"] = f"no collection of {len(contents.collections)} has these words in its path"
        data["collections"] = [_row(c) for c in shown]
        searches = [s.name for s in contents.saved_searches if not library or s.library.id == library]
        if searches and not parent and not query:
            data["saved_searches"] = searches[:50]
        return ToolResult(fenced(data), note=counted(len(rows), "collection"))


def _in(count: CollectionCount, library: str) -> bool:
    return not library or count.collection.library.id == library


def _row(count: CollectionCount) -> dict[str, Any]:
    return without_empty(
        {
            "id": count.collection.id,
            "library": count.collection.library.name,
            "path": count.collection.display,
            "parent": count.collection.parent_id,
            "items": count.items,
            "items_with_subcollections": count.all_items if count.subcollections else None,
            "sub_count": count.subcollections or None,
        }
    )
