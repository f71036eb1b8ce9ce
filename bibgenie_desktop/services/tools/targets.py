"""From an id to what can be read: the item, and the PDF that is meant."""

from __future__ import annotations

from bibgenie_desktop.domain.locators import split_id
from bibgenie_desktop.services.tools.arguments import BadArguments
from bibgenie_desktop.zotero.library import Attachment, Item
from bibgenie_desktop.zotero.service import ZoteroLibrary

ID_FORM = "Ids look like u-ABCD2345 or g12345-ABCD2345 and come from search_items."


def unknown_id(library: ZoteroLibrary, full_id: str) -> str:
    """What is wrong with an id, and where the same key does exist."""
    parts = split_id(full_id)
    if parts is None:
        return f"{full_id[:60]!r} is not an id. {ID_FORM}"
    others = [f"{lib.id}-{parts[1]}" for lib in library.contents.libraries if lib.id != parts[0]]
    found = [o for o in others if library.item(o) or o in library.contents.attachments]
    if full_id in library.contents.trashed:
        return f"{full_id} is in Zotero's trash, which is not read."
    if found:
        return f"There is no {full_id}; the same key exists as {', '.join(found)}."
    return f"There is no {full_id} in the library. {ID_FORM}"


async def find_pdf(library: ZoteroLibrary, full_id: str) -> tuple[Item, Attachment]:
    """The PDF of an attachment id, or the best PDF of an item id. Raises `BadArguments`."""
    attachment = library.attachment(full_id)
    item = library.item(attachment.item_id if attachment else full_id)
    if item is None:
        raise BadArguments(unknown_id(library, full_id))
    if attachment is not None and attachment.kind == "pdf":
        return item, attachment
    located = (await library.located([item]))[0]
    pdfs = sorted(located.pdfs, key=lambda a: a.status != "ok")
    if attachment is not None:
        others = f" Its item has the PDF {pdfs[0].id}." if pdfs else " Its item has no PDF."
        kind = attachment.kind if attachment.kind != "other" else attachment.content_type or "other"
        raise BadArguments(f"{attachment.id} is not a PDF but {kind}; only PDFs can be read.{others}")
    if not pdfs:
        have = ", ".join(f"{a.id} ({a.kind})" for a in located.attachments) or "none"
        raise BadArguments(f"{item.id} has no PDF. Its attachments: {have}.")
    return item, pdfs[0]
