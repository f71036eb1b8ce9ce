"""Reading documents without pages: which section is meant, and how its text becomes an answer."""

from __future__ import annotations

import re
from typing import Any, Final

from bibgenie_desktop.domain.errors import DocumentUnreadable
from bibgenie_desktop.domain.locators import Locator, Resource
from bibgenie_desktop.domain.numbers import whole_number
from bibgenie_desktop.services.tools.arguments import BadArguments
from bibgenie_desktop.services.tools.base import ToolResult
from bibgenie_desktop.services.tools.presenting import (
    counted,
    fenced,
    item_resource,
    named,
    without_empty,
)
from bibgenie_desktop.zotero.files.books import SectionInfo, SectionText
from bibgenie_desktop.zotero.model.library import Attachment, Item
from bibgenie_desktop.zotero.model.links import item_label
from bibgenie_desktop.zotero.service import ZoteroLibrary

_LISTED = 20
_EMPTY_SKIPPED: Final = 30
"""Sections without text passed over at the beginning of a book."""


async def section_of(library: ZoteroLibrary, attachment: Attachment, wanted: str) -> tuple[int, int]:
    """(index, offset of the place) of a section named by number, file name or CFI; unnamed, the first."""
    if not wanted:
        return 0, 0
    sections = await library.sections(attachment)
    if (number := whole_number(wanted)) is not None:
        if 1 <= number <= len(sections):
            return number - 1, 0
        raise BadArguments(
            f"There is no section {wanted[:10]}. The document has sections 1 to {len(sections)}."
        )
    if wanted.startswith("epubcfi("):
        step, _, path = wanted.removeprefix("epubcfi(").rstrip(")").partition("!")
        for info in sections:
            if info.step and _bare(info.step) == _bare(step):
                section = await library.section_text(attachment, info.index)
                return info.index, _offset_of(section, path.split(",")[0])
        raise BadArguments("No section has this cfi; use a section number.")
    bare = wanted.partition("#")[0]
    for info in sections:
        if bare and (info.href == bare or info.href.rpartition("/")[2] == bare.rpartition("/")[2]):
            return info.index, 0
    names = ", ".join(f"{s.index + 1} {s.href}" for s in sections[:_LISTED])
    raise BadArguments(f"There is no section {wanted[:60]!r}. Sections: {names}.")


async def read_section(
    library: ZoteroLibrary, item: Item, attachment: Attachment, wanted: str, most: int, offset: int
) -> ToolResult:
    index, start = await section_of(library, attachment, wanted)
    section = await library.section_text(attachment, index)
    start = offset or start
    if start and start >= len(section.text):
        return ToolResult(f"offset {start} is past the end of the section ({len(section.text)}).", error=True)
    until = min(section.sections - 1, _EMPTY_SKIPPED)
    while not section.text.strip() and index < until and not wanted:
        index += 1  # covers and other empty beginnings
        section = await library.section_text(attachment, index)
    text = section.text[start : start + most]
    if len(section.text) > start + most and (blank := text.rfind(" ", len(text) - 200)) > 0:
        text = text[: blank + 1]
    data: dict[str, Any] = {
        **source_of(item, attachment),
        "sections_total": section.sections,
        "truncated": start + len(text) < len(section.text),
    }
    if start + len(text) < len(section.text):
        data["next"] = {
            "attachment_id": attachment.id,
            "section": str(index + 1),
            "offset": start + len(text),
        }
    elif index + 1 < section.sections:
        data["next"] = {"attachment_id": attachment.id, "section": str(index + 2)}
    row = {"section": index + 1, "href": section.href, "title": section.title, "cfi": section.cfi_at(start)}
    data["sections"] = [{**without_empty(row), "text": text}]
    return ToolResult(fenced(data), (section_resource(item, attachment, section, start),), note="1 section")


async def extract_result(
    library: ZoteroLibrary,
    item: Item,
    attachment: Attachment,
    why: DocumentUnreadable,
    most: int,
    offset: int,
) -> ToolResult:
    """What Zotero once extracted from a file that cannot be read now; else why it cannot."""
    text = (await library.extract(attachment)).replace("\f", "\n")
    if not text.strip():
        return ToolResult(f"{why.title} {why.advice}".strip(), error=True)
    if offset and offset >= len(text):
        return ToolResult(f"offset {offset} is past the end of the text ({len(text)}).", error=True)
    shown = text[offset : offset + most]
    data: dict[str, Any] = {
        **source_of(item, attachment),
        "page_unknown": True,
        "why": f"{why.title} This is the text that Zotero extracted earlier; it cannot be cited by page.",
        "truncated": offset + len(shown) < len(text),
        "text": shown,
    }
    if offset + len(shown) < len(text):
        data["next"] = {"attachment_id": attachment.id, "offset": offset + len(shown)}
    return ToolResult(fenced(data), (item_resource(item),), note=counted(len(shown), "character"))


def source_of(item: Item, attachment: Attachment) -> dict[str, Any]:
    return {
        "attachment_id": attachment.id,
        "item_id": item.id,
        "kind": attachment.kind,
        "source": f"{item_label(item)}: {item.title}",
    }


def section_resource(item: Item, attachment: Attachment, section: SectionText, offset: int) -> Resource:
    epub = attachment.kind == "epub"
    locator = Locator(
        attachment.library.id,
        "epub" if epub else "html",
        item=item.key if attachment.parent_id else "",
        att=attachment.key,
        section=section.index if epub else None,
        href=section.href,
        cfi=section.cfi_at(offset),
    )
    return Resource(locator, named(item))


def section_rows(sections: tuple[SectionInfo, ...]) -> list[dict[str, Any]]:
    return [
        without_empty({"section": s.index + 1, "href": s.href, "title": s.title, "chars": s.chars or None})
        for s in sections
    ]


def _bare(step: str) -> str:
    """A step without the assertions in brackets that Zotero writes behind it."""
    return re.sub(r"\[[^\]]*\]", "", step)


def _offset_of(section: SectionText, path: str) -> int:
    """Where the paragraph of a CFI begins; the longest that leads there."""
    best, length = 0, 0
    for start, cfi in zip(section.starts, section.cfis, strict=True):
        own = cfi.partition("!")[2].rstrip(")")
        if own and (path == own or path.startswith(own + "/")) and len(own) > length:
            best, length = start, len(own)
    return best
