"""Faults other programs had with documents, provoked again through the tools: outlines, sizes, fonts."""

from __future__ import annotations

import os
import re
import sys
import textwrap
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bibgenie_desktop.zotero.files.garbled import garbled
from tests.services.tools.test_hostile_documents import Shelf, archive, book, others_are_read, pdf
from tests.services.tools.test_library_tools import Desk
from tests.services.tools.test_library_tools import desk as tools
from tests.test_cases_zotero import pages
from tests.zotero.helpers import generated, opened_library


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def with_outline(*entries: bytes) -> bytes:
    """A page of text and an outline of these objects, the first of which is the number 7."""
    words = b"BT /F 12 Tf 72 700 Td (A page of text that is there to be read) Tj ET"
    return pdf(
        b"<</Type/Catalog/Pages 2 0 R/Outlines 6 0 R>>",
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(words), words),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</First 7 0 R/Last 7 0 R/Count 1>>",
        *entries,
    )


POISON = {
    "it follows itself": (b"<</Title(a)/Parent 6 0 R/Next 7 0 R/First 7 0 R>>",),
    "two follow each other": (
        b"<</Title(a)/Parent 6 0 R/Next 8 0 R/First 8 0 R>>",
        b"<</Title(b)/Parent 7 0 R/Next 7 0 R/First 7 0 R>>",
    ),
    "it is a thousand deep": tuple(
        b"<</Title(level %d)/Parent %d 0 R/First %d 0 R>>" % (n, 6 + n, 8 + n) for n in range(1_000)
    ),
    "it is endless": tuple(
        b"<</Title(entry %d)/Parent 6 0 R/Next %d 0 R>>" % (n, 8 + n) for n in range(30_000)
    ),
    "it leads nowhere": (b"<</Title(a)/Parent 6 0 R/Dest[99999 0 R/XYZ 0 0 0]>>",),
    "it is not one": (b"[1 2 3]",),
    "its title is no text": (b"<</Title 12 0 R/Parent 6 0 R/Dest(nowhere)>>",),
}


@pytest.mark.parametrize("kind", POISON)
async def test_54yyyu_431_a_poisoned_outline_is_read_as_far_as_it_goes(
    shelf: Shelf, tmp_path: Path, kind: str
) -> None:
    """54yyyu#431, in real files and the real reader."""
    shelf.put(with_outline(*POISON[kind]))
    async with tools(tmp_path, shelf.data_dir) as d:
        att = d.item("Promoting memory").attachments[0].id
        data = await d.data("get_outline", attachment_id=att)
        assert data["pages_total"] == 1
        own = {"it is a thousand deep": 8, "it is endless": 1_000, "it leads nowhere": 1}
        assert data["total"] == own.get(kind, data["total"]) <= 1_000
        assert data["headings_guessed"] is False or kind not in own
        text = await d.data("read_document", attachment_id=att)
        assert "there to be read" in text["pages"][0]["text"]
        await others_are_read(d)


POISONED_WORKER = """
import json, os, signal, sys, time
from bibgenie_desktop.zotero.files import pdf_outline, pdf_worker
real = pdf_outline.outline_of
def outline_of(document, text_of, clean):
    if b"poison" in open(reader._name[0], "rb").read():
        {fault}
    return real(document, text_of, clean)
pdf_worker.outline_of = outline_of
made = pdf_worker.Reader
def Reader():
    global reader
    reader = made()
    return reader
pdf_worker.Reader = Reader
sys.exit(pdf_worker.main())
"""
FAULTS = {
    "hangs": ("time.sleep(600)", "took too long"),
    "segfault": ("os.kill(os.getpid(), signal.SIGSEGV)", "stopped on this file"),
    "eats memory": ("x = b'x' * (8 << 30)", "more memory than is allowed"),
}


@asynccontextmanager
async def with_worker(tmp_path: Path, data_dir: Path, fault: str) -> AsyncIterator[Desk]:
    """The real reader of files, in which the library for outlines is as bad as that of the report."""
    script = tmp_path / "worker.py"
    script.write_text(textwrap.dedent(POISONED_WORKER).format(fault=fault))
    library = opened_library(
        data_dir, tmp_path / "private", command=(sys.executable, str(script)), time_limit=2.0
    )
    await library.ensure_loaded()
    try:
        yield Desk(library)
    finally:
        await library.close()


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals and limits")
@pytest.mark.parametrize("fault", FAULTS)
async def test_54yyyu_431_an_outline_that_takes_its_reader_down_is_one_error(
    shelf: Shelf, tmp_path: Path, fault: str
) -> None:
    """54yyyu#431. The tool says so, nothing stays held, and the same file's text is read afterwards."""
    shelf.put(pages(2) + b"\n%poison\n")
    code, taught = FAULTS[fault]
    async with with_worker(tmp_path, shelf.data_dir, code) as d:
        att = d.item("Promoting memory").attachments[0].id
        for _ in range(2):
            assert taught in await d.error("get_outline", attachment_id=att)
            assert (await d.data("search_items", query="sleep"))["total"] > 5
        assert (await d.data("read_document", attachment_id=att))["pages_total"] == 2
        await others_are_read(d)


