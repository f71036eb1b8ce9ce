"""Lists by people and pages of a search: the same through the index, which makes only what is shown."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from bibgenie_desktop.services.library.listings import Listing, Order, Scope, listed
from bibgenie_desktop.zotero.index import people
from bibgenie_desktop.zotero.index.filters import Filters, UnknownValue
from bibgenie_desktop.zotero.index.indexed_contents import IndexedItems
from bibgenie_desktop.zotero.index.indexed_search import IndexedSearch
from bibgenie_desktop.zotero.index.people import by_creator, ids_by_creator
from bibgenie_desktop.zotero.index.search import MetadataIndex, Query, Sort
from bibgenie_desktop.zotero.model.library import Item
from tests.zotero.helpers import generated, sample_copy
from tests.zotero.index.test_index import Both, every_filter

ORDERS: tuple[Order, ...] = ("added", "modified", "title", "creator", "year")
SORTS: tuple[Sort, ...] = ("relevance", "date_added", "year", "title")


def with_odd_people(data_dir: Path) -> Path:
    """Names as no form takes them, an editor before the author, an item that nobody wrote, a role alone."""
    names = [
        ("", " ", 0),
        (None, "Only, last", 0),
        ("First", None, 0),
        ("Forgotten", "王小明", 1),
        ("Zoë\n", 'O"Brien\x1f\\', 0),
        (b"Li\xc3\xa9", "Ångström", 0),
        ("[", "]", 0),
    ]
    with contextlib.closing(sqlite3.connect(data_dir / "zotero.sqlite")) as db, db:
        roles = dict(db.execute("SELECT creatorType, creatorTypeID FROM creatorTypes"))
        written = [i for (i,) in db.execute("SELECT DISTINCT itemID FROM itemCreators ORDER BY itemID")]
        for item, (first, last, mode) in zip(written, names, strict=False):
            db.execute(
                "INSERT INTO creators (firstName, lastName, fieldMode) VALUES (?, ?, ?)", (first, last, mode)
            )
            db.execute(
                "UPDATE itemCreators SET creatorID = last_insert_rowid() WHERE itemID = ? AND orderIndex = 0",
                (item,),
            )
        edited, alone, nobody = written[len(names) : len(names) + 3]
        db.execute(
            "UPDATE itemCreators SET creatorTypeID = ? WHERE itemID = ? AND orderIndex = 0",
            (roles["translator"], edited),
        )
        db.execute(
            "UPDATE OR IGNORE itemCreators SET creatorTypeID = ? WHERE itemID = ?", (roles["editor"], alone)
        )
        db.execute("DELETE FROM itemCreators WHERE itemID = ?", (nobody,))
    return data_dir


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder = tmp_path_factory.mktemp("odd")
    return Both(with_odd_people(sample_copy(folder / "Zotero")), folder / "private")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder = tmp_path_factory.mktemp("large")
    return Both(with_odd_people(generated(folder, "--items", "300")), folder / "private")


def test_odd_people_stand_where_they_stand_in_memory(odd: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(odd.indexed.items, IndexedItems)
    expected = by_creator(odd.memory.items.values())
    assert any(i.creators and not i.creators[0].primary for i in odd.memory.items.values())
    assert [i for i in expected[-3:] if not odd.memory.items[i].creators]
    for run in (5_000, 7):
        monkeypatch.setattr(people, "_RUN", run)
        assert ids_by_creator(odd.indexed, Filters()) == expected
        assert ids_by_creator(odd.memory, Filters()) == expected


def test_a_list_by_people_keeps_to_its_filters(large: Both) -> None:
    for filters in every_filter(large.memory):
        assert ids_by_creator(large.indexed, filters) == ids_by_creator(large.memory, filters), filters
    for contents in (large.memory, large.indexed):
        with pytest.raises(UnknownValue):
            ids_by_creator(contents, Filters(collection="nowhere"))


def test_every_list_of_the_dock_is_the_same_through_the_index(large: Both) -> None:
    libraries = [lib.id for lib in large.memory.libraries]
    scopes = [Scope(), Scope("recent"), *(Scope("library", lib) for lib in libraries)]
    scopes += [Scope("unfiled", lib) for lib in libraries]
    scopes += [Scope("collection", c.library.id, c.id) for c in large.memory.collections[:5]]
    for scope in scopes:
        for order in ORDERS:
            listing = Listing(scope, order=order)
            assert listed(large.indexed, listing) == listed(large.memory, listing), listing


def test_no_item_is_made_for_a_list_by_people(large: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    items = large.indexed.items
    assert isinstance(items, IndexedItems)
    monkeypatch.setattr(items.unpack, "item", made.append)
    assert len(ids_by_creator(large.indexed, Filters())) == len(items)
    assert made == []


def test_pages_of_a_search_join_in_every_order_and_make_only_what_they_show(
    large: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bibgenie_desktop.zotero.index.indexed_search._RESCORED", 20)
    monkeypatch.setattr("bibgenie_desktop.zotero.index.indexed_search._MIDDLING", 0)
    plain, fast = MetadataIndex(large.memory), IndexedSearch(large.indexed)
    items = large.indexed.items
    assert isinstance(items, IndexedItems)
    asked: list[int] = []
    real = items.of

    def of(rows: list[int]) -> Iterator[Item]:
        asked.extend(rows)
        return real(rows)

    monkeypatch.setattr(items, "of", of)
    for sort in SORTS:
        whole = plain.search(Query("sleep", sort=sort, limit=10_000))
        assert whole.total > 60
        found: list[str] = []
        for offset in range(0, whole.total, 9):
            asked.clear()
            hits = fast.search(Query("sleep", sort=sort, limit=9, offset=offset))
            assert hits.total == whole.total
            assert len(asked) <= (9 if sort != "relevance" or offset >= 20 else 20 + 9)
            found += [i.id for i in hits.items]
        expected = [i.id for i in whole.items]
        assert len(set(found)) == whole.total
        if sort == "relevance":
            assert set(found) == set(expected)
        else:
            assert found == expected


@pytest.mark.parametrize("words", ["sleep", "memory", "the", "spindles", "sleep memory"])
def test_the_best_hits_are_the_same_in_a_library_that_is_searched_in_memory_and_a_little_larger(
    large: Both, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    """Hundreds of hits may score the same; which come first is no accident of how large the library is."""
    plain, fast = MetadataIndex(large.memory), IndexedSearch(large.indexed)
    monkeypatch.setattr("bibgenie_desktop.zotero.index.indexed_search._RESCORED", 20)
    for offset in (0, 25, 50):
        query = Query(words, limit=25, offset=offset)
        assert [i.id for i in fast.search(query).items] == [i.id for i in plain.search(query).items]
