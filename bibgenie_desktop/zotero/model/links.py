"""Naming and linking places: `Hu et al. 2020, p. 218`, and links that open Zotero there."""

from __future__ import annotations

from urllib.parse import quote

from bibgenie_desktop.domain.locators import Locator
from bibgenie_desktop.zotero.model.folding import is_cjk
from bibgenie_desktop.zotero.model.library import Attachment, Contents, Creator, Item

_TITLE_LENGTH = 40


def item_label(item: Item) -> str:
    """Authors and year, as in a text: `Wilson & McNaughton 1994`; without authors a short title."""
    names = [_family(c) for c in item.authors]
    if not names:
        title = item.title or "Untitled"
        who = title if len(title) <= _TITLE_LENGTH else title[:_TITLE_LENGTH].rstrip() + "…"
    elif len(names) == 1:
        who = names[0]
    elif len(names) == 2:
        who = f"{names[0]} & {names[1]}"
    else:
        who = f"{names[0]} et al."
    return f"{who} {item.year or 'n.d.'}"


def place_label(locator: Locator, printed: str = "") -> str:
    """The page or section of a place, `p. 218`; `printed` is the printed label where it is known."""
    label = locator.page_label or printed
    if label:
        return f"p. {label}"
    if locator.page_index is not None:
        return f"p. {locator.page_index + 1}"
    return f"section {locator.section + 1}" if locator.section is not None else ""


def zotero_link(locator: Locator, contents: Contents) -> str:
    """A link that opens Zotero at a place; empty for what is not shown (trash, feeds, unknown keys)."""
    library = next((lib for lib in contents.libraries if lib.id == locator.lib), None)
    if library is None:
        return ""
    attachment = contents.attachments.get(locator.att_id) if locator.att else None
    if locator.kind == "collection":
        live = any(c.id == locator.item_id and not c.trashed for c in contents.collections)
        return f"zotero://select/{library.link_part}/collections/{locator.item}" if live else ""
    if attachment is not None:
        return _open(locator, attachment)
    if locator.att or (locator.item_id not in contents.items and locator.kind != "note"):
        return ""
    if locator.kind == "note" or not locator.item:
        return ""
    return f"zotero://select/{library.link_part}/items/{locator.item}"


def _open(locator: Locator, attachment: Attachment) -> str:
    where = f"{attachment.library.link_part}/items/{attachment.key}"
    query = []
    if attachment.kind == "pdf":
        if locator.page_index is not None:
            query.append(f"page={locator.page_index + 1}")
    elif attachment.kind == "epub":
        if locator.cfi:
            query.append(f"cfi={quote(locator.cfi, safe='')}")
    elif attachment.kind != "html":
        return f"zotero://select/{where}"
    if attachment.link_mode == 3:
        return f"zotero://select/{where}"
    if locator.annotation:
        query.append(f"annotation={locator.annotation}")
    handler = "open-pdf" if attachment.kind == "pdf" else "open"
    return f"zotero://{handler}/{where}" + (f"?{'&'.join(query)}" if query else "")


def _family(creator: Creator) -> str:
    return creator.name if is_cjk(creator.last) else creator.last or creator.first
