"""Tool calls in a person's words: what was looked for, and one line that sums a turn's steps up."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bibgenie_desktop.domain.parts import ToolPart
from bibgenie_desktop.gui.conversation.rows import AttachmentView, StepState, StepView
from bibgenie_desktop.gui.tr import tr
from bibgenie_desktop.gui.when import seconds

GLYPHS = {
    "search_items": "search",
    "search_fulltext": "search",
    "find_in_document": "search",
    "get_items": "article",
    "read_document": "page",
    "view_page": "image",
    "read_result": "note",
    "get_notes": "note",
    "get_annotations": "highlight",
    "list_collections": "folder",
    "list_tags": "tag",
}
LONGEST = 90


def step_of(part: ToolPart) -> StepView:
    state: StepState = "running" if part.state == "pending" else part.state
    seen = tuple(
        AttachmentView(image.name, "image", image.blob, "", image.width, image.height)
        for image in part.images
    )
    return StepView(GLYPHS.get(part.name, "wrench"), _asked(part), _came_of_it(part), state, seen)


def summary_of(parts: Sequence[ToolPart], milliseconds: int | None) -> str:
    """`Searched 3×, read 2 papers · 8 s`; empty without calls."""
    if not parts:
        return ""
    searched = sum(p.name in ("search_items", "search_fulltext", "find_in_document") for p in parts)
    read = {_document(p) for p in parts if p.name == "read_document"}
    seen = sum(p.name == "view_page" and bool(p.images) for p in parts)
    looked = sum(p.name == "get_items" for p in parts)
    said: list[str] = []
    if searched:
        said.append(tr("searched {0}×").format(searched))
    if read:
        said.append(tr("read 1 paper") if len(read) == 1 else tr("read {0} papers").format(len(read)))
    if seen:
        said.append(tr("looked at 1 page") if seen == 1 else tr("looked at {0} pages").format(seen))
    if looked and not said:
        said.append(tr("looked items up"))
    if not said:
        said.append(tr("used 1 tool") if len(parts) == 1 else tr("used {0} tools").format(len(parts)))
    text = ", ".join(said)
    text = text[:1].upper() + text[1:]
    return f"{text} · {seconds(milliseconds)}" if milliseconds is not None else text


def running_summary(parts: Sequence[ToolPart]) -> str:
    """The head of the line while a turn is under way."""
    return tr("Searching and reading…") if parts else ""


def _document(part: ToolPart) -> str:
    return str(part.input.get("attachment_id") or part.input.get("item_id") or part.id)


def _asked(part: ToolPart) -> str:
    given = part.input
    match part.name:
        case "search_items" | "search_fulltext":
            words = _short(given.get("query") or given.get("author") or given.get("title") or "")
            text = f"“{words}”" if words else tr("Listed items")
            years = [str(given[k]) for k in ("year_from", "year_to") if given.get(k)]
            return f"{text}, {'–'.join(years)}" if years else text
        case "find_in_document":
            words = _short(_readable(str(given.get("query") or given.get("pattern") or "")))
            return tr("“{0}” in {1}").format(words, _named(part))
        case "read_document":
            pages = given.get("pages")
            name = _named(part)
            return tr("{0}, pages {1}").format(name, pages) if pages else name
        case "view_page":
            return tr("Looked at {0}").format(_seen(part))
        case "get_items":
            ids = given.get("ids")
            return tr("Looked up {0} items").format(len(ids)) if isinstance(ids, list) else _named(part)
        case "read_result":
            return tr("The rest of an earlier result")
        case _:
            return part.name


def _named(part: ToolPart) -> str:
    """The first resource's title, else the id that was asked for."""
    if part.resources:
        return _short(part.resources[0].title)
    return str(part.input.get("attachment_id") or part.input.get("item_id") or tr("a document"))


def _seen(part: ToolPart) -> str:
    """The page as it was named with its picture, else as it was asked for."""
    if part.images:
        return _short(part.images[0].name)
    page = part.input.get("page")
    return tr("{0}, page {1}").format(_named(part), page) if page else _named(part)


def _came_of_it(part: ToolPart) -> str:
    if part.images:
        return ""  # named in the line already
    if part.state in ("done", "denied") and part.note:
        return part.note
    words = {
        "error": tr("failed"),
        "denied": tr("not run"),
        "cancelled": tr("cancelled"),
        "interrupted": tr("interrupted"),
    }
    return words.get(part.state, "")


_PATTERN = re.compile(r"\\[bBwsdA-Z][*+?]?|[\\^$()*+?]")


def _readable(pattern: str) -> str:
    """A search pattern in words: its alternatives, without the signs that only a machine needs."""
    if "\\" not in pattern and "|" not in pattern:
        return pattern
    return ", ".join(w for w in (_PATTERN.sub("", part).strip() for part in pattern.split("|")) if w)


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"
