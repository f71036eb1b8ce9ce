"""The citations and marked passages inside a note's HTML: which works they name, and where in them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from bibgenie_desktop.domain.locators import KEY

MOST: Final = 2_000_000
"""Characters of HTML that are read: eight times what Zotero can sync."""
_URI: Final = re.compile(rf"/(?:(users)/(?:local/)?[^/]+|groups/(\d{{1,12}}))/items/({KEY})(?:[/?#]|$)")


def item_id_of(uri: str) -> str:
    """The id of an item's address, `u-KEY` or `g<groupID>-KEY`; empty for another address."""
    match = _URI.search(uri)
    if match is None:
        return ""
    return f"u-{match[3]}" if match[1] else f"g{match[2]}-{match[3]}"


def cited_ids(html: str) -> tuple[str, ...]:
    """The items that a note cites, each once, in order."""
    found: dict[str, None] = {}
    for value in re.findall(r'data-(?:citation|annotation)="([^"]*)"', html[:MOST]):
        data = decoded(value)
        entries = [*_entries(data), data.get("citationItem")]
        for entry in entries:
            if isinstance(entry, dict):
                found.update(dict.fromkeys(filter(None, map(item_id_of, _uris(entry)))))
    return tuple(found)


def citation(data: Mapping[str, Any]) -> str:
    """`[@u-KEY, p. 12; @u-KEY2]`; empty where no item can be named."""
    parts = []
    for entry in _entries(data):
        found = next(filter(None, map(item_id_of, _uris(entry))), "")
        if not found:
            continue
        place = str(entry.get("locator") or "")
        label = {"page": "p.", "chapter": "ch.", "section": "sec."}.get(str(entry.get("label") or "page"), "")
        parts.append(f"@{found}" + (f", {label} {place}".replace("  ", " ") if place else ""))
    return f"[{'; '.join(parts)}]" if parts else ""


def source_of(data: Mapping[str, Any]) -> str:
    """Where marked text in a note comes from, ` [@u-ATTKEY p.4]` with the physical page."""
    attachment = item_id_of(str(data.get("attachmentURI") or ""))
    if not attachment:
        return ""
    position = data.get("position")
    page = position.get("pageIndex") if isinstance(position, dict) else None
    where = f" p.{page + 1}" if isinstance(page, int) and 0 <= page < 100_000 else ""
    return f" [@{attachment}{where}]"


def decoded(value: str) -> dict[str, Any]:
    try:
        data = json.loads(unquote(value))
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _entries(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    entries = data.get("citationItems")
    return [e for e in entries if isinstance(e, dict)] if isinstance(entries, list) else []


def _uris(entry: Mapping[str, Any]) -> list[str]:
    uris = entry.get("uris") or entry.get("uri")
    if isinstance(uris, str):
        return [uris]
    return [u for u in uris if isinstance(u, str)] if isinstance(uris, list) else []
