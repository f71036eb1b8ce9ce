"""Recognising works in what Zotero drags beside no link or id: a reference written out, rows of a database.

Blocking: made for threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bibgenie_desktop.zotero.index.overview import at_rows
from bibgenie_desktop.zotero.model.folding import key
from bibgenie_desktop.zotero.model.library import Contents

LEAST_TITLE: Final = 15
"""Letters of a title that can be recognised in a reference."""


def in_rows(contents: Contents, rows: Sequence[int], text: str) -> list[str]:
    """What stands in rows of Zotero's database, if the text that came with them speaks of the same things.

    The rows may be those of another Zotero than the one in use.
    """
    whole = f" {key(text)} "

    def spoken_of(full_id: str) -> bool:
        attachment = contents.attachments.get(full_id)
        item = contents.items.get(attachment.item_id if attachment is not None else full_id)
        names = [attachment.title, attachment.stored.rpartition(":")[2]] if attachment is not None else []
        if item is not None:
            names += [item.title, item.key, *(c.last for c in item.authors[:1])]
        note = contents.notes.get(full_id)
        names += [note.title] if note is not None else []
        return any(folded and f" {folded} " in whole for folded in map(key, names))

    ids = at_rows(contents, rows)
    return ids if not whole.strip() or all(spoken_of(i) for i in ids) else []


def titled_in(text: str, contents: Contents) -> tuple[str, ...]:
    """The works whose title, year and first author stand in a text; the longest title wins over its parts."""
    whole = f" {key(text)} "
    found: list[tuple[int, int, str]] = []
    for item in contents.items.values():
        title = key(item.title)
        if len(title) < LEAST_TITLE or f" {title} " not in whole:
            continue
        who = key(item.authors[0].last) if item.authors else ""
        if (item.year and str(item.year) not in whole) or (who and who not in whole):
            continue
        found.append((whole.index(f" {title} "), len(title), item.id))
    found.sort(key=lambda hit: (-hit[1], hit[2]))
    kept: list[tuple[int, int, str]] = []
    for start, length, full_id in found:
        if all(start + length <= s or s + n <= start for s, n, _ in kept):
            kept.append((start, length, full_id))
    return tuple(full_id for _, _, full_id in sorted(kept))
