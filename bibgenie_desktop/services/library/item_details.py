"""What one item holds, for a preview: its metadata, files, notes, annotations, tags and collections."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import Final, Literal

from bibgenie_desktop.domain.locators import Locator, LocatorKind
from bibgenie_desktop.services.library.browsing import Scope, TagRow
from bibgenie_desktop.services.tools.presenting import annotation_resource, shorten
from bibgenie_desktop.zotero.index.overview import marks_of, notes_of
from bibgenie_desktop.zotero.model.annotations import Annotation
from bibgenie_desktop.zotero.model.library import Attachment, Contents, Item, Note
from bibgenie_desktop.zotero.model.links import place_label
from bibgenie_desktop.zotero.notes.note_text import note_text
from bibgenie_desktop.zotero.service import ZoteroLibrary

MOST_CREATORS: Final = 12
_NOTE_WORDS: Final = 300
KINDS: Final[dict[str, LocatorKind]] = {"pdf": "pdf", "epub": "epub", "html": "html"}
PieceKind = Literal["attachment", "note", "annotation"]


@dataclass(frozen=True, slots=True)
class Piece:
    """An attachment, note or annotation of an item. `reason`: why its file cannot be read, else empty.

    `detail` is the kind and pages of a file, the page of an annotation; `comment` what was written beside it.
    """

    id: str
    kind: PieceKind
    text: str
    detail: str = ""
    comment: str = ""
    color: str = ""
    link: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ItemDetails:
    """`facts` is year, venue, volume and pages; `type` as Zotero calls it."""

    id: str
    type: str
    title: str
    label: str
    creators: str
    facts: str
    abstract: str
    retraction: str
    doi: str
    citekey: str
    link: str
    pieces: tuple[Piece, ...]
    tags: tuple[TagRow, ...]
    collections: tuple[tuple[str, Scope], ...]

    def of_kind(self, kind: PieceKind) -> tuple[Piece, ...]:
        return tuple(p for p in self.pieces if p.kind == kind)


class Details:
    """Belongs to one library."""

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library

    async def of(self, full_id: str) -> ItemDetails | None:
        """An item or a note; None where there is none of this id. Its files are looked for on disk."""
        contents = self._library.contents
        item = await self._library.apart(lambda: contents.items.get(full_id))
        if item is None:
            note = await self._library.apart(lambda: contents.notes.get(full_id))
            return await asyncio.to_thread(_of_note, note) if note is not None else None
        located = await self._library.located([item])
        return await self._library.apart(lambda: self._of_item(located[0], contents))

    def _of_item(self, item: Item, contents: Contents) -> ItemDetails:
        pieces = [self._file(a) for a in item.attachments]
        pieces += [_note(n) for n in notes_of(contents, item.id)]
        pieces += [self._mark(a, contents) for a in marks_of(contents, item.id)]
        names = [c.name for c in item.authors]
        more = f" et al. ({len(names)})" if len(names) > MOST_CREATORS else ""
        return ItemDetails(
            id=item.id,
            type=item.type,
            title=item.title,
            label=self._library.citation_label(Locator(item.library.id, "item", item=item.key)),
            creators=", ".join(names[:MOST_CREATORS]) + more,
            facts=_facts(item),
            abstract=item.abstract.strip(),
            retraction=item.retraction,
            doi=item.doi,
            citekey=item.citekey,
            link=self._library.zotero_link(Locator(item.library.id, "item", item=item.key)),
            pieces=tuple(pieces),
            tags=tuple(
                TagRow(t.name, 0, contents.tag_colors.get((item.library.id, t.name), ""))
                for t in sorted(item.tags, key=lambda t: (t.automatic, t.name.lower()))
            ),
            collections=tuple((c.display, Scope("collection", c.library.id, c.id)) for c in item.collections),
        )

    def _file(self, attachment: Attachment) -> Piece:
        said = [attachment.kind.upper() if attachment.kind in KINDS else attachment.content_type]
        if attachment.pages:
            said.append(f"{attachment.pages} p.")
        locator = Locator(
            attachment.library.id,
            KINDS.get(attachment.kind, "item"),
            item=attachment.parent_id.partition("-")[2],
            att=attachment.key,
        )
        return Piece(
            attachment.id,
            "attachment",
            attachment.title or attachment.stored.removeprefix("storage:"),
            " · ".join(t for t in said if t),
            link=self._library.zotero_link(locator),
            reason="" if attachment.status in ("ok", "unchecked") else attachment.reason or attachment.status,
        )

    def _mark(self, annotation: Annotation, contents: Contents) -> Piece:
        locator = annotation_resource(annotation, contents).locator
        words = " ".join(annotation.text.split())
        return Piece(
            annotation.id,
            "annotation",
            words or annotation.comment.strip() or annotation.type,
            place_label(locator),
            annotation.comment.strip() if words else "",
            annotation.color,
            self._library.zotero_link(locator),
        )


def note_link(note: Note) -> str:
    return f"zotero://select/{note.library.link_part}/items/{note.key}"


def _note(note: Note) -> Piece:
    text = re.sub(r"[*_#>`]+", "", note_text(note).markdown).strip()
    body = text.removeprefix(note.title).strip()
    return Piece(
        note.id, "note", note.title or "Note", comment=shorten(body, _NOTE_WORDS), link=note_link(note)
    )


def _of_note(note: Note) -> ItemDetails:
    text = note_text(note)
    return ItemDetails(
        id=note.id,
        type="note",
        title=note.title or "Note",
        label=note.title,
        creators="",
        facts="",
        abstract=f"{text.problem}\n\n{text.markdown}".strip(),
        retraction="",
        doi="",
        citekey="",
        link=note_link(note),
        pieces=(),
        tags=tuple(TagRow(t.name, 0) for t in note.tags),
        collections=tuple((c.display, Scope("collection", c.library.id, c.id)) for c in note.collections),
    )


def _facts(item: Item) -> str:
    get = item.fields.get
    number = get("volume", "") + (f"({get('issue')})" if get("issue") else "")
    where = " ".join(t for t in (item.venue, number) if t)
    if pages := get("pages"):
        where = f"{where}, {pages}" if where else pages
    return " · ".join(t for t in (item.date if not item.year else str(item.year), where) if t)
