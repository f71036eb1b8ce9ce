"""The index of a library: the same values and answers as without it, and never needed."""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.domain.errors import DocumentUnreadable, LibraryUnavailable
from bibgenie_desktop.zotero import loading
from bibgenie_desktop.zotero.index import state as index_state
from bibgenie_desktop.zotero.index.codec import pack_annotation, unpack_annotation
from bibgenie_desktop.zotero.index.filters import Filters
from bibgenie_desktop.zotero.index.fulltext import Coverage
from bibgenie_desktop.zotero.index.indexed_contents import IndexedItems
from bibgenie_desktop.zotero.index.indexed_search import IndexedSearch
from bibgenie_desktop.zotero.index.library_index import LibraryIndex
from bibgenie_desktop.zotero.index.listing import Common, Order, candidates, fitting, fitting_ids, ordered_ids
from bibgenie_desktop.zotero.index.overview import (
    counted_collections,
    counted_tags,
    item_tags,
    item_types,
    marks_in,
    marks_of,
    notes_of,
)
from bibgenie_desktop.zotero.index.search import MetadataIndex, Query, Sort
from bibgenie_desktop.zotero.index.terms import indexed, indexed_in_pieces, question
from bibgenie_desktop.zotero.index.text_search import _finder
from bibgenie_desktop.zotero.local.local_source import LocalSource
from bibgenie_desktop.zotero.model.folding import fold_same_length, is_cjk, words
from bibgenie_desktop.zotero.model.library import Contents
from bibgenie_desktop.zotero.source import Taken
from tests.zotero.helpers import (
    SAMPLE,
    generated,
    hashes,
    now,
    opened_library,
    retitle,
    sample_copy,
    titled,
)

ORDERS: tuple[Order, ...] = ("title", "year", "date_added", "date_modified")
COMMON: tuple[Common, ...] = ("same_collection", "shared_tags", "same_author")


class Both:
    """One library in memory and through its index."""

    def __init__(self, data_dir: Path, private: Path) -> None:
        self.source = LocalSource(data_dir, private, now)
        self.index = LibraryIndex(private, now)
        self.again()

    def again(self) -> Taken:
        taken = self.source.take(lambda: False, None)
        self.memory = self.source.read(taken, None)
        self.indexed = self.index.bring_up(self.source, taken, None, lambda *_: None, lambda: False)
        return taken


def same(one: Contents, other: Contents) -> None:
    """Value by value; an index has its own order."""
    for name in ("items", "attachments", "notes", "annotations", "related", "copies", "tag_colors"):
        assert dict(getattr(one, name)) == dict(getattr(other, name)), name
        assert len(getattr(one, name)) == len(getattr(other, name)), name
    assert list(one.annotations.values()) == list(other.annotations.values())
    for name in ("libraries", "collections", "saved_searches", "trashed"):
        assert getattr(one, name) == getattr(other, name), name
    assert counted_collections(one) == counted_collections(other)
    assert counted_tags(one) == counted_tags(other)
    assert item_types(one) == item_types(other)
    assert item_tags(one) == item_tags(other)


@pytest.fixture(scope="module", params=["129", "121", "111"])
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder = tmp_path_factory.mktemp("lib")
    options = ("--items", "300", "--schema-version", request.param)
    return Both(generated(folder, *options), folder / "private")


def test_the_sample_library_is_the_same_through_its_index(tmp_path: Path) -> None:
    both = Both(SAMPLE, tmp_path)
    same(both.memory, both.indexed)


def test_a_library_is_the_same_through_its_index(both: Both) -> None:
    assert isinstance(both.indexed.items, IndexedItems)
    assert dict(both.indexed.items) == dict(both.memory.items)
    if both.memory.annotations:
        same(both.memory, both.indexed)


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
def test_the_index_finds_what_looking_at_every_item_finds(both: Both, text: str) -> None:
    plain, fast = MetadataIndex(both.memory), IndexedSearch(both.indexed)
    sorts: tuple[Sort, ...] = ("relevance", "year", "title", "date_added")
    for sort in sorts:
        for filters in (Filters(), Filters(year_from=2000), Filters(has_pdf=True), Filters(author="wang")):
            for offset in (0, 7):
                query = Query(text, filters, sort, limit=25, offset=offset)
                one, other = plain.search(query), fast.search(query)
                assert (one.total, one.relaxed, one.unfiltered, one.scope) == (
                    *(other.total, other.relaxed, other.unfiltered),
                    other.scope,
                )
                if one.total <= 200 or sort != "relevance":
                    assert [i.id for i in one.items] == [i.id for i in other.items]


