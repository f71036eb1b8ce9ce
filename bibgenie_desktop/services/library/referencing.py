"""Works as references for the clipboard and for files: in the person's styles, or as data for other programs.

Also answers with their markers written out as citations of a style, with the references below.
"""

from __future__ import annotations

import asyncio
import html
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from bibgenie_desktop.domain.citations import Citation, citations_in
from bibgenie_desktop.domain.errors import DocumentUnreadable, UserError
from bibgenie_desktop.domain.locators import Locator
from bibgenie_desktop.zotero.citing.citations import default_style, format_items, format_text
from bibgenie_desktop.zotero.citing.csl import csl_item
from bibgenie_desktop.zotero.citing.references import bibtex, ris
from bibgenie_desktop.zotero.citing.styles import Style, UnknownStyle, find_style, installed_styles, usable
from bibgenie_desktop.zotero.model.library import Item
from bibgenie_desktop.zotero.model.links import item_label
from bibgenie_desktop.zotero.service import ZoteroLibrary

Form = Literal["citation", "bibliography", "link", "bibtex", "ris", "csl-json", "citekey"]
STYLED: Final[tuple[Form, ...]] = ("citation", "bibliography")
SUFFIXES: Final[dict[Form, str]] = {"bibliography": "txt", "bibtex": "bib", "ris": "ris", "csl-json": "json"}
_BETWEEN = re.compile(r"[\s,;]*")


@dataclass(frozen=True, slots=True)
class StyleName:
    id: str
    title: str


@dataclass(frozen=True, slots=True)
class Written:
    """Text, and the same as HTML where that says more; `missing` works are not in the library in use."""

    text: str
    html: str = ""
    missing: int = 0


class Referencing:
    """Belongs to one library. Nothing of this asks the network."""

    def __init__(self, library: ZoteroLibrary) -> None:
        self._library = library

    async def styles(self) -> tuple[StyleName, ...]:
        """The installed styles that can be used by title, then the one built in."""
        found = await asyncio.to_thread(installed_styles, self._library.status.data_dir)
        return tuple(StyleName(s.id, s.title) for s in usable(found))

    async def write(self, ids: Sequence[str], form: Form, style: str = "", locale: str = "") -> Written:
        """Works by the ids of items or of their attachments, each once.

        Raises `UserError`: none of them is in the library, or the style cannot be used.
        """
        await self._library.ensure_loaded()
        items, missing = await self._library.apart(lambda: self._items(ids))
        if not items:
            raise UserError(
                "These works are not in the library in use.", "Choose the library they come from."
            )
        text, marked = await asyncio.to_thread(self._written, items, form, style, locale)
        return Written(text, marked, missing)

    async def cited(self, text: str, style: str = "", locale: str = "") -> Written:
        """An answer's Markdown with citations in a style and the references at its end.

        A marker that leads nowhere keeps its words in brackets. Raises `UserError` for an unusable style.
        """
        await self._library.ensure_loaded()
        groups: list[list[tuple[Citation, Item, str]]] = []
        lost: list[Citation] = []
        end = -1
        citations = tuple(citations_in(text))
        works = await self._library.apart(lambda: {c.id: self._item(c.id) for c in citations})
        for citation in citations:
            item = works[citation.id]
            if item is None:
                lost.append(citation)
                continue
            mark = (citation, item, await self._printed(citation))
            near = (
                groups
                and _BETWEEN.fullmatch(text[end : citation.start])
                and "\n" not in text[end : citation.start]
            )
            if near:
                groups[-1].append(mark)
            else:
                groups.append([mark])
            end = citation.end
        marks = [[(item, page) for _, item, page in group] for group in groups]
        made = (
            await asyncio.to_thread(lambda: format_text(marks, self._style(style), locale)) if marks else None
        )
        pieces: list[tuple[int, int, str]] = [(c.start, c.end, f"({c.id})") for c in lost]
        if made is not None:
            pieces += [
                (group[0][0].start, group[-1][0].end, said)
                for group, said in zip(groups, made.citations, strict=True)
            ]
        result, at = "", 0
        for start, stop, said in sorted(pieces):
            result += text[at:start] + said
            at = stop
        result += text[at:]
        if made is not None:
            entries = [line for line in made.references.text.splitlines() if line.strip()]
            result = f"{result.rstrip()}\n\n" + "\n\n".join(entries) + "\n"
        return Written(result, missing=len(lost))

    # -- helpers

    def _style(self, name: str) -> Style:
        styles = installed_styles(self._library.status.data_dir)
        try:
            return find_style(name, styles) if name else default_style(styles)
        except UnknownStyle:
            return default_style(styles)

    def _item(self, full_id: str) -> Item | None:
        attachment = self._library.contents.attachments.get(full_id)
        return self._library.item(attachment.item_id if attachment is not None else full_id)

    def _items(self, ids: Sequence[str]) -> tuple[list[Item], int]:
        found = [self._item(full_id) for full_id in ids]
        kept = {item.id: item for item in found if item is not None}
        return list(kept.values()), sum(item is None for item in found)

    async def _printed(self, citation: Citation) -> str:
        """The printed number of a cited page, the physical one where the file does not tell."""
        if citation.page is None:
            return ""
        attachment = self._library.contents.attachments.get(citation.id)
        if attachment is not None and attachment.kind == "pdf":
            try:
                labels = (await self._library.document_info(attachment)).labels
            except DocumentUnreadable:
                labels = ()
            if citation.page <= len(labels) and labels[citation.page - 1]:
                return labels[citation.page - 1]
        return str(citation.page)

    def _written(self, items: list[Item], form: Form, style: str, locale: str) -> tuple[str, str]:
        match form:
            case "citation" | "bibliography":
                made = format_items(
                    items, self._style(style), bibliography=form == "bibliography", locale=locale
                )
                return made.text, _paragraphs(made.html)
            case "link":
                links = [(item_label(i), self._link(i)) for i in items]
                marked = "; ".join(f'<a href="{html.escape(at)}">{html.escape(who)}</a>' for who, at in links)
                return "; ".join(f"[{_escaped(who)}]({at})" for who, at in links), marked
            case "bibtex":
                return bibtex(items) + "\n", ""
            case "ris":
                return ris(items), ""
            case "csl-json":
                return json.dumps([csl_item(i) for i in items], ensure_ascii=False, indent=2) + "\n", ""
            case "citekey":
                return " ".join(i.citekey for i in items if i.citekey), ""

    def _link(self, item: Item) -> str:
        return self._library.zotero_link(Locator(item.library.id, "item", item=item.key))


def _paragraphs(marked: str) -> str:
    return "".join(f"<p>{line}</p>" for line in marked.splitlines() if line.strip())


def _escaped(text: str) -> str:
    return re.sub(r"([\[\]\\])", r"\\\1", text)
