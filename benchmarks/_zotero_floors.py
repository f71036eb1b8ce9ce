"""The least that each task on a library can cost: copies, SQLite scans, strings in memory, PDFium alone."""

from __future__ import annotations

import contextlib
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from itertools import accumulate
from pathlib import Path

import pypdfium2

from bibgenie_desktop.zotero.model.folding import fold, words


def milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - started)


def cp(source: Path, target: Path) -> float:
    """`cp` into a new file."""
    target.unlink(missing_ok=True)
    spent = milliseconds(lambda: subprocess.run(["cp", str(source), str(target)], check=True))
    target.unlink()
    return spent


def visit_rows(database: Path) -> float:
    """SQLite visits what metadata consist of; nothing of it becomes an object."""
    questions = (
        "SELECT total(length(value)) FROM itemData JOIN itemDataValues USING (valueID)",
        "SELECT count(firstName), count(lastName) FROM itemCreators JOIN creators USING (creatorID)",
        "SELECT count(name) FROM itemTags JOIN tags USING (tagID)",
        "SELECT count(collectionID) FROM collectionItems",
        "SELECT count(key) FROM items",
    )

    def work() -> None:
        with contextlib.closing(sqlite3.connect(f"{database.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
            for question in questions:
                db.execute(question).fetchall()

    return milliseconds(work)


def scan_texts(texts: Iterable[str], queries: Iterable[str]) -> list[float]:
    """Every text is looked through for every word."""
    plain = [f" {fold(text)}" for text in texts]
    spent = []
    for query in queries:
        needles = [f" {word}" for word in words(query)]
        spent.append(milliseconds(lambda n=needles: [t for t in plain if all(w in t for w in n)]))  # type: ignore[misc]
    return spent


def pages_in_process(path: Path) -> list[float]:
    """The text of each page of a file that is open."""
    document = pypdfium2.PdfDocument(path)
    try:
        return [
            milliseconds(lambda n=n: document[n].get_textpage().get_text_bounded())  # type: ignore[misc]
            for n in range(len(document))
        ]
    finally:
        document.close()


def page_by_spawn(path: Path) -> float:
    """A new process for one page."""
    code = (
        "import sys, pypdfium2 as p; print(p.PdfDocument(sys.argv[1])[0].get_textpage().get_text_bounded())"
    )
    command = [sys.executable, "-c", code, str(path)]
    return milliseconds(lambda: subprocess.run(command, check=True, capture_output=True))


def write_pdf(path: Path, pages: int = 10, lines: int = 48) -> None:
    """A file with pages of some 3,400 characters."""
    line = "The quick brown fox jumps over the lazy dog while seventy marmots sleep "
    body = "".join(f"({line}{number}) Tj T*\n" for number in range(lines))
    stream = f"BT /F1 9 Tf 12 TL 40 780 Td\n{body}ET".encode("ascii")
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(pages))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {pages} /Kids [{kids}] >>".encode("ascii"),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number in range(pages):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * number} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>".encode("ascii")
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\n" % (size, table, size)
    out += b"startxref\n%d\n%%%%EOF\n" % out.index(b"xref\n0 ")
    path.write_bytes(out)


def write_texts(data_dir: Path, keys: Iterable[str], megabytes: float) -> None:
    """Extracts of files beside these attachments, with a vocabulary as uneven as that of a language."""
    rng = random.Random(7)
    parts = "an be con de ex fi gra hy in jo kal lo mi ne or pla qui re so tri un ver wal ment tion al ic ter"
    syllables = parts.split()
    vocabulary = sorted({"".join(rng.choices(syllables, k=rng.randint(2, 4))) for _ in range(60_000)})
    rng.shuffle(vocabulary)
    weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(vocabulary))))
    done = 0.0
    for key in keys:
        if done > megabytes * 1e6:
            break
        pages = [" ".join(rng.choices(vocabulary, cum_weights=weights, k=330)) for _ in range(8)]
        text = "\f".join(pages)
        folder = data_dir / "storage" / key
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".zotero-ft-cache").write_text(text, "utf-8")
        done += len(text)
