"""What the citations of a proposed note lead to, by the library in use."""

from __future__ import annotations

from typing import Final

from bibgenie_desktop.domain.locators import Locator, LocatorKind, split_id
from bibgenie_desktop.zotero.index.overview import marks_in
from bibgenie_desktop.zotero.model import links
from bibgenie_desktop.zotero.model.annotations import Annotation
from bibgenie_desktop.zotero.model.library import Attachment, Item, Library
from bibgenie_desktop.zotero.online.note_rules import Cited
from bibgenie_desktop.zotero.service import ZoteroLibrary

SITE: Final = "http://zotero.org"
_KINDS: Final[dict[str, LocatorKind]] = {"pdf": "pdf", "epub": "epub", "html": "html"}


class LibraryNaming:
    """Finds works, pages and marked passages; opens no file."""

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library

    def cited(self, full_id: str, page: int | None, quote: str) -> Cited | None:
        parts = split_id(full_id)
        if parts is None:
            return None
        contents = self._library.contents
        full_id = f"{parts[0]}-{parts[1]}"
        mark = contents.annotations.get(full_id)
        attachment = contents.attachments.get(mark.attachment_id if mark else full_id)
        item = contents.items.get(attachment.item_id if attachment else full_id)
        if item is None:
            return None
        if mark is not None and page is None and mark.place.page_index is not None:
            page = mark.place.page_index + 1
        if mark is None and attachment is not None and quote:
            mark = self._marked(attachment, page, quote)
        elif mark is not None and _plain(mark.text) != _plain(quote):
            mark = None  # its words are not these: a highlight would put them into the person's mouth
        return Cited(
            uri=self._uri(item.library, item.key),
            label=links.item_label(item),
            page=self._printed(item, attachment, page),
            attachment_uri=self._uri(attachment.library, attachment.key) if attachment is not None else "",
            annotation=mark.key if mark is not None else "",
            color=mark.color if mark is not None else "",
            page_index=page - 1 if page else None,
        )

    def _marked(self, attachment: Attachment, page: int | None, quote: str) -> Annotation | None:
        """The person's mark on exactly these words, on this page where one is named."""
        wanted = _plain(quote)
        for mark in marks_in(self._library.contents, attachment.id):
            if mark.type not in ("highlight", "underline"):
                continue
            elsewhere = page is not None and mark.place.page_index not in (None, page - 1)
            if not elsewhere and _plain(mark.text) == wanted:
                return mark
        return None

    def _uri(self, library: Library, key: str) -> str:
        """As notes name works. Where no account is known, 0 stands for it until it is written."""
        own = self._library.contents.account or "users/0"
        where = own if library.group_id is None else f"groups/{library.group_id}"
        return f"{SITE}/{where}/items/{key}"

    def _printed(self, item: Item, attachment: Attachment | None, page: int | None) -> str:
        """The printed number of a page, where the file was opened before; else the physical one."""
        if attachment is None or not page:
            return ""
        place = Locator(
            attachment.library.id,
            _KINDS.get(attachment.kind, "item"),
            item=item.key,
            att=attachment.key,
            page_index=page - 1,
        )
        label = self._library.citation_label(place)
        return label.rpartition(", p. ")[2] if ", p. " in label else str(page)


def _plain(text: str) -> str:
    return " ".join(text.split())
