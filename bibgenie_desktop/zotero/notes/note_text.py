"""A note as text for whoever shows, searches or sends it: one that cannot be converted is named, others stay.

`note_markdown` has the rules; here is what happens to a note they do not cover.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from html import unescape

from bibgenie_desktop.zotero.model.library import Note
from bibgenie_desktop.zotero.notes.note_citations import MOST
from bibgenie_desktop.zotero.notes.note_markdown import note_markdown

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NoteText:
    """`problem` says, with the note's name and id, why `markdown` is not the whole note as it is."""

    markdown: str
    problem: str = ""


def note_text(note: Note) -> NoteText:
    """Never fails: of a note that cannot be converted the bare words are left."""
    name = f"The note “{note.title[:80]}” ({note.id})" if note.title else f"The note {note.id}"
    try:
        text = note_markdown(note.html, note.library.id)
    except Exception:  # one note must not hide the others, whatever is wrong with it
        log.exception("%s cannot be converted", note.id)
        words = " ".join(unescape(re.sub(r"<[^<>]*>", " ", note.html[:MOST])).split())
        return NoteText(words, f"{name} cannot be read with its formatting; these are its bare words.")
    if len(note.html) > MOST:
        return NoteText(text, f"{name} is very long; only its first {MOST:,} characters are read.")
    return NoteText(text)
