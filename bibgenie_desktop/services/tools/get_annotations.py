"""`get_annotations`: what the person marked and wrote beside it, in reading order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bibgenie_desktop.domain.locators import Locator
from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.services.tools.arguments import Arguments, BadArguments
from bibgenie_desktop.services.tools.base import ToolResult
from bibgenie_desktop.services.tools.presenting import (
    annotation_resource,
    counted,
    fenced,
    page_of,
    shorten,
    teach,
    without_empty,
)
from bibgenie_desktop.services.tools.targets import unknown_id
from bibgenie_desktop.zotero.index.filters import Filters, UnknownValue, compile_filters
from bibgenie_desktop.zotero.index.listing import fitting_ids
from bibgenie_desktop.zotero.index.overview import marks_in, marks_of
from bibgenie_desktop.zotero.model.annotations import COLORS, TYPES, Annotation
from bibgenie_desktop.zotero.model.folding import fold, key
from bibgenie_desktop.zotero.service import ZoteroLibrary

MOST, DEFAULT = 100, 50
_TEXT = 2_000
_NAMES: tuple[str, ...] = tuple(COLORS)
_KINDS: tuple[str, ...] = tuple(TYPES.values())
_LIST = {"type": "array", "items": {"type": "string"}}


class GetAnnotations:
    spec = ToolSpec(
        name="get_annotations",
        description=(
            "The person's highlights and comments in reading order: of an item or attachment id, a "
            "collection, or the whole library."
        ),
        parameters={
            "type": "object",
            "properties": {
                "item_id": {"type": "string"},
                "collection": {"type": "string"},
                "library": {"type": "string"},
                "query": {"type": "string"},
                "colors": {"type": "array", "items": {"type": "string"}, "description": "e.g. yellow"},
                "types": {"type": "array", "items": {"enum": list(_KINDS)}},
                "tags": _LIST,
                "author": {"type": "string"},
                "modified_since": {"type": "string", "description": "YYYY-MM-DD"},
                "order": {"enum": ["reading", "modified"]},
                "limit": {"type": "integer", "maximum": MOST, "default": DEFAULT},
                "offset": {"type": "integer"},
            },
        },
        slim_description="The person's highlights and comments in a document.",
        slim_parameters={
            "type": "object",
            "properties": {"item_id": {"type": "string"}, "query": {"type": "string"}},
        },
    )

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            given = Arguments(arguments, (*self.spec.parameters["properties"], "attachment_id"))
            colors = _known(given.texts("colors", 20), _NAMES, "colors")
            types = _known(given.texts("types", 10), _KINDS, "types")
            tags = {key(t) for t in given.texts("tags", 20)}
            words = fold(given.text("query")).split()
            author, since = key(given.text("author")), given.text("modified_since")
            order = given.choice("order", ("reading", "modified"), "reading")
            limit, offset = given.integer("limit", DEFAULT, 1, MOST), given.integer("offset", 0, 0, 10**9)
            await self._library.ensure_loaded()
            whole, scope = await self._library.apart(lambda: self._scope(given))
        except BadArguments as error:
            return ToolResult(str(error), error=True)
        except UnknownValue as unknown:
            return ToolResult(teach(unknown), error=True)
        chosen = [
            a
            for a in whole
            if (not colors or a.color_name in colors or a.color.lower() in colors)
            and (not types or a.type in types)
            and tags <= {key(t.name) for t in a.tags}
            and (not author or author in key(a.author))
            and (not since or a.modified >= since)
            and (not words or _has(a, words))
        ]
        if order == "modified":
            chosen.sort(key=lambda a: (a.modified, a.id), reverse=True)
        shown, data = page_of(chosen, offset, limit)
        data["scope"] = scope
        if not chosen:
            data["hint"] = f"{len(whole)} annotations are in this scope, none fits" if whole else self._none()
        data["annotations"] = [self._row(a) for a in shown]
        contents = self._library.contents
        return ToolResult(
            fenced(data),
            tuple(annotation_resource(a, contents) for a in shown),
            note=counted(len(chosen), "annotation"),
            for_eyes="view_page with annotation_id shows what an image or ink annotation marks."
            if any(a.type in ("image", "ink") for a in shown)
            else "",
        )

    def _scope(self, given: Arguments) -> tuple[list[Annotation], str]:
        contents = self._library.contents
        full_id = given.text("attachment_id") or given.text("item_id")
        filters = Filters(library=given.text("library"), collection=given.text("collection"))
        if not full_id:
            scope = compile_filters(filters, contents)[1]
            inside = fitting_ids(contents, filters)
            marks = contents.annotations.values()
            return [a for a in marks if inside is None or a.item_id in inside], scope
        if full_id in contents.annotations:
            return [contents.annotations[full_id]], full_id
        attachment = contents.attachments.get(full_id)
        if attachment is not None and attachment.parent_id:
            return marks_in(contents, full_id), f"attachment {full_id}"
        if (item := self._library.item(full_id)) is None:
            raise BadArguments(unknown_id(self._library, full_id))
        return marks_of(contents, item.id), f"item {item.id}"

    def _none(self) -> str:
        return "there are no annotations in this scope; marks inside a PDF file itself are not listed"

    def _row(self, annotation: Annotation) -> dict[str, Any]:
        place = annotation.place
        attachment = self._library.contents.attachments[annotation.attachment_id]
        link = self._library.zotero_link(
            Locator(
                attachment.library.id,
                "annotation",
                att=attachment.key,
                page_index=place.page_index,
                annotation=annotation.key,
            )
        )
        return without_empty(
            {
                "id": annotation.id,
                "type": annotation.type,
                "text": shorten(annotation.text, _TEXT),
                "comment": shorten(annotation.comment, _TEXT),
                "color": annotation.color_name,
                "page": place.page_index + 1 if place.page_index is not None else None,
                "label": annotation.page_label,
                "cfi": place.cfi,
                "tags": [t.name for t in annotation.tags],
                "author": annotation.author,
                "attachment_id": annotation.attachment_id,
                "item_id": annotation.item_id,
                "link": link,
            }
        )


def _has(annotation: Annotation, words: list[str]) -> bool:
    text = fold(f"{annotation.text} {annotation.comment} {' '.join(t.name for t in annotation.tags)}")
    return all(word in text for word in words)


def _known(values: tuple[str, ...], valid: tuple[str, ...], name: str) -> frozenset[str]:
    chosen = frozenset(v.lower() for v in values)
    wrong = [v for v in chosen if v not in valid and not v.startswith("#")]
    if wrong:
        raise BadArguments(f"{name}: there is no {wrong[0][:30]!r}. Valid: {', '.join(valid)}.")
    return chosen
