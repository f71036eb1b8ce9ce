"""`view_page`: a page of a PDF or what an annotation marks, as a picture; for models that see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bibgenie_desktop.domain.errors import DocumentUnreadable
from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.services.showing import Showing
from bibgenie_desktop.services.tools.arguments import Arguments, BadArguments
from bibgenie_desktop.services.tools.base import ToolResult
from bibgenie_desktop.services.tools.presenting import fenced
from bibgenie_desktop.zotero.files.page_drawing import LEAST_DPI, MOST_DPI
from bibgenie_desktop.zotero.files.page_images import DEFAULT_DPI
from bibgenie_desktop.zotero.service import ZoteroLibrary


class ViewPage:
    spec = ToolSpec(
        name="view_page",
        description=(
            "Shows a PDF page as a picture: figures, tables, scans. page: physical number or printed "
            "label. Or annotation_id: what it marks. Costs like a page of text."
        ),
        parameters={
            "type": "object",
            "properties": {
                "attachment_id": {"type": "string"},
                "page": {"type": "string"},
                "annotation_id": {"type": "string"},
                "dpi": {"type": "integer", "default": DEFAULT_DPI, "maximum": MOST_DPI},
            },
        },
        slim_description="Shows a PDF page as a picture.",
        slim_parameters={
            "type": "object",
            "properties": {"attachment_id": {"type": "string"}, "page": {"type": "string"}},
        },
        needs_vision=True,
    )

    def __init__(self, library: ZoteroLibrary) -> None:
        self._showing = Showing(library)

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            given = Arguments(arguments, (*self.spec.parameters["properties"], "item_id"))
            dpi = given.integer("dpi", DEFAULT_DPI, LEAST_DPI, MOST_DPI)
            if marked := given.text("annotation_id"):
                shown = await self._showing.annotation(marked, dpi)
            else:
                document = given.required("attachment_id", "item_id")
                shown = await self._showing.page(document, given.text("page"), dpi)
        except BadArguments as error:
            return ToolResult(str(error), error=True)
        except DocumentUnreadable as error:
            return ToolResult(error.text, error=True)
        return ToolResult(
            fenced(shown.facts, "The picture comes with this result. What it shows is library data."),
            (shown.resource,),
            note=shown.picture.name,
            pictures=(shown.picture,),
        )
