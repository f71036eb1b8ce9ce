"""Small PDF files of plain prose, the same bytes on every machine: standard fonts, nothing compressed.

It lays out one heading and some paragraphs a page and can say where on the page a sentence stands.
"""

from __future__ import annotations

import random
import unicodedata
from dataclasses import dataclass

FOOT = (
    "Sample summary written for BibGenie Desktop. It is not the published work and must not be cited as such."
)
# widths of Helvetica's ASCII characters, in thousandths of the size (Adobe font metrics)
_WIDTHS = [
    *(278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278),
    *([556] * 10),
    *(278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833),
    *(722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556),
    *(556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556),
    *(500, 722, 500, 500, 500, 334, 260, 334, 584),
]
_BODY, _LEFT, _LINE, _PARAGRAPH, _MEASURE = 11, 72, 14, 22, 460


@dataclass(frozen=True)
class Line:
    size: int
    x: int
    y: int
    text: str


def width(text: str, size: int = _BODY) -> float:
    total = 0
    for char in unicodedata.normalize("NFD", text):
        if 32 <= ord(char) < 127:
            total += _WIDTHS[ord(char) - 32]
        elif not unicodedata.combining(char):
            total += 556
    return total * size / 1000


def lay_out(heading: str, text: str, title: str) -> list[Line]:
    """The lines of a page: running head, heading, paragraphs (separated by an empty line), foot."""
    lines = [Line(8, _LEFT, 752, title[:95]), Line(14, _LEFT, 716, heading)]
    y = 692
    for paragraph in text.split("\n\n"):
        current = ""
        for word in paragraph.split():
            if current and width(f"{current} {word}") > _MEASURE:
                lines.append(Line(_BODY, _LEFT, y, current))
                y -= _LINE
                current = word
            else:
                current = f"{current} {word}".strip()
        lines.append(Line(_BODY, _LEFT, y, current))
        y -= _PARAGRAPH
    lines.append(Line(7, _LEFT, 40, FOOT))
    return lines


def find(lines: list[Line], quote: str) -> tuple[int, list[list[float]]]:
    """(offset in the page's prose, rectangles) of a sentence of the page."""
    body = [line for line in lines if line.size == _BODY]
    prose, starts = "", []
    for line in body:
        starts.append(len(prose))
        prose += line.text + " "
    at = prose.find(quote)
    if at < 0:
        raise ValueError(f"not on the page: {quote}")
    rects = []
    for line, start in zip(body, starts, strict=True):
        first, last = max(at - start, 0), min(at + len(quote) - start, len(line.text))
        if first < last:
            left, right = line.x + width(line.text[:first]), line.x + width(line.text[:last])
            rects.append([round(left, 3), line.y - 2.5, round(right, 3), line.y + 8.5])
    return at, rects


def make(pages: list[list[Line]], title: str, first_label: int | None) -> bytes:
    """A PDF of laid-out pages; `first_label` is the number printed on the first one."""
    contents = []
    for lines in pages:
        shown = (b"/F %d Tf 1 0 0 1 %d %d Tm (%s) Tj\n" % (n.size, n.x, n.y, _escape(n.text)) for n in lines)
        contents.append(b"BT\n" + b"".join(shown) + b"ET")
    return _assemble(contents, b"/Font<</F 3 0 R>>", [], title, first_label)


def make_scan(count: int, title: str) -> bytes:
    """A PDF whose pages are pictures of grey lines: no text anywhere."""
    wide, high = 85, 110
    noise = random.Random(1)
    rows = b""
    for y in range(high):
        ink = (y // 2) % 3 == 1
        rows += bytes(48 if ink and 8 < x < 76 and noise.random() < 0.6 else 240 for x in range(wide))
    image = (
        b"<</Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/DeviceGray"
        b"/BitsPerComponent 8/Length %d>>\n"
        b"stream\n%s\nendstream" % (wide, high, len(rows), rows)
    )
    number = 5 + 2 * count
    content = b"q 612 0 0 792 0 0 cm /I Do Q"
    return _assemble([content] * count, b"/XObject<</I %d 0 R>>" % number, [image], title, None)


def _assemble(
    contents: list[bytes], resources: bytes, more: list[bytes], title: str, first_label: int | None
) -> bytes:
    labels = b"/PageLabels<</Nums[0<</S/D/St %d>>]>>" % first_label if first_label else b""
    kids = b" ".join(b"%d 0 R" % (5 + 2 * i) for i in range(len(contents)))
    name = b"\xfe\xff" + title.encode("utf-16-be")
    objects = [
        b"<</Type/Catalog/Pages 2 0 R" + labels + b">>",
        b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(contents), kids),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        b"<</Title<%s>/Producer(BibGenie sample)>>" % name.hex().encode(),
    ]
    for index, content in enumerate(contents):
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<<%s>>/Contents %d 0 R>>"
            % (resources, 6 + 2 * index)
        )
        objects.append(b"<</Length %d>>\nstream\n%s\nendstream" % (len(content), content))
    objects += more
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    start = len(out)
    size = len(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    out += b"trailer\n<</Size %d/Root 1 0 R/Info 4 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (size, start)
    return bytes(out)


def _escape(text: str) -> bytes:
    raw = text.encode("cp1252", "replace")
    return raw.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
