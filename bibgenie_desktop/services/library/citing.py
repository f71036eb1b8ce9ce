"""The citations of an answer, looked up again offline: what to show, where it leads, whether the quote
stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from bibgenie_desktop.domain.citations import Citation, citations_in
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.locators import Locator, LocatorKind, split_id
from bibgenie_desktop.zotero.model.library import Attachment
from bibgenie_desktop.zotero.reading import SECTIONED
from bibgenie_desktop.zotero.service import ZoteroLibrary

_KINDS: Final[dict[str, LocatorKind]] = {"pdf": "pdf", "epub": "epub", "html": "html"}
CitationState = Literal["verified", "paraphrase", "not found", "unchecked"]


@dataclass(frozen=True, slots=True)
class CheckedCitation:
    """A marker as shown. `link` is empty where the id leads to nothing; `reason` says why it is unchecked."""

    raw: str
    label: str
    state: CitationState
    title: str
    source: str
    """Creators, year and venue."""
    quote: str
    page: int | None
    link: str
    reason: str = ""


class CitationChecker:
    """Remembers what it checked: a page's text does not change under a conversation."""

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library
        self._known: dict[str, CheckedCitation] = {}

    async def check(self, text: str) -> Mapping[str, CheckedCitation]:
        """Every marker of an answer by its raw form."""
        found: dict[str, CheckedCitation] = {}
        for citation in citations_in(text):
            if citation.raw not in self._known:
                checked = await self._check(citation)
                if checked.state == "unchecked":
                    found[citation.raw] = checked
                    continue
                self._known[citation.raw] = checked
            found[citation.raw] = self._known[citation.raw]
        return found

    async def page_text(self, marker: str) -> str:
        """The text of the page that a marker names. Raises `UserError` where it cannot be read."""
        library = self._library
        await library.ensure_loaded()
        citation = next(citations_in(marker), None)
        attachment = library.contents.attachments.get(citation.id) if citation is not None else None
        if citation is None or citation.page is None or attachment is None:
            raise UserError("This citation names no page that can be shown.", "Open it in Zotero.")
        await library.bring(attachment)
        pages = await library.pages_text(attachment, citation.page - 1, citation.page - 1)
        return "\n".join(page.text for page in pages)

    async def _check(self, citation: Citation) -> CheckedCitation:
        library = self._library
        await library.ensure_loaded()
        attachment = library.contents.attachments.get(citation.id)
        item = library.item(attachment.item_id if attachment is not None else citation.id)
        split = split_id(citation.id)
        if split is None or item is None:
            reason = "This source is not in the library that is open."
            return CheckedCitation(
                citation.raw, citation.id, "unchecked", "", "", citation.quote, citation.page, "", reason
            )
        locator = Locator(
            lib=split[0],
            kind=_KINDS.get(attachment.kind, "pdf") if attachment is not None else "item",
            item=item.key,
            att=attachment.key if attachment is not None else "",
            page_index=citation.page - 1 if citation.page else None,
            quote=citation.quote,
        )
        if attachment is not None and attachment.kind in SECTIONED and citation.quote:
            locator, state, reason = await self._in_sections(locator, attachment)
        else:
            locator, state, reason = await self._on_page(locator, attachment)
        return CheckedCitation(
            raw=citation.raw,
            label=library.citation_label(locator),
            state=state,
            title=item.title,
            source=item.byline,
            quote=citation.quote,
            page=citation.page,
            link=library.zotero_link(locator),
            reason=reason,
        )

    async def _in_sections(
        self, locator: Locator, attachment: Attachment
    ) -> tuple[Locator, CitationState, str]:
        """A quote from a document without pages is looked up in all of it, which says where it stands."""
        try:
            verdict, section, cfi = await self._library.find_quote(attachment, locator.quote)
        except UserError as error:
            return locator, "unchecked", error.title
        if section is None:
            return locator, verdict, ""
        index = section.index if section.sections > 1 else None
        found = replace(locator, page_index=None, section=index, href=section.href, cfi=cfi)
        return found, verdict, ""

    async def _on_page(
        self, locator: Locator, attachment: Attachment | None
    ) -> tuple[Locator, CitationState, str]:
        """Where the file has no such page, the citation leads to the file and not to a page."""
        library, page = self._library, locator.page_index
        unread = ""
        if attachment is not None and page is not None:
            try:
                info = await library.document_info(attachment)
                if page >= info.pages:
                    number = "only 1 page" if info.pages == 1 else f"only {info.pages} pages"
                    reason = f"There is no page {page + 1}: this document has {number}."
                    return replace(locator, page_index=None), "not found", reason
                await library.pages_text(attachment, page, page)
            except UserError as error:
                unread = error.title
        if not locator.quote:
            return locator, "unchecked", "The statement carries no quoted words."
        if attachment is None or page is None:
            return locator, "unchecked", "The citation names no page."
        if unread:
            return locator, "unchecked", unread
        verdict = await library.check_quote(locator)
        if verdict != "not found" or (elsewhere := await library.quoted_page(locator)) is None:
            return locator, verdict, ""
        return locator, verdict, f"These words stand on page {elsewhere + 1}, not on page {page + 1}."