def every_filter(contents: Contents) -> list[Filters]:
    """Filters that name what this library has."""
    items = list(contents.items.values())
    tag = next(t.name for i in items for t in i.tags)
    other = next(t.name for i in items for t in i.tags if t.name != tag)
    signs = [t.name for i in items for t in i.tags if not any(c.isalnum() for c in t.name)][:1]
    collection = max((c for c in contents.collections if not c.trashed), key=lambda c: len(c.path))
    return [
        Filters(),
        Filters(library=contents.libraries[-1].id),
        Filters(collection=collection.id),
        Filters(collection=collection.path[0]),
        Filters(item_type=items[0].type),
        Filters(tags=(tag,)),
        Filters(tags=(tag, other), tags_mode="any"),
        Filters(tags=(tag, other)),
        *(Filters(tags=(s,)) for s in signs),
        Filters(year_from=1990, year_to=2010),
        Filters(year_to=1990),
        Filters(has_pdf=False, library="u"),
        Filters(author=next(i.creators[0].last for i in items if i.creators)),
        Filters(author="!!"),
        Filters(title=items[3].title.split()[0], has_pdf=True),
        Filters(citekey=next((i.citekey for i in items if i.citekey), "none")),
        Filters(citekey=" "),
        Filters(doi=next(i.doi for i in items if i.doi)),
    ]


def test_filters_lists_and_neighbours_are_the_same(both: Both) -> None:
    one, other = both.memory, both.indexed
    collections = frozenset(c.id for c in one.collections[:3])
    for filters in every_filter(one):
        found = {i.id for i in fitting(one, filters)}
        assert {i.id for i in fitting(other, filters)} == found, filters
        for ids in (fitting_ids(one, filters), fitting_ids(other, filters)):
            assert ids is None or ids == found
        for order in ORDERS:
            assert ordered_ids(one, filters, order) == ordered_ids(other, filters, order)
        for options in ({"only": collections}, {"unfiled": True}):
            asked: dict[str, Any] = dict(options)
            assert ordered_ids(one, filters, "year", **asked) == ordered_ids(other, filters, "year", **asked)
    for item in list(one.items.values())[::10]:
        assert notes_of(one, item.id) == notes_of(other, item.id)
        assert marks_of(one, item.id) == marks_of(other, item.id)
        for attachment in item.attachments:
            assert marks_in(one, attachment.id) == marks_in(other, attachment.id)
        for common in COMMON:
            near = {i.id for i in candidates(other, item, common)}
            for neighbour in one.items.values():
                if neighbour is not item and shares(item, neighbour, common):
                    assert neighbour.id in near


def shares(one: Any, other: Any, common: Common) -> bool:
    match common:
        case "same_collection":
            return bool(set(one.collections) & set(other.collections))
        case "shared_tags":
            return bool({t.name for t in one.tags} & {t.name for t in other.tags})
        case _:
            return bool({c.sort_name for c in one.creators} & {c.sort_name for c in other.creators})


def test_every_field_of_an_annotation_survives(both: Both) -> None:
    for annotation in both.memory.annotations.values():
        assert unpack_annotation(pack_annotation(annotation)) == annotation


def test_an_unknown_id_is_a_missing_key(tmp_path: Path) -> None:
    contents = Both(SAMPLE, tmp_path).indexed
    for mapping in (contents.items, contents.attachments, contents.notes, contents.annotations):
        assert mapping.get("u-NOTTHERE") is None
        assert "u-NOTTHERE" not in mapping


def test_a_state_that_was_handed_out_stays_as_it_was(tmp_path: Path) -> None:
    zotero = sample_copy(tmp_path / "Zotero")
    both = Both(zotero, tmp_path / "private")
    before, item = both.indexed, titled(both.indexed, "Practice with Sleep")
    retitle(zotero, "Practice with Sleep", "Zygomorphic practice")
    both.again()
    assert both.indexed.items[item.id].title == "Zygomorphic practice"
    assert [i.title for i in before.items.values() if i.id == item.id] == [item.title]


