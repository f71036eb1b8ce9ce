"""How library data looks in a tool result: compact JSON inside the fence, short rows, resources."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bibgenie_desktop.domain.locators import Locator, Resource
from bibgenie_desktop.services.tools.base import UNTRUSTED
from bibgenie_desktop.zotero.documents import PageText
from bibgenie_desktop.zotero.library import Attachment, Item
from bibgenie_desktop.zotero.links import item_label

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
    """An attachment as rows show it: never its path."""
    return without_empty(
        {
            "id": attachment.id,
            "kind": attachment.kind,
            "pages": attachment.pages if attachment.kind == "pdf" else None,
            "status": attachment.status,
        }
    )


def item_resource(item: Item) -> Resource:
    return Resource(Locator(item.library.id, "item", item=item.key), _called(item))


def page_resource(item: Item, attachment: Attachment, page: PageText) -> Resource:
    locator = Locator(
        attachment.library.id,
        "pdf",
        item=item.key if attachment.parent_id else "",
        att=attachment.key,
        page_index=page.index,
        page_label=page.label,
    )
    return Resource(locator, _called(item))


def _called(item: Item) -> str:
    label = item_label(item)
    return label if not item.authors else shorten(f"{label}: {item.title}", _TITLE)


def counted(number: int, singular: str) -> str:
    """`1 item`, `12 items`."""
    return f"{number:,} {singular}{'' if number == 1 else 's'}"