def heavy(count: int) -> bytes:
    """A PDF of many pages, each with a megabyte of drawing (packed) around its words."""
    filler = b"0 0 m 1 1 l S\n" * 75_000
    out = [b"<</Type/Catalog/Pages 2 0 R>>"]
    out.append(
        b"<</Type/Pages/Count %d/Kids[%s]>>"
        % (count, b" ".join(b"%d 0 R" % (4 + 2 * n) for n in range(count)))
    )
    out.append(b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
    for n in range(1, count + 1):
        words = b"BT /F 12 Tf 72 700 Td (This is page number %d) Tj ET\n" % n
        body = zlib.compress(words + filler, 1)
        page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F 3 0 R>>>>"
        out.append(page + b"/Contents %d 0 R>>" % (3 + 2 * n))
        out.append(b"<</Filter/FlateDecode/Length %d>>stream\n%s\nendstream" % (len(body), body))
    return pdf(*out)


def peak_mb(pid: int) -> int:
    """The most memory a process has had in use."""
    for line in Path(f"/proc/{pid}/status").read_text("ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) // 1024
    raise AssertionError("no VmHWM")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
async def test_beaver_100_1500_heavy_pages_are_read_within_bounded_memory(
    shelf: Shelf, tmp_path: Path
) -> None:
    """beaver#100. All pages at once would be 1.5 GB; none is read that was not asked for."""
    shelf.put(heavy(1_500))
    async with tools(tmp_path, shelf.data_dir) as d:
        await others_are_read(d)
        process = d.library.documents._process
        assert process is not None
        before = peak_mb(process.pid)
        att = d.item("Promoting memory").attachments[0].id
        data = await d.data("read_document", attachment_id=att, pages="1500")
        assert data["pages_total"] == 1_500
        assert [p["text"].strip() for p in data["pages"]] == ["This is page number 1500"]
        one = peak_mb(process.pid) - before
        assert one < 150
        await d.data("read_document", attachment_id=att, pages="700-760", max_chars=40_000)
        assert d.library.documents._process is process
        assert peak_mb(process.pid) - before < one + 150


MOJIBAKE = "ÔÚË¯ÃßÖÐµÄ¼ÇÒä¹®¹Ì".encode("latin-1") * 5
READABLE = "睡眠对记忆巩固的作用。" * 20


def in_bad_fonts(count: int) -> bytes:
    return (
        pages(count)
        .replace(b"Helvetica", b"Helvetica/Encoding/WinAnsiEncoding")
        .replace(b"This is page", MOJIBAKE)
    )


async def test_cookjohn_56_words_in_bad_fonts_are_not_called_missing(shelf: Shelf, tmp_path: Path) -> None:
    """cookjohn#56. Not finding must not pass for the text not saying it; what Zotero extracted is found."""
    shelf.put(in_bad_fonts(2))
    (shelf.folder / ".zotero-ft-cache").write_text(READABLE, "utf-8")
    async with tools(tmp_path, shelf.data_dir) as d:
        att = d.item("Promoting memory").attachments[0].id
        found = await d.data("find_in_document", attachment_id=att, query="睡眠")
        assert found["total"] == 0
        assert "2 pages" in found["garbled"]
        await d.library.index_texts()
        (row,) = (await d.data("search_fulltext", query="记忆巩固的作用"))["items"]
        assert row["id"] == d.item("Promoting memory").id


async def test_cookjohn_56_an_extract_as_bad_as_the_fonts_is_not_preferred(
    shelf: Shelf, tmp_path: Path
) -> None:
    """The flag stays where no better text is to be had, and models that see are told of the picture."""
    shelf.put(in_bad_fonts(2))
    (shelf.folder / ".zotero-ft-cache").write_text(MOJIBAKE.decode("latin-1"), "utf-8")
    async with tools(tmp_path, shelf.data_dir) as d:
        result = await d.run("read_document", attachment_id=d.item("Promoting memory").attachments[0].id)
        assert "do not quote" in result.text
        assert "page_unknown" not in result.text
        assert "view_page" in result.for_eyes


@pytest.mark.parametrize(
    "text", [READABLE, "Où était-il né? Ça été créé à Sète, à côté. " * 3, "Þæö íslenska " * 9]
)
def test_cookjohn_56_language_is_not_taken_for_bad_fonts(text: str) -> None:
    assert not garbled(text)


@pytest.mark.parametrize(
    ("stored", "read"), [("gbk", "latin-1"), ("utf-8", "cp1252"), ("shift_jis", "cp1252")]
)
def test_cookjohn_56_the_usual_mix_ups_are_told(stored: str, read: str) -> None:
    assert garbled("睡眠記憶研究的結果と意味".encode(stored, "ignore").decode(read, "replace") * 4)


WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
OTHER = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
PARAGRAPH = b"<w:document><w:body><w:p><w:r><w:t>words of it</w:t></w:r></w:p></w:body></w:document>"


@pytest.mark.parametrize(
    ("name", "kind", "make", "told"),
    [
        ("a.txt", "text/plain", lambda _: b"words of it", ""),
        ("a.md", "text/markdown", lambda _: b"# Title\n\nwords of it", ""),
        ("a.html", "text/html", lambda _: b"<p>words of it</p>", ""),
        ("a.xhtml", "application/xhtml+xml", lambda _: b"<html><p>words of it</p></html>", ""),
        ("a.docx", WORD, lambda p: archive(p, {"word/document.xml": PARAGRAPH}), ""),
        ("a.docx", "", lambda p: archive(p, {"word/document.xml": PARAGRAPH}), ""),
        ("a.epub", "application/epub+zip", lambda p: book(p, a_xhtml=b"<p>words of it</p>"), ""),
        ("a.pptx", OTHER, lambda p: archive(p, {"ppt/a.xml": b"x"}), "presentation"),
        ("a.png", "image/png", lambda _: b"\x89PNG", "image/png"),
        ("a.zip", "application/zip", lambda p: archive(p, {"a": b"x"}), "application/zip"),
        ("a.bin", "application/octet-stream", lambda _: b"\x00\x01", "octet-stream"),
    ],
)
async def test_54yyyu_265_every_kind_of_file_is_text_or_one_clear_sentence(
    shelf: Shelf, tmp_path: Path, name: str, kind: str, make: Callable[[Path], bytes], told: str
) -> None:
    """54yyyu#265."""
    shelf.put(make(tmp_path / "made"), name, kind)
    async with tools(tmp_path, shelf.data_dir) as d:
        att = d.item("Promoting memory").attachments[0].id
        if told:
            assert told in await d.error("read_document", attachment_id=att)
        else:
            assert "words of it" in (await d.run("read_document", attachment_id=att)).text
            found = await d.data("find_in_document", attachment_id=att, query="words of it")
            assert found["total"] == 1


async def test_zotero_3392_links_of_annotations_have_a_page_or_a_place_in_the_book(tmp_path: Path) -> None:
    """zotero#3392. As a model and a person get them: never `page=NaN`, in a book never a page."""
    data_dir = generated(tmp_path / "lib", "--items", "37")
    async with tools(tmp_path, data_dir) as d:
        marks = (await d.data("get_annotations", limit=200))["annotations"]
        kinds = {}
        for mark in marks:
            kind = d.library.contents.attachments[mark["attachment_id"]].kind
            kinds.setdefault(kind, []).append(mark["link"])
        assert {"pdf", "epub"} <= set(kinds)
        for kind, links in kinds.items():
            for link in links:
                assert ("page=" in link) == (kind == "pdf"), link
                assert not re.search(r"NaN|None|undefined|page=(&|$|0\b)", link), link
        assert all("cfi=" in link or "annotation=" in link for link in kinds["epub"])


async def test_54yyyu_389_a_linked_file_without_a_base_folder_is_counted_as_not_searched(
    shelf: Shelf, tmp_path: Path
) -> None:
    """54yyyu#389. What the index leaves out is said with every answer of the full text."""
    async with tools(tmp_path / "one", shelf.data_dir) as d:
        await d.library.index_texts()
        before = (await d.data("search_fulltext", query="sleep"))["coverage"]
    shelf.register("attachments:hu.pdf", mode=2)
    async with tools(tmp_path / "two", shelf.data_dir) as d:
        await d.library.index_texts()
        after = (await d.data("search_fulltext", query="sleep"))["coverage"]
        assert after["without_text"] == before["without_text"] + 1
        assert after["indexed"] == before["indexed"] - 1
