"""Names and links of places: what a chip says, and where a click leads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bibgenie_desktop.domain.locators import Locator
from bibgenie_desktop.zotero.model.library import Contents
from bibgenie_desktop.zotero.model.links import item_label, place_label, zotero_link
from tests.zotero.helpers import SAMPLE, contents_of, titled


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> Contents:
    return contents_of(SAMPLE, tmp_path_factory.mktemp("private"))


@pytest.mark.parametrize(
    ("title", "label"),
    [
        ("Promoting memory", "Hu et al. 2020"),
        ("Reactivation of Hippocampal", "Wilson & McNaughton 1994"),
        ("Why We Sleep", "Walker 2017"),
        ("The AASM Manual", "American Academy of Sleep Medicine 2007"),
    ],
)
def test_an_item_is_called_by_authors_and_year(contents: Contents, title: str, label: str) -> None:
    assert item_label(titled(contents, title)) == label


def test_without_author_or_year_it_still_has_a_name(contents: Contents) -> None:
    item = titled(contents, "Why We Sleep")
    assert item_label(replace(item, creators=(), year=None)) == (
        "Why We Sleep: Unlocking the Power of Sle… n.d."
    )
    assert item_label(replace(item, creators=(), title="")) == "Untitled 2017"


def test_the_printed_number_is_preferred_to_the_physical_one() -> None:
    assert place_label(Locator("u", "pdf", page_index=0, page_label="218")) == "p. 218"
    assert place_label(Locator("u", "pdf", page_index=0), "iv") == "p. iv"
    assert place_label(Locator("u", "pdf", page_index=3)) == "p. 4"
    assert place_label(Locator("u", "item")) == ""


def test_links_name_the_attachment_the_physical_page_and_the_group(contents: Contents) -> None:
    item = titled(contents, "Promoting memory")
    att = item.attachments[0].key
    group = next(i for i in contents.items.values() if i.library.id == "g4000001")
    links = {
        zotero_link(locator, contents)
        for locator in (
            Locator("u", "item", item=item.key),
            Locator("u", "pdf", item=item.key, att=att),
            Locator("u", "pdf", att=att, page_index=1, page_label="219"),
            Locator("u", "annotation", att=att, page_index=1, annotation="ABCDEFGH"),
            Locator("g4000001", "item", item=group.key),
            Locator("g4000001", "pdf", att=group.attachments[0].key, page_index=0),
        )
    }
    assert links == {
        f"zotero://select/library/items/{item.key}",
        f"zotero://open-pdf/library/items/{att}",
        f"zotero://open-pdf/library/items/{att}?page=2",
        f"zotero://open-pdf/library/items/{att}?page=2&annotation=ABCDEFGH",
        f"zotero://select/groups/4000001/items/{group.key}",
        f"zotero://open-pdf/groups/4000001/items/{group.attachments[0].key}?page=1",
    }


def test_books_and_snapshots_never_get_a_page(contents: Contents) -> None:
    item = titled(contents, "Promoting memory")
    for kind, cfi, expected in (
        ("epub", "epubcfi(/6/4!/4)", "?cfi=epubcfi%28%2F6%2F4%21%2F4%29"),
        ("epub", "", ""),
        ("html", "", ""),
    ):
        attachment = replace(item.attachments[0], kind=kind)  # type: ignore[arg-type]
        changed = replace(contents, attachments={attachment.id: attachment})
        locator = Locator("u", "epub", att=attachment.key, page_index=3, cfi=cfi)
        assert zotero_link(locator, changed) == f"zotero://open/library/items/{attachment.key}{expected}"


@pytest.mark.parametrize(
    "locator",
    [
        Locator("u", "item", item="ZZZZ9999"),
        Locator("u", "pdf", att="ZZZZ9999", page_index=1),
        Locator("g999", "item", item="ZZZZ9999"),
        Locator("u", "collection", item="ZZZZ9999"),
        Locator("u", "note", item="ZZZZ9999"),
        Locator("u", "item"),
    ],
)
def test_what_is_not_shown_gets_no_link(contents: Contents, locator: Locator) -> None:
    assert zotero_link(locator, contents) == ""


def test_a_collection_has_a_link_unless_it_is_in_the_trash(contents: Contents) -> None:
    collection = contents.collections[0]
    locator = Locator("u", "collection", item=collection.id.partition("-")[2])
    assert zotero_link(locator, contents) == f"zotero://select/library/collections/{locator.item}"
    trashed = replace(contents, collections=(replace(collection, trashed=True),))
    assert zotero_link(locator, trashed) == ""
