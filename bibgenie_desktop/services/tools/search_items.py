"""`search_items`: keywords and filters over the metadata of the library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    teach,
    without_empty,
)
from bibgenie_desktop.zotero.index.filters import Filters, UnknownValue
from bibgenie_desktop.zotero.index.search import Hits, Query, Sort
from bibgenie_desktop.zotero.model.library import Item
from bibgenie_desktop.zotero.service import ZoteroLibrary

MOST, DEFAULT = 25, 10
_ABSTRACT, _CREATORS = 300, 3
_SORTS: tuple[Sort, ...] = ("relevance", "date_added", "year", "title")
_TEXT = {"type": "string"}
_WHOLE = {"type": "integer"}


class SearchItems:
    spec = ToolSpec(
        name="search_items",
        description=(
            "Search the metadata of the Zotero library: title, creators, year, venue, tags, abstract, "
            "citation key (not the full text). Few keywords; each word narrows; if no item has all of them, "
            "items with some are returned, marked relaxed. Rows carry ids of items and attachments."
        ),
        parameters={
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "keywords"},
                "author": _TEXT,
                "title": _TEXT,
                "year_from": _WHOLE,
                "year_to": _WHOLE,
                "item_type": {"type": "string", "description": "e.g. journalArticle"},
                "tags": {"type": "array", "items": _TEXT},
                "tags_mode": {"enum": ["all", "any"]},
                "collection": {"type": "string", "description": "key or path; with its subcollections"},
                "library": {"type": "string", "description": "u or g<groupID>; default all"},
                "has_pdf": {"type": "boolean"},
                "citekey": _TEXT,
                "doi": _TEXT,
                "sort": {"enum": list(_SORTS)},
                "limit": {"type": "integer", "maximum": MOST, "default": DEFAULT},
                "offset": _WHOLE,
            },
        },
        slim_description="Search titles, creators, years, tags and abstracts of the Zotero library.",
        slim_parameters={
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "few keywords"},
                "author": _TEXT,
                "year_from": _WHOLE,
                "year_to": _WHOLE,
                "offset": _WHOLE,
            },
        },
    )

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            query = _query(Arguments(arguments, self.spec.parameters["properties"]))
            await self._library.ensure_loaded()
            hits = await self._library.search(query)
        except BadArguments as error:
            return ToolResult(str(error), error=True)
        except UnknownValue as unknown:
            return ToolResult(teach(unknown), error=True)
        return self._result(query, hits)

    def _result(self, query: Query, hits: Hits) -> ToolResult:
        several = len(self._library.contents.libraries) > 1
        data: dict[str, Any] = {"total": hits.total, "returned": len(hits.items), "scope": hits.scope}
        if hits.relaxed:
            data["relaxed"] = "no item has all words; these have some"
        if query.offset + len(hits.items) < hits.total:
            data["next_offset"] = query.offset + len(hits.items)
        if not hits.items:
            data["hint"] = self._hint(query, hits)
        data["items"] = [item_row(item, several) for item in hits.items]
        return ToolResult(
            fenced(data),
            resources=tuple(item_resource(item) for item in hits.items),
            note=counted(hits.total, "item"),
        )

    def _hint(self, query: Query, hits: Hits) -> str:
        if hits.total:
            return f"offset {query.offset} is past the last of {hits.total}"
        size = len(self._library.contents.items)
        if hits.unfiltered:
            return f"0 in this scope; the words alone find {hits.unfiltered} of {size} items"
        if not query.text:
            return f"0 of {size} items meet the filters"
        return f"0 of {size} items; try other or fewer words, or another language"


def _query(given: Arguments) -> Query:
    low, high = given.optional_integer("year_from"), given.optional_integer("year_to")
    if low is not None and high is not None and low > high:
        raise BadArguments(f"year_from {low} is after year_to {high}.")
    filters = Filters(
        author=given.text("author"),
        title=given.text("title"),
        year_from=low,
        year_to=high,
        item_type=given.text("item_type"),
        tags=given.texts("tags", 20),
        tags_mode=given.choice("tags_mode", ("all", "any"), "all"),
        collection=given.text("collection"),
        library="" if given.text("library").lower() == "all" else given.text("library"),
        has_pdf=given.flag("has_pdf"),
        citekey=given.text("citekey"),
        doi=given.text("doi"),
    )
    return Query(
        text=given.text("query"),
        filters=filters,
        sort=given.choice("sort", _SORTS, "relevance"),
        limit=given.integer("limit", DEFAULT, 1, MOST),
        offset=given.integer("offset", 0, 0, 10**9),
    )


def item_row(item: Item, several: bool, abstract: int = _ABSTRACT) -> dict[str, Any]:
    """An item as lists show it; `several`: there is more than one library."""
    return without_empty(
        {
            "id": item.id,
            "library": item.library.name if several else "",
            "type": item.type,
            "title": item.title,
            "retracted": item.retraction,
            "creators": names(item, _CREATORS),
            "year": item.year,
            "venue": item.venue,
            "citekey": item.citekey,
            "abstract": shorten(item.abstract, abstract) if abstract else "",
            "attachments": [attachment_row(a) for a in item.attachments],
            "n_notes": item.notes or None,
            "n_annotations": item.annotations or None,
        }
    )
