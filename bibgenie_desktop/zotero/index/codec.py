"""Items, notes and annotations as lines of JSON in the index, and back to the same values.

What an item shares with others (its library, its collections) is written as an id and looked up on the way
back, so that a renamed collection changes no item.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from bibgenie_desktop.zotero.model.annotations import Annotation, Place
from bibgenie_desktop.zotero.model.library import (
    Attachment,
    Collection,
    Creator,
    Item,
    Library,
    Note,
    SavedSearch,
)
from bibgenie_desktop.zotero.model.tags import Tag

VERSION: Final = 1
"""Changes with what is written: an index of another version is built again."""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def pack(value: object) -> str:
    return _encode(value).decode()


def pack_item(item: Item) -> bytes:
    return _encode(
        [
            item.key,
            item.library.id,
            item.type,
            item.title,
            [[c.role, c.first, c.last, c.primary] for c in item.creators],
            [item.year, item.date, item.sort_date, item.citekey],
            item.fields,
            _packed_tags(item.tags),
            [c.id for c in item.collections],
            [_packed_attachment(a) for a in item.attachments],
            item.notes,
            item.added,
            item.modified,
            item.retraction,
        ]
    )


def pack_note(note: Note) -> bytes:
    return _encode(
        [
            note.key,
            note.library.id,
            note.item_id,
            note.title,
            note.html,
            _packed_tags(note.tags),
            [c.id for c in note.collections],
            note.added,
            note.modified,
        ]
    )


def pack_annotation(annotation: Annotation) -> bytes:
    place = annotation.place
    return _encode(
        [
            annotation.id,
            annotation.key,
            annotation.attachment_id,
            annotation.item_id,
            annotation.type,
            annotation.text,
            annotation.comment,
            annotation.color,
            annotation.author,
            [place.page_index, place.cfi, place.selector, place.area],
            annotation.page_label,
            annotation.sort_index,
            _packed_tags(annotation.tags),
            annotation.external,
            annotation.modified,
        ]
    )


def pack_collection(collection: Collection) -> list[Any]:
    return [
        collection.id,
        collection.library.id,
        list(collection.path),
        collection.trashed,
        collection.parent_id,
    ]


def unpack_annotation(body: bytes) -> Annotation:
    values = _decode(body)
    values[9], values[12] = Place(*values[9]), _tags(values[12])
    return Annotation(*values)


class Unpacker:
    """Knows the libraries and collections that ids stand for."""

    def __init__(self, libraries: Mapping[str, Library], collections: Mapping[str, Collection]) -> None:
        self._libraries = libraries
        self._collections = collections

    def item(self, body: bytes) -> Item:
        (
            key,
            library_id,
            kind,
            title,
            creators,
            dated,
            fields,
            tags,
            collections,
            attachments,
            notes,
            added,
            modified,
            retraction,
        ) = _decode(body)
        library = self._libraries[library_id]
        full_id = f"{library_id}-{key}"
        year, date, sort_date, citekey = dated
        return Item(
            full_id,
            key,
            library,
            kind,
            title,
            tuple(Creator(*c) for c in creators),
            year,
            date,
            sort_date,
            citekey,
            fields,
            _tags(tags),
            self._of(collections),
            tuple(_attachment(a, library, full_id) for a in attachments),
            notes,
            added,
            modified,
            retraction,
        )

    def note(self, full_id: str, body: bytes) -> Note:
        key, library, item_id, title, html, tags, collections, added, modified = _decode(body)
        return Note(
            full_id,
            key,
            self._libraries[library],
            item_id,
            title,
            html,
            _tags(tags),
            self._of(collections),
            added,
            modified,
        )

    def _of(self, ids: list[str]) -> tuple[Collection, ...]:
        known = self._collections
        return tuple(known[i] for i in ids if i in known) if ids else ()


def libraries_of(packed: list[Any]) -> tuple[Library, ...]:
    return tuple(Library(*values) for values in packed)


def collections_of(packed: list[Any], libraries: Mapping[str, Library]) -> tuple[Collection, ...]:
    return tuple(
        Collection(full_id, libraries[library], tuple(path), trashed, parent)
        for full_id, library, path, trashed, parent in packed
    )


def searches_of(packed: list[Any], libraries: Mapping[str, Library]) -> tuple[SavedSearch, ...]:
    return tuple(SavedSearch(full_id, libraries[library], name) for full_id, library, name in packed)


def _packed_tags(tags: tuple[Tag, ...]) -> list[list[object]]:
    return [[t.name, t.automatic] for t in tags]


def _tags(packed: list[Any]) -> tuple[Tag, ...]:
    return tuple(Tag(name, automatic) for name, automatic in packed) if packed else ()


def _packed_attachment(attachment: Attachment) -> list[object]:
    return [
        attachment.key,
        attachment.title,
        attachment.kind,
        attachment.content_type,
        attachment.link_mode,
        attachment.stored,
        attachment.url,
        attachment.pages,
        attachment.annotations,
        _packed_tags(attachment.tags),
    ]


def _attachment(packed: list[Any], library: Library, item_id: str) -> Attachment:
    key, title, kind, content_type, link_mode, stored, url, pages, annotations, tags = packed
    return Attachment(
        id=f"{library.id}-{key}",
        key=key,
        library=library,
        item_id=item_id,
        title=title,
        kind=kind,
        content_type=content_type,
        link_mode=link_mode,
        stored=stored,
        url=url,
        pages=pages,
        annotations=annotations,
        tags=_tags(tags),
    )
