"""What zotero.org's objects leave to the schema that Zotero's own database carries with it: which fields
stand for which base field, which roles come first, and the numbers of link modes and marks."""

from __future__ import annotations

from typing import Final

from bibgenie_desktop.zotero.files.attachments import (
    EMBEDDED_IMAGE,
    IMPORTED_FILE,
    IMPORTED_URL,
    LINKED_FILE,
    LINKED_URL,
)
from bibgenie_desktop.zotero.model.annotations import TYPES

_STANDING_FOR: Final = {
    "authority": "court issuingAuthority legislativeBody organization",
    "date": "dateDecided dateEnacted issueDate",
    "medium": "artworkMedium audioFileType audioRecordingFormat format interviewMedium videoRecordingFormat",
    "number": "archiveID billNumber docketNumber documentNumber episodeNumber identifier patentNumber"
    " publicLawNumber reportNumber",
    "originalDate": "priorityDate",
    "pages": "codePages firstPage",
    "place": "repositoryLocation",
    "publicationTitle": "blogTitle bookTitle dictionaryTitle encyclopediaTitle forumTitle proceedingsTitle"
    " programTitle sessionTitle websiteTitle",
    "publisher": "company distributor institution label network repository studio university",
    "status": "legalStatus",
    "title": "caseName nameOfAct subject",
    "type": "genre letterType manuscriptType mapType postType presentationType reportType thesisType"
    " websiteType",
    "volume": "codeVolume reporterVolume",
}
BASE_FIELDS: Final = {field: base for base, fields in _STANDING_FOR.items() for field in fields.split()}
"""A field means the same in every type that has it."""

FIRST_ROLES: Final = (
    *("artist", "author", "cartographer", "contributor", "creator", "director", "interviewee", "inventor"),
    *("performer", "podcaster", "presenter", "programmer", "sponsor"),
)
"""Roles that are the first of some type."""

LINK_MODES: Final = {
    "imported_file": IMPORTED_FILE,
    "imported_url": IMPORTED_URL,
    "linked_file": LINKED_FILE,
    "linked_url": LINKED_URL,
    "embedded_image": EMBEDDED_IMAGE,
}
MARK_TYPES: Final[dict[str, int]] = {name: number for number, name in TYPES.items()}

NO_FIELDS: Final = frozenset(
    {"key", "version", "itemType", "creators", "tags", "collections", "relations", "deleted", "parentItem"}
    | {"dateAdded", "dateModified", "inPublications", "note", "linkMode", "contentType", "charset"}
    | {"filename", "path", "md5", "mtime", "parentCollection", "name", "conditions", "lastRead"}
)
"""What an item's data hold besides its fields; names that begin with `annotation` are none either."""
