"""Long answers as one text: the same as the lists they stand for, of which only pieces are made."""

from __future__ import annotations

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from bibgenie_desktop.services.library.listings import Listing, Order, Scope, listed
from bibgenie_desktop.zotero.index import indexed_search
from bibgenie_desktop.zotero.index.filters import Filters
from bibgenie_desktop.zotero.index.indexed_contents import IndexedItems
from bibgenie_desktop.zotero.index.indexed_search import IndexedSearch
from bibgenie_desktop.zotero.index.listing import count_of, ordered_ids
from bibgenie_desktop.zotero.index.overview import is_readable, readable_attachments
from bibgenie_desktop.zotero.index.search import Query
from bibgenie_desktop.zotero.index.strips import Ids, Joined, Rows, ids_of, rows_of, strip_of
from bibgenie_desktop.zotero.model.library import Contents
from tests.zotero.helpers import generated
from tests.zotero.index.test_index import Both, every_filter

SLICES = (slice(0, 3), slice(None), slice(2, 2), slice(-3, None), slice(5, 10**6), slice(None, None, -2))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder = tmp_path_factory.mktemp("strips")
    return Both(generated(folder, "--items", "300"), folder / "private")


def indexed_items(contents: Contents) -> IndexedItems:
    assert isinstance(contents.items, IndexedItems)
    return contents.items


def behaves(strip: Sequence[object], as_list: list[object]) -> None:
    assert len(strip) == len(as_list)
    assert list(strip) == as_list
    assert strip == as_list
    for piece in SLICES:
        assert strip[piece] == as_list[piece]
    for place in (0, -1, len(as_list) // 2):
        assert strip[place] == as_list[place]
        assert strip.index(as_list[place]) == as_list.index(as_list[place])
        assert as_list[place] in strip
    with pytest.raises(IndexError):
        strip[len(as_list)]


def test_ids_of_every_width_are_the_ids_of_the_library(both: Both) -> None:
    items = indexed_items(both.indexed)
    found = ids_of(items.state, "SELECT id AS x FROM item ORDER BY name, id")
    assert len({len(i) for i in found}) > 1  # of groups too, whose ids are longer
    behaves(found, [*items.state.column("SELECT id AS x FROM item ORDER BY name, id")])
    assert "u-NOTTHERE" not in found
    assert "" not in found
    with pytest.raises(ValueError, match="u-NOTTHERE"):
        found.index("u-NOTTHERE")


def test_rows_are_numbers_and_json(both: Both) -> None:
    state = indexed_items(both.indexed).state
    found = rows_of(state, "SELECT row AS x FROM item ORDER BY name, id")
    behaves(found, [row for (row,) in state.rows("SELECT row FROM item ORDER BY name, id")])
    (back,) = state.row("SELECT group_concat(value) FROM json_each(?)", (found.json,)) or ("",)
    assert [*map(int, back.split(","))] == list(found)


def test_a_row_is_not_found_across_the_border_of_two() -> None:
    rows = strip_of([12, 3, 2**62, 123])
    assert (23 in rows, 2 in rows, 123 in rows, rows.index(123)) == (False, False, True, 3)
    assert -1 not in rows


def test_no_rows_are_no_json_values(both: Both) -> None:
    state = indexed_items(both.indexed).state
    none = rows_of(state, "SELECT row AS x FROM item WHERE 0")
    assert (len(none), list(none), none.json, 1 in none) == (0, [], "[]", False)
    assert list(ids_of(state, "SELECT id AS x FROM item WHERE 0")) == []


def test_strips_are_unequal_where_lists_would_be() -> None:
    assert strip_of([1, 2]) != strip_of([2, 1])
    assert strip_of([1, 2]) != [1]
    assert strip_of([1]) != "1"


def test_one_after_the_other_is_both() -> None:
    first = Ids("u-1\x1fu-22", 4)
    assert list(first) == ["u-1", "u-22"]
    behaves(Joined(first, ["u-333"]), ["u-1", "u-22", "u-333"])


def test_a_list_of_the_window_makes_no_id_that_nobody_looks_at(
    both: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    value = Ids._value

    def looking(self: Ids, entry: str) -> str:
        looked.append(entry)
        return value(self, entry)

    monkeypatch.setattr(Ids, "_value", looking)
    orders: tuple[Order, ...] = ("added", "modified", "title", "year")
    for order in orders:
        found = listed(both.indexed, Listing(Scope("library", "u"), order=order))
        assert len(found) > 200
        assert looked == []
        assert len(found[10:20]) == 10
        assert len(looked) == 10
        looked.clear()


@pytest.mark.parametrize("most", [0, 1, 7, 10**6, None])
def test_the_first_ids_and_the_count_are_those_of_memory(both: Both, most: int | None) -> None:
    for filters in every_filter(both.memory):
        assert count_of(both.indexed, filters) == count_of(both.memory, filters)
        expected = ordered_ids(both.memory, filters, "date_added", most=most)
        assert ordered_ids(both.indexed, filters, "date_added", most=most) == expected


def test_pages_of_a_search_are_pieces_of_one_list(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the exact hits lie far behind those that are scored."""
    monkeypatch.setattr(indexed_search, "_RESCORED", 5)
    monkeypatch.setattr(indexed_search, "_MIDDLING", 0)
    search = IndexedSearch(both.indexed)
    whole = [i.id for i in search.search(Query("the", Filters(), limit=10_000)).items]
    assert len(whole) > 20
    assert len(set(whole)) == len(whole)
    for size in (1, 3, 10):
        pages = [search.search(Query("the", limit=size, offset=at)) for at in range(0, len(whole), size)]
        assert [i.id for page in pages for i in page.items] == whole


def test_what_follows_the_scored_rows_leaves_out_the_exact_ones() -> None:
    chance = random.Random(7)
    for _ in range(200):
        size = chance.randrange(200, 260)
        rows = chance.sample(range(1, 1_000), size)
        chosen = chance.sample(rows, chance.randrange(6))
        rest = [r for r in rows[200:] if r not in chosen]
        first = chance.randrange(40)
        last = first + chance.randrange(30)
        assert indexed_search._after(strip_of(rows), chosen, 200, first, last) == rest[first:last]
    assert indexed_search._after(Rows("", 20), [], 200, 0, 10) == []


def test_readable_attachments_are_asked_for_by_whoever_takes_the_first(
    both: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event loop makes the walk, a thread walks."""
    state = indexed_items(both.indexed).state
    asked: list[str] = []
    rows = state.rows

    def asking(question: str, values: Sequence[object] = ()) -> list[tuple[object, ...]]:
        asked.append(question)
        return rows(question, values)

    monkeypatch.setattr(state, "rows", asking)
    walk = readable_attachments(both.indexed)
    assert asked == []
    expected = [a.id for a in both.memory.attachments.values() if is_readable(a)]
    assert sorted(a.id for a in walk) == sorted(expected)
    assert asked


def test_a_short_question_does_not_wait_for_a_search_and_an_indexing(both: Both) -> None:
    state = indexed_items(both.indexed).state
    asking = [state._free.get(timeout=10) for _ in range(2)]
    try:
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(state.row, "SELECT 1").result(timeout=10) == (1,)
    finally:
        for connection in asking:
            state._free.put(connection)
