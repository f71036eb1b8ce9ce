"""`get_related`: what belongs to an item, by the person's own links, by place, by tags or by authors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.services.tools.arguments import Arguments, BadArguments
from bibgenie_desktop.services.tools.base import ToolResult
from bibgenie_desktop.services.tools.presenting import (
    counted,
    fenced,
    item_resource,
    page_of,
    without_empty,
)
from bibgenie_desktop.services.tools.search_items import item_row
from bibgenie_desktop.services.tools.targets import unknown_id
from bibgenie_desktop.zotero.index.listing import Common, candidates
from bibgenie_desktop.zotero.model.folding import key
from bibgenie_desktop.zotero.model.library import Item
from bibgenie_desktop.zotero.service import ZoteroLibrary

MOST, DEFAULT = 25, 10
Kind = Literal["related", "same_collection", "shared_tags", "same_author"]
_KINDS: tuple[Kind, ...] = ("related", "same_collection", "shared_tags", "same_author")


class GetRelated:
    spec = ToolSpec(
        name="get_related",
        description="Items that belong to an item; `related` are the person's own links.",
        parameters={
            "type": "object",
            "properties": {
                "item_id": {"type": "string"},
                "kind": {"enum": list(_KINDS)},
                "limit": {"type": "integer", "maximum": MOST, "default": DEFAULT},
                "offset": {"type": "integer"},
            },
            "required": ["item_id"],
        },
        slim_description="Items related to an item.",
        slim_parameters={
            "type": "object",
            "properties": {"item_id": {"type": "string"}, "kind": {"enum": list(_KINDS)}},
            "required": ["item_id"],
        },
    )

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            given = Arguments(arguments, self.spec.parameters["properties"])
            full_id = given.required("item_id")
            kind = given.choice("kind", _KINDS, "related")
            limit, offset = given.integer("limit", DEFAULT, 1, MOST), given.integer("offset", 0, 0, 10**9)
            await self._library.ensure_loaded()
            contents = self._library.contents
            found = await self._library.apart(lambda: self._found(full_id, kind))
        except BadArguments as error:
            return ToolResult(str(error), error=True)
        shown, data = page_of(found, offset, limit)
        if not found:
            data["hint"] = (
                f"nothing found by kind={kind}; other kinds: {', '.join(k for k in _KINDS if k != kind)}"
            )
        items = {
            i.id: i
            for i in await self._library.located(contents.items[i] for i, _ in shown if i in contents.items)
        }
        several = len(contents.libraries) > 1
        data["items"] = [
            {**self._row(other, items.get(other), several), "reason": reason} for other, reason in shown
        ]
        return ToolResult(
            fenced(data), tuple(map(item_resource, items.values())), counted(len(found), "item")
        )

    def _found(self, full_id: str, kind: Kind) -> list[tuple[str, str]]:
        """(id, reason) of what belongs to an item or note."""
        contents = self._library.contents
        attachment = contents.attachments.get(full_id)
        item = self._library.item(attachment.item_id if attachment else full_id)
        if item is not None:
            return self._related(item.id) if kind == "related" else self._similar(item, kind)
        if full_id not in contents.notes:
            raise BadArguments(unknown_id(self._library, full_id))
        if kind != "related":
            raise BadArguments(f"{full_id} is a note; it has only kind=related.")
        return self._related(full_id)

    def _row(self, full_id: str, item: Item | None, several: bool) -> dict[str, Any]:
        if item is not None:
            return item_row(item, several, abstract=0)
        note = self._library.contents.notes[full_id]
        return without_empty({"id": full_id, "type": "note", "title": note.title})

    def _related(self, full_id: str) -> list[tuple[str, str]]:
        contents = self._library.contents
        linked = [(other, "linked in Zotero") for other in contents.related.get(full_id, ())]
        copies = [(other, "the same work in another library") for other in contents.copies.get(full_id, ())]
        return linked + copies

    def _similar(self, item: Item, kind: Common) -> list[tuple[str, str]]:
        """Others with something in common, those with the most first."""
        match kind:
            case "same_collection":
                own = {c.id: c.display for c in item.collections}
                of = _collections
            case "shared_tags":
                own = {f"{item.library.id} {key(t.name)}": t.name for t in item.tags}
                of = _tags
            case _:
                own = {key(c.sort_name): c.name for c in item.creators}
                of = _creators
        shared: Counter[str] = Counter()
        reasons: dict[str, str] = {}
        years: dict[str, int] = {}
        for other in candidates(self._library.contents, item, kind):
            if other.id == item.id:
                continue
            common = [own[name] for name in of(other) if name in own]
            if common:
                shared[other.id] = len(common)
                years[other.id] = other.year or 0
                reasons[other.id] = ", ".join(dict.fromkeys(common))
        ranked = sorted(shared, key=lambda i: (-shared[i], -years[i], i))
        return [(other, reasons[other]) for other in ranked]


def _collections(item: Item) -> list[str]:
    return [c.id for c in item.collections]


def _tags(item: Item) -> list[str]:
    return [f"{item.library.id} {key(t.name)}" for t in item.tags]


def _creators(item: Item) -> list[str]:
    return [key(c.sort_name) for c in item.creators]
