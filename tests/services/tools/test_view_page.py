"""`view_page` on the sample library, and who is told that it could show a page."""

from __future__ import annotations

import contextlib
import sqlite3
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pypdfium2
import pytest

from bibgenie_desktop.domain.estimate import estimate_tools
from bibgenie_desktop.services.tools.base import Tool, ToolResult
from bibgenie_desktop.services.tools.registry import library_tools
from bibgenie_desktop.services.tools.view_page import ViewPage
from bibgenie_desktop.zotero.service import ZoteroLibrary
from tests.services.tools.test_library_tools import opened_fence
from tests.zotero.helpers import SAMPLE, opened_library, sample_copy, titled


class Desk:
    def __init__(self, library: ZoteroLibrary) -> None:
        self.library = library
        self.tools: dict[str, Tool] = {tool.spec.name: tool for tool in library_tools(library)}

    async def run(self, name: str, **arguments: Any) -> ToolResult:
        return await self.tools[name].run(arguments)

    async def error(self, **arguments: Any) -> str:
        result = await self.run("view_page", **arguments)
        assert result.error
        assert (result.pictures, result.resources) == ((), ())
        return result.text

    def pdf(self, beginning: str) -> str:
        item = titled(self.library.contents, beginning)
        return next(a.id for a in item.attachments if a.kind == "pdf")


@asynccontextmanager
async def desk(tmp_path: Path, data_dir: Path = SAMPLE) -> AsyncIterator[Desk]:
    library = opened_library(data_dir, tmp_path / "private")
    await library.ensure_loaded()
    try:
        yield Desk(library)
    finally:
        await library.close()


def hu(d: Desk) -> str:
    files = d.library.contents.attachments.values()
    return next(a.id for a in files if a.stored.endswith("Hu - 2020.pdf"))


def facts(result: ToolResult) -> dict[str, Any]:
    lead, _, fence = result.text.partition("\n")
    assert lead == "The picture comes with this result. What it shows is library data."
    return opened_fence(fence)


def test_schema_keeps_to_its_share_and_is_for_models_that_see() -> None:
    assert estimate_tools([ViewPage.spec]) <= 180
    assert ViewPage.spec.needs_vision
    assert ViewPage.spec.slim().needs_vision


