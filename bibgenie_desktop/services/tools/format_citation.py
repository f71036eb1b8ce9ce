"""`format_citation`: citations and references in an installed style, and data for other programs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Literal

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.services.tools.arguments import Arguments, BadArguments
from bibgenie_desktop.services.tools.base import ToolResult
from bibgenie_desktop.services.tools.presenting import counted, fenced, item_resource, without_empty
from bibgenie_desktop.services.tools.targets import unknown_id
from bibgenie_desktop.zotero.citing.citations import default_style, format_items
from bibgenie_desktop.zotero.citing.csl import csl_item
from bibgenie_desktop.zotero.citing.references import bibtex, ris
from bibgenie_desktop.zotero.citing.styles import UnknownStyle, find_style, installed_styles
from bibgenie_desktop.zotero.model.library import Item
from bibgenie_desktop.zotero.service import ZoteroLibrary

MOST = 50
Mode = Literal["intext", "bibliography", "bibtex", "ris", "csl-json"]
_MODES: tuple[Mode, ...] = ("intext", "bibliography", "bibtex", "ris", "csl-json")
_LIST = {"type": "array", "items": {"type": "string"}}


class FormatCitation:
    spec = ToolSpec(
        name="format_citation",
        description="Citations or references of items in an installed CSL style, or BibTeX, RIS, CSL-JSON.",
        parameters={
            "type": "object",
            "properties": {
                "ids": _LIST,
                "mode": {"enum": list(_MODES), "default": "bibliography"},
                "style": {"type": "string", "description": "name or id"},
                "locale": {"type": "string", "description": "e.g. de-DE"},
                "locators": {**_LIST, "description": "pages, one an id"},
            },
            "required": ["ids"],
        },
        slim_description="References of items, formatted.",
        slim_parameters={
            "type": "object",
            "properties": {"ids": _LIST, "mode": {"enum": list(_MODES)}},
            "required": ["ids"],
        },
    )

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            given = Arguments(arguments, self.spec.parameters["properties"])
            ids = given.texts("ids", MOST)
            mode = given.choice("mode", _MODES, "bibliography")
            given.texts("locators", MOST)  # says what is wrong with them
            pages = arguments.get("locators") or ()
            locators = (
                (pages,) if isinstance(pages, str) else tuple("" if p is None else str(p) for p in pages)
            )
            await self._library.ensure_loaded()
            items = self._items(ids)
            data = await asyncio.to_thread(
                self._formatted, items, mode, given.text("style"), given.text("locale"), locators
            )
        except BadArguments as error:
            return ToolResult(str(error), error=True)
        except UnknownStyle as unknown:
            return ToolResult(unknown.advice, error=True)
        except UserError as error:
            return ToolResult(f"{error.title} {error.advice}".strip(), error=True)
        return ToolResult(
            fenced(data), tuple(item_resource(i) for i in items), note=counted(len(items), "reference")
        )

    def _items(self, ids: tuple[str, ...]) -> list[Item]:
        if not ids:
            raise BadArguments("ids is missing: a list of item ids from search_items.")
        found = []
        for full_id in ids:
            attachment = self._library.contents.attachments.get(full_id)
            item = self._library.item(attachment.item_id if attachment else full_id)
            if item is None:
                raise BadArguments(unknown_id(self._library, full_id))
            found.append(item)
        return list({item.id: item for item in found}.values())

    def _formatted(
        self, items: list[Item], mode: Mode, style: str, locale: str, locators: tuple[str, ...]
    ) -> dict[str, Any]:
        match mode:
            case "bibtex":
                return {"mode": mode, "text": bibtex(items)}
            case "ris":
                return {"mode": mode, "text": ris(items)}
            case "csl-json":
                return {"mode": mode, "text": json.dumps([csl_item(i) for i in items], ensure_ascii=False)}
        styles = installed_styles(self._library.status.data_dir)
        chosen = find_style(style, styles) if style else default_style(styles)
        made = format_items(
            items, chosen, bibliography=mode == "bibliography", locale=locale, locators=locators
        )
        retracted = [i.id for i in items if i.retraction]
        data = {"mode": mode, "style": made.style, "text": made.text, "html": made.html}
        return without_empty({**data, "remark": made.remark, "retracted": retracted})
