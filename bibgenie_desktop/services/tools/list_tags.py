"""`list_tags`: the tags of the library, with how often they are used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.services.tools.arguments import Arguments, BadArguments
from bibgenie_desktop.services.tools.base import ToolResult
from bibgenie_desktop.services.tools.presenting import counted, fenced, page_of, teach, without_empty
from bibgenie_desktop.zotero.index.filters import Filters, UnknownValue, find_collections, find_library
from bibgenie_desktop.zotero.index.listing import fitting
from bibgenie_desktop.zotero.model.annotations import color_name
from bibgenie_desktop.zotero.model.counts import TagCount
from bibgenie_desktop.zotero.model.folding import fold
from bibgenie_desktop.zotero.service import ZoteroLibrary

MOST, DEFAULT = 200, 50


class ListTags:
    spec = ToolSpec(
        name="list_tags",
        description="Tags with counts, most used first.",
        parameters={
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "collection": {"type": "string"},
                "library": {"type": "string"},
                "include_automatic": {"type": "boolean"},
                "min_count": {"type": "integer"},
                "limit": {"type": "integer", "maximum": MOST, "default": DEFAULT},
                "offset": {"type": "integer"},
            },
        },
        slim_parameters={"type": "object", "properties": {"query": {"type": "string"}}},
    )

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            given = Arguments(arguments, self.spec.parameters["properties"])
            least = given.integer("min_count", 1, 0, 10**9)
            automatic = bool(given.flag("include_automatic"))
            query = fold(given.text("query")).split()
            limit, offset = given.integer("limit", DEFAULT, 1, MOST), given.integer("offset", 0, 0, 10**9)
            await self._library.ensure_loaded()
            contents = self._library.contents
            library = find_library(given.text("library"), contents) if given.text("library") else ""
            tags: list[TagCount] = list(await self._library.tag_counts())
            scope = f"library {library}" if library else "all libraries"
            if collection := given.text("collection"):
                name = find_collections(collection, contents)[1]
                tags = await self._library.apart(lambda: self._within(tags, collection))
                scope = f"items of “{name}” and its subcollections"
        except BadArguments as error:
            return ToolResult(str(error), error=True)
        except UnknownValue as unknown:
            return ToolResult(teach(unknown), error=True)
        chosen = [
            t
            for t in tags
            if (not library or t.library == library)
            and (automatic or not t.automatic)
            and t.items + t.elsewhere >= least
            and all(word in fold(t.name) for word in query)
        ]
        shown, data = page_of(chosen, offset, limit)
        data["scope"] = scope
        if not chosen:
            hidden = sum(t.automatic for t in tags)
            data["hint"] = f"of {len(tags)} tags none fits" + (
                f"; {hidden} automatic ones need include_automatic" if hidden and not automatic else ""
            )
        several = len(contents.libraries) > 1
        data["tags"] = [_row(t, several) for t in shown]
        return ToolResult(fenced(data), note=counted(len(chosen), "tag"))

    def _within(self, tags: list[TagCount], collection: str) -> list[TagCount]:
        used = Counter(
            (item.library.id, tag.name)
            for item in fitting(self._library.contents, Filters(collection=collection))
            for tag in item.tags
        )
        found = [
            TagCount(t.name, t.library, used[t.library, t.name], 0, t.automatic, t.color)
            for t in tags
            if used[t.library, t.name]
        ]
        return sorted(found, key=lambda t: (-t.items, t.name.lower()))


def _row(tag: TagCount, several: bool) -> dict[str, Any]:
    return without_empty(
        {
            "name": tag.name,
            "library": tag.library if several else "",
            "count": tag.items,
            "on_notes_and_annotations": tag.elsewhere or None,
            "color": color_name(tag.color),
            "automatic": tag.automatic or None,
        }
    )
