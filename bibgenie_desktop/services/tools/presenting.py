"""How library data looks in a tool result: compact JSON inside the fence, short rows, resources."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from bibgenie_desktop.domain.locators import Locator, LocatorKind, Resource
from bibgenie_desktop.services.tools.base import UNTRUSTED
from bibgenie_desktop.zotero.files.attachments import NOT_DOWNLOADED
from bibgenie_desktop.zotero.files.documents import PageText
from bibgenie_desktop.zotero.index.filters import UnknownValue
from bibgenie_desktop.zotero.model.annotations import Annotation
from bibgenie_desktop.zotero.model.library import Attachment, Contents, Item, Note
from bibgenie_desktop.zotero.model.links import item_label

T = TypeVar("T")

_TITLE = 120


def fenced(data: Mapping[str, Any], before: str = "") -> str:
    """Data as compact JSON inside the fence, which nothing in the data can close."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    text = text.replace("<zotero_data", "<\\u007aotero_data").replace("</zotero_data", "<\\/zotero_data")
    fence = UNTRUSTED.format(text)
    return f"{before}\n{fence}" if before else fence


def without_empty(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without what is not known: absent fields cost no tokens."""
    return {k: v for k, v in row.items() if v not in (None, "", [], (), {})}


def names(item: Item, most: int) -> list[str]:
    shown = [c.name for c in item.authors[:most]]
    return [*shown, "et al."] if len(item.authors) > most else shown


def shorten(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def attachment_row(attachment: Attachment) -> dict[str, Any]:
    """An attachment as rows show it: never its path. Why it cannot be read, unless its status says it all."""
    told = attachment.status not in ("missing", "not on this computer") or attachment.reason == NOT_DOWNLOADED
    return without_empty(
        {
            "id": attachment.id,
            "kind": attachment.kind,
            "pages": attachment.pages if attachment.kind == "pdf" else None,
            "status": attachment.status,
            "reason": "" if told else attachment.reason,
        }
    )


def item_resource(item: Item) -> Resource:
    return Resource(Locator(item.library.id, "item", item=item.key), named(item))


def page_resource(item: Item, attachment: Attachment, page: PageText) -> Resource:
    locator = Locator(
        attachment.library.id,
        "pdf",
        item=item.key if attachment.parent_id else "",
        att=attachment.key,
        page_index=page.index,
        page_label=page.label,
    )
    return Resource(locator, named(item))


def named(item: Item) -> str:
    """An item as lists of used sources call it."""
    label = item_label(item)
    return label if not item.authors else shorten(f"{label}: {item.title}", _TITLE)


def note_resource(note: Note) -> Resource:
    return Resource(Locator(note.library.id, "note", item=note.key), shorten(note.title or "Note", _TITLE))


def annotation_resource(annotation: Annotation, contents: Contents) -> Resource:
    item = contents.items[annotation.item_id]
    attachment = contents.attachments[annotation.attachment_id]
    kinds: dict[str, LocatorKind] = {"pdf": "pdf", "epub": "epub", "html": "html"}
    locator = Locator(
        item.library.id,
        kinds.get(attachment.kind, "annotation"),
        item=item.key if attachment.parent_id else "",
        att=attachment.key,
        page_index=annotation.place.page_index,
        page_label=annotation.page_label,
        annotation=annotation.key,
        cfi=annotation.place.cfi,
        quote=shorten(annotation.text, 300),
    )
    return Resource(locator, named(item))


def page_of(rows: Sequence[T], offset: int, limit: int) -> tuple[Sequence[T], dict[str, Any]]:
    """(the rows from `offset`, what is to be said of them: total, returned, next_offset, perhaps a hint)."""
    shown = rows[offset : offset + limit]
    said: dict[str, Any] = {"total": len(rows), "returned": len(shown)}
    if offset + len(shown) < len(rows):
        said["next_offset"] = offset + len(shown)
    if rows and not shown:
        said["hint"] = f"offset {offset} is past the last of {len(rows)}"
    return shown, said


def teach(unknown: UnknownValue) -> str:
    """What there is instead of a name that does not exist."""
    hint = f" {unknown.hint}" if unknown.hint else ""
    name = {"tag": "tags"}.get(unknown.what, unknown.what)
    return fenced(
        without_empty({"valid": list(unknown.valid), "more": unknown.more or None}),
        f"{name}: there is no {unknown.value[:80]!r}.{hint}",
    )


def counted(number: int, singular: str) -> str:
    """`1 item`, `12 items`."""
    return f"{number:,} {singular}{'' if number == 1 else 's'}"
