"""Pages and marked areas as pictures: the right part of the right page, within limits."""

from __future__ import annotations

import ctypes
import random
import struct
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium
import pytest

from bibgenie_desktop.domain.errors import DocumentUnreadable
from bibgenie_desktop.zotero.files.documents import Documents
from bibgenie_desktop.zotero.files.page_drawing import MOST_BYTES
from bibgenie_desktop.zotero.files.page_images import LONGEST_EDGE, PageImage, cached_image, page_image
from bibgenie_desktop.zotero.model.annotations import Annotation, place_of
from tests.zotero.helpers import SAMPLE

MARKED = (50.0, 60.0, 110.0, 90.0)
"""Where the only red thing on a page of `red_pdf` is: left, bottom, right, top."""


@asynccontextmanager
async def documents(time_limit: float = 20) -> AsyncIterator[Documents]:
    opened = Documents(time_limit=time_limit)
    try:
        yield opened
    finally:
        await opened.close()


def red_pdf(path: Path, *, rotation: int = 0, size: tuple[float, float] = (300, 400), cut: float = 0) -> Path:
    document = pypdfium2.PdfDocument.new()
    page = document.new_page(*size)
    left, bottom, right, top = MARKED
    shape = pdfium.FPDFPageObj_CreateNewRect(left, bottom, right - left, top - bottom)
    pdfium.FPDFPageObj_SetFillColor(shape, 255, 0, 0, 255)
    pdfium.FPDFPath_SetDrawMode(shape, pdfium.FPDF_FILLMODE_WINDING, 0)
    pdfium.FPDFPage_InsertObject(page, shape)
    pdfium.FPDFPage_GenerateContent(page)
    page.set_rotation(rotation)
    if cut:
        page.set_cropbox(cut, cut, size[0] - cut, size[1] - cut)
    document.save(path)
    document.close()
    return path


def noise_pdf(path: Path) -> Path:
    """A page that is one photo of nothing but noise, which no packing makes small."""
    document = pypdfium2.PdfDocument.new()
    page = document.new_page(600, 800)
    bitmap = pypdfium2.PdfBitmap.new_native(1200, 1600, pdfium.FPDFBitmap_BGR)
    noise = random.Random(1).randbytes(bitmap.stride * bitmap.height)
    ctypes.memmove(bitmap.buffer, noise, len(noise))
    image = pypdfium2.PdfImage.new(document)
    image.set_bitmap(bitmap)
    image.set_matrix(pypdfium2.PdfMatrix().scale(600, 800))
    page.insert_obj(image)
    page.gen_content()
    document.save(path)
    document.close()
    return path


def pixels(image: PageImage) -> tuple[int, list[bytes]]:
    """(channels, rows) of a PNG as the worker writes it."""
    data = image.data
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height, depth, colour = struct.unpack(">IIBB", data[16:26])
    assert (width, height, depth) == (image.width, image.height, 8)
    channels = {0: 1, 2: 3}[colour]
    at, packed = 8, b""
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(name + body)
        packed += body if name == b"IDAT" else b""
        at += 12 + length
    lines, row = zlib.decompress(packed), width * channels + 1
    assert len(lines) == row * height
    return channels, [lines[y * row + 1 : (y + 1) * row] for y in range(height)]


def red_share(image: PageImage) -> float:
    channels, rows = pixels(image)
    assert channels == 3
    red = sum(row[i : i + 3] == b"\xff\x00\x00" for row in rows for i in range(0, len(row), 3))
    return red / (image.width * image.height)


async def test_page_of_text_is_a_small_grey_picture_with_its_printed_label() -> None:
    path = next((SAMPLE / "storage").glob("*/Hu - 2020.pdf"))
    async with documents() as docs:
        image = await page_image(docs, path, 1, 110)
    assert (image.width, image.height, image.index, image.label, image.whole) == (935, 1210, 1, "219", True)
    channels, rows = pixels(image)
    assert channels == 1
    assert {0, 255} <= set(b"".join(rows))
    assert len(image.data) < 100_000


async def test_resolution_is_followed_up_to_the_longest_edge() -> None:
    path = next((SAMPLE / "storage").glob("*/Hu - 2020.pdf"))
    async with documents() as docs:
        sizes = [(await page_image(docs, path, 0, dpi)).height for dpi in (1, 50, 100, 200, 10_000)]
    assert sizes == sorted(sizes)
    assert sizes[0] > 100
    assert sizes[-2:] == [LONGEST_EDGE, LONGEST_EDGE]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("cut", [0, 20])
async def test_marked_area_is_shown_however_the_page_is_turned_or_cut(
    tmp_path: Path, rotation: int, cut: float
) -> None:
    path = red_pdf(tmp_path / "red.pdf", rotation=rotation, cut=cut)
    async with documents() as docs:
        page = await page_image(docs, path, 0, 100)
        area = await page_image(docs, path, 0, 200, MARKED)
    assert 0 < red_share(page) < 0.05
    assert red_share(area) > 0.5
    turned = rotation in (90, 270)
    assert (area.width < area.height) is turned
    assert not area.whole


