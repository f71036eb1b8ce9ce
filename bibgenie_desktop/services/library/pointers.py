"""What a text points at in Zotero: links, ids, citation markers, DOIs. `payloads` reads clipboards.

Pure: nothing is looked up here, so a pointer may lead nowhere. `attaching` resolves pointers in a library.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from bibgenie_desktop.domain.citations import MARKER
from bibgenie_desktop.domain.locators import FULL_KEY, KEY
from bibgenie_desktop.domain.numbers import whole_number

MOST_POINTERS: Final = 50
MOST_LOOKED_AT: Final = 200_000
"""Characters of a clipboard that are read."""
_LITTLE: Final = 4
"""Letters beside pointers and their labels in a text that still consists of pointers only, such as “pdf”."""

_LINK = re.compile(r"(?:zotero|https?)://[^\s<>\"'“”\]]+", re.IGNORECASE)
_DOI = re.compile(r"\b(?:doi:\s*)?(10\.\d{4,9}/[^\s\"<>“”\]]+)", re.IGNORECASE)
_PATH = re.compile(
    rf"/(?:(?:library|users/\d+|u)|(?:groups?/|g)(?P<group>\d{{1,12}})(?:/[^/]+)?|[^/]+)?"
    rf"(?:/collections/{KEY})?/?(?:items/)?(?:(?P<old>[01])_)?(?P<key>{KEY})(?:/|$)",
)
_CITEKEY = re.compile(r"/items/(?:bbt:|@)(?P<citekey>[^/?#]+)")
_LABEL = re.compile(r"\[[^\[\]]*\]\(")
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


def pointers_in(text: str) -> tuple[Pointer, ...]:
    """Markers, links, full ids and DOIs of a text, in order. A copied annotation keeps its quoted words."""
    text = text[:MOST_LOOKED_AT]
    paragraphs = _paragraphs(text)
    if len(paragraphs) > 1:
        return once([pointer for each in paragraphs for pointer in pointers_in(each)])
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
    return _quoted(once([pointer for _, pointer in found]), text)


def only_pointers(text: str) -> bool:
    """Whether a text is nothing but pointers, so that its words would say no more than they do.

    An annotation as Zotero copies it counts: its quoted words belong to it.
    """
    if not text.strip() or len(text) > MOST_LOOKED_AT:
        return False
    pointers = pointers_in(text)
    if not pointers:
        return False
    if all(_is_copied_annotation(each) for each in _paragraphs(text)):
        return True
    rest = _DOI.sub(" ", _LINK.sub(" ", FULL_KEY.sub(" ", MARKER.sub(" ", text))))
    return sum(c.isalnum() for c in _LABEL.sub(" ", rest)) <= _LITTLE


def _is_copied_annotation(text: str) -> bool:
    return _QUOTED.match(text) is not None and any(p.annotation for p in pointers_in(text))


def _paragraphs(text: str) -> list[str]:
    return [each.strip() for each in re.split(r"\n\s*\n", text) if each.strip()]


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
    page = next((n for p in asked.get("page", ()) if (n := whole_number(p))), None)
    annotation = next((a for a in asked.get("annotation", ()) if re.fullmatch(KEY, a)), "")
    return Pointer(f"{lib}-{match['key']}", page=page, annotation=annotation)


def once(pointers: Sequence[Pointer]) -> tuple[Pointer, ...]:
    """Each once, in order."""
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