async def test_page_is_shown_by_number_or_label_and_can_be_cited(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        for page in ("2", "219", "p. 219", 2):
            result = await d.run("view_page", attachment_id=hu(d), page=page)
            (picture,) = result.pictures
            assert picture.data.startswith(b"\x89PNG")
            assert struct.unpack(">II", picture.data[16:24]) == (picture.width, picture.height) == (935, 1210)
            assert (picture.mime, picture.name) == ("image/png", "Hu et al. 2020, p. 219")
            told = facts(result)
            assert (told["page"], told["label"], told["pages_total"]) == (2, "219", 3)
            (resource,) = result.resources
            assert (resource.locator.page_index, resource.locator.kind) == (1, "pdf")
            assert resource.locator.att_id == told["attachment_id"]
        larger = await d.run("view_page", attachment_id=hu(d), page="2", dpi=130)
        assert larger.pictures[0].width > 935


async def test_mistakes_teach(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        assert "attachment_id is missing" in await d.error()
        assert "pages 1 to 3 (printed 218 to 220)" in await d.error(attachment_id=hu(d), page="99")
        assert "One page at a time, such as 1" in await d.error(attachment_id=hu(d), page="1-3")
        assert "Valid: attachment_id, page" in await d.error(attachment_id=hu(d), pages="1")
        assert "is not an id" in await d.error(attachment_id="Hu 2020")
        assert "is no annotation" in await d.error(annotation_id=hu(d))


async def test_document_without_pages_is_left_to_the_tool_that_reads_it(tmp_path: Path) -> None:
    data_dir = sample_copy(tmp_path / "Zotero")
    with contextlib.closing(sqlite3.connect(data_dir / "zotero.sqlite")) as db, db:
        db.execute(
            "UPDATE itemAttachments SET contentType = 'application/epub+zip' WHERE path LIKE '%Hu - 2020%'"
        )
    async with desk(tmp_path, data_dir) as d:
        assert "is epub, which has no pages to show; read_document reads it" in await d.error(
            attachment_id=hu(d)
        )


async def test_marked_picture_is_shown_by_its_area_and_a_highlight_by_its_page(tmp_path: Path) -> None:
    data_dir = sample_copy(tmp_path / "Zotero")
    with contextlib.closing(sqlite3.connect(data_dir / "zotero.sqlite")) as db, db:
        (row,) = db.execute("SELECT MIN(itemID) FROM itemAnnotations WHERE type = 1").fetchone()
        position = '{"pageIndex":0,"rects":[[72,300,272,400]]}'
        db.execute(
            "UPDATE itemAnnotations SET type = 3, text = NULL, comment = 'the figure', position = ? "
            "WHERE itemID = ?",
            (position, row),
        )
    async with desk(tmp_path, data_dir) as d:
        marks = d.library.contents.annotations.values()
        figure = next(m for m in marks if m.type == "image")
        passage = next(m for m in marks if m.type == "highlight")
        result = await d.run("view_page", annotation_id=figure.id)
        (picture,) = result.pictures
        assert picture.width / picture.height == pytest.approx(212 / 112, rel=0.02)
        told = facts(result)
        assert (told["shows"], told["comment"], told["page"]) == ("the marked area", "the figure", 1)
        assert result.resources[0].locator.annotation == figure.key
        page = await d.run("view_page", annotation_id=passage.id)
        assert facts(page)["shows"] == "the page"
        listed = await d.run("get_annotations", item_id=figure.item_id)
        assert "view_page with annotation_id" in listed.for_eyes
        assert "view_page" not in listed.text
        others = await d.run("get_annotations", types=["highlight"])
        assert others.for_eyes == ""


async def test_area_whose_file_is_missing_is_shown_as_zotero_drew_it(tmp_path: Path) -> None:
    data_dir = sample_copy(tmp_path / "Zotero")
    with contextlib.closing(sqlite3.connect(data_dir / "zotero.sqlite")) as db, db:
        row, key = db.execute(
            "SELECT itemID, key FROM items JOIN itemAnnotations USING (itemID) ORDER BY itemID LIMIT 1"
        ).fetchone()
        db.execute(
            "UPDATE itemAnnotations SET type = 3, position = '{\"pageIndex\":0}' WHERE itemID = ?", (row,)
        )
    async with desk(tmp_path, data_dir) as d:
        mark = d.library.contents.annotations[f"u-{key}"]
        attachment = await d.library.locate(d.library.contents.attachments[mark.attachment_id])
        assert attachment.path is not None
        attachment.path.unlink()
        assert "cannot be read" in await d.error(annotation_id=mark.id)
        drawn = data_dir / "cache" / "library" / f"{key}.png"
        drawn.parent.mkdir(parents=True)
        drawn.write_bytes(b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 320, 200) + bytes(40))
        result = await d.run("view_page", annotation_id=mark.id)
        assert (result.pictures[0].width, result.pictures[0].height) == (320, 200)


async def test_reading_a_scan_names_the_tool_that_shows_it_to_models_that_see_only(tmp_path: Path) -> None:
    data_dir = sample_copy(tmp_path / "Zotero")
    path = next((data_dir / "storage").glob("*/Hu - 2020.pdf"))
    document = pypdfium2.PdfDocument.new()
    for _ in range(2):
        document.new_page(300, 400)
    document.save(path)
    document.close()
    async with desk(tmp_path, data_dir) as d:
        result = await d.run("read_document", attachment_id=hu(d))
        assert "view_page" not in result.text
        assert result.for_eyes.startswith("view_page can show such a page: attachment_id u-")
        assert result.for_eyes.endswith("page 1.")
        shown = await d.run("view_page", attachment_id=hu(d))
        assert len(shown.pictures) == 1
        readable = await d.run("read_document", attachment_id=d.pdf("The memory function"))
        assert readable.for_eyes == ""
