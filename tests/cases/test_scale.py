"""Fifty thousand items: a question costs what it answers, not what the library holds.

Nothing is measured in seconds here: it is counted how many items are made and what is read, the same on
every machine. How long it takes is in the benchmarks.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.zotero.index.codec import Unpacker
from bibgenie_desktop.zotero.index.indexed_search import IndexedSearch
from bibgenie_desktop.zotero.local.local_source import LocalSource
from tests.services.tools.test_library_tools import Desk
from tests.zotero.helpers import opened_library, sample_copy

ITEMS = 50_000
WORK = 600
"""Items one question may make: those that are scored, and the page that is shown."""


def grown(data_dir: Path) -> Path:
    """Gives the library so many more items, each with a title, a date, a creator, and for some a tag."""
    numbers = range(ITEMS)
    letters = "23456789ABCDEFGHIJKLMNPQRSTUVWXYZ"

    def key(n: int) -> str:
        return "ZZZ" + "".join(letters[n // 33**p % 33] for p in range(5))

    with contextlib.closing(sqlite3.connect(data_dir / "zotero.sqlite")) as db, db:
        kind, library, title, date = db.execute(
            "SELECT i.itemTypeID, i.libraryID, d.fieldID, (SELECT fieldID FROM fieldsCombined WHERE"
            " fieldName = 'date') FROM items i JOIN itemData d USING (itemID) JOIN itemDataValues v"
            " USING (valueID) WHERE v.value LIKE 'Practice with Sleep%'"
        ).fetchone()
        (first,) = db.execute("SELECT max(itemID) + 1 FROM items").fetchone()
        (value,) = db.execute("SELECT max(valueID) + 1 FROM itemDataValues").fetchone()
        (role,) = db.execute("SELECT creatorTypeID FROM itemCreators LIMIT 1").fetchone()
        db.executemany(
            "INSERT INTO creators (creatorID, firstName, lastName, fieldMode) VALUES (?, 'A.', ?, 0)",
            ((10_000 + n, f"Person{key(n)}") for n in range(500)),
        )
        (tag,) = db.execute("SELECT min(tagID) FROM tags").fetchone()
        db.executemany(
            "INSERT INTO items (itemID, itemTypeID, libraryID, key) VALUES (?, ?, ?, ?)",
            ((first + n, kind, library, key(n)) for n in numbers),
        )
        db.executemany(
            "INSERT INTO itemDataValues (valueID, value) VALUES (?, ?)",
            ((value + n, f"Sleep study {n} of memory in group {n % 97}") for n in numbers),
        )
        db.executemany(
            "INSERT INTO itemData (itemID, fieldID, valueID) VALUES (?, ?, ?)",
            ((first + n, title, value + n) for n in numbers),
        )
        (year,) = db.execute(
            "INSERT INTO itemDataValues (value) VALUES ('2001-00-00 2001') RETURNING valueID"
        ).fetchone()
        db.executemany(
            "INSERT INTO itemData (itemID, fieldID, valueID) VALUES (?, ?, ?)",
            ((first + n, date, year) for n in numbers),
        )
        db.executemany(
            "INSERT INTO itemCreators VALUES (?, ?, ?, 0)",
            ((first + n, 10_000 + n % 500, role) for n in numbers),
        )
        db.executemany("INSERT INTO itemTags VALUES (?, ?, 0)", ((first + n, tag) for n in numbers[::50]))
    return data_dir


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library and the index of an earlier run."""
    folder = tmp_path_factory.mktemp("large")
    grown(sample_copy(folder / "Zotero"))

    async def once() -> None:
        async with opened(folder):
            pass

    asyncio.run(once())
    return folder


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Desk]:
    library = opened_library(folder / "Zotero", folder / "private")
    try:
        await library.ensure_loaded()
        assert library.status.items == ITEMS + 31
        yield Desk(library)
    finally:
        await library.close()


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often an item is made of its stored form, and Zotero's database copied or read."""
    counts: Counter[str] = Counter()

    def count(owner: type, name: str) -> None:
        real = getattr(owner, name)

        def counting(*arguments: Any, **options: Any) -> Any:
            counts[name] += 1
            return real(*arguments, **options)

        monkeypatch.setattr(owner, name, counting)

    count(Unpacker, "item")
    count(LocalSource, "take")
    count(LocalSource, "read")
    return counts


QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("search_items", {"query": "sleep"}),
    ("search_items", {"query": "sleep memory group", "offset": 40_000}),
    ("search_items", {"query": "motor skill", "year_from": 1990, "year_to": 2010}),
    ("search_items", {"query": "sleep zygomorphic"}),
    ("search_items", {"year_from": 1990, "year_to": 2010}),
    ("search_items", {"author": "Walker"}),
    ("search_items", {"query": "study", "author": "PersonZZZ22222"}),
    ("search_items", {"query": "sleep", "sort": "title"}),
    ("list_items", {}),
    ("list_items", {"recent": True, "offset": 49_000}),
    ("list_tags", {}),
    ("list_collections", {}),
    ("search_fulltext", {"query": "reliably above zero"}),
    ("get_annotations", {}),
    ("get_notes", {}),
]


@pytest.mark.patience(300)
async def test_54yyyu_198_no_question_loads_the_library(large: Path, counted: Counter[str]) -> None:
    """54yyyu PR#198, #456; wenlzhang in Aria#12."""
    async with opened(large) as d:
        assert isinstance(d.library._loading.loaded.index, IndexedSearch)  # type: ignore[union-attr]
        await d.library.index_texts()
        assert counted["take"] == counted["read"] == 0  # the state of the last run is there
        for tool, arguments in QUESTIONS:
            counted.clear()
            data = await d.data(tool, **arguments)
            assert data["total"] >= 1, (tool, arguments)
            assert counted["item"] <= WORK, (tool, arguments)
            assert counted["take"] == counted["read"] == 0, (tool, arguments)


@pytest.mark.patience(300)
async def test_54yyyu_198_many_questions_at_once_are_answered_and_each_can_be_given_up(large: Path) -> None:
    """One long question holds up no other: each is asked while all are under way."""
    async with opened(large) as d:
        asked = [asyncio.ensure_future(d.data(tool, **given)) for tool, given in QUESTIONS * 3]
        given_up = asked[1::4]
        await asyncio.sleep(0)
        for question in given_up:
            question.cancel()
        answers = await asyncio.gather(*asked, return_exceptions=True)
        for question, answer in zip(asked, answers, strict=True):
            if question in given_up:
                assert isinstance(answer, asyncio.CancelledError)
            else:
                assert not isinstance(answer, BaseException), answer
                assert answer["total"] >= 1
        assert (await d.data("search_items", query="sleep"))["total"] > ITEMS
