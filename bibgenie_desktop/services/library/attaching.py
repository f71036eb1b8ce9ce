"""Zotero things attached to a question: what the model is sent of them is made here, once, and stays.

Items come with metadata and abstract, notes and annotations with their text; long ones are cut and say how
much is left out. The rest the model reads with its tools.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from bibgenie_desktop.domain.locators import Locator, split_id
from bibgenie_desktop.domain.parts import ResourcePart
from bibgenie_desktop.domain.serialise import grapheme_border
from bibgenie_desktop.services.library.item_details import KINDS
from bibgenie_desktop.services.library.payloads import Payload, pointers_of, rows_of
from bibgenie_desktop.services.library.pointers import Pointer
from bibgenie_desktop.services.library.recognising import in_rows, titled_in
from bibgenie_desktop.services.tools.presenting import (
    annotation_resource,
    attachment_row,
    fenced,
    item_resource,
    named,
    names,
    note_resource,
    without_empty,
)
from bibgenie_desktop.zotero.index.filters import Filters
from bibgenie_desktop.zotero.index.search import Query
from bibgenie_desktop.zotero.model.annotations import Annotation
from bibgenie_desktop.zotero.model.library import Attachment, Contents, Item, Note
from bibgenie_desktop.zotero.notes.note_text import note_text
from bibgenie_desktop.zotero.service import ZoteroLibrary

ABSTRACT: Final = 4_000
NOTE: Final = 12_000
MARK: Final = 3_000
"""Characters of an abstract, a note, and the words of an annotation."""
CREATORS, TAGS, FILES = 12, 20, 20
MOST_TEXT: Final = 20_000


@dataclass(frozen=True, slots=True)
class Attached:
    """What could be attached, and what the library in use does not have."""

    parts: tuple[ResourcePart, ...]
    missing: tuple[str, ...] = ()


class Attaching:
    """Belongs to one library."""

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library

    async def by_ids(self, ids: Sequence[str]) -> Attached:
        """Items, attachments, notes and annotations by their full ids."""
        return await self._resolved([Pointer(full_id) for full_id in ids])

    async def by_payload(self, payload: Payload) -> Attached:
        """What was pasted or dropped. Of a dragged reference without link or DOI the title is recognised."""
        await self._library.ensure_loaded()
        found = await self._resolved(pointers_of(payload))
        if found.parts or not (payload.dropped or payload.formats):
            return found
        if self._library.status.kind == "files" and (rows := rows_of(payload)):
            contents = self._library.contents
            ids = await self._library.apart(lambda: in_rows(contents, rows, payload.text[:MOST_TEXT]))
            if ids:
                return await self.by_ids(ids)
        works = await asyncio.to_thread(titled_in, payload.text[:MOST_TEXT], self._library.contents)
        return await self.by_ids(works) if works else found

    async def _resolved(self, pointers: Sequence[Pointer]) -> Attached:
        await self._library.ensure_loaded()
        parts: dict[ResourcePart, None] = {}
        missing: list[str] = []
        for pointer in pointers:
            part = await self._part(pointer)
            if part is None:
                missing.append(pointer.id or pointer.doi or pointer.citekey or pointer.quote[:40])
            else:
                parts[part] = None
        return Attached(tuple(parts), tuple(missing))

    async def _part(self, pointer: Pointer) -> ResourcePart | None:
        contents = self._library.contents
        if not pointer.id and (pointer.doi or pointer.citekey):
            filters = Filters(doi=pointer.doi, citekey=pointer.citekey)
            hits = await self._library.search(Query(filters=filters, limit=1))
            return item_part(hits.items[0]) if hits.items else None
        found = await self._library.apart(lambda: _look(pointer, contents))
        if not isinstance(found, tuple):
            return found
        item, attachment = found
        item = (await self._library.located([item]))[0]
        if pointer.quote:
            return passage_part(item, attachment, pointer)
        if attachment is not None and attachment.parent_id:
            located = next((a for a in item.attachments if a.id == attachment.id), attachment)
            return attachment_part(item, located, pointer.page)
        return item_part(item)


def _look(pointer: Pointer, contents: Contents) -> ResourcePart | tuple[Item, Attachment | None] | None:
    """A part right away for an annotation or a note, else the item and perhaps the attachment it means."""
    split = split_id(pointer.id)
    if split is None:
        return None
    full_id = f"{split[0]}-{split[1]}"
    mark = contents.annotations.get(f"{split[0]}-{pointer.annotation}") if pointer.annotation else None
    mark = mark or contents.annotations.get(full_id)
    if mark is not None:
        return annotation_part(mark, contents)
    note = contents.notes.get(full_id)
    if note is not None:
        return note_part(note)
    attachment = contents.attachments.get(full_id)
    item = contents.items.get(attachment.item_id if attachment is not None else full_id)
    return None if item is None else (item, attachment)


def item_part(item: Item) -> ResourcePart:
    abstract, left_out = _cut(item.abstract.strip(), ABSTRACT)
    data = {
        **_brief(item),
        "date": item.date,
        "doi": item.doi,
        "citekey": item.citekey,
        "library": item.library.name if item.library.group_id is not None else "",
        "abstract": abstract,
        "abstract_left_out": left_out,
        "tags": [t.name for t in item.tags[:TAGS]],
        "attachments": [attachment_row(a) for a in item.attachments[:FILES]],
        "n_notes": item.notes or None,
        "n_annotations": item.annotations or None,
    }
    resource = item_resource(item)
    return _part(resource.locator, resource.title, "item", data)


def attachment_part(item: Item, attachment: Attachment, page: int | None = None) -> ResourcePart:
    locator = _within(item, attachment, page)
    data = {**attachment_row(attachment), "title": attachment.title, "page": page, "item": _brief(item)}
    return _part(locator, f"{named(item)} ({attachment.kind.upper()})", "attachment", data)


def note_part(note: Note) -> ResourcePart:
    whole = note_text(note)
    text, left_out = _cut(whole.markdown.strip(), NOTE)
    data = {
        "id": note.id,
        "title": note.title,
        "item_id": note.item_id,
        "markdown": text,
        "left_out": left_out,
        "problem": whole.problem or None,
        "tags": [t.name for t in note.tags],
    }
    resource = note_resource(note)
    return _part(resource.locator, resource.title, "note", data)


def annotation_part(annotation: Annotation, contents: Contents) -> ResourcePart:
    item = contents.items[annotation.item_id]
    text, text_left_out = _cut(annotation.text.strip(), MARK)
    comment, comment_left_out = _cut(annotation.comment.strip(), MARK)
    index = annotation.place.page_index
    data = {
        "id": annotation.id,
        "type": annotation.type,
        "text": text,
        "text_left_out": text_left_out,
        "comment": comment,
        "comment_left_out": comment_left_out,
        "color": annotation.color_name,
        "page": index + 1 if index is not None else None,
        "label": annotation.page_label,
        "tags": [t.name for t in annotation.tags],
        "attachment_id": annotation.attachment_id,
        "item": _brief(item),
    }
    resource = annotation_resource(annotation, contents)
    return _part(resource.locator, _marked(resource.title, text or comment), "annotation", data)


def passage_part(item: Item, attachment: Attachment | None, pointer: Pointer) -> ResourcePart:
    """A passage that was copied in Zotero and that the library does not hold as an annotation, or not yet."""
    file = attachment if attachment is not None and attachment.parent_id else None
    text, left_out = _cut(pointer.quote, MARK)
    place = Locator(item.library.id, "item", item=item.key)
    locator = _within(item, file, pointer.page) if file is not None else place
    data = {
        "text": text,
        "text_left_out": left_out,
        "comment": pointer.comment[:MARK],
        "page": pointer.page,
        "label": pointer.page_label,
        "attachment_id": file.id if file is not None else "",
        "item": _brief(item),
    }
    return _part(locator, _marked(named(item), text), "passage", data)


def _within(item: Item, attachment: Attachment, page: int | None) -> Locator:
    return Locator(
        item.library.id,
        KINDS.get(attachment.kind, "item"),
        item=item.key,
        att=attachment.key,
        page_index=page - 1 if page else None,
    )


def _part(locator: Locator, title: str, what: str, data: dict[str, Any]) -> ResourcePart:
    return ResourcePart(locator, title, fenced(without_empty(data), f"[attached {what} {locator.id}]"))


def _brief(item: Item) -> dict[str, Any]:
    return without_empty(
        {
            "id": item.id,
            "type": item.type,
            "title": item.title,
            "retracted": item.retraction,
            "creators": names(item, CREATORS),
            "year": item.year,
            "venue": item.venue,
        }
    )


def _marked(title: str, words: str) -> str:
    label = title.partition(":")[0]
    return f"{label}: “{_cut(' '.join(words.split()), 80)[0]}”" if words else label


def _cut(text: str, most: int) -> tuple[str, str]:
    """The beginning of a text, and how much of it is left out in words; empty where nothing is."""
    if len(text) <= most:
        return text, ""
    head = text[: grapheme_border(text, most)]
    return head.rstrip() + "…", f"{len(text) - len(head):,} characters"
