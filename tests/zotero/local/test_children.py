"""Notes, annotations, relations, tags and collections as they are read, and what the trash hides of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bibgenie_desktop.zotero.local.better_bibtex import BetterBibtex
from bibgenie_desktop.zotero.model.annotations import color_name, place_of
from bibgenie_desktop.zotero.model.counts import Counts
from bibgenie_desktop.zotero.model.library import Contents
from tests.zotero.helpers import FIXTURES, SAMPLE, contents_of, generated, manifest, opened_library, titled
from tests.zotero.local.test_reader import WALKER, changed


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Contents:
    return contents_of(SAMPLE, tmp_path_factory.mktemp("private"))


@pytest.fixture(scope="module", params=["111", "121", "123", "125", "129"])
def fixture_library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lib")
    return generated(folder, "--items", "60", "--schema-version", request.param, "--leave-wal")


def test_annotations_come_in_reading_order_with_both_page_numbers(sample: Contents) -> None:
    walker = titled(sample, "Practice")
    marks = [a for a in sample.annotations.values() if a.item_id == walker.id]
    assert [(m.type, m.place.page_index, m.page_label) for m in marks] == [
        ("highlight", 1, "206"),
        ("underline", 1, "206"),
        ("highlight", 2, "207"),
    ]
    assert [m.color_name for m in marks] == ["yellow", "blue", "red"]
    assert [t.name for t in marks[0].tags] == ["effect size"]
    assert marks[2].comment == "limitation!"


def test_every_version_tells_the_same_of_notes_marks_and_relations(
    fixture_library: Path, tmp_path: Path
) -> None:
    contents = contents_of(fixture_library, tmp_path / "private")
    entries = manifest(fixture_library)["items"]
    walker = f"u-{entries['walker2002']['key']}"
    note = next(n for n in contents.notes.values() if n.item_id == walker)
    assert note.title.startswith("Reading note: Walker 2002")
    alone = [n for n in contents.notes.values() if not n.item_id]
    assert {n.title[:15] for n in alone} >= {"Standalone note", "Note with an em"}
    rasch = f"u-{entries['rasch2007']['key']}"
    assert set(contents.related[rasch]) >= {
        f"u-{entries[name]['key']}" for name in ("rudoy2009", "antony2012")
    }
    assert all(rasch in contents.related[other] for other in contents.related[rasch])
    trashed = next(e["key"] for e in entries.values() if e["trashed"])
    assert f"u-{trashed}" in contents.trashed
    assert not contents.trashed & (
        contents.items.keys() | contents.notes.keys() | contents.annotations.keys()
    )
    if not contents.annotations:
        return  # Zotero 5 kept annotations in the files only
    kinds = {a.type for a in contents.annotations.values() if a.item_id == walker}
    assert kinds == {"highlight", "underline", "note", "image", "ink"}
    epub = [a for a in contents.annotations.values() if a.place.cfi]
    assert epub
    assert all(a.place.page_index is None for a in epub)
    assert any(a.place.selector == "p:first-of-type" for a in contents.annotations.values())
    group = [a for a in contents.annotations.values() if a.id.startswith("g4512345-")]
    assert any(a.author for a in group)


async def test_the_account_that_addresses_name_is_known_at_once_and_after_a_restart(tmp_path: Path) -> None:
    for _ in range(2):
        library = opened_library(SAMPLE, tmp_path / "private")
        await library.ensure_loaded()
        assert library.contents.account == "users/local/sAmPlE01"
        await library.close()


def test_every_fixture_names_its_account(fixture_library: Path, tmp_path: Path) -> None:
    account = contents_of(fixture_library, tmp_path / "private").account
    assert re.fullmatch(r"users/\d+", account)


def test_a_trashed_item_takes_its_notes_and_marks_with_it(tmp_path: Path, sample: Contents) -> None:
    contents = changed(tmp_path, f"INSERT INTO deletedItems (itemID) SELECT {WALKER}")
    walker = titled(sample, "Practice")
    assert not [a for a in contents.annotations.values() if a.item_id == walker.id]
    assert not [n for n in contents.notes.values() if n.item_id == walker.id]
    gone = {a.id for a in sample.annotations.values() if a.item_id == walker.id}
    assert gone | {walker.id, walker.attachments[0].id} <= contents.trashed


def test_colours_searches_and_retractions_are_read(tmp_path: Path) -> None:
    colours = json.dumps([{"name": "nap", "color": "#FF6666"}, {"bad": 1}, 3])
    data = json.dumps({"date": "2019-04-02", "reasons": ["Error in Data"]})
    contents = changed(
        tmp_path,
        f"INSERT INTO syncedSettings (setting, libraryID, value) VALUES ('tagColors', 1, '{colours}')",
        "INSERT INTO savedSearches (savedSearchID, savedSearchName, libraryID, key)"
        " VALUES (1, 'Unread naps', 1, 'ABCD2345')",
        f"INSERT INTO retractedItems (itemID, data) SELECT {WALKER}, '{data}'",
    )
    assert contents.tag_colors == {("u", "nap"): "#FF6666"}
    assert [s.name for s in contents.saved_searches] == ["Unread naps"]
    assert titled(contents, "Practice").retraction == "retracted 2019-04-02: Error in Data"
    counts = {t.name: t for t in Counts(contents).tags}
    assert (counts["nap"].color, counts["nap"].automatic) == ("#FF6666", False)
    assert counts["procedural memory"].automatic is False or counts["procedural memory"].items


def test_collections_count_each_item_once_however_deep(sample: Contents) -> None:
    counts = {c.collection.display: c for c in Counts(sample).collections}
    top = counts["Sleep & memory"]
    assert top.items == 0
    assert top.subcollections == sum(len(c.collection.path) == 2 for c in counts.values())
    inside = {
        i.id for i in sample.items.values() if any(c.path[0] == "Sleep & memory" for c in i.collections)
    }
    assert top.all_items == len(inside)


def test_better_bibtex_keys_fill_in_only_where_zotero_has_none(tmp_path: Path) -> None:
    data_dir = generated(
        tmp_path / "lib", "--items", "37", "--schema-version", "111", "--legacy-ids", "--bbt"
    )
    private = tmp_path / "private"
    private.mkdir()
    keys = BetterBibtex(data_dir, private).keys()
    assert keys
    assert not list(private.iterdir())
    (data_dir / "better-bibtex.sqlite").write_bytes(b"not a database")
    assert BetterBibtex(data_dir, private).keys() == {}


@pytest.mark.parametrize(
    ("position", "sort_index", "kind", "page"),
    [
        ('{"pageIndex":3,"rects":[]}', "00009|0|0", "pdf", 3),
        ("", "00009|000000|00000", "pdf", 9),
        ("{", "x", "pdf", None),
        ('{"type":"FragmentSelector","value":"epubcfi(/6/2!/4)"}', "00001|1", "epub", None),
        ("[" * 5000, "", "epub", None),
    ],
)
def test_positions_are_taken_as_far_as_they_make_sense(
    position: str, sort_index: str, kind: str, page: int | None
) -> None:
    assert place_of(position, sort_index, kind).page_index == page


def test_colours_of_other_programs_get_the_nearest_name() -> None:
    assert [color_name(c) for c in ("#FFD400", "#ffd500", "#fe0000", "red", "")] == [
        "yellow",
        "yellow",
        "red",
        "",
        "",
    ]


def test_the_genuine_database_shows_notes_and_never_its_feed(tmp_path: Path) -> None:
    genuine = FIXTURES / "genuine" / "zotero9-test-profile.sqlite"
    if not genuine.exists():
        pytest.skip("the shared fixtures are not here")
    (tmp_path / "Zotero").mkdir()
    (tmp_path / "Zotero" / "zotero.sqlite").write_bytes(genuine.read_bytes())
    contents = contents_of(tmp_path / "Zotero", tmp_path / "private")
    assert len(contents.notes) > 10
    assert len(contents.annotations) == 1
    assert {lib.id[0] for lib in contents.libraries} == {"u", "g"}
    assert len(contents.items) <= 104 - len(contents.notes) - 5
