"""What a clipboard or a drag names: formats of Zotero and of our dock, and pointers in its text and links.

Pure: nothing is looked up here.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bibgenie_desktop.domain.locators import FULL_KEY, KEY
from bibgenie_desktop.services.library.pointers import (
    MOST_LOOKED_AT,
    MOST_POINTERS,
    Pointer,
    of_link,
    once,
    only_pointers,
    pointers_in,
)

IDS_FORMAT: Final = "application/x-bibgenie-zotero-ids"
"""What our own Library dock drags: full ids, one a line."""
ANNOTATION_FORMAT: Final = "zotero/annotation"
ITEM_FORMAT: Final = "zotero/item"


@dataclass(frozen=True, slots=True)
class Payload:
    """What was pasted or dropped, as far as it may name something: formats of Zotero, text, HTML, links."""

    formats: tuple[tuple[str, bytes], ...] = ()
    text: str = ""
    html: str = ""
    links: tuple[str, ...] = ()
    dropped: bool = False
    """Dragged here: then a reference written out is meant as the work, not as its words."""


def names_resources(payload: Payload) -> bool:
    """Whether this is to be attached rather than inserted, if the library knows what it names."""
    if any(is_zotero(name) for name, _ in payload.formats):
        return True
    if any(link.lower().startswith("zotero:") for link in payload.links):
        return True
    if payload.dropped and payload.text:
        return bool(pointers_in(f"{payload.text}\n{_hrefs(payload.html)}"))
    return only_pointers(payload.text)


def is_zotero(format_name: str) -> bool:
    """Whether a clipboard format is one of Zotero's or of our Library dock."""
    name = format_name.lower()
    return "zotero" in name or "moz-custom-clipdata" in name


def pointers_of(payload: Payload) -> tuple[Pointer, ...]:
    """Everything a payload points at, each once, the most exact form of it first."""
    formats = _unpacked(payload.formats)
    found = list(_own(formats))
    if not found:
        found = list(_annotations(formats))
    if not found:
        found = list(pointers_in("\n".join((payload.text, _hrefs(payload.html), *payload.links))))
    return once(found)


def rows_of(payload: Payload) -> tuple[int, ...]:
    """What Zotero's item list drags: rows of its own database, which name something in that library only."""
    text = _unpacked(payload.formats).get(ITEM_FORMAT, b"")[:MOST_LOOKED_AT].decode("ascii", "replace")
    rows = [int(part) for part in text.split(",") if re.fullmatch(r"\s*[0-9]{1,12}\s*", part)]
    return tuple(dict.fromkeys(rows))[:MOST_POINTERS]


def _own(formats: Mapping[str, bytes]) -> Iterator[Pointer]:
    text = formats.get(IDS_FORMAT, b"").decode("utf-8", "replace")
    for line in text.splitlines():
        if FULL_KEY.fullmatch(line.strip()):
            yield Pointer(line.strip())


def _annotations(formats: Mapping[str, bytes]) -> Iterator[Pointer]:
    """The annotations that Zotero's reader drags or copies: JSON with the words and the item's address."""
    try:
        value = json.loads(formats.get(ANNOTATION_FORMAT, b"null"))
    except (ValueError, RecursionError):
        return
    for entry in value if isinstance(value, list) else [value]:
        if not isinstance(entry, dict):
            continue
        address = _address(entry)
        key = next((k for k in (entry.get("id"), entry.get("key")) if _is_key(k)), "")
        label = entry.get("pageLabel")
        position = entry.get("position")
        index = position.get("pageIndex") if isinstance(position, dict) else None
        yield Pointer(
            address,
            page=index + 1 if isinstance(index, int) and index >= 0 else None,
            page_label=label if isinstance(label, str) else "",
            annotation=str(key),
            quote=_words(entry.get("text")),
            comment=_words(entry.get("comment")),
        )


def _address(entry: Mapping[str, Any]) -> str:
    """The id of the attachment or, failing that, the item an annotation belongs to."""
    uris = [entry.get("attachmentURI")]
    citation = entry.get("citationItem")
    if isinstance(citation, dict) and isinstance(citation.get("uris"), list):
        uris += citation["uris"]
    for uri in uris:
        pointer = of_link(uri) if isinstance(uri, str) else None
        if pointer is not None and pointer.id:
            return pointer.id
    return ""


def _is_key(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(KEY, value) is not None


def _words(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _unpacked(formats: Sequence[tuple[str, bytes]]) -> dict[str, bytes]:
    """Formats by their plain names; what Zotero's platform packs into one is taken apart."""
    found: dict[str, bytes] = {}
    for name, data in formats:
        quoted = re.search(r'value="([^"]+)"', name)
        plain = quoted[1] if quoted else name
        if "moz-custom-clipdata" in plain.lower():
            found |= _custom(data)
        else:
            found[plain] = data
    return found


def _custom(data: bytes) -> dict[str, bytes]:
    """The pairs of a packed clipboard: a kind, then name and value in UTF-16 with their lengths in bytes."""
    found: dict[str, bytes] = {}
    at = 0
    try:
        while at + 4 <= len(data) and struct.unpack_from(">I", data, at)[0] == 1:
            at += 4
            texts = []
            for _ in range(2):
                (length,) = struct.unpack_from(">I", data, at)
                texts.append(data[at + 4 : at + 4 + length].decode("utf-16-le", "replace"))
                at += 4 + length
            found[texts[0]] = texts[1].encode("utf-8", "replace")
    except struct.error:
        pass
    return found


def _hrefs(html: str) -> str:
    return "\n".join(re.findall(r"""href=["']([^"']+)["']""", html[:MOST_LOOKED_AT]))
