"""Writing the web's objects into tables: whatever they look like, the rest of the library stays readable."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.zotero.local.reader import read_contents
from bibgenie_desktop.zotero.online.web_cache import WebCache
from bibgenie_desktop.zotero.online.web_values import multipart, note_title, stored_time
from tests.zotero.helpers import SAMPLE
from tests.zotero.online.web_json import web_libraries

ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        2**70,
        1.5,
        "",
        "x" * 5_000,
        "\x00",
        "\ud800",
        "\u202e",
        "5D7TVA93",
        "FQ3D7P4Y",
    ),
    *([], {}, [None], ["a", 1], {"a": {}}, [[[]]], {"dc:relation": 3}, {"dc:relation": ["x", {}]}),
    *([{"tag": "t", "type": "1"}], [{"creatorType": 1, "name": []}], "attachment", "note", "annotation"),
)


def harmed(entry: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    found = copy.deepcopy(entry)
    for _ in range(rng.randint(1, 4)):
        where = rng.choice(
            [found, found["data"], found["meta"]] if isinstance(found.get("data"), dict) else [found]
        )
        if not isinstance(where, dict):
            continue
        name = rng.choice(
            [*where, "parentItem", "deleted", "itemType", "relations", "version", "collections"]
        )
        where[name] = rng.choice(ODD)
    return found


def test_500_harmed_objects_hide_nothing_else(tmp_path: Path) -> None:
    rng = random.Random(20_261_201)
    served = web_libraries(SAMPLE)["u"]
    items, collections = list(served.items.values()), list(served.collections.values())
    cache = WebCache(tmp_path / "web")
    cache.use_account(1, "x")
    (library,) = cache.use_libraries([("u", "")])
    for turn in range(500):
        kind, entry = rng.choice([("items", rng.choice(items)), ("collections", rng.choice(collections))])
        with cache.writing(library) as writer:
            writer.put(kind, [harmed(entry, rng)])  # type: ignore[arg-type]
        if turn % 50 == 49:
            with cache.transaction() as db:
                read_contents(db)
    with cache.writing(library) as writer:
        writer.put("collections", collections)
        writer.put("items", items)
    with cache.transaction() as db:
        contents = read_contents(db)
    cache.close()
    assert {i.title for i in contents.items.values()} >= {
        "Practice with Sleep Makes Perfect: Sleep-Dependent Motor Skill Learning"
    }
    assert len([i for i in contents.items.values() if i.key in served.items]) == 30


@pytest.mark.parametrize(
    ("typed", "parsed", "stored"),
    [
        ("May 2019", "2019-05", "2019-05-00 May 2019"),
        ("2019", "2019", "2019-00-00 2019"),
        ("14 June 1990", "1990-06-14", "1990-06-14 14 June 1990"),
        ("n.d.", "", "0000-00-00 n.d."),
        ("around 1850", "", "around 1850"),
        ("", "2019", ""),
    ],
)
def test_a_date_is_stored_as_zotero_does(typed: str, parsed: str, stored: str) -> None:
    assert multipart(typed, parsed) == stored


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<h1>Reading note</h1><p>Text</p>", "Reading note"),
        ('<div class="zotero-note znv1"><p> A <b>bold</b>\n word </p><p>More</p></div>', "A bold word"),
        ("<p></p><p>Second</p>", "Second"),
        ("plain words", "plain words"),
        ("", ""),
        (f"<p>{'word ' * 50}</p>", f"{('word ' * 50)[:119].rstrip()}…"),
    ],
)
def test_a_note_is_named_by_its_first_line(html: str, title: str) -> None:
    assert note_title(html) == title


def test_times_lose_their_letters() -> None:
    assert stored_time("2020-09-19T02:06:04Z") == "2020-09-19 02:06:04"
    assert stored_time("2020-09-19") == "2020-09-19"
