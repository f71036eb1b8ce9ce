"""Files from strangers, changed at random: no crash, no hang, nothing read from elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import DocumentUnreadable
from bibgenie_desktop.zotero.files.documents import Documents
from bibgenie_desktop.zotero.files.pdf_worker import MEMORY_LIMIT
from bibgenie_desktop.zotero.local.prefs import parse_prefs
from bibgenie_desktop.zotero.model.annotations import place_of
from bibgenie_desktop.zotero.notes.note_citations import cited_ids
from bibgenie_desktop.zotero.notes.note_markdown import note_markdown
from tests.harness import Soak
from tests.zotero.helpers import SAMPLE
from tests.zotero.notes.test_note_markdown import CITED, MARKED

NOTE = (
    f'<div class="zotero-note znv1"><h1>T</h1><p>a <b>b</b> '
    f'<span class="citation" data-citation="{CITED}">(c)</span>'
    f'<span class="highlight" data-annotation="{MARKED}">m</span></p><ul><li>x<ol><li>y</li></ol></li></ul>'
    '<table><tr><td>1</td><th>2</th></tr></table><pre class="math">$$x$$</pre>'
    "<blockquote>q</blockquote></div>"
)
PREFS = (
    'user_pref("extensions.zotero.dataDir", "C:\\\\Users\\\\\\u00e9\\\\Zotero");\n'
    'user_pref("extensions.zotero.useDataDir", true);\nuser_pref("n", -12);\n'
)
POSITION = json.dumps(
    {"pageIndex": 1, "rects": [[1.5, 2, 3, 4]], "type": "FragmentSelector", "value": "epubcfi(/6)"}
)


def mutated(text: str, rng: random.Random) -> str:
    parts = list(text)
    for _ in range(rng.randint(1, 10)):
        place = rng.randrange(len(parts) or 1)
        match rng.randrange(4):
            case 0:
                parts[place : place + 1] = rng.choice(
                    ["<", ">", '"', "&#x0;", "\x00", "\ud800", "{", "\\u", "%"]
                )
            case 1:
                del parts[place : place + rng.randint(1, 30)]
            case 2:
                parts[place:place] = parts[: rng.randint(1, 60)]
            case 3:
                parts[place:place] = [rng.choice(["<td>", "</div>", "<li>", "[[[", '","', "<!--", "]]>"])] * 5
    return "".join(parts)


PICTURE = {"op": "image", "page": 0, "dpi": 40, "edge": 300, "area": []}
LIMIT_S = 5.0
"""The time limit of one question in these tests."""


@contextlib.asynccontextmanager
async def patient() -> AsyncIterator[Documents]:
    documents = Documents(time_limit=LIMIT_S)
    try:
        yield documents
    finally:
        await documents.close()


def assert_memory_was_kept(documents: Documents) -> None:
    """The most the present reader has ever had, where the system tells."""
    process = documents._process
    assert process is not None
    status = Path(f"/proc/{process.pid}/status")
    if status.exists():
        peaks = re.search(r"VmPeak:\s+(\d+) kB", status.read_text("ascii"))
        assert peaks is not None
        assert int(peaks[1]) * 1024 <= MEMORY_LIMIT


def test_mutated_notes_keep_coming_out_as_text(soak: Soak) -> None:
    for seed in soak.seeds(500, 10_000):
        html = mutated(NOTE, random.Random(seed))
        text = note_markdown(html, "u")
        assert len(text) < 20 * len(html) + 100, seed
        for full_id in cited_ids(html):
            assert full_id.startswith(("u-", "g")), seed


def test_mutated_positions_of_annotations_never_fail(soak: Soak) -> None:
    for seed in soak.seeds(500, 10_000):
        rng = random.Random(seed)
        position, order = mutated(POSITION, rng), mutated("00001|000100|00105", rng)
        for kind in ("pdf", "epub", "html"):
            place = place_of(position, order, kind)
            assert place.page_index is None or 0 <= place.page_index < 10**6, seed


def test_mutated_preferences_give_values_or_nothing(soak: Soak) -> None:
    for seed in soak.seeds(500, 10_000):
        for name, value in parse_prefs(mutated(PREFS, random.Random(seed))).items():
            assert isinstance(value, str | int), seed
            if isinstance(value, str):
                (name + value).encode("utf-8")


NUMBER, NAME = re.compile(rb"(?<![\w.])\d+(?![\w.])"), re.compile(rb"/[A-Za-z]{2,20}")
HUGE = [b"0", b"-1", b"1", b"7", b"65536", b"2147483647", b"4294967296", b"9223372036854775808", b"1e99"]
FILTERS = [b"/FlateDecode", b"/LZWDecode", b"/ASCIIHexDecode", b"/JPXDecode", b"/JBIG2Decode", b"/Crypt"]


def mutated_pdf(whole: bytes, rng: random.Random) -> bytes:
    """Bytes changed anywhere, or numbers, references and names exchanged so that the file stays a PDF."""
    data = bytearray(whole)
    for _ in range(rng.randint(1, 15)):
        place = rng.randrange(len(data))
        kind = rng.random()
        if kind < 0.4:
            data[place] = rng.randrange(256)
        elif kind < 0.5:
            del data[place : place + rng.randint(1, 50)]
        elif kind < 0.8:
            if number := NUMBER.search(data, place):
                data[number.start() : number.end()] = rng.choice([*HUGE, b"%d" % rng.randrange(20)])
        elif name := NAME.search(data, place):
            data[name.start() : name.end()] = rng.choice(FILTERS + NAME.findall(whole))
    return bytes(data)


@pytest.mark.patience(6_000)
async def test_mutated_pdfs_give_text_or_one_clear_error(tmp_path: Path, soak: Soak) -> None:
    names = ("Walker - 2002.pdf", "Jenkins - 1924.pdf", "Hu - 2020.pdf")  # the second is a scan
    sources = [next((SAMPLE / "storage").glob(f"*/{name}")).read_bytes() for name in names]
    path = tmp_path / "mutated.pdf"
    async with patient() as documents:
        for seed in soak.seeds(500, 10_000):
            rng = random.Random(seed)
            path.write_bytes(mutated_pdf(rng.choice(sources), rng))
            async with asyncio.timeout(4 * LIMIT_S):
                for request in ({"op": "outline"}, PICTURE, None):
                    with contextlib.suppress(DocumentUnreadable):
                        if request is None:
                            await documents.pages_text(path, 0, 2)
                        else:
                            await documents.ask(path, request)
        sound = next((SAMPLE / "storage").glob("*/Hu - 2020.pdf"))
        assert await documents.page_count(sound) == 3
        assert_memory_was_kept(documents)
