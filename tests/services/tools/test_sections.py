"""Books and web pages through the tools, and Zotero's extract where the file itself cannot be read."""

from __future__ import annotations

from pathlib import Path

from bibgenie_desktop.services.library.citing import CitationChecker
from tests.services.tools.test_library_tools import desk, opened_fence
from tests.zotero.helpers import SAMPLE, generated, manifest, sample_copy


async def test_an_epub_is_read_on_by_sections_and_found_by_cfi(tmp_path: Path) -> None:
    zotero = generated(tmp_path / "lib", "--items", "37")
    async with desk(tmp_path, zotero) as d:
        book = next(a for a in d.library.contents.attachments.values() if a.kind == "epub")
        result = await d.run("read_document", attachment_id=book.id)
        data = opened_fence(result.text)
        titles = [data["sections"][0]["title"]]
        locator = result.resources[0].locator
        assert (locator.kind, locator.section, locator.page_index) == ("epub", 0, None)
        while "next" in data:
            data = await d.data("read_document", **data["next"])
            titles.append(data["sections"][0]["title"])
        assert titles == ["Why this guide", "Stages of the night", "Spindles", "What to do tonight"]
        found = await d.data("find_in_document", attachment_id=book.id, query="second half of the night")
        hit = found["hits"][0]
        assert (hit["section"], hit["href"]) == (2, "OEBPS/text/s1.xhtml")
        assert hit["cfi"] == "epubcfi(/6/4!/4/4)"
        back = await d.data("read_document", attachment_id=book.id, section=hit["cfi"])
        assert back["sections"][0]["text"].startswith("Deep sleep fills")
        named = await d.data("read_document", attachment_id=book.id, href="s1.xhtml", max_chars=200)
        assert named["sections"][0]["section"] == 2
        outline = await d.data("get_outline", attachment_id=book.id)
        assert [r["section"] for r in outline["outline"]] == [1, 2, 3, 4]
        assert "sections 1 to 4" in await d.error("read_document", attachment_id=book.id, section="9")
        link = d.library.zotero_link(result.resources[0].locator)
        assert "cfi=epubcfi" in link
        assert "page=" not in link


async def test_a_snapshot_is_read_and_an_outline_has_pages(tmp_path: Path) -> None:
    zotero = generated(tmp_path / "lib", "--items", "37")
    async with desk(tmp_path, zotero) as d:
        page = next(
            a for a in d.library.contents.attachments.values() if a.kind == "html" and a.link_mode == 1
        )
        data = await d.data("read_document", attachment_id=page.id)
        assert data["sections"][0]["text"].startswith("Snapshot of a page.")
        walker = f"u-{manifest(zotero)['items']['walker2002']['key']}"
        outline = await d.data("get_outline", attachment_id=walker)
        assert outline["headings_guessed"] is True
        assert ("Results", 2) in {(r["title"], r["page"]) for r in outline["outline"]}


async def test_zoteros_extract_stands_in_for_a_file_that_is_not_here(tmp_path: Path) -> None:
    zotero = sample_copy(tmp_path / "Zotero")
    async with desk(tmp_path / "a", zotero) as d:
        missing = d.item("Hippocampal sharp").attachments[0]
        folder = zotero / "storage" / missing.key
        folder.mkdir(exist_ok=True)
        (folder / ".zotero-ft-cache").write_text("Ripples are short.\fThey " + "matter " * 400, "utf-8")
        data = await d.data("read_document", attachment_id=missing.id, max_chars=300)
        assert data["page_unknown"] is True
        assert data["text"].startswith("Ripples are short.")
        assert "not on this computer" in data["why"]
        assert "pages" not in data
        rest = await d.data("read_document", **data["next"])
        assert rest["text"].startswith("atter") or "matter" in rest["text"]
    assert not (SAMPLE / "storage" / missing.key / ".zotero-ft-cache").exists()


async def test_a_quote_from_an_epub_is_verified_and_its_link_opens_the_paragraph(tmp_path: Path) -> None:
    zotero = generated(tmp_path / "lib", "--items", "37")
    async with desk(tmp_path, zotero) as d:
        book = next(a for a in d.library.contents.attachments.values() if a.kind == "epub")
        true = f'[[{book.id} "the second half of the night is not a copy of the first"]]'
        false = f'[[{book.id} "sleep has no use at all whatsoever"]]'
        checked = await CitationChecker(d.library).check(f"{true} {false}")
        assert (checked[true].state, checked[false].state) == ("verified", "not found")
        assert checked[true].label.endswith("section 2")
        assert "cfi=epubcfi%28%2F6%2F4%21%2F4%2F4%29" in checked[true].link
        assert "page=" not in checked[true].link
