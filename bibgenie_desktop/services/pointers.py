"""What a text or a clipboard points at in Zotero: links, ids, citation markers, DOIs, and what Zotero drags.

Pure: nothing is looked up here, so a pointer may lead nowhere. `attaching` resolves pointers in a library.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from bibgenie_desktop.domain.citations import MARKER
from bibgenie_desktop.domain.locators import FULL_KEY, KEY

MOST_POINTERS: Final = 50
MOST_LOOKED_AT: Final = 200_000
"""Characters of a clipboard that are read."""
IDS_FORMAT: Final = "application/x-bibgenie-zotero-ids"
"""What our own Library dock drags: full ids, one a line."""
ANNOTATION_FORMAT: Final = "zotero/annotation"
_LITTLE: Final = 40
"""Letters beside pointers in a text that still consists of pointers only: brackets, “pdf”, a label."""

_LINK = re.compile(r"(?:zotero|https?)://[^\s<>\"'“”\]]+", re.IGNORECASE)
_DOI = re.compile(r"\b(?:doi:\s*)?(10\.\d{4,9}/[^\s\"<>“”\]]+)", re.IGNORECASE)
_PATH = re.compile(
    rf"/(?:(?:library|users/\d+|u)|(?:groups?/|g)(?P<group>\d{{1,12}})(?:/[^/]+)?|[^/]+)?"
    rf"(?:/collections/{KEY})?/?(?:items/)?(?:(?P<old>[01])_)?(?P<key>{KEY})(?:/|$)",
)
_CITEKEY = re.compile(r"/items/(?:bbt:|@)(?P<citekey>[^/?#]+)")
_QUOTED = re.compile(r"[“\"„«](.+?)[”\"»]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pointer:
    """One thing that is meant. `id` is a full key; without one there is a DOI or a citation key.

    `page` is physical and 1-based; `annotation` a bare key; `quote` and `comment` are what a copied
    annotation brought with it.
    """

    id: str = ""
    doi: str = ""
    citekey: str = ""
    page: int | None = None
    page_label: str = ""
    annotation: str = ""
    quote: str = ""
    comment: str = ""

    @property
    def same_as(self) -> tuple[object, ...]:
        """What makes two pointers one."""
        return (
            self.id,
            self.doi.lower(),
            self.citekey,
            self.page if not self.annotation else None,
            self.annotation,
        )


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
    return _once(found)


def pointers_in(text: str) -> tuple[Pointer, ...]:
    """Markers, links, full ids and DOIs of a text, in order. A copied annotation keeps its quoted words."""
    text = text[:MOST_LOOKED_AT]
    found: list[tuple[int, Pointer]] = []
    for match in MARKER.finditer(text):
        page = int(match["page"]) if match["page"] else None
        found.append((match.start(), Pointer(match["id"], page=page, quote=match["quote"] or "")))
    rest = MARKER.sub(lambda m: " " * len(m[0]), text)
    for match in _LINK.finditer(rest):
        pointer = of_link(_trimmed(match[0]))
        if pointer is not None:
            found.append((match.start(), pointer))
    rest = _LINK.sub(lambda m: m[0] if "doi.org/" in m[0] else " " * len(m[0]), rest)
    found += [(m.start(), Pointer(f"{m[1]}-{m[2]}")) for m in FULL_KEY.finditer(rest)]
    found += [(m.start(), Pointer(doi=_trimmed(m[1]))) for m in _DOI.finditer(rest)]
    found.sort(key=lambda pair: pair[0])
    return _quoted(_once([pointer for _, pointer in found]), text)


def only_pointers(text: str) -> bool:
    """Whether a text is nothing but pointers, so that its words would say no more than they do.

    An annotation as Zotero copies it counts: its quoted words belong to it.
    """
    if not text.strip() or len(text) > MOST_LOOKED_AT:
        return False
    pointers = pointers_in(text)
    if not pointers:
        return False
    if any(p.annotation for p in pointers) and _QUOTED.match(text.strip()):
        return True
    rest = _DOI.sub(" ", _LINK.sub(" ", FULL_KEY.sub(" ", MARKER.sub(" ", text))))
    return sum(c.isalnum() for c in rest) <= (_LITTLE if "](" in text else 4)


def of_link(link: str) -> Pointer | None:
    """What a link of Zotero, of zotero.org or of doi.org leads to; None for any other."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return None
    host, scheme = (parts.hostname or "").lower(), parts.scheme.lower()
    if scheme in ("http", "https"):
        if host in ("doi.org", "dx.doi.org"):
            doi = unquote(parts.path.lstrip("/"))
            return Pointer(doi=doi) if doi.startswith("10.") else None
        if host not in ("zotero.org", "www.zotero.org"):
            return None
    elif scheme != "zotero" or host not in ("select", "open", "open-pdf", "note"):
        return None
    path, asked = unquote(parts.path), parse_qs(parts.query)
    if citekey := _CITEKEY.search(path):
        return Pointer(citekey=citekey["citekey"])
    match = _PATH.search(path)
    if match is None or ("/items/" not in path and host != "note"):
        return None
    lib = f"g{match['group']}" if match["group"] else "u"
    page = next((int(p) for p in asked.get("page", ()) if p.isdigit() and int(p) > 0), None)
    annotation = next((a for a in asked.get("annotation", ()) if re.fullmatch(KEY, a)), "")
    return Pointer(f"{lib}-{match['key']}", page=page, annotation=annotation)


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


def _once(pointers: Sequence[Pointer]) -> tuple[Pointer, ...]:
    """Each once; an item's own link beside one of its annotation says nothing more."""
    kept = {p.same_as: p for p in reversed(pointers)}
    return tuple(p for p in dict.fromkeys(pointers) if kept.get(p.same_as) is p)[:MOST_POINTERS]


def _quoted(pointers: tuple[Pointer, ...], text: str) -> tuple[Pointer, ...]:
    """The only annotation of a text gets the words that stand in quotes before it."""
    marked = [p for p in pointers if p.annotation]
    match = _QUOTED.match(text.strip())
    if len(marked) != 1 or match is None:
        return pointers
    mark = marked[0]
    after = text.strip()[match.end() :].rsplit(")", 1)[-1]
    whole = Pointer(
        mark.id,
        page=mark.page,
        annotation=mark.annotation,
        quote=" ".join(match[1].split()),
        comment=" ".join(after.split()),
    )
    return (whole,)


def _trimmed(text: str) -> str:
    """Without the punctuation of the sentence it stands in."""
    text = text.rstrip(".,;:!?…")
    while text.endswith(")") and text.count(")") > text.count("("):
        text = text[:-1].rstrip(".,;:")
    return text