def test_chinese_becomes_pairs_and_any_part_is_asked_for() -> None:
    assert indexed("abc 睡眠研究x").split() == ["abc", "睡眠", "眠研", "研究", "究", "x"]
    assert question("睡", "all_words") == '"睡"*'
    assert question("睡眠研", "all_words") == '"睡眠 眠研"'
    assert question("deep 睡眠", "phrase") == '"deep 睡眠"'
    assert question('"slow wave" sleep', "all_words") == '"slow wave" AND "sleep"*'
    assert question("--- !!", "any") == ""


def test_a_long_text_is_indexed_like_a_short_one() -> None:
    text = "Mölle’s ﬁnding, 睡眠 of the night. " * 3_000
    assert indexed_in_pieces(text).split() == indexed(text).split()


def test_words_are_found_in_texts_as_a_pattern_finds_them() -> None:
    rng = random.Random(3)
    pieces = ("sleep", "sleeping", "asleep", "睡眠", "睡", "mem_ory", "memory", "a", "and", "Mölle", "x-ray")
    asked = ("sleep", "sleeping", "睡眠", "睡", "memory", "a", "and", "molle", "ray")
    for _ in range(2_000):
        text = "".join(rng.choice(pieces) + rng.choice(("", " ", ".", "_", "\f")) for _ in range(20))
        query = " ".join(rng.sample(asked, rng.randrange(1, 4)))
        plain = fold_same_length(text)
        longest = sorted(dict.fromkeys(words(query)), key=len, reverse=True)
        pattern = "|".join(w if is_cjk(w) else rf"\b{w}" for w in longest)
        expected = [(m.start(), m.end(), m[0]) for m in re.finditer(pattern, plain)]
        assert list(_finder(query, "all_words").places(plain)) == expected


async def test_a_large_library_is_searched_through_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "SMALL", 10)
    zotero = sample_copy(tmp_path / "Zotero")
    library = opened_library(zotero, tmp_path / "private")
    try:
        await library.ensure_loaded()
        assert isinstance(library._loading.loaded.index, IndexedSearch)  # type: ignore[union-attr]
        assert (await library.search(Query("nap"))).total > 1
        retitle(zotero, "Practice with Sleep", "Zygomorphic")
        await library.refresh()
        assert (await library.search(Query("zygomorphic"))).total == 1
    finally:
        await library.close()


async def test_without_a_place_for_an_index_the_library_is_held_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("bibgenie_desktop.zotero.index.build.build", full)
    library = opened_library(SAMPLE, tmp_path)
    try:
        await library.ensure_loaded()
        assert not isinstance(library.contents.items, IndexedItems)
        assert (await library.search(Query("nap"))).total > 1
        assert len(await library.newest(5)) == 5
        assert len(await library.tag_counts()) > 3
    finally:
        await library.close()


async def test_an_index_that_is_damaged_while_in_use_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = opened_library(SAMPLE, tmp_path)
    try:
        await library.ensure_loaded()
        items = library.contents.items
        assert isinstance(items, IndexedItems)
        with pytest.raises(LibraryUnavailable, match="damaged"):
            items.state.rows("SELECT body FROM item_that_was_lost")
        await library.ensure_loaded()
        assert library.contents.items is not items
        assert "made anew" in library.status.notice
        assert (await library.search(Query("nap"))).total > 1
    finally:
        await library.close()


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
        done = [c.indexed + c.unreadable for c in seen]
        assert done == sorted(done)
        assert {c.attachments for c in seen} == {last.attachments}
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


def test_a_large_library_is_walked_through_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bibgenie_desktop.zotero.index.indexed_contents.PIECE", 3)
    monkeypatch.setattr(index_state, "PIECE", 3)
    monkeypatch.setattr("bibgenie_desktop.zotero.index.indexed_contents.REMEMBERED", 4)
    both = Both(SAMPLE, tmp_path)
    same(both.memory, both.indexed)
