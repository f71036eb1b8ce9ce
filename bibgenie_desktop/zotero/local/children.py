"""What hangs below items in a snapshot: notes, annotations, relations, and the few settings of a library.

`reader` knows which items may be shown and passes them in; nothing whose parent is not among them appears.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Container, Mapping
from typing import Any, TypeAlias

from bibgenie_desktop.domain.numbers import whole_number
from bibgenie_desktop.zotero.local.tables import Tables, text
from bibgenie_desktop.zotero.model.annotations import TYPES, Annotation, place_of
from bibgenie_desktop.zotero.model.fields import strip_markup
from bibgenie_desktop.zotero.model.library import Attachment, Collection, Library, Note, SavedSearch, Tag
from bibgenie_desktop.zotero.notes.note_citations import item_id_of

Owner: TypeAlias = tuple[Library, str, int, str, str]
"""Of a row of `items`: its library, key, type, and the times when it was added and changed."""

_RELATED, _SAME = "dc:relation", "owl:sameAs"


class Children:
    """One reading of a snapshot; `notes` comes before `note_count`."""

    def __init__(
        self,
        tables: Tables,
        trashed: set[int],
        tags: Mapping[int, list[Tag]],
        members: Mapping[int, list[int]],
        collections: Mapping[int, Collection],
    ) -> None:
        self._tables = tables
        self._trashed = trashed
        self._tags = tags
        self._members = members
        self._collections = collections
        self._notes_of: Counter[int] = Counter()

    def notes(
        self, owners: Mapping[int, Owner], parents: Mapping[int, Owner], files: Mapping[int, Attachment]
    ) -> dict[int, Note]:
        """Notes by row: those of items that are shown, those alone, and old ones inside attachments."""
        found: dict[int, Note] = {}
        for row, parent, html, title in self._tables.rows(
            "itemNotes", "itemID", "parentItemID", "note", "title"
        ):
            if row in files:
                attachment = files[row]
                if (body := text(html)).strip():
                    found[row] = Note(
                        id=attachment.id,
                        key=attachment.key,
                        library=attachment.library,
                        item_id=attachment.item_id,
                        title=text(title) or attachment.title,
                        html=body,
                        tags=attachment.tags,
                        collections=(),
                        added="",
                        modified="",
                    )
                continue
            owner = owners.get(row)
            if owner is None or (parent is not None and parent not in parents):
                continue
            library, key, _, added, modified = owner
            if parent is not None:
                self._notes_of[parent] += 1
            found[row] = Note(
                id=f"{library.id}-{key}",
                key=key,
                library=library,
                item_id=f"{library.id}-{parents[parent][1]}" if parent is not None else "",
                title=text(title),
                html=text(html),
                tags=tuple(self._tags.get(row, ())),
                collections=tuple(
                    self._collections[c] for c in self._members.get(row, ()) if c in self._collections
                ),
                added=added,
                modified=modified,
            )
        return found

    def note_count(self, row: int) -> int:
        return self._notes_of[row]

    def mark_counts(self) -> Counter[int]:
        """How many annotations each attachment has, by row."""
        rows = self._tables.rows("itemAnnotations", "itemID", "parentItemID")
        return Counter(parent for row, parent in rows if row not in self._trashed)

    def annotations(
        self, owners: Mapping[int, Owner], files: Mapping[int, Attachment]
    ) -> dict[str, Annotation]:
        """Annotations by id, those of a document in reading order."""
        users = self._tables.rows("users", "userID", "name")
        people: dict[int, str] = {row: text(name) for row, name in users}
        makers: dict[int, int] = dict(self._tables.rows("groupItems", "itemID", "createdByUserID"))
        where = ("pageLabel", "sortIndex", "position", "isExternal")
        columns = ("itemID", "parentItemID", "type", "authorName", "text", "comment", "color", *where)
        ordered = self._tables.has("itemAnnotations", "sortIndex")
        order = "parentItemID, sortIndex, itemID" if ordered else "itemID"
        found: dict[str, Annotation] = {}
        for line in self._tables.rows("itemAnnotations", *columns, order=order):
            row, parent, kind, author, marked, comment, color, label, sort, position, external = line
            owner, attachment = owners.get(row), files.get(parent)
            if owner is None or attachment is None or kind not in TYPES:
                continue
            library, key, _, _, modified = owner
            sort_index = text(sort)
            full_id = f"{library.id}-{key}"
            found[full_id] = Annotation(
                id=full_id,
                key=key,
                attachment_id=attachment.id,
                item_id=attachment.item_id,
                type=TYPES[kind],
                text=text(marked),
                comment=strip_markup(text(comment)),
                color=text(color),
                author=text(author) or people.get(makers.get(row, 0), ""),
                place=place_of(text(position), sort_index, attachment.kind),
                page_label=text(label),
                sort_index=sort_index,
                tags=tuple(self._tags.get(row, ())),
                external=bool(external),
                modified=modified,
            )
        return found

    def retractions(self) -> dict[int, str]:
        """What is known of retracted works, by row."""
        rows = self._tables.rows("retractedItems", "itemID", "data")
        return {row: _retraction(_json(text(data))) for row, data in rows}

    def tag_colors(self, libraries: Mapping[int, Library]) -> dict[tuple[str, str], str]:
        found: dict[tuple[str, str], str] = {}
        for setting, library_id, value in self._tables.rows(
            "syncedSettings", "setting", "libraryID", "value"
        ):
            library = libraries.get(library_id)
            if setting != "tagColors" or library is None:
                continue
            entries = _json(text(value))
            for entry in entries if isinstance(entries, list) else ():
                if isinstance(entry, dict) and isinstance(entry.get("name"), str):
                    found[library.id, entry["name"]] = str(entry.get("color") or "")
        return found

    def saved_searches(self, libraries: Mapping[int, Library]) -> tuple[SavedSearch, ...]:
        deleted = {row for (row,) in self._tables.rows("deletedSearches", "savedSearchID")}
        columns = ("savedSearchID", "savedSearchName", "libraryID", "key")
        return tuple(
            SavedSearch(f"{libraries[library].id}-{key}", libraries[library], text(name))
            for row, name, library, key in self._tables.rows("savedSearches", *columns)
            if row not in deleted and library in libraries
        )

    def account(self) -> str:
        """The part of an address that names the person's own library."""
        said = {
            str(key): str(value)
            for setting, key, value in self._tables.rows("settings", "setting", "key", "value")
            if setting == "account" and value
        }
        if whole_number(said.get("userID", "")) is not None:
            return f"users/{said['userID']}"
        for (user,) in self._tables.rows("account", "userID"):  # of a library kept from zotero.org
            return f"users/{int(user)}"
        local = said.get("localUserKey", "")
        return f"users/local/{local}" if local.isalnum() else ""

    def binned_ids(
        self, owners: Mapping[str, Mapping[int, Owner]], binned: Mapping[int, str]
    ) -> frozenset[str]:
        """Ids of what is not in the trash itself but hangs, over one or two steps, below what is."""
        above: dict[int, int] = {}
        for table in ("itemNotes", "itemAttachments", "itemAnnotations"):
            above.update(
                (row, parent) for row, parent in self._tables.rows(table, "itemID", "parentItemID") if parent
            )
        found = set()
        for rows in owners.values():
            for row, owner in rows.items():
                parent = above.get(row)
                if parent is not None and (parent in binned or above.get(parent) in binned):
                    found.add(f"{owner[0].id}-{owner[1]}")
        return frozenset(found)