async def test_area_beside_the_page_shows_the_page(tmp_path: Path) -> None:
    path = red_pdf(tmp_path / "red.pdf")
    async with documents() as docs:
        page = await page_image(docs, path, 0, 100)
        for area in ((900.0, 900.0, 990.0, 990.0), (-90.0, -9.0, -80.0, -8.0)):
            assert (await page_image(docs, path, 0, 100, area)).data == page.data


async def test_noise_in_colour_is_made_small_enough(tmp_path: Path) -> None:
    path = noise_pdf(tmp_path / "noise.pdf")
    async with documents() as docs:
        image = await page_image(docs, path, 0, 300)
    assert len(image.data) <= MOST_BYTES
    assert pixels(image)[0] == 1
    assert image.height > 1_000


async def test_giant_and_tiny_pages_are_drawn_within_the_limits(tmp_path: Path) -> None:
    async with documents() as docs:
        for size in ((14_400.0, 14_400.0), (200.0, 14_400.0), (120.0, 100.0)):
            image = await page_image(docs, red_pdf(tmp_path / "odd.pdf", size=size), 0, 300)
            assert min(image.width, image.height) >= 1
            assert max(image.width, image.height) <= LONGEST_EDGE + 1


async def test_page_that_is_not_there_and_file_that_is_none_are_refused_with_sentences(
    tmp_path: Path,
) -> None:
    path = red_pdf(tmp_path / "red.pdf")
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(path.read_bytes()[:100])
    async with documents() as docs:
        for index in (-1, 1, 10**9):
            with pytest.raises(DocumentUnreadable, match="pages 1 to 1"):
                await page_image(docs, path, index, 110)
        for file in (broken, tmp_path / "missing.pdf"):
            with pytest.raises(DocumentUnreadable):
                await page_image(docs, file, 0, 110)
        for area in ((float("nan"), 0.0, 1.0, 1.0), (1e300, 0.0, 1.0, 1.0), (1.0, 2.0, 3.0)):
            with pytest.raises(DocumentUnreadable):
                await page_image(docs, path, 0, 110, area)
        assert (await page_image(docs, path, 0, 110)).width > 0


@pytest.mark.parametrize(
    ("position", "area"),
    [
        ('{"pageIndex":3,"rects":[[72.0,675.5,416.806,686.5]]}', "72.0 675.5 416.806 686.5"),
        ('{"pageIndex":3, "rects" : [ [ 72 , -6.5 , 416 , 686 ] ] }', "72 -6.5 416 686"),
        ('{"pageIndex":3,"rects":[[1,2,3,4],[5,6,7,8]]}', ""),
        ('{"pageIndex":3,"rects":[[1,2,3]]}', ""),
        ('{"pageIndex":3,"width":2,"paths":[[10,20,30,5],[12.5,40]]}', "10.00 5.00 30.00 40.00"),
        ('{"pageIndex":3,"paths":[["x",2]]}', ""),
        ('{"pageIndex":3,"paths":[[1e9,2]]}', ""),
        ('{"pageIndex":3,"paths":[]}', ""),
    ],
)
def test_area_of_a_mark_is_its_only_rectangle_or_what_its_lines_span(position: str, area: str) -> None:
    place = place_of(position, "", "pdf")
    assert (place.page_index, place.area) == (3, area)
    assert len(place.rectangle) == (4 if area else 0)


def test_picture_zotero_drew_itself_is_taken_only_where_it_is_one(tmp_path: Path) -> None:
    mark = Annotation(
        "g7-ANNK2345", "ANNK2345", "g7-PDFK2345", "g7-ITEM2345", "image", "", "", "#ffd400", "",
        place_of('{"pageIndex":2,"rects":[[1,2,3,4]]}', "", "pdf"), "iii", "", (), False, "",
    )  # fmt: skip
    folder = tmp_path / "cache" / "groups" / "7"
    folder.mkdir(parents=True)
    assert cached_image(tmp_path, mark, "g7") is None
    good = (
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + struct.pack(">II", 640, 480) + b"\x08" * 20
    )
    for data, taken in (
        (b"GIF89a", False),
        (good[:20], False),
        (good.replace(b"\0\0\2\x80", b"\xff\0\0\0"), False),
    ):
        (folder / "ANNK2345.png").write_bytes(data)
        assert (cached_image(tmp_path, mark, "g7") is not None) is taken
    (folder / "ANNK2345.png").write_bytes(good)
    image = cached_image(tmp_path, mark, "g7")
    assert image is not None
    assert (image.width, image.height, image.index, image.label) == (640, 480, 2, "iii")
    assert cached_image(tmp_path, mark, "u") is None
