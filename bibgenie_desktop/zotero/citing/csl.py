"""An item as CSL-JSON, the form in which citation processors and other programs take references."""

from __future__ import annotations

import re
from typing import Any

from bibgenie_desktop.zotero.model.library import Creator, Item

_TYPES = {
    "artwork": "graphic",
    "audioRecording": "song",
    "bill": "bill",
    "blogPost": "post-weblog",
    "book": "book",
    "bookSection": "chapter",
    "case": "legal_case",
    "computerProgram": "software",
    "conferencePaper": "paper-conference",
    "dataset": "dataset",
    "dictionaryEntry": "entry-dictionary",
    "email": "personal_communication",
    "encyclopediaArticle": "entry-encyclopedia",
    "film": "motion_picture",
    "forumPost": "post",
    "hearing": "hearing",
    "instantMessage": "personal_communication",
    "interview": "interview",
    "journalArticle": "article-journal",
    "letter": "personal_communication",
    "magazineArticle": "article-magazine",
    "manuscript": "manuscript",
    "map": "map",
    "newspaperArticle": "article-newspaper",
    "patent": "patent",
    "podcast": "song",
    "preprint": "article",
    "presentation": "speech",
    "radioBroadcast": "broadcast",
    "report": "report",
    "standard": "standard",
    "statute": "legislation",
    "thesis": "thesis",
    "tvBroadcast": "broadcast",
    "videoRecording": "motion_picture",
    "webpage": "webpage",
}
_FIELDS = {
    "abstractNote": "abstract",
    "publicationTitle": "container-title",
    "journalAbbreviation": "container-title-short",
    "shortTitle": "title-short",
    "publisher": "publisher",
    "place": "publisher-place",
    "volume": "volume",
    "issue": "issue",
    "pages": "page",
    "edition": "edition",
    "series": "collection-title",
    "seriesNumber": "collection-number",
    "number": "number",
    "numPages": "number-of-pages",
    "conferenceName": "event-title",
    "type": "genre",
    "medium": "medium",
    "DOI": "DOI",
    "ISBN": "ISBN",
    "ISSN": "ISSN",
    "url": "URL",
    "language": "language",
    "archive": "archive",
    "authority": "authority",
    "extra": "note",
}
_ROLES = {
    "bookAuthor": "container-author",
    "seriesEditor": "collection-editor",
    "reviewedAuthor": "reviewed-author",
}


def csl_item(item: Item) -> dict[str, Any]:
    """The item in CSL-JSON; its id is the full key."""
    data: dict[str, Any] = {"id": item.id, "type": _TYPES.get(item.type, "document"), "title": item.title}
    for field, name in _FIELDS.items():
        if value := item.fields.get(field):
            data[name] = value
    for creator in item.creators:
        role = "author" if creator.primary else _ROLES.get(creator.role, creator.role)
        data.setdefault(role, []).append(_name(creator))
    if issued := _date(item.sort_date):
        data["issued"] = issued
    elif item.date:
        data["issued"] = {"literal": item.date}
    if accessed := _date(item.fields.get("accessDate", "")[:10]):
        data["accessed"] = accessed
    if item.citekey:
        data["citation-key"] = item.citekey
    return data


def _name(creator: Creator) -> dict[str, str]:
    if not creator.first:
        return {"literal": creator.last}
    return {"family": creator.last, "given": creator.first}


def _date(value: str) -> dict[str, list[list[int]]] | None:
    match = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", value)
    if match is None or not int(match[1]):
        return None
    parts = [int(match[1])]
    if int(match[2]):
        parts.append(int(match[2]))
        if int(match[3]):
            parts.append(int(match[3]))
    return {"date-parts": [parts]}
