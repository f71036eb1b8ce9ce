"""The lines of the sessions list as values, and in which order they stand: pinned first, forks under their
origin.

Pure: the clock comes in as a number, the states of open chats as a mapping.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from bibgenie_desktop.domain.ids import SessionId
from bibgenie_desktop.gui.tr import harmless, tr
from bibgenie_desktop.gui.when import ago, day_section
from bibgenie_desktop.services.workspace import SessionRow

LineState = Literal["", "draft", "streaming", "compacting", "damaged"]
DEEPEST = 3


@dataclass(frozen=True, slots=True)
class SessionLine:
    """A session as the list shows it."""

    id: SessionId
    title: str
    preview: str
    when: str
    updated: int
    depth: int = 0
    state: LineState = ""
    pinned: bool = False
    trashed: bool = False


@dataclass(frozen=True, slots=True)
class SectionLine:
    """A heading, which cannot be chosen."""

    title: str


Line: TypeAlias = SessionLine | SectionLine

STATE_WORDS: Mapping[LineState, str] = {
    "draft": "has a draft",
    "streaming": "an answer is being written",
    "compacting": "earlier context is being compacted",
    "damaged": "damaged, read-only",
}


_MARKER = re.compile(r"\[\[.*?(?:\]\]|$)")
_MARKS = re.compile(r"[*`#>|]+|(?<!\w)_|_(?!\w)")


def plain_words(text: str) -> str:
    """The beginning of a message without Markdown and citation markers, on one line."""
    return " ".join(harmless(_MARKS.sub("", _MARKER.sub("", text))).split())


def untitled(title: str) -> str:
    return harmless(title) or tr("New session")


def lines_of(
    rows: Sequence[SessionRow],
    states: Mapping[SessionId, LineState],
    now: int,
    *,
    words: str = "",
    said: Mapping[SessionId, str] | None = None,
    trashed: bool = False,
) -> tuple[Line, ...]:
    """All lines in order. `words` keeps sessions whose title or preview has all of them, and those of `said`:
    what one of their messages says, which is then shown in place of the preview."""
    pieces = said or {}
    kept = [row for row in rows if _matches(row, words) or row.session.id in pieces]
    if words or trashed:
        lines = (_line(row, states, now, 0, trashed) for row in kept)
        return tuple(
            line
            if not (found := pieces.get(SessionId(line.id)))
            else replace(line, preview=plain_words(found))
            for line in lines
        )
    known = {row.session.id for row in kept}
    children: dict[SessionId, list[SessionRow]] = {}
    tops: list[SessionRow] = []
    for row in kept:
        origin = row.session.origin_session_id
        if origin in known and origin is not None:
            children.setdefault(origin, []).append(row)
        else:
            tops.append(row)
    result: list[Line] = []
    section = ""
    for row in sorted(tops, key=lambda r: not r.session.pinned):  # stable: the store's order within
        wanted = tr("Pinned") if row.session.pinned else day_section(row.updated, now)
        if wanted != section:
            section = wanted
            result.append(SectionLine(section))
        _add(result, row, children, states, now, 0)
    return tuple(result)


def _add(
    result: list[Line],
    row: SessionRow,
    children: Mapping[SessionId, list[SessionRow]],
    states: Mapping[SessionId, LineState],
    now: int,
    depth: int,
) -> None:
    result.append(_line(row, states, now, depth, trashed=False))
    for child in children.get(row.session.id, ()):
        _add(result, child, children, states, now, min(depth + 1, DEEPEST))


def _line(
    row: SessionRow, states: Mapping[SessionId, LineState], now: int, depth: int, trashed: bool
) -> SessionLine:
    session = row.session
    fallback: LineState = "streaming" if row.pending else "draft" if row.has_draft else ""
    return SessionLine(
        id=session.id,
        title=untitled(session.title),
        preview=plain_words(row.preview),
        when=ago(row.updated, now),
        updated=row.updated,
        depth=depth,
        state=states.get(session.id) or fallback,
        pinned=session.pinned,
        trashed=trashed,
    )


def _matches(row: SessionRow, words: str) -> bool:
    text = f"{untitled(row.session.title)} {row.preview}".casefold()
    return all(word in text for word in words.casefold().split())
