"""Pages and annotations of the library as pictures: for a model that asks, and for a person's message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bibgenie_desktop.domain.locators import Resource
from bibgenie_desktop.services.images import Picture
from bibgenie_desktop.services.tools.arguments import BadArguments
from bibgenie_desktop.services.tools.page_ranges import extent, parse_pages
from bibgenie_desktop.services.tools.presenting import annotation_resource, page_resource, without_empty
from bibgenie_desktop.services.tools.targets import find_document, unknown_id
from bibgenie_desktop.zotero.files.documents import PageText
from bibgenie_desktop.zotero.files.page_images import DEFAULT_DPI, PageImage
from bibgenie_desktop.zotero.model.annotations import Annotation
from bibgenie_desktop.zotero.model.library import Item
from bibgenie_desktop.zotero.model.links import item_label, place_label
from bibgenie_desktop.zotero.service import ZoteroLibrary


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture, what it shows in words and for lists of sources, and the facts a model is told of it."""

    picture: Picture
    resource: Resource
    facts: dict[str, Any]


class Showing:
    """Belongs to one library. Raises `BadArguments` for what cannot be meant, `DocumentUnreadable`."""

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library

    async def page(self, full_id: str, page: str, dpi: int = DEFAULT_DPI) -> Shown:
        """A page of a PDF, by its physical number or printed label; the first one where none is named."""
        await self._library.ensure_loaded()
        item, attachment = await find_document(self._library, full_id)
        if attachment.kind != "pdf":
            raise BadArguments(
                f"{attachment.id} is {attachment.kind}, which has no pages to show; read_document reads it."
            )
        info = await self._library.document_info(attachment)
        indices = parse_pages(page, info) or [0]
        if len(indices) > 1:
            raise BadArguments(f"One page at a time, such as {indices[0] + 1}. {extent(info)}")
        image = await self._library.page_image(attachment, indices[0], dpi)
        resource = page_resource(item, attachment, PageText(image.index, image.label, ""))
        facts = {"attachment_id": attachment.id, "pages_total": info.pages}
        return _shown(item, image, resource, facts)

    async def annotation(self, full_id: str, dpi: int = DEFAULT_DPI) -> Shown:
        """What an annotation marks: the area of a picture or drawing, else its whole page."""
        await self._library.ensure_loaded()
        annotation = self._library.contents.annotations.get(full_id)
        if annotation is None:
            wrong = unknown_id(self._library, full_id)
            raise BadArguments(
                f"{full_id[:60]} is no annotation." if "annotation" not in wrong else wrong
            ) from None
        item = self._library.contents.items[annotation.item_id]
        await self._library.bring(self._library.contents.attachments[annotation.attachment_id])
        image = await self._library.annotation_image(annotation, dpi)
        facts = {"annotation_id": annotation.id, "attachment_id": annotation.attachment_id}
        resource = annotation_resource(annotation, self._library.contents)
        return _shown(item, image, resource, facts | _words(annotation))


def _words(annotation: Annotation) -> dict[str, Any]:
    return {"type": annotation.type, "comment": annotation.comment[:500]}


def _shown(item: Item, image: PageImage, resource: Resource, facts: dict[str, Any]) -> Shown:
    place = place_label(resource.locator, image.label)
    name = ", ".join(word for word in (item_label(item), place) if word)
    told = {
        **facts,
        "item_id": item.id,
        "source": f"{item_label(item)}: {item.title}",
        "page": image.index + 1 if image.index >= 0 else None,
        "label": image.label,
        "shows": "the page" if image.whole else "the marked area",
    }
    picture = Picture(image.data, "image/png", image.width, image.height, name)
    return Shown(picture, resource, without_empty(told))
