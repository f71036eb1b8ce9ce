"""Items as BibTeX and RIS, for other programs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bibgenie_desktop.domain.numbers import whole_number
from bibgenie_desktop.zotero.citing.csl import csl_item
from bibgenie_desktop.zotero.model.folding import fold
from bibgenie_desktop.zotero.model.library import Creator, Item

_BIBTEX = {
    "journalArticle": "article",
    "magazineArticle": "article",
    "newspaperArticle": "article",
    "book": "book",
    "bookSection": "incollection",
    "conferencePaper": "inproceedings",
    "thesis": "phdthesis",
    "report": "techreport",
    "manuscript": "unpublished",
}
_RIS = {
    "journalArticle": "JOUR",
    "magazineArticle": "MGZN",
    "newspaperArticle": "NEWS",
    "book": "BOOK",
    "bookSection": "CHAP",
    "conferencePaper": "CONF",
    "thesis": "THES",
    "report": "RPRT",
    "webpage": "ELEC",
    "blogPost": "BLOG",
    "patent": "PAT",
    "case": "CASE",
    "statute": "STAT",
    "dataset": "DATA",
    "computerProgram": "COMP",
    "map": "MAP",
}
_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    c: f"\\{c}" for c in "&%$#_{}"
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def bibtex(items: Sequence[Item]) -> str:
    """UTF-8 BibTeX; items without a citation key get one of author, word and year."""
    used: set[str] = set()
    return "\n\n".join(_entry(item, _key(item, used)) for item in items)


def ris(items: Sequence[Item]) -> str:
    return "\n".join("".join(f"{tag}  - {value}\n" for tag, value in _lines(item)) for item in items)


def _entry(item: Item, key: str) -> str:
    kind = _BIBTEX.get(item.type, "misc")
    get = item.fields.get
    container = {"article": "journal", "incollection": "booktitle", "inproceedings": "booktitle"}.get(
        kind, ""
    )
    publisher = {"phdthesis": "school", "techreport": "institution"}.get(kind, "publisher")
    month = item.sort_date[5:7]
    fields = {
        "title": f"{{{_tex(item.title)}}}",
        "author": " and ".join(_person(c) for c in item.creators if c.primary),
        "editor": " and ".join(_person(c) for c in item.creators if c.role == "editor" and not c.primary),
        container: _tex(get("publicationTitle") or get("conferenceName") or ""),
        "year": str(item.year or ""),
        "month": _MONTHS[number - 1] if 1 <= (number := whole_number(month) or 0) <= 12 else "",
        "volume": _tex(get("volume", "")),
        "number": _tex(get("issue") or get("number") or ""),
        "pages": re.sub(r"\s*[-–—]+\s*", "--", _tex(get("pages", ""))),
        publisher: _tex(get("publisher", "")),
        "address": _tex(get("place", "")),
        "edition": _tex(get("edition", "")),
        "doi": item.doi,
        "isbn": _tex(get("ISBN", "")),
        "url": get("url", ""),
    }
    body = "".join(
        f"  {name} = {value},\n" if name == "month" else f"  {name} = {{{value}}},\n"
        for name, value in fields.items()
        if name and value and value != "{}"
    )
    return f"@{kind}{{{key},\n{body}}}"


def _key(item: Item, used: set[str]) -> str:
    key = re.sub(r"[\s,{}\\%#~\"'()=]", "", item.citekey)
    if not key:
        who = fold(item.authors[0].last).split() if item.authors else []
        what = [w for w in fold(item.title).split() if len(w) > 3]
        key = "".join([*who[:1], *what[:1], str(item.year or "")]) or item.key
    base, number = key, 1
    while key in used:
        number += 1
        key = f"{base}{number}"
    used.add(key)
    return key


def _person(creator: Creator) -> str:
    name = creator.sort_name if creator.first else f"{{{creator.last}}}"
    return _tex(name) if creator.first else f"{{{_tex(creator.last)}}}"


def _tex(text: str) -> str:
    return "".join(_SPECIAL.get(c, c) for c in " ".join(text.split()))


def _lines(item: Item) -> Iterator[tuple[str, str]]:
    get = item.fields.get
    pages = [p for p in re.split(r"\s*[-–—]+\s*", get("pages", "")) if p]
    yield "TY", _RIS.get(item.type, "GEN")
    yield from (("TI", t) for t in [_line(item.title)] if t)
    for creator in item.creators:
        tag = "AU" if creator.primary else "ED" if creator.role == "editor" else "A2"
        yield tag, _line(creator.sort_name)
    if item.year:
        yield "PY", f"{item.year:04}"
        parts = csl_item(item).get("issued", {}).get("date-parts", [[]])[0]
        yield "DA", "/".join([f"{parts[0]:04}", *(f"{p:02}" for p in parts[1:])]) if parts else str(item.year)
    pairs = (
        ("T2", get("publicationTitle") or get("conferenceName") or ""),
        ("VL", get("volume", "")),
        ("IS", get("issue") or get("number") or ""),
        ("SP", pages[0] if pages else ""),
        ("EP", pages[1] if len(pages) > 1 else ""),
        ("PB", get("publisher", "")),
        ("CY", get("place", "")),
        ("SN", get("ISSN") or get("ISBN") or ""),
        ("DO", item.doi),
        ("UR", get("url", "")),
        ("LA", get("language", "")),
        ("AB", item.abstract),
    )
    for tag, value in pairs:
        if value := _line(value):
            yield tag, value
    for tag_ in item.tags:
        yield "KW", _line(tag_.name)
    yield "ER", ""


def _line(text: str) -> str:
    return " ".join(text.split())
