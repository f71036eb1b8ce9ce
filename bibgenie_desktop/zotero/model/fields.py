"""The meaning of single field values: dates of several parts, markup in titles, citation keys, DOIs."""

from __future__ import annotations

import re
from functools import lru_cache

_MULTIPART = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?: |$)(.*)", re.DOTALL)
_YEAR = re.compile(r"(?<!\d)(1[0-9]{3}|20[0-9]{2})(?!\d)")
_MARKUP = re.compile(r"</?(?:i|b|sub|sup|span)(?:\s[^<>]*)?>")
_EXTRA_KEY = re.compile(r"^[ \t]*(?:citation key|bibtex)[ \t]*:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)
_DOI = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)


@lru_cache(10_000)
def split_date(value: str) -> tuple[int | None, str, str]:
    """(year, date as the person typed it, sort key) of a stored date.

    Zotero keeps `2019-05-00 May 2019`: an ISO half with 00 for what is unknown, then the words typed.
    Anything else is free text, and its year the first number that looks like one.
    """
    if match := _MULTIPART.fullmatch(value.strip()):
        year, month, day, typed = match.groups()
        known = "-".join(p for p in (year, month, day) if int(p))
        return (int(year) or None), typed.strip() or known, f"{year}-{month}-{day}"
    year_match = _YEAR.search(value)
    year = year_match[1] if year_match else ""
    return (int(year) if year else None), value.strip(), f"{year}-00-00" if year else ""


def strip_markup(title: str) -> str:
    """A title without the few tags Zotero allows in it."""
    return _MARKUP.sub("", title) if "<" in title else title


def citation_key(native: str, extra: str) -> str:
    """The key of Zotero's own field, else the one a line of Extra sets."""
    if native.strip():
        return native.strip()
    match = _EXTRA_KEY.search(extra) if ":" in extra else None
    return match[1] if match else ""


def bare_doi(value: str) -> str:
    """A DOI without the address of its resolver, in lower case (DOIs do not distinguish case)."""
    return _DOI.sub("", value.strip()).lower()
