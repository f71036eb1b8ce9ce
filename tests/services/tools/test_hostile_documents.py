"""Scanned, locked, damaged, giant and malicious files through `read_document`: text, or one clear error.

After each of them a sound file is still read, within the limits of time and memory, and nothing of another
file of this computer ever comes out.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import sys
import unicodedata
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from bibgenie_desktop.zotero.files.pdf_worker import MEMORY_LIMIT
from tests.services.tools.test_library_tools import Desk, desk
from tests.test_cases_zotero import pages
from tests.zotero.helpers import generated, manifest, sample_copy

SECRET = "words of another file"


class Shelf:
    """A copy of the sample library in which the file of one work is replaced by others."""

    def __init__(self, tmp_path: Path) -> None:
        self.data_dir = sample_copy(tmp_path / "Zotero")
        self.secret = tmp_path / "secret.txt"
        self.secret.write_text(SECRET)
        self.path = next((self.data_dir / "storage").glob("*/Hu - 2020.pdf"))
        self.sound = self.path.read_bytes()

    @property
    def folder(self) -> Path:
        return self.path.parent

    def put(self, data: bytes, name: str = "Hu - 2020.pdf", kind: str = "application/pdf") -> None:
        for old in self.folder.iterdir():
            old.unlink()
        self.path = self.folder / name
        self.path.write_bytes(data)
        self.register(f"storage:{name}", kind)

    def register(self, stored: str, kind: str = "application/pdf", mode: int = 0) -> None:
        with contextlib.closing(sqlite3.connect(self.data_dir / "zotero.sqlite")) as db, db:
            (row,) = db.execute(
                "SELECT itemID FROM items WHERE key = ? AND libraryID = 1", (self.folder.name,)
            ).fetchone()
            db.execute(
                "UPDATE itemAttachments SET path = ?, contentType = ?, linkMode = ? WHERE itemID = ?",
                (stored, kind, mode, row),
            )
            db.execute("UPDATE items SET clientDateModified = '2030-01-01 00:00:00' WHERE itemID = ?", (row,))


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def archive(path: Path, entries: dict[str, bytes]) -> bytes:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in entries.items():
            made.writestr(name, data)
    return path.read_bytes()


def book(path: Path, href: str = "a.xhtml", **entries: bytes) -> bytes:
    package = (
        f'<package><manifest><item id="x" href="{href}"/></manifest>'
        '<spine><itemref idref="x"/></spine></package>'
    )
    container = b'<container><rootfiles><rootfile full-path="c.opf"/></rootfiles></container>'
    named = {name.replace("_", "."): data for name, data in entries.items()}
    return archive(path, {"META-INF/container.xml": container, "c.opf": package.encode(), **named})


def pdf(*objects: bytes) -> bytes:
    out = bytearray(b"%PDF-1.7\n")
    for number, body in enumerate(objects, 1):
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    return bytes(out + b"trailer<</Size %d/Root 1 0 R>>\n%%%%EOF" % (len(objects) + 1))


def drawn(content: bytes, filters: bytes) -> bytes:
    """A page whose drawing is a stream as given."""
    return pdf(
        b"<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.launchURL\\('http://x.y'\\))>>>>",
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>",
        b"<</Length %d/Filter%s>>stream\n%s\nendstream" % (len(content), filters, content),
    )


def bomb(path: Path) -> bytes:
    """More blanks than fit in memory, in a few kilobytes: packed three times."""
    del path
    packer = zlib.compressobj(1)
    once = b"".join(packer.compress(b" " * (1 << 24)) for _ in range(144)) + packer.flush()
    return drawn(zlib.compress(zlib.compress(once, 9), 9), b"[/FlateDecode/FlateDecode/FlateDecode]")


def looped(path: Path) -> bytes:
    """A tree of pages that is its own child, and an outline that follows itself."""
    del path
    return pdf(
        b"<</Type/Catalog/Pages 2 0 R/Outlines 3 0 R>>",
        b"<</Type/Pages/Count 2000000000/Kids[2 0 R 2 0 R]/Parent 2 0 R>>",
        b"<</First 4 0 R/Last 4 0 R/Count 1>>",
        b"<</Title(a)/Next 4 0 R/First 4 0 R/Parent 3 0 R>>",
    )


def zip_bomb(path: Path) -> bytes:
    return book(path, a_xhtml=b" " * (64 << 20))


def lying_archive(path: Path) -> bytes:
    """An entry that says it is small and is not."""
    data = bytearray(book(path, a_xhtml=b" " * (64 << 20)))
    return bytes(data.replace((64 << 20).to_bytes(4, "little"), (100).to_bytes(4, "little")))


def slip(path: Path) -> bytes:
    return book(path, "../secret.txt", **{"../secret_txt": b"<p>start &x; of the archive's own</p>"})


def reaching_out(path: Path) -> bytes:
    page = (
        f'<!DOCTYPE html [<!ENTITY x SYSTEM "file://{path.parent}/secret.txt">]><html '
        f'xmlns:xi="http://www.w3.org/2001/XInclude"><body><p>start &x;</p>'
        f'<xi:include href="file://{path.parent}/secret.txt" parse="text"/><iframe src="../secret.txt"/>'
        "</body></html>"
    )
    return book(path, a_xhtml=page.encode())


def embedding(path: Path) -> bytes:
    """A page whose drawing is said to lie in another file of this computer, and actions that open it."""
    other = b"(%s)" % str(path.parent / "secret.txt").encode()
    return pdf(
        b"<</Type/Catalog/Pages 2 0 R/OpenAction<</S/Launch/F%s>>>>" % other,
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>>>>>",
        b"<</Length 0/F%s>>stream\n\nendstream" % other,
        b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Length 0/F<</Type/Filespec/F%s>>>>stream\n\nendstream"
        % other,
    )


EPUB, DOCX = (
    "application/epub+zip",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
)
Maker = Callable[[Path], bytes]


@pytest.mark.parametrize(
    ("name", "kind", "make", "taught"),
    [
        ("Hu - 2020.pdf", "application/pdf", lambda _: b"", "is empty"),
        ("Hu - 2020.pdf", "application/pdf", lambda _: b"%PDF-1.7\n" + os.urandom(2000), "damaged"),
        ("Hu - 2020.pdf", "application/pdf", lambda _: b"<html>please log in</html>", "damaged"),
        ("Hu - 2020.pdf", "application/pdf", looped, "damaged"),
        ("Hu - 2020.pdf", "application/pdf", embedding, "no text"),
        ("b.epub", EPUB, zip_bomb, "too large"),
        ("b.epub", EPUB, lying_archive, "damaged"),
        ("b.epub", EPUB, lambda _: b"PK\x03\x04" + b"\x00" * 500, "damaged"),
        ("b.epub", EPUB, lambda _: b"\x7fELF\x00\x00", "cannot be read here"),
        ("w.docx", DOCX, lambda p: archive(p, {"word/document.xml": b" " * (64 << 20)}), "too large"),
        ("w.docx", DOCX, lambda p: archive(p, {"other": b"x"}), "cannot be read here"),
    ],
)
async def test_a_hostile_file_is_one_clear_error_and_the_next_file_is_read(
    shelf: Shelf, tmp_path: Path, name: str, kind: str, make: Maker, taught: str
) -> None:
    shelf.put(make(tmp_path / "made"), name, kind)
    async with desk(tmp_path, shelf.data_dir) as d:
        att = d.item("Promoting memory").attachments[0].id
        told = await d.error("read_document", attachment_id=att)
        assert taught in told
        assert told.count("\n") <= 2
        assert str(tmp_path) not in told
        assert SECRET not in told
        await others_are_read(d)


async def others_are_read(d: Desk) -> None:
    data = await d.data("read_document", attachment_id=d.item("Practice").attachments[0].id)
    assert data["pages_total"] == 3


@pytest.mark.parametrize("make", [reaching_out, slip])
async def test_a_file_that_reaches_out_stays_alone(shelf: Shelf, tmp_path: Path, make: Maker) -> None:
    shelf.put(make(tmp_path / "made"), "b.epub", EPUB)
    async with desk(tmp_path, shelf.data_dir) as d:
        result = await d.run("read_document", attachment_id=d.item("Promoting memory").attachments[0].id)
        assert "start &x;" in result.text
        assert SECRET not in result.text


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
async def test_a_stream_that_unpacks_without_end_stays_within_the_memory_and_time_allowed(
    shelf: Shelf, tmp_path: Path
) -> None:
    shelf.put(bomb(tmp_path / "made"))
    async with desk(tmp_path, shelf.data_dir) as d:
        att = d.item("Promoting memory").attachments[0].id
        await others_are_read(d)
        process = d.library.documents._process
        assert process is not None
        proc = Path(f"/proc/{process.pid}")
        limits = await asyncio.to_thread((proc / "limits").read_text, "ascii")
        assert f"Max address space         {MEMORY_LIMIT}" in limits
        told = await d.error("read_document", attachment_id=att)
        assert "stopped on this file" in told or "more memory than is allowed" in told
        await others_are_read(d)


async def test_the_last_of_1500_pages_is_read_and_the_others_are_left(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put(pages(1_500))
    async with desk(tmp_path, shelf.data_dir) as d:
        att = d.item("Promoting memory").attachments[0].id
        data = await d.data("read_document", attachment_id=att, pages="1500")
        assert data["pages_total"] == 1_500
        assert [p["text"].strip() for p in data["pages"]] == ["This is page number 1500"]
        whole = await d.data("read_document", attachment_id=att)
        assert whole["truncated"]
        assert whole["next"]["pages"].endswith("-")
        assert "1500" in await d.error("read_document", attachment_id=att, pages="1501")


async def test_a_scan_and_a_locked_file_say_what_they_are(tmp_path: Path) -> None:
    data_dir = generated(tmp_path / "lib", "--items", "25")
    kinds = {
        a["kind"].split(",")[0]: f"u-{a['key']}"
        for m in manifest(data_dir)["items"].values()
        for a in m.get("attachments", [])
    }
    async with desk(tmp_path, data_dir) as d:
        assert "only pictures" in await d.error("read_document", attachment_id=kinds["scan"])
        assert "password" in await d.error("read_document", attachment_id=kinds["encrypted"])
        await others_are_read(d)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
async def test_a_name_in_another_unicode_form_is_found(shelf: Shelf, tmp_path: Path, form: str) -> None:
    name = "Ünïcode – Ñandú.pdf"
    shelf.put(shelf.sound, unicodedata.normalize(form, name))
    shelf.register(f"storage:{unicodedata.normalize('NFD' if form == 'NFC' else 'NFC', name)}")
    async with desk(tmp_path, shelf.data_dir) as d:
        data = await d.data("read_document", attachment_id=d.item("Promoting memory").attachments[0].id)
        assert data["pages_total"] == 3


async def test_a_file_that_was_renamed_in_its_folder_is_found(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put(shelf.sound, "renamed by hand.PDF")
    shelf.register("storage:Hu - 2020.pdf")
    async with desk(tmp_path, shelf.data_dir) as d:
        data = await d.data("read_document", attachment_id=d.item("Promoting memory").attachments[0].id)
        assert data["pages_total"] == 3


@pytest.mark.skipif(sys.platform == "win32", reason="a path of another system")
@pytest.mark.parametrize("stored", [r"C:\Users\me\Zotero\Hu.pdf", r"\\server\share\Hu.pdf"])
async def test_a_path_of_windows_lies_on_another_computer(shelf: Shelf, tmp_path: Path, stored: str) -> None:
    shelf.register(stored, mode=2)
    async with desk(tmp_path, shelf.data_dir) as d:
        told = await d.error("read_document", attachment_id=d.item("Promoting memory").attachments[0].id)
        assert "another computer" in told


@pytest.mark.skipif(sys.platform == "win32", reason="needs symbolic links")
@pytest.mark.parametrize("stored", ["link.txt", "../../../secret.txt", "..", "/etc/passwd", "a\\..\\b.txt"])
async def test_nothing_outside_the_folder_of_the_attachment_is_read(
    shelf: Shelf, tmp_path: Path, stored: str
) -> None:
    shelf.put(b"", "own.txt", "text/plain")
    shelf.path.unlink()
    (shelf.folder / "link.txt").symlink_to(shelf.secret)
    shelf.register(f"storage:{stored}", "text/plain")
    async with desk(tmp_path, shelf.data_dir) as d:
        for tool in ("read_document", "find_in_document"):
            more = {"query": "words"} if tool == "find_in_document" else {}
            told = await d.error(tool, attachment_id=d.item("Promoting memory").attachments[0].id, **more)
            assert SECRET not in told
        await d.library.index_texts()
        found = await d.data("search_fulltext", query=SECRET, mode="phrase")
        assert found["items"] == []
