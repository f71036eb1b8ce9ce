"""What is read from a snapshot: everything that may be shown, in every version of the tables."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

import pytest

from bibgenie_desktop.domain.errors import LibraryUnavailable
from bibgenie_desktop.zotero.local.reader import read_contents
from bibgenie_desktop.zotero.model.library import Contents
from tests.zotero.helpers import (
    FIXTURES,
    SAMPLE,
    contents_of,
    generated,
    manifest,
    sample_copy,
    titled,
)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Contents:
    return contents_of(SAMPLE, tmp_path_factory.mktemp("private"))


def changed(tmp_path: Path, *statements: str) -> Contents:
    """The contents of the sample library after some SQL."""
    zotero = sample_copy(tmp_path / "Zotero")
    with contextlib.closing(sqlite3.connect(zotero / "zotero.sqlite")) as db, db:
        for statement in statements:
            db.execute(statement)
    return contents_of(zotero, tmp_path / "private")


WALKER = (
    "(SELECT d.itemID FROM itemData d JOIN itemDataValues v USING (valueID) WHERE v.value LIKE 'Practice%')"
)


def test_an_item_has_its_fields_by_name(sample: Contents) -> None:
    item = titled(sample, "Practice with Sleep")
    assert (item.type, item.year, item.date, item.venue) == ("journalArticle", 2002, "July 2002", "Neuron")
    assert item.creators[0].name == "Matthew P. Walker"
    assert item.creators[0].sort_name == "Walker, Matthew P."
    assert len(item.creators) == 5
    assert item.citekey == "walkerPracticeSleepMakes2002"
    assert item.doi == "10.1016/S0896-6273(02)00746-8"
    assert {(t.name, t.automatic) for t in item.tags} == {
        ("sleep", False),
        ("motor learning", False),
        ("procedural memory", True),
    }
    assert [c.display for c in item.collections] == ["Sleep & memory / Procedural memory"]
    assert (item.notes, item.annotations) == (1, 3)
    assert [a.kind for a in item.attachments] == ["pdf"]
    assert item.attachments[0].pages == 3
    assert item.attachments[0].parent_id == item.id


def test_an_institution_is_one_name(sample: Contents) -> None:
    report = titled(sample, "The AASM Manual")
    assert report.creators[0].name == "American Academy of Sleep Medicine"
    assert report.venue == "American Academy of Sleep Medicine"  # institution, by its base name publisher


def test_the_same_work_in_a_group_stays_distinct(sample: Contents) -> None:
    both = [i for i in sample.items.values() if i.title.startswith("How robust")]
    assert sorted(i.library.id for i in both) == ["g4000001", "u"]
    assert len({i.id for i in both}) == 2
    assert len({a.id for i in both for a in i.attachments}) == 2


def test_one_key_in_two_libraries_names_two_items(tmp_path: Path) -> None:
    contents = changed(
        tmp_path,
        "UPDATE items SET key = (SELECT key FROM items WHERE itemID = 1) WHERE itemID ="
        " (SELECT min(itemID) FROM items WHERE libraryID = 2)",
    )
    key = titled(contents, "Practice").key
    assert contents.items[f"u-{key}"].title != contents.items[f"g4000001-{key}"].title


def test_a_trashed_item_hides_its_attachments(tmp_path: Path) -> None:
    contents = changed(tmp_path, f"INSERT INTO deletedItems (itemID) SELECT {WALKER}")
    assert not [i for i in contents.items.values() if i.title.startswith("Practice with Sleep")]
    assert not [a for a in contents.attachments.values() if a.stored.endswith("Walker - 2002.pdf")]


def test_a_trashed_attachment_leaves_its_item(tmp_path: Path) -> None:
    contents = changed(
        tmp_path,
        "INSERT INTO deletedItems (itemID)"
        " SELECT itemID FROM itemAttachments WHERE path = 'storage:Walker - 2002.pdf'",
    )
    assert titled(contents, "Practice").attachments == ()


def test_a_trashed_collection_takes_its_subcollections_with_it(tmp_path: Path) -> None:
    contents = changed(
        tmp_path,
        "INSERT INTO deletedCollections (collectionID)"
        " SELECT collectionID FROM collections WHERE collectionName = 'Systems consolidation'",
    )
    assert {c.name for c in contents.collections if c.trashed} == {
        "Systems consolidation",
        "Replay and ripples",
        "Targeted memory reactivation",
    }
    assert titled(contents, "Odor Cues").collections == ()


def test_feeds_and_note_images_never_appear(tmp_path: Path) -> None:
    contents = changed(
        tmp_path,
        "INSERT INTO libraries (libraryID, type, editable, filesEditable) VALUES (3, 'feed', 0, 0)",
        f"UPDATE items SET libraryID = 3 WHERE itemID IN {WALKER}",
        "UPDATE itemAttachments SET linkMode = 4 WHERE path = 'storage:Rudoy - 2009.pdf'",
    )
    assert not [i for i in contents.items.values() if i.title.startswith("Practice with Sleep")]
    assert titled(contents, "Strengthening Individual").attachments == ()
    assert [lib.id for lib in contents.libraries] == ["u", "g4000001"]


def test_an_attachment_without_a_parent_is_an_item_of_its_own(tmp_path: Path) -> None:
    contents = changed(
        tmp_path, "UPDATE itemAttachments SET parentItemID = NULL WHERE path = 'storage:Walker - 2002.pdf'"
    )
    attachment = next(a for a in contents.attachments.values() if a.stored.endswith("Walker - 2002.pdf"))
    item = contents.items[attachment.id]
    assert (item.type, item.attachments, attachment.parent_id) == ("attachment", (attachment,), "")


def test_a_column_or_table_that_is_not_there_reads_as_empty(tmp_path: Path) -> None:
    contents = changed(
        tmp_path, "DROP TABLE itemTags", "DROP TABLE deletedCollections", "DROP TABLE fulltextItems"
    )
    item = titled(contents, "Practice")
    assert item.tags == ()
    assert item.attachments[0].pages is None


def test_one_unreadable_text_does_not_hide_the_other_items(tmp_path: Path) -> None:
    contents = changed(
        tmp_path, "UPDATE itemDataValues SET value = CAST(x'80ff41' AS TEXT) WHERE value = 'Neuron'"
    )
    assert len(contents.items) == 31
    assert titled(contents, "Practice").venue == "\ufffd\ufffdA"


def test_tables_without_sense_are_a_clear_error() -> None:
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIEW items AS SELECT itemID, itemTypeID FROM nowhere")
        with pytest.raises(LibraryUnavailable, match="cannot be read"):
            read_contents(db)


@pytest.mark.parametrize("version", ["111", "121", "123", "125", "129"])
@pytest.mark.parametrize("legacy", [False, True])
def test_every_version_of_the_tables_gives_the_same_library(
    tmp_path: Path, version: str, legacy: bool
) -> None:
    options = ["--items", "37", "--schema-version", version, *(["--legacy-ids"] if legacy else [])]
    data_dir = generated(tmp_path / "lib", *options)
    contents = contents_of(data_dir, tmp_path / "private")
    known = manifest(data_dir)["items"]
    for name, entry in known.items():
        lib = f"g{entry['group']}" if "group" in entry else "u"
        item = contents.items.get(f"{lib}-{entry['key']}")
        if entry.get("trashed"):
            assert item is None, name
            continue
        assert item is not None, name
        if entry.get("citekey"):
            assert item.citekey == entry["citekey"], name
    assert len(contents.items) == len([e for e in known.values() if not e.get("trashed")]) + 1  # one alone
    shown = " ".join(i.title + i.abstract for i in contents.items.values())
    assert "FEED ITEM" not in shown
    assert "must never be shown" not in shown
    conference = next(i for i in contents.items.values() if i.type == "conferencePaper")
    assert conference.venue == "Proceedings of the Imaginary Sleep Conference"
    assert titled(contents, "Sleep 😴").title.endswith("naïve in vivo primer — part ½")
    assert titled(contents, "睡眠对").authors[0].name == "王小明"


@pytest.mark.parametrize("type_name", ["case", "statute", "email"])
def test_types_that_rename_the_title_have_one(tmp_path: Path, type_name: str) -> None:
    own = {"case": "caseName", "statute": "nameOfAct", "email": "subject"}[type_name]
    contents = changed(
        tmp_path,
        "UPDATE itemData SET fieldID = (SELECT fieldID FROM fields WHERE fieldName = '" + own + "')"
        f" WHERE itemID IN {WALKER} AND fieldID = (SELECT fieldID FROM fields WHERE fieldName = 'title')",
        "UPDATE items SET itemTypeID = (SELECT itemTypeID FROM itemTypes WHERE typeName = '"
        + type_name
        + "')"
        " WHERE itemID = 1",
    )
    assert titled(contents, "Practice").type == type_name


def test_a_genuine_database_is_read(tmp_path: Path) -> None:
    source = FIXTURES / "genuine" / "zotero9-test-profile.sqlite"
    if not source.exists():
        pytest.skip("the shared fixtures are not here")
    (tmp_path / "z").mkdir()
    shutil.copyfile(source, tmp_path / "z" / "zotero.sqlite")
    contents = contents_of(tmp_path / "z", tmp_path / "private")
    assert [lib.name for lib in contents.libraries] == ["My Library", "better-bibtex"]
    assert len(contents.items) == 49
    assert all(i.library.id == "u" and i.title and i.year for i in contents.items.values())
    assert sum(i.notes for i in contents.items.values()) == 48
    (attachment,) = contents.attachments.values()
    assert (attachment.kind, attachment.annotations) == ("pdf", 1)
