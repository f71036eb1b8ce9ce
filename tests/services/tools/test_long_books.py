"""Books with very many very long sections: a question about one ends in its time, with what it came to."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from bibgenie_desktop.services.library.citing import CitationChecker
from bibgenie_desktop.services.tools.find_in_document import FindInDocument
from bibgenie_desktop.zotero.files import book_reader
from tests.services.tools.test_library_tools import Desk, desk, opened_fence
from tests.zotero.helpers import generated

SECTIONS = 420
LONG = 8 << 20


def long_book(path: Path, sections: int = SECTIONS) -> None:
    """The first sections say “zebra” on their first line; all of them are longer than is read of one."""
    names = [f"s{i}.xhtml" for i in range(sections)]
    items = "".join(f'<item id="i{i}" href="{name}"/>' for i, name in enumerate(names))
    spine = "".join(f'<itemref idref="i{i}"/>' for i in range(sections))
    package = f"<package><metadata/><manifest>{items}</manifest><spine>{spine}</spine></package>"
    container = '<container><rootfiles><rootfile full-path="c.opf"/></rootfiles></container>'
    body = b"sleep words " * (LONG // 12)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("META-INF/container.xml", container)
        archive.writestr("c.opf", package)
        for number, name in enumerate(names):
            long = body if number < 40 else b"short words"
            archive.writestr(name, b"<html><body><p>zebra %d</p><p>%s</p></body></html>" % (number, long))


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data_dir = generated(tmp_path_factory.mktemp("books") / "lib", "--items", "37")
    long_book(next(data_dir.glob("storage/*/guide.epub")))
    return data_dir


def book_of(d: Desk) -> str:
    return next(a.id for a in d.library.contents.attachments.values() if a.kind == "epub")


async def test_a_search_ends_at_its_limit_with_what_was_found_and_where_it_goes_on(
    shelf: Path, tmp_path: Path
) -> None:
    async with desk(tmp_path, shelf) as d:
        tool, book = FindInDocument(d.library, time_limit=1.0), book_of(d)
        result = await tool.run({"attachment_id": book, "query": "zebra", "limit": 2})
        data = opened_fence(result.text)
        done = data["total"]
        assert 0 < done < SECTIONS
        assert data["scope"] == (
            f"looked through {done} of {SECTIONS} sections, from 1 to {done}; then the time was over"
        )
        assert [h["section"] for h in data["hits"]] == [1, 2][:done]
        assert len(data["per_section"]) == done
        if done <= 2:
            assert data["next"] == {"attachment_id": book, "query": "zebra", "from": done + 1}
        rest = await d.data("find_in_document", attachment_id=book, query="zebra", **{"from": SECTIONS - 9})
        assert (rest["total"], rest["hits"][0]["section"]) == (10, SECTIONS - 9)
        assert rest["scope"] == f"looked through 10 of {SECTIONS} sections, from {SECTIONS - 9} to {SECTIONS}"
        assert "past the end" in await d.error(
            "find_in_document", attachment_id=d.item("Practice").id, query="x", **{"from": 9}
        )


async def test_a_search_that_comes_to_nothing_in_its_time_says_so_and_frees_the_reader(
    shelf: Path, tmp_path: Path
) -> None:
    async with desk(tmp_path, shelf) as d:
        result = await FindInDocument(d.library, time_limit=0.01).run(
            {"attachment_id": book_of(d), "query": "zebra"}
        )
        assert (result.error, result.text) == (True, "This document takes too long to be looked through.")
        data = await d.data("read_document", attachment_id=d.item("Practice").id, pages="1")
        assert data["pages"]


async def test_reading_and_the_outline_open_no_more_sections_than_they_show(
    shelf: Path, tmp_path: Path
) -> None:
    async with desk(tmp_path, shelf) as d:
        book = book_of(d)
        outline = await d.data("get_outline", attachment_id=book)
        assert outline["total"] == SECTIONS
        assert "chars" not in outline["outline"][0]
        for place in ("400", "s399.xhtml", "epubcfi(/6/800!/4/2)", "epubcfi(/6/800[chap]!/4/2:0)"):
            data = await d.data("read_document", attachment_id=book, section=place)
            assert data["sections"][0]["text"].startswith("zebra 399"), place
        long = await d.library.section_text(d.library.contents.attachments[book], 0)
        assert len(long.text) <= book_reader.MOST_CHARS + 100


async def test_a_quote_that_could_not_be_looked_up_everywhere_is_unchecked_and_not_missing(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bibgenie_desktop.zotero.reading.SEARCH_LIMIT_S", 0.5)
    async with desk(tmp_path, shelf) as d:
        (found,) = (
            await CitationChecker(d.library).check(f'[[{book_of(d)} "giraffes never sleep"]]')
        ).values()
        assert (found.state, found.reason) == (
            "unchecked",
            "This document is too long to be looked through for the quoted words.",
        )


def test_a_book_of_few_but_huge_sections_is_not_read_for_its_outline(tmp_path: Path) -> None:
    long_book(tmp_path / "a.epub", 12)
    book = book_reader.open_book(tmp_path / "a.epub")
    try:
        assert not book.countable()
        rows = book_reader.answer(book, {"op": "sections"})["sections"]
        assert isinstance(rows, list)
        assert [row[2] for row in rows] == [0] * 12
    finally:
        book.close()


@pytest.mark.parametrize("body", ["<p>a" * 3_000_000, "a" * 9_000_000, "<i>" * 400 + "<p>b" * 1_000_000])
def test_a_section_has_an_end_whatever_it_consists_of(body: str) -> None:
    blocks = book_reader.blocks_of(f"<html><body>{body}", paths=True)
    assert sum(len(b.text) + len(b.path) for b in blocks) <= book_reader.MOST_CHARS + 2_000
