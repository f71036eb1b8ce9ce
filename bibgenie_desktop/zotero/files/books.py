"""Sections of documents without pages, and outlines; what a file says is decided in the worker."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bibgenie_desktop.zotero.files.documents import Documents


@dataclass(frozen=True, slots=True)
class SectionInfo:
    """`index` counts from 0; `chars` 0: not counted (a book of very many or very long sections); `step`: how
    its CFIs begin."""

    index: int
    href: str
    title: str
    chars: int
    step: str = ""


@dataclass(frozen=True, slots=True)
class SectionText:
    """A section. `starts` are where its paragraphs begin in `text`, `cfis` where each lies in the EPUB."""

    index: int
    href: str
    title: str
    text: str
    starts: tuple[int, ...]
    cfis: tuple[str, ...]
    sections: int

    def cfi_at(self, offset: int) -> str:
        """The CFI of the paragraph at a place of the text."""
        found = ""
        for start, cfi in zip(self.starts, self.cfis, strict=True):
            if start > offset:
                break
            found = cfi or found
        return found


@dataclass(frozen=True, slots=True)
class Heading:
    """A line of an outline; `page_index` None where the file does not say."""

    title: str
    level: int
    page_index: int | None


class Books:
    """Raises `DocumentUnreadable` as `Documents` does, whose worker it shares."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def sections(self, path: Path) -> tuple[SectionInfo, ...]:
        answer = await self._documents.ask(path, {"op": "sections"})
        rows = enumerate(answer["sections"])
        return tuple(SectionInfo(i, str(h), str(t), int(n), str(s)) for i, (h, t, n, s) in rows)

    async def section(self, path: Path, index: int) -> SectionText:
        answer = await self._documents.ask(path, {"op": "section", "index": index})
        blocks = [(str(cfi), str(text)) for cfi, text in answer["blocks"]]
        starts, at = [], 0
        for _, text in blocks:
            starts.append(at)
            at += len(text) + 2
        return SectionText(
            index=index,
            href=str(answer["href"]),
            title=str(answer["title"]),
            text="\n\n".join(text for _, text in blocks),
            starts=tuple(starts),
            cfis=tuple(cfi for cfi, _ in blocks),
            sections=int(answer["sections"]),
        )

    async def outline(self, path: Path) -> tuple[tuple[Heading, ...], bool]:
        """(headings of a PDF, whether they are guessed)."""
        answer = await self._documents.ask(path, {"op": "outline"})
        entries = answer["entries"]
        found = tuple(Heading(str(t), int(lv), int(p) if int(p) >= 0 else None) for t, lv, p in entries)
        return found, bool(answer["guessed"])
