"""Faults other programs had with Zotero's data, provoked again through the tools and the command line."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from bibgenie_desktop.services.library.attaching import note_part
from bibgenie_desktop.services.library.pointers import pointers_in
from bibgenie_desktop.zotero.notes import note_text
from tests.services.tools.test_library_tools import desk as tools
from tests.zotero.helpers import sample_copy

NOTES = (
    '<ol start="²"><li>first zygomorphic</li></ol>',
    '<ol start="99999999999999999999999"><li>second</li></ol>',
    "<p>third</p>",
)


def with_notes(data_dir: Path, texts: tuple[str, ...] = NOTES) -> tuple[str, ...]:
    """Adds notes to a copy of the sample library and returns their ids."""
    keys = [f"NTES222{n + 2}" for n in range(len(texts))]
    with contextlib.closing(sqlite3.connect(data_dir / "zotero.sqlite")) as db, db:
        (kind,) = db.execute("SELECT itemTypeID FROM itemTypesCombined WHERE typeName = 'note'").fetchone()
        for key, text in zip(keys, texts, strict=True):
            row = db.execute(
                "INSERT INTO items (itemTypeID, libraryID, key) VALUES (?, 1, ?)", (kind, key)
            ).lastrowid
            db.execute("INSERT INTO itemNotes (itemID, note, title) VALUES (?, ?, ?)", (row, text, key))
    return tuple(f"u-{key}" for key in keys)


async def test_lit_lake_16_numbers_that_are_none_are_no_reason_to_lose_a_note(tmp_path: Path) -> None:
    """ElliotRoe/lit-lake#16. Python calls `²` a digit and makes no number of it."""
    data_dir = sample_copy(tmp_path / "Zotero")
    ids = with_notes(data_dir)
    async with tools(tmp_path, data_dir) as d:
        for full_id, word in zip(ids, ("first zygomorphic", "second", "third"), strict=True):
            (note,) = (await d.data("get_notes", note_ids=[full_id]))["notes"]
            assert word in note["markdown"]
            assert "problem" not in note
        assert (await d.data("get_notes", query="zygomorphic"))["total"] == 1
        await d.library.index_texts()
        assert (await d.data("search_fulltext", query="zygomorphic"))["total"] == 1


async def test_lit_lake_16_a_note_that_cannot_be_converted_is_named_and_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ElliotRoe/lit-lake#16. No HTML is known that fails here, so one is declared to be such."""
    convert = note_text.note_markdown

    def fails(html: str, library: str) -> str:
        if "first" in html:
            raise ValueError("a fault in the converter")
        return convert(html, library)

    monkeypatch.setattr(note_text, "note_markdown", fails)
    data_dir = sample_copy(tmp_path / "Zotero")
    broken, *others = with_notes(data_dir)
    async with tools(tmp_path, data_dir) as d:
        total = len(d.library.contents.notes)
        (note,) = (await d.data("get_notes", note_ids=[broken]))["notes"]
        assert broken in note["problem"]
        assert note["markdown"] == "first zygomorphic"
        listed = await d.data("get_notes")
        assert listed["total"] == total
        assert [n["id"] for n in listed["notes"] if "problem" in n] == [broken]
        assert (await d.data("get_notes", query="third"))["notes"][0]["id"] == others[-1]
        await d.library.index_texts()
        for words in ("zygomorphic", "third"):
            assert (await d.data("search_fulltext", query=words))["total"] >= 1
        assert broken in note_part(d.library.contents.notes[broken]).sent


async def test_lit_lake_16_of_a_note_without_end_the_beginning_is_read_and_the_cut_is_said(
    tmp_path: Path,
) -> None:
    data_dir = sample_copy(tmp_path / "Zotero")
    (huge,) = with_notes(data_dir, ("<p>" + "word " * 500_000,))
    async with tools(tmp_path, data_dir) as d:
        (note,) = (await d.data("get_notes", note_ids=[huge]))["notes"]
        assert huge in note["problem"]
        assert "first 2,000,000 characters" in note["problem"]


async def test_what_only_looks_like_a_number_is_explained_to_the_model(tmp_path: Path) -> None:
    async with tools(tmp_path) as d:
        att = d.item("Promoting memory").attachments[0].id
        for pages in ("²", "9" * 5_000):
            assert "There is no page" in await d.error("read_document", attachment_id=att, pages=pages)
    assert [p.page for p in pointers_in("zotero://open-pdf/library/items/ABCD2345?page=²")] == [None]
