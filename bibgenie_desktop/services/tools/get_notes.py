"""`get_notes`: the person's notes as Markdown, with the items they cite."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.services.tools.arguments import Arguments, BadArguments
from bibgenie_desktop.services.tools.base import ToolResult
from bibgenie_desktop.services.tools.presenting import (
    counted,
    fenced,
    note_resource,
    page_of,
    shorten,
    without_empty,
)
from bibgenie_desktop.services.tools.targets import unknown_id
from bibgenie_desktop.zotero.index.overview import notes_of
from bibgenie_desktop.zotero.model.folding import fold
from bibgenie_desktop.zotero.model.library import Note
from bibgenie_desktop.zotero.notes.note_text import note_text
from bibgenie_desktop.zotero.service import ZoteroLibrary

MOST_LINES, LINES = 400, 200
MOST_NOTES = 20
_PREVIEW = 200
_LONGEST = 40_000


class GetNotes:
    spec = ToolSpec(
        name="get_notes",
        description=(
            "The person's notes as Markdown: of an item, by ids, or with words. Cited items stand as [@id]. "
            "Several notes come as previews; one comes whole, by lines."
        ),
        parameters={
            "type": "object",
            "properties": {
                "note_ids": {"type": "array", "items": {"type": "string"}},
                "item_id": {"type": "string"},
                "query": {"type": "string"},
                "offset": {"type": "integer", "description": "line of one note, else note"},
                "limit": {"type": "integer", "maximum": MOST_LINES, "default": LINES},
            },
        },
        slim_description="The person's notes, of an item or with words.",
        slim_parameters={
            "type": "object",
            "properties": {"item_id": {"type": "string"}, "query": {"type": "string"}},
        },
    )

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            given = Arguments(arguments, (*self.spec.parameters["properties"], "format"))
            ids, item_id, query = (
                given.texts("note_ids", MOST_NOTES),
                given.text("item_id"),
                given.text("query"),
            )
            offset = given.integer("offset", 0, 0, 10**9)
            limit = given.integer("limit", LINES, 1, MOST_LINES)
            given.choice("format", ("markdown",), "markdown")
            await self._library.ensure_loaded()
            notes, missing, scope = await self._library.apart(lambda: self._chosen(ids, item_id))
        except BadArguments as error:
            return ToolResult(str(error), error=True)
        if not notes and missing:
            return ToolResult(" ".join(missing), error=True)
        if query:
            notes = await asyncio.to_thread(_with_words, notes, fold(query).split())
        data: dict[str, Any]
        if len(notes) == 1:
            data = {"total": 1, "returned": 1, "scope": scope}
            data["notes"] = [await asyncio.to_thread(_whole, notes[0], offset, limit)]
            shown = notes
        else:
            page, said = page_of(notes, offset, MOST_NOTES)
            shown = list(page)
            data = {**said, "scope": scope}
            if not notes:
                data["hint"] = f"0 of {len(self._library.contents.notes)} notes are in this scope" + (
                    " with these words" if query else ""
                )
            data["notes"] = await asyncio.to_thread(lambda: [_preview(n) for n in shown])
        if missing:
            data["not_found"] = missing
        return ToolResult(fenced(data), tuple(note_resource(n) for n in shown), counted(len(notes), "note"))

    def _chosen(self, ids: tuple[str, ...], item_id: str) -> tuple[list[Note], list[str], str]:
        contents = self._library.contents
        if ids:
            found = [contents.notes[i] for i in ids if i in contents.notes]
            return found, [unknown_id(self._library, i) for i in ids if i not in contents.notes], "by id"
        if item_id:
            if item_id in contents.notes:
                return [contents.notes[item_id]], [], "by id"
            attachment = contents.attachments.get(item_id)
            item = self._library.item(attachment.item_id if attachment else item_id)
            if item is None:
                raise BadArguments(unknown_id(self._library, item_id))
            return notes_of(contents, item.id), [], f"item {item.id}"
        return (
            sorted(contents.notes.values(), key=lambda n: (n.modified, n.id), reverse=True),
            [],
            "all libraries",
        )


def _with_words(notes: list[Note], words: list[str]) -> list[Note]:
    found = []
    for note in notes:
        text = fold(f"{note.title} {' '.join(t.name for t in note.tags)} {note_text(note).markdown}")
        if all(word in text for word in words):
            found.append(note)
    return found


def _head(note: Note) -> dict[str, Any]:
    return {
        "id": note.id,
        "library": note.library.name,
        "title": note.title,
        "item_id": note.item_id,
        "tags": [t.name for t in note.tags],
        "collections": [c.display for c in note.collections],
        "modified": note.modified[:10],
    }


def _preview(note: Note) -> dict[str, Any]:
    text = note_text(note)
    size, preview = len(text.markdown), shorten(text.markdown, _PREVIEW)
    return without_empty({**_head(note), "chars": size, "preview": preview, "problem": text.problem})


def _whole(note: Note, offset: int, limit: int) -> dict[str, Any]:
    text = note_text(note)
    lines = text.markdown.split("\n")
    shown: list[str] = []
    size = 0
    for line in lines[offset : offset + limit]:
        size += len(line) + 1
        if size > _LONGEST and shown:
            break
        shown.append(line[:_LONGEST])
    row = without_empty({**_head(note), "lines_total": len(lines), "problem": text.problem})
    if offset >= len(lines):
        return {**row, "hint": f"offset {offset} is past the last of {len(lines)} lines"}
    row["markdown"] = "\n".join(shown)
    if offset + len(shown) < len(lines):
        row["next_offset"] = offset + len(shown)
    return row
