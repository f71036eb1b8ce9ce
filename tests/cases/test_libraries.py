"""Faults other programs had with Zotero's data, provoked again through the tools and the command line."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from pathlib import Path

import pytest

from bibgenie_desktop.compose.application import Application
from bibgenie_desktop.compose.options import Options
from bibgenie_desktop.services.library.attaching import note_part
from bibgenie_desktop.services.library.pointers import pointers_in
from bibgenie_desktop.zotero.notes import note_text
from tests.cli.helpers import command
from tests.services.tools.test_library_tools import desk as tools
from tests.zotero.helpers import retitle, sample_copy
from tests.zotero.local.test_discovery import pref, profile

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


async def test_54yyyu_85_a_directory_named_by_the_environment_is_the_one_of_every_tool_and_command(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """54yyyu#85, #68, #367. Another profile and the settings name other libraries of the same person."""
    named = sample_copy(tmp_path / "disk" / "My data")
    retitle(named, "Practice with Sleep", "Zygomorphic practice")
    elsewhere, preferred = sample_copy(home / "Zotero"), sample_copy(tmp_path / "preferred")
    profile(home / ".zotero" / "zotero", "main", default=True)
    other = pref("useDataDir", "true") + pref("dataDir", f'"{preferred}"')
    profile(home / ".zotero" / "zotero", "other", other)
    monkeypatch.setenv("BIBGENIE_ZOTERO_DIR", str(named))
    data = tmp_path / "data"
    app = Application(Options(data_dir=data))
    await app.open()
    try:
        app.config.set_zotero_dir(str(preferred))
        assert {c.data_dir for c in app.candidates()} == {elsewhere, preferred}
        await app.load_library()
        library, toolbox = app.library, app.workspace._toolbox
        assert library is not None
        assert library.status.data_dir == named
        assert len(toolbox.names) > 10
        held = [vars(toolbox.get(name)) for name in toolbox.names]
        held = [vars(h["_showing"]) if "_showing" in h else h for h in held]
        assert {h["_library"] for h in held} == {library}
        (item,) = [i for i in library.items if i.title.startswith("Zygomorphic")]
        (att,) = item.attachments
        arguments: dict[str, dict[str, object]] = {
            "search_items": {"query": "zygomorphic"},
            "search_fulltext": {"query": "zygomorphic"},
            "get_items": {"ids": [item.id]},
            "list_items": {"limit": 50},
            "format_citation": {"ids": [item.id]},
            "read_document": {"attachment_id": att.id},
            "find_in_document": {"attachment_id": att.id, "query": "sleep"},
            "get_outline": {"attachment_id": att.id},
        }
        (named / "storage" / att.key / ".zotero-ft-cache").write_text("zygomorphic words")
        await library.index_texts()
        for name, given in arguments.items():
            tool = toolbox.get(name)
            assert tool is not None
            result = await tool.run(given)
            assert not result.error, name
            assert "zygomorphic" in result.text.lower(), name
        for where in (("--data-dir", data), ()):
            said = await asyncio.to_thread(command, *where, "inspect", "library")
            assert said.json["data_dir"] == str(named)
            assert said.json["chosen"]
        beaten = await asyncio.to_thread(command, "inspect", "library", "--zotero-dir", elsewhere)
        assert beaten.json["data_dir"] == str(elsewhere)
    finally:
        await app.close()


async def test_54yyyu_163_every_tool_looks_everywhere_and_its_rows_name_their_library(tmp_path: Path) -> None:
    """54yyyu#163; 54yyyu#123: what lies in a group says so, in words or in its id and its link."""
    data_dir = sample_copy(tmp_path / "Zotero")
    with contextlib.closing(sqlite3.connect(data_dir / "zotero.sqlite")) as db, db:
        (group,) = db.execute("SELECT libraryID FROM groups").fetchone()
        (kind,) = db.execute("SELECT itemTypeID FROM itemTypesCombined WHERE typeName = 'note'").fetchone()
        row = db.execute(
            "INSERT INTO items (itemTypeID, libraryID, key) VALUES (?, ?, 'NTES2222')", (kind, group)
        ).lastrowid
        db.execute("INSERT INTO itemNotes (itemID, note, title) VALUES (?, '<p>sleep</p>', 'Group')", (row,))
        db.execute(
            "INSERT INTO collections (collectionName, libraryID, key) VALUES ('Of the group', ?, 'CGRP2222')",
            (group,),
        )
        (mark,) = db.execute(
            "SELECT i.itemID FROM itemAttachments a JOIN items i USING (itemID)"
            " WHERE i.libraryID = ? AND a.contentType = 'application/pdf'",
            (group,),
        ).fetchone()
        (kind,) = db.execute(
            "SELECT itemTypeID FROM itemTypesCombined WHERE typeName = 'annotation'"
        ).fetchone()
        row = db.execute(
            "INSERT INTO items (itemTypeID, libraryID, key) VALUES (?, ?, 'MARK2222')", (kind, group)
        ).lastrowid
        db.execute(
            "INSERT INTO itemAnnotations (itemID, parentItemID, type, text, color, sortIndex, position,"
            " isExternal) VALUES (?, ?, 1, 'sleep', '#ffd400', '00000|000000|00000', '{\"pageIndex\":0}', 0)",
            (row, mark),
        )  # fmt: skip
    async with tools(tmp_path, data_dir) as d:
        await d.library.index_texts()
        named = {"search_items": "items", "search_fulltext": "items", "list_items": "items"}
        named |= {"get_notes": "notes", "list_collections": "collections"}
        for tool, rows in named.items():
            words = {"query": "sleep", "limit": 25} if tool.startswith("search") else {"limit": 50}
            found = [await d.data(tool, **words)]
            while "next_offset" in found[-1]:
                found.append(await d.data(tool, **words, offset=found[-1]["next_offset"]))
            listed = [row for page in found for row in page[rows]]
            assert {row["library"] for row in listed} == {"My Library", "Journal club"}, tool
            for row in listed:
                assert row["id"].startswith("u-" if row["library"] == "My Library" else "g4000001-"), tool
        marks = (await d.data("get_annotations", limit=50))["annotations"]
        (mark_of_group,) = [m for m in marks if m["id"].startswith("g4000001-")]
        assert "/groups/4000001/" in mark_of_group["link"]
        assert all("/library/" in m["link"] for m in marks if m is not mark_of_group)
        tags = (await d.data("list_tags", limit=200))["tags"]
        assert {tag["library"] for tag in tags} == {"u", "g4000001"}
