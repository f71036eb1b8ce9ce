"""EPUB, web pages and texts by section, each hostile file one clear error, nothing outside the file."""

from __future__ import annotations

import random
import time
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import DocumentUnreadable
from bibgenie_desktop.zotero.files import book_reader
from bibgenie_desktop.zotero.files.books import Books
from bibgenie_desktop.zotero.files.documents import Documents
from bibgenie_desktop.zotero.files.garbled import garbled
from tests.harness import Soak
from tests.zotero.helpers import SAMPLE, generated

CONTAINER = '<container><rootfiles><rootfile full-path="c.opf"/></rootfiles></container>'
PAGE = "<html><head><title>t</title></head><body><h1>One</h1><p>Some text.</p></body></html>"


@asynccontextmanager
async def opened() -> AsyncIterator[Books]:
    documents = Documents(time_limit=10)
    try:
        yield Books(documents)
    finally:
        await documents.close()


def epub(path: Path, page: str | bytes = PAGE, href: str = "a.xhtml", **others: str | bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr(
            "c.opf",
            f'<package><metadata/><manifest><item id="x" href="{href}"/></manifest>'
            '<spine><itemref idref="x"/></spine></package>',
        )
        archive.writestr("a.xhtml", page)
        for name, data in others.items():
            archive.writestr(name, data)
    return path


async def refused(path: Path) -> str:
    async with opened() as books:
        with pytest.raises(DocumentUnreadable) as caught:
            await books.section(path, 0)
        assert caught.value.advice
        return caught.value.title


async def test_an_epub_has_sections_with_titles_and_places(tmp_path: Path) -> None:
    data_dir = generated(tmp_path / "lib", "--items", "37")
    path = next(data_dir.glob("storage/*/guide.epub"))
    async with opened() as books:
        sections = await books.sections(path)
        assert [s.title for s in sections] == [
            "Why this guide",
            "Stages of the night",
            "Spindles",
            "What to do tonight",
        ]
        assert [s.href for s in sections][1] == "OEBPS/text/s1.xhtml"
        second = await books.section(path, 1)
        assert second.text.startswith("Stages of the night\n\nDeep sleep fills")
        assert second.cfi_at(second.text.index("second half")) == "epubcfi(/6/4!/4/4)"
        assert second.sections == 4
        with pytest.raises(DocumentUnreadable, match="no such page or section"):
            await books.section(path, 4)


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("p.html", "<!DOCTYPE html><meta charset=utf-8><p>Ein Satz<br>über<p>Zwei<script>x()</script>",
         "Ein Satz\nüber\n\nZwei"),
        ("p.htm", '<html><meta charset="iso-8859-1"><p>caf\u00e9'.encode("latin-1"), "café"),
        ("n.md", "# Title\r\n\r\nText *here*.", "# Title\n\nText *here*."),
        ("n.txt", "naïve ΑΒΓ".encode("utf-16"), "naïve ΑΒΓ"),
        ("n.txt", b"caf\xe9 au lait", "café au lait"),
    ],
)  # fmt: skip
async def test_web_pages_and_texts_are_read_in_their_encoding(
    tmp_path: Path, name: str, data: str | bytes, text: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    async with opened() as books:
        assert (await books.section(path, 0)).text == text


async def test_word_processor_files_give_their_paragraphs(tmp_path: Path) -> None:
    docx, odt = tmp_path / "a.docx", tmp_path / "a.odt"
    with zipfile.ZipFile(docx, "w") as archive:
        archive.writestr(
            "word/document.xml",
            '<?xml version="1.0"?><w:document xmlns:w="x"><w:body><w:p><w:r><w:t>One </w:t></w:r><w:r>'
            "<w:t>&amp; two</w:t></w:r></w:p><w:p><w:r><w:t>Three</w:t></w:r></w:p></w:body></w:document>",
        )
    with zipfile.ZipFile(odt, "w") as archive:
        archive.writestr(
            "content.xml",
            "<office:document-content><office:text><text:h>Head</text:h><text:p>A <text:span>b</text:span> c"
            "</text:p></office:text></office:document-content>",
        )
    async with opened() as books:
        assert (await books.section(docx, 0)).text == "One & two\n\nThree"
        assert (await books.section(odt, 0)).text == "Head\n\nA b c"


async def test_every_hostile_archive_ends_in_one_clear_error(tmp_path: Path) -> None:
    bomb = epub(tmp_path / "bomb.epub", b" " * (book_reader.MOST_BYTES + 1))
    assert "too large" in await refused(bomb)
    assert bomb.stat().st_size < 200_000
    secret = tmp_path / "secret.txt"
    secret.write_text("secret words")
    for href in ("../secret.txt", str(secret), "file:///etc/passwd", "..%2F..%2Fsecret.txt"):
        assert "damaged" in await refused(epub(tmp_path / "out.epub", href=href))
    many = tmp_path / "many.epub"
    with zipfile.ZipFile(many, "w") as archive:
        for number in range(book_reader.MOST_ENTRIES + 1):
            archive.writestr(str(number), "")
    assert "too large" in await refused(many)
    unknown = tmp_path / "x.zip"
    with zipfile.ZipFile(unknown, "w") as archive:
        archive.writestr("a.txt", "hello")
    assert "cannot be read here" in await refused(unknown)
    cut = tmp_path / "cut.epub"
    cut.write_bytes(epub(tmp_path / "whole.epub").read_bytes()[:200])
    assert "damaged" in await refused(cut)
    (tmp_path / "empty.txt").write_bytes(b"")
    assert "empty" in await refused(tmp_path / "empty.txt")
    (tmp_path / "x.bin").write_bytes(b"\x7fELF\x00\x01")
    assert "cannot be read here" in await refused(tmp_path / "x.bin")


async def test_entities_neither_expand_nor_reach_out(tmp_path: Path) -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    page = (
        f'<!DOCTYPE html [<!ENTITY l0 "lol"><!ENTITY f SYSTEM "file:///etc/passwd">{laughs}]>'
        "<html><body><p>start &l11; &f; &amp; end</p></body></html>"
    )
    started = time.monotonic()
    async with opened() as books:
        section = await books.section(epub(tmp_path / "x.epub", page), 0)
    assert section.text == "start &l11; &f; & end"
    assert time.monotonic() - started < 5


def ending(path: Path) -> str:
    """`read`, or the word of the protocol with which reading the whole file ends."""
    try:
        book = book_reader.open_book(path)
        try:
            for index in range(len(book.sections)):
                book.blocks(index)
        finally:
            book.close()
    except book_reader.Unreadable as error:
        return str(error)
    return "read"


def test_mutated_epubs_end_in_text_or_one_of_the_known_words(tmp_path: Path, soak: Soak) -> None:
    whole = epub(tmp_path / "whole.epub", PAGE * 5, others=PAGE).read_bytes()
    words = {"read", "corrupt", "empty", "giant", "encrypted", "unsupported", "range"}
    path = tmp_path / "mutated.epub"
    for seed in soak.seeds(500, 10_000):
        rng = random.Random(seed)
        data = bytearray(whole)
        for _ in range(rng.randint(1, 12)):
            place = rng.randrange(len(data))
            match rng.randrange(3):
                case 0:
                    data[place] = rng.randrange(256)
                case 1:
                    del data[place : place + rng.randint(1, 40)]
                case 2:
                    data[place:place] = rng.randbytes(rng.randint(1, 20))
            data = data or bytearray(b"x")
        path.write_bytes(data)
        assert ending(path) in words, seed


async def test_the_outline_of_a_pdf_without_one_is_guessed() -> None:
    path = next((SAMPLE / "storage").glob("*/Walker - 2002.pdf"))
    async with opened() as books:
        headings, guessed = await books.outline(path)
        assert guessed
        assert any(h.page_index == 1 for h in headings)


def test_badly_extracted_text_is_told_from_language() -> None:
    assert garbled("ÔÚË¯ÃßÖÐµÄ¼ÇÒä¹®¹Ì " * 10)
    assert garbled("(cid:12)(cid:40)(cid:7) " * 20)
    assert garbled("\ufffd\ufffd\ue012 text here " * 10)
    assert not garbled("Die Überprüfung der Schläfer zeigte größere Effekte für das Gedächtnis. " * 5)
    assert not garbled("睡眠对记忆巩固的作用" * 10)
    assert not garbled("L'étude a été répétée à l'été. " * 5)
    assert not garbled("short")
