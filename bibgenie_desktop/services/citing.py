"""The citations of an answer, looked up again offline: what to show, where it leads, whether the quote
stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bibgenie_desktop.domain.citations import Citation, citations_in
from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.locators import Locator, split_id
from bibgenie_desktop.zotero.quotes import check_quote
from bibgenie_desktop.zotero.service import ZoteroLibrary

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

    async def _check(self, citation: Citation) -> CheckedCitation:
        await self._library.ensure_loaded()
        attachment = self._library.attachment(citation.id)
        item = self._library.item(
            attachment.parent_id if attachment and attachment.parent_id else citation.id
        )
        split = split_id(citation.id)
        if split is None or (attachment is None and item is None):
            reason = "This source is not in the library that is open."
            return CheckedCitation(
                citation.raw, citation.id, "unchecked", "", "", citation.quote, citation.page, "", reason
            )
        lib, _ = split
        state: CitationState = "unchecked"
        reason = "The statement carries no quoted words." if not citation.quote else ""
        label = ""
        if citation.quote and citation.page and attachment is not None and attachment.path is not None:
            try:
                page = citation.page - 1
                pages = await self._library.documents.pages_text(attachment.path, page, page + 1)
                label = pages[0].label if pages else ""
                state = check_quote(citation.quote, "\n".join(p.text for p in pages))
            except UserError as error:
                reason = error.title
        elif citation.quote:
            reason = "The file or page of this source cannot be read here."
        locator = Locator(
            lib=lib,
            kind="pdf" if attachment is not None else "item",
            item=item.key if item is not None else "",
            att=attachment.key if attachment is not None else "",
            page_index=citation.page - 1 if citation.page else None,
            page_label=label,
        )
        return CheckedCitation(
            raw=citation.raw,
            label=self._library.citation_label(locator),
            state=state,
            title=item.title if item is not None else (attachment.title if attachment else ""),
            source=item.byline if item is not None else "",
            quote=citation.quote,
            page=citation.page,
            link=self._library.zotero_link(locator),
            reason=reason,
        )
