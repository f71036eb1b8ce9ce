"""Reading the documents of a library: pages, sections, outlines, Zotero's extracts, and checking quotes."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from bibgenie_desktop.domain.errors import DocumentUnreadable
from bibgenie_desktop.domain.locators import Locator
from bibgenie_desktop.zotero.citing.quotes import Verdict, check_across_pages, check_quote
from bibgenie_desktop.zotero.files.attachments import Files
from bibgenie_desktop.zotero.files.books import Books, Heading, SectionInfo, SectionText
from bibgenie_desktop.zotero.files.documents import Documents, PageText, PdfInfo
from bibgenie_desktop.zotero.files.page_images import (
    AREA_DPI,
    DEFAULT_DPI,
    PageImage,
    cached_image,
    page_image,
)
from bibgenie_desktop.zotero.index.fulltext import CACHE, read_cache
from bibgenie_desktop.zotero.model.annotations import Annotation
from bibgenie_desktop.zotero.model.library import Attachment, Contents

T = TypeVar("T")

SECTIONED = ("epub", "html", "text")
"""Kinds of attachments that have sections instead of pages."""

PAGES_NEAR = 4
"""Pages before and after the named one on which a quote is looked for that is not there."""
SEARCH_LIMIT_S = 30.0
MOST_SEARCHED = 300
"""Sections of one document in which a quote is looked for."""


class ReadableLibrary(ABC):
    """The part of a library that opens files. `_worker` is the thread for looks at the disk and at texts."""

    def __init__(self, files: Files, documents: Documents) -> None:
        self._files = files
        self._documents = documents
        self._books = Books(documents)
        self._labels: dict[str, tuple[str, ...]] = {}
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="zotero-search")

    @property
    @abstractmethod
    def contents(self) -> Contents: ...

    @property
    def documents(self) -> Documents:
        return self._documents

    async def locate(self, attachment: Attachment) -> Attachment:
        return await self._in(self._worker, lambda: self._files.locate(attachment))

    async def bring(self, attachment: Attachment) -> None:  # noqa: B027 - nothing to do where files are here
        """Where files lie elsewhere, fetch this one: for what the person, or a tool of an answer, opens."""

    async def document_info(self, attachment: Attachment) -> PdfInfo:
        """Pages and printed labels of a PDF attachment. Raises `DocumentUnreadable`."""
        info = await self._documents.info(await self._file(attachment, "pdf"))
        self._labels[attachment.id] = info.labels
        return info

    async def pages_text(self, attachment: Attachment, first: int, last: int) -> list[PageText]:
        """Pages of a PDF attachment, counted from 0. Raises `DocumentUnreadable`."""
        path = await self._file(attachment, "pdf")
        if attachment.id not in self._labels:
            self._labels[attachment.id] = (await self._documents.info(path)).labels
        return await self._documents.pages_text(path, first, last)

    async def page_image(self, attachment: Attachment, index: int, dpi: int = DEFAULT_DPI) -> PageImage:
        """A page of a PDF attachment, counted from 0, as a picture. Raises `DocumentUnreadable`."""
        return await page_image(self._documents, await self._file(attachment, "pdf"), index, dpi)

    async def annotation_image(self, annotation: Annotation, dpi: int = DEFAULT_DPI) -> PageImage:
        """What an annotation marks: the area of a picture or drawing, the page of a passage. Where the file
        cannot be read, the picture Zotero made of it. Raises `DocumentUnreadable`."""
        attachment, place = self.contents.attachments[annotation.attachment_id], annotation.place
        area = place.rectangle if annotation.type in ("image", "ink") else ()
        drawn = None
        if annotation.type in ("image", "ink"):
            data_dir, library = self._files.data_dir, attachment.library.id
            drawn = await self._in(self._worker, lambda: cached_image(data_dir, annotation, library))
            if drawn is not None and not area:
                return drawn
        try:
            path = await self._file(attachment, "pdf")
            sharp = max(dpi, AREA_DPI) if area else dpi
            return await page_image(self._documents, path, place.page_index or 0, sharp, area)
        except DocumentUnreadable:
            if drawn is not None:
                return drawn
            raise

    async def sections(self, attachment: Attachment) -> tuple[SectionInfo, ...]:
        """The sections of a document without pages. Raises `DocumentUnreadable`."""
        return await self._books.sections(await self._file(attachment, *SECTIONED))

    async def section_text(self, attachment: Attachment, index: int) -> SectionText:
        """A section, counted from 0. Raises `DocumentUnreadable`."""
        return await self._books.section(await self._file(attachment, *SECTIONED), index)

    async def outline(self, attachment: Attachment) -> tuple[tuple[Heading, ...], bool]:
        """The headings of a PDF, and whether they are guessed. Raises `DocumentUnreadable`."""
        return await self._books.outline(await self._file(attachment, "pdf"))

    async def extract(self, attachment: Attachment) -> str:
        """The text Zotero has extracted from a file, empty without one. Its pages are hints only."""
        cache = self._files.storage / self._files.folder_name(attachment) / CACHE
        return await self._in(self._worker, lambda: read_cache(cache))

    async def find_quote(self, attachment: Attachment, quote: str) -> tuple[Verdict, SectionText | None, str]:
        """Look a quote up in all sections of a document: the verdict, and the section and CFI of the best.

        Raises `DocumentUnreadable`, also where the end could not be reached in time.
        """
        best: tuple[Verdict, SectionText | None, str] = ("not found", None, "")
        index, total = 0, 1
        try:
            async with asyncio.timeout(SEARCH_LIMIT_S):
                while index < min(total, MOST_SEARCHED):
                    section = await self.section_text(attachment, index)
                    total, text = section.sections, section.text
                    verdict = await asyncio.to_thread(check_quote, quote, text)
                    if verdict == "verified":
                        starts = zip(
                            section.starts, (*section.starts[1:], len(text)), section.cfis, strict=True
                        )
                        place = next(
                            (c for a, b, c in starts if check_quote(quote, text[a:b]) == verdict), ""
                        )
                        return verdict, section, place
                    if verdict == "paraphrase" and best[1] is None:
                        best = (verdict, section, "")
                    index += 1
        except TimeoutError:
            pass
        if index < total and best[1] is None:
            raise DocumentUnreadable(
                "This document is too long to be looked through for the quoted words.",
                f"{index} of {total} sections were looked through.",
            )
        return best

    async def check_quote(self, locator: Locator) -> Verdict:
        """Look the quote of a page locator up in its page and, if it runs on, the next."""
        attachment = self.contents.attachments.get(locator.att_id)
        if attachment is None or locator.page_index is None or not locator.quote:
            return "not found"
        try:
            pages = await self.pages_text(attachment, locator.page_index, locator.page_index + 1)
        except DocumentUnreadable:
            return "not found"
        texts = [p.text for p in pages]

        def check() -> Verdict:
            if len(texts) == 1:
                return check_quote(locator.quote, texts[0])
            return check_across_pages(locator.quote, texts[0], texts[1])

        return await self._in(self._worker, check)

    async def quoted_page(self, locator: Locator) -> int | None:
        """The page on which the quote of a locator stands word for word, of those near the one it names."""
        attachment = self.contents.attachments.get(locator.att_id)
        named = locator.page_index
        if attachment is None or named is None or not locator.quote:
            return None
        try:
            pages = await self.pages_text(attachment, max(0, named - PAGES_NEAR), named + PAGES_NEAR)
        except DocumentUnreadable:
            return None

        def find() -> int | None:
            near = sorted(pages, key=lambda page: abs(page.index - named))
            return next((p.index for p in near if check_quote(locator.quote, p.text) == "verified"), None)

        return await self._in(self._worker, find)

    async def _file(self, attachment: Attachment, *kinds: str) -> Path:
        if attachment.kind not in kinds:
            raise DocumentUnreadable(
                f"This attachment is of another kind ({attachment.content_type or 'unknown type'}).",
                "PDF files are read by pages; EPUB, web pages and texts by sections.",
            )
        located = await self.locate(attachment)
        if located.path is None:
            advice = "Open it once in Zotero, which downloads it, or check where it is linked."
            raise DocumentUnreadable(
                f"The file “{attachment.title}” cannot be read: {located.reason}", advice
            )
        return located.path

    async def _in(self, executor: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(executor, work)
