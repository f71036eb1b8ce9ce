"""The index file: the same answers as without it, kept current by differences, and never needed."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import DocumentUnreadable
from bibgenie_desktop.zotero import service
from bibgenie_desktop.zotero.filters import Filters
from bibgenie_desktop.zotero.fulltext import Coverage
from bibgenie_desktop.zotero.index_file import IndexFile
from bibgenie_desktop.zotero.index_terms import indexed, question
from bibgenie_desktop.zotero.indexed_search import IndexedSearch
from bibgenie_desktop.zotero.library import Contents, Tag
from bibgenie_desktop.zotero.search import MetadataIndex, Query
from tests.zotero.helpers import SAMPLE, contents_of, generated, hashes, opened_library, sample_copy, titled


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Contents:
    folder = tmp_path_factory.mktemp("lib")
    return contents_of(generated(folder, "--items", "300"), folder / "private")


@pytest.fixture
def index(tmp_path: Path) -> IndexFile:
    return IndexFile(tmp_path / "index")


def update(index: IndexFile, contents: Contents) -> int:
    return index.update_items(contents, lambda: False)


@pytest.mark.parametrize(
    "text",
    [
        "sleep",
        "born 2006 oscill",
        "BUZSAKI wave-ripple",
        "睡",
        "睡眠",
        "记忆巩固",
        "王小明",
        "睡眠 元分析",
        "紡錘波",
        "النوم",
        "10.1038/nature04286",
        "@walkerWhyWeSleep2017",
        "Sleep-dependent memory consolidation",
        "How large is the overnight gain in motor skill, and who disputes it?",
        "zygomorphic",
        "ran",
        "Mölle",
        "",
    ],
)
def test_the_index_finds_what_looking_at_every_item_finds(
    corpus: Contents, index: IndexFile, text: str
) -> None:
    update(index, corpus)
    plain, fast = MetadataIndex(corpus), IndexedSearch(corpus, index)
    for filters in (Filters(), Filters(year_from=2000), Filters(has_pdf=True)):
        query = Query(text, filters, limit=25)
        one, other = plain.search(query), fast.search(query)
        assert (one.total, one.relaxed, one.unfiltered) == (other.total, other.relaxed, other.unfiltered)
        if one.total <= 200:
            assert [i.id for i in one.items] == [i.id for i in other.items]
    index.close()


def test_only_what_differs_is_written_again(corpus: Contents, index: IndexFile) -> None:
    assert update(index, corpus) == len(corpus.items)
    assert update(index, corpus) == 0
    items = dict(corpus.items)
    first, second, third = list(items)[:3]
    items[first] = replace(items[first], title="A zygomorphic flower")
    items[second] = replace(items[second], tags=(Tag("marmot", False),))
    gone = items.pop(third)
    changed = replace(corpus, items=items)
    assert update(index, changed) == 3
    search = IndexedSearch(changed, index)
    assert [i.id for i in search.search(Query("zygomorphic")).items] == [first]
    assert gone.id not in {i.id for i in search.search(Query(gone.title, limit=25)).items}
    with index.reading() as db:
        assert db.execute("SELECT count(*) FROM item").fetchone()[0] == len(items)
    index.close()


def test_a_damaged_or_older_index_is_made_anew(corpus: Contents, index: IndexFile) -> None:
    update(index, corpus)
    index.close()
    for spoil in ("damage", "version"):
        if spoil == "damage":
            index.path.write_bytes(b"not a database at all" * 100)
        else:
            with contextlib.closing(sqlite3.connect(index.path)) as db, db:
                db.execute("UPDATE fact SET value = '0'")
        assert update(index, corpus) == len(corpus.items)
        index.close()


def test_giving_up_leaves_a_usable_index(corpus: Contents, index: IndexFile) -> None:
    assert index.update_items(corpus, lambda: True) == -1
    assert update(index, corpus) == len(corpus.items)
    index.close()


def test_an_index_that_vanishes_costs_no_answer(corpus: Contents, index: IndexFile) -> None:
    update(index, corpus)
    index.close()
    search = IndexedSearch(corpus, index)
    index.path.unlink()
    assert search.search(Query("sleep")).total == MetadataIndex(corpus).search(Query("sleep")).total


def test_chinese_becomes_pairs_and_any_part_is_asked_for(tmp_path: Path) -> None:
    assert indexed("abc 睡眠研究x").split() == ["abc", "睡眠", "眠研", "研究", "究", "x"]
    assert question("睡", "all_words") == '"睡"*'
    assert question("睡眠研", "all_words") == '"睡眠 眠研"'
    assert question("deep 睡眠", "phrase") == '"deep 睡眠"'
    assert question('"slow wave" sleep', "all_words") == '"slow wave" AND "sleep"*'
    assert question("--- !!", "any") == ""


async def test_a_large_library_is_searched_through_the_index_once_it_is_current(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "SMALL", 10)
    used: list[str] = []
    real = service.IndexedSearch
    monkeypatch.setattr(service, "IndexedSearch", lambda *a: used.append("index") or real(*a))
    zotero = sample_copy(tmp_path / "Zotero")
    library = opened_library(zotero, tmp_path / "private")
    try:
        await library.ensure_loaded()
        await library._indexing.settled()
        assert (await library.search(Query("nap"))).total > 1
        assert used
        with contextlib.closing(sqlite3.connect(zotero / "zotero.sqlite")) as db, db:
            db.execute("UPDATE itemDataValues SET value = 'Zygomorphic' WHERE value LIKE 'Practice with%'")
        await library.ensure_loaded()
        assert (await library.search(Query("zygomorphic"))).total == 1  # also before the index has it
        await library._indexing.settled()
        assert (await library.search(Query("zygomorphic"))).total == 1
    finally:
        await library.close()


async def test_the_next_start_has_a_list_before_the_library_is_read(tmp_path: Path) -> None:
    library = opened_library(SAMPLE, tmp_path)
    assert await library.newest() == ()
    await library.ensure_loaded()
    await library._indexing.settled()
    await library.close()
    again = opened_library(SAMPLE, tmp_path)
    try:
        rows = await again.newest(5)
        assert not again.status.loaded
        assert len(rows) == 5
        assert all(r.title for r in rows)
    finally:
        await again.close()


async def test_texts_are_indexed_with_progress_and_go_on_where_they_stopped(tmp_path: Path) -> None:
    seen: list[Coverage] = []
    library = opened_library(SAMPLE, tmp_path)
    try:
        await library.index_texts(seen.append)
        last = seen[-1]
        assert not last.running
        assert last.indexed + last.unreadable == last.attachments
        assert last.indexed > 20
        assert last.unreadable >= 2  # a scan and a missing file
    finally:
        await library.close()
    again = opened_library(SAMPLE, tmp_path)
    try:
        read: list[object] = []
        again._indexing._documents.pages_text = lambda *a: read.append(a)  # type: ignore[method-assign,assignment]
        await again.index_texts(seen.append)
        assert seen[-1] == last
        assert not read
    finally:
        await again.close()


async def test_indexing_can_be_cancelled_and_closing_ends_it(tmp_path: Path) -> None:
    library = opened_library(SAMPLE, tmp_path)
    await library.ensure_loaded()
    task = asyncio.ensure_future(library.index_texts())
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not library.coverage.running
    await library.index_texts()
    assert library.coverage.indexed > 20
    await library.close()
    assert titled(library.contents, "Practice")


async def test_indexing_and_reading_change_nothing_in_zoteros_folder(tmp_path: Path) -> None:
    data_dir = generated(tmp_path / "lib", "--items", "60", "--bbt", "--schema-version", "121")
    before = hashes(data_dir)
    library = opened_library(data_dir, tmp_path / "private")
    try:
        await library.index_texts()
        for attachment in library.contents.attachments.values():
            with contextlib.suppress(DocumentUnreadable):
                await library.section_text(attachment, 0)
            with contextlib.suppress(DocumentUnreadable):
                await library.outline(attachment)
        assert library.coverage.indexed > 15
    finally:
        await library.close()
    assert hashes(data_dir) == before