def relations_of(
    tables: Tables, ids: Mapping[int, str], known: Container[str]
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """(related things, copies in other libraries), each in both directions.

    `ids` are of items and notes that may be shown, by row; `known` holds the same ids.
    """
    names: dict[int, str] = dict(tables.rows("relationPredicates", "predicateID", "predicate"))
    found: dict[str, dict[str, dict[str, None]]] = {_RELATED: defaultdict(dict), _SAME: defaultdict(dict)}
    for row, predicate, target in tables.rows("itemRelations", "itemID", "predicateID", "object"):
        of = found.get(names.get(predicate, ""))
        own, other = ids.get(row), item_id_of(text(target))
        if of is None or own is None or other == own or other not in known:
            continue
        of[own][other] = None
        of[other][own] = None
    related, copies = ({k: tuple(v) for k, v in found[p].items()} for p in (_RELATED, _SAME))
    return related, copies


def _retraction(data: Any) -> str:
    if not isinstance(data, dict):
        return "retracted"
    date = data.get("date")
    reasons = data.get("reasons")
    said = "; ".join(str(r) for r in reasons[:5]) if isinstance(reasons, list) else ""
    dated = f"retracted {date[:10]}" if isinstance(date, str) and date else "retracted"
    return f"{dated}: {said}" if said else dated


def _json(value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None
