"""From an id to what can be read: the item, and the PDF that is meant."""

from __future__ import annotations

from bibgenie_desktop.domain.locators import split_id
from bibgenie_desktop.services.tools.arguments import BadArguments
from bibgenie_desktop.zotero.model.library import Attachment, Item
from bibgenie_desktop.zotero.service import ZoteroLibrary

_ORDER = ("pdf", "epub", "text", "html")
READABLE = frozenset(_ORDER)
ID_FORM = "Ids look like u-ABCD2345 or g12345-ABCD2345 and come from search_items."


def unknown_id(library: ZoteroLibrary, full_id: str) -> str:
    """What is wrong with an id, and where the same key does exist."""
    parts = split_id(full_id)
    if parts is None:
        return f"{full_id[:60]!r} is not an id. {ID_FORM}"
    full_id = f"{parts[0]}-{parts[1]}"
    if full_id in library.contents.notes:
        return f"{full_id} is a note; get_notes reads it."
    if full_id in library.contents.annotations:
        return f"{full_id} is an annotation; get_annotations shows it."
    others = [f"{lib.id}-{parts[1]}" for lib in library.contents.libraries if lib.id != parts[0]]
    found = [o for o in others if library.item(o) or o in library.contents.attachments]
    if full_id in library.contents.trashed:
        return f"{full_id} is in Zotero's trash, which is not read."
    if found:
        return f"There is no {full_id}; the same key exists as {', '.join(found)}."
    return f"There is no {full_id} in the library. {ID_FORM}"


async def find_document(library: ZoteroLibrary, full_id: str) -> tuple[Item, Attachment]:
    """The document of an attachment id, or the best one of an item id. Raises `BadArguments`."""
    attachment = library.attachment(full_id)
    item = library.item(attachment.item_id if attachment else full_id)
    if item is None:
        raise BadArguments(unknown_id(library, full_id))
    if attachment is not None and attachment.kind in READABLE and attachment.status != "linked URL":
        await library.bring(attachment)
        return item, attachment
    located = (await library.located([item]))[0]
    best = sorted(
        (a for a in located.attachments if a.kind in READABLE and a.status != "linked URL"),
        key=lambda a: (a.status not in ("ok", "online"), _ORDER.index(a.kind)),
    )
    if attachment is not None:
        others = f" Its item has {best[0].id} ({best[0].kind})." if best else " Its item has no file to read."
        kind = (
            "a link to a web page"
            if attachment.status == "linked URL"
            else attachment.content_type or "other"
        )
        raise BadArguments(f"{attachment.id} is {kind} and cannot be read.{others}")
    if not best:
        have = ", ".join(f"{a.id} ({a.kind})" for a in located.attachments) or "none"
        raise BadArguments(f"{item.id} has no document that can be read. Its attachments: {have}.")
    await library.bring(best[0])
    return item, best[0]
