"""What a Zotero library consists of, as values: libraries, items, creators, tags, collections, attachments.

Nothing here reads a file: `reader` makes these values from a snapshot, `attachments` finds the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from bibgenie_desktop.zotero.model.annotations import Annotation
from bibgenie_desktop.zotero.model.folding import is_cjk
from bibgenie_desktop.zotero.model.tags import Tag as Tag

AttachmentKind = Literal["pdf", "epub", "html", "text", "other"]
"""`text` is everything of paragraphs only: plain text, Markdown, DOCX, ODT."""
AttachmentStatus = Literal["ok", "missing", "online", "not on this computer", "linked URL", "unchecked"]
"""`online`: it can be fetched when it is opened."""


@dataclass(frozen=True, slots=True)
class Library:
    """The person's own library (`u`) or a group (`g<groupID>`)."""

    id: str
    name: str
    group_id: int | None = None

    @property
    def link_part(self) -> str:
        """The part of a Zotero link that names the library."""
        return "library" if self.group_id is None else f"groups/{self.group_id}"


@dataclass(frozen=True, slots=True)
class Creator:
    """A person or institution; an institution has its whole name in `last`."""

    role: str
    first: str
    last: str
    primary: bool

    @property
    def name(self) -> str:
        """The name as it is spoken; Chinese, Japanese and Korean put the family first."""
        if self.first and is_cjk(self.last[:1]):
            return self.last + self.first
        return f"{self.first} {self.last}".strip()

    @property
    def sort_name(self) -> str:
        return f"{self.last}, {self.first}" if self.first else self.last


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection; `path` runs from the outermost one to its own name."""

    id: str
    library: Library
    path: tuple[str, ...]
    trashed: bool = False
    parent_id: str = ""

    @property
    def name(self) -> str:
        return self.path[-1]

    @property
    def display(self) -> str:
        return " / ".join(self.path)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file or link of an item. `stored` is the path as Zotero wrote it.

    `path` and `status` are filled by `attachments.locate`; until then the status is `unchecked`. `reason`
    says why there is no file. `pages` is what Zotero counted, None where it has not.
    """

    id: str
    key: str
    library: Library
    item_id: str
    title: str
    kind: AttachmentKind
    content_type: str
    link_mode: int
    stored: str
    url: str = ""
    pages: int | None = None
    annotations: int = 0
    path: Path | None = None
    status: AttachmentStatus = "unchecked"
    reason: str = ""
    tags: tuple[Tag, ...] = ()

    @property
    def parent_id(self) -> str:
        """The item it belongs to, empty for one that stands alone."""
        return "" if self.item_id == self.id else self.item_id


@dataclass(frozen=True, slots=True)
class Item:
    """A top-level item; an attachment without a parent is an item of type `attachment`.

    `fields` holds every field under its base name (`publicationTitle`, whatever the type calls it); dates in
    it are as stored, `date` is what the person typed.
    """

    id: str
    key: str
    library: Library
    type: str
    title: str
    creators: tuple[Creator, ...]
    year: int | None
    date: str
    sort_date: str
    citekey: str
    fields: Mapping[str, str]
    tags: tuple[Tag, ...]
    collections: tuple[Collection, ...]
    attachments: tuple[Attachment, ...]
    notes: int
    added: str
    modified: str
    retraction: str = ""
    """What Zotero knows of the retraction of this work; empty for one that stands."""

    @property
    def abstract(self) -> str:
        return self.fields.get("abstractNote", "")

    @property
    def doi(self) -> str:
        return self.fields.get("DOI", "")

    @property
    def extra(self) -> str:
        return self.fields.get("extra", "")

    @property
    def venue(self) -> str:
        """Where it appeared: journal, book, conference, university, publisher."""
        get = self.fields.get
        return get("publicationTitle") or get("conferenceName") or get("publisher") or get("authority") or ""

    @property
    def authors(self) -> tuple[Creator, ...]:
        """The creators in the main role of the type; without any, all creators."""
        return tuple([c for c in self.creators if c.primary]) or self.creators

    @property
    def byline(self) -> str:
        """Creators, year and venue in one line."""
        names = [c.name for c in self.authors]
        who = ", ".join(names[:3]) + (" et al." if len(names) > 3 else "")
        return " · ".join(part for part in (who, str(self.year or ""), self.venue) if part)

    @property
    def annotations(self) -> int:
        return sum(a.annotations for a in self.attachments)

    @property
    def pdfs(self) -> Iterator[Attachment]:
        return (a for a in self.attachments if a.kind == "pdf")


@dataclass(frozen=True, slots=True)
class Note:
    """A note in HTML. `item_id` is its item, empty for one that stands alone; such a one may be filed."""

    id: str
    key: str
    library: Library
    item_id: str
    title: str
    html: str
    tags: tuple[Tag, ...]
    collections: tuple[Collection, ...]
    added: str
    modified: str


@dataclass(frozen=True, slots=True)
class SavedSearch:
    id: str
    library: Library
    name: str


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything a snapshot holds that may be shown; trash, feeds and note images are not in it."""

    libraries: tuple[Library, ...]
    items: Mapping[str, Item]
    attachments: Mapping[str, Attachment]
    collections: tuple[Collection, ...]
    """Trashed collections are listed too, marked, so that a question about one can be answered."""
    notes: Mapping[str, Note] = field(default_factory=dict)
    annotations: Mapping[str, Annotation] = field(default_factory=dict)
    related: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of items and notes the ids of those that the person related to them, in both directions."""
    copies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of items the ids of the same work in other libraries, where Zotero copied it."""
    tag_colors: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Colours given to tags, by library id and name."""
    saved_searches: tuple[SavedSearch, ...] = ()
    trashed: frozenset[str] = frozenset()
    """Ids of what lies in the trash, itself or with what it belongs to."""
    account: str = ""
    """How addresses of works name the person's own library: `users/12`, `users/local/KEY` where Zotero never
    synced; empty where neither is known."""
