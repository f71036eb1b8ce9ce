"""The bundled sample: what it promises to hold, and that its script makes exactly it."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import DocumentUnreadable
from bibgenie_desktop.zotero.files.attachments import Files
from bibgenie_desktop.zotero.files.documents import Documents
from tests.zotero.helpers import ROOT, SAMPLE, contents_of, hashes


def test_its_script_makes_it_again(tmp_path: Path) -> None:
    script = ROOT / "packaging" / "make_sample_library.py"
    subprocess.run([sys.executable, str(script), "--out", str(tmp_path / "made")], check=True)
    made, kept = hashes(tmp_path / "made"), hashes(SAMPLE)
    made.pop("zotero.sqlite")  # its header names the SQLite that wrote it
    kept.pop("zotero.sqlite")
    assert made == kept
    dumps = []
    for folder in (tmp_path / "made", SAMPLE):
        uri = f"{(folder / 'zotero.sqlite').as_uri()}?mode=ro&immutable=1"
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as db:
            dumps.append(list(db.iterdump()))
    assert dumps[0] == dumps[1]


def test_it_is_small() -> None:
    assert sum(p.stat().st_size for p in SAMPLE.rglob("*") if p.is_file()) < 1_500_000


async def test_every_page_says_that_it_is_a_sample(tmp_path: Path) -> None:
    contents = contents_of(SAMPLE, tmp_path)
    documents, files = Documents(), Files(SAMPLE)
    readable, refused, missing = 0, [], 0
    for attachment in contents.attachments.values():
        located = files.locate(attachment)
        if located.path is None:
            missing += 1
            continue
        try:
            pages = await documents.pages_text(located.path, 0, 99)
        except DocumentUnreadable as error:
            refused.append(error.title)
            continue
        readable += 1
        assert len(pages) == attachment.pages
        assert all("Sample summary written for BibGenie" in p.text for p in pages)
        assert all(p.label for p in pages)
    await documents.close()
    assert (readable, missing) == (26, 1)
    assert len(refused) == 1
    assert "only pictures" in refused[0]
    works = [i for i in contents.items.values() if i.library.id == "u"]
    assert len(works) == 30
    assert sum(not i.attachments for i in works) == 3
    assert all("Sample entry" in i.extra for i in works)


@pytest.mark.parametrize("pragma", ["integrity_check", "foreign_key_check"])
def test_its_database_is_sound(pragma: str) -> None:
    uri = f"{(SAMPLE / 'zotero.sqlite').as_uri()}?mode=ro&immutable=1"
    with contextlib.closing(sqlite3.connect(uri, uri=True)) as db:
        assert db.execute(f"PRAGMA {pragma}").fetchall() in ([], [("ok",)])
