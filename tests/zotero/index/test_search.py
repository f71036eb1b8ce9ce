"""Keyword search over the metadata: words, order, filters, and errors that list what there is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.zotero.index.filters import Filters, UnknownValue
from bibgenie_desktop.zotero.index.search import Hits, MetadataIndex, Query
from bibgenie_desktop.zotero.model.folding import key
from bibgenie_desktop.zotero.model.library import Contents
from tests.zotero.helpers import SAMPLE, contents_of, generated


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> Contents:
    return contents_of(SAMPLE, tmp_path_factory.mktemp("private"))


@pytest.fixture(scope="module")
def index(contents: Contents) -> MetadataIndex:
    return MetadataIndex(contents)


def search(index: MetadataIndex, text: str = "", **options: Any) -> Hits:
    limits = {k: options.pop(k) for k in ("sort", "limit", "offset") if k in options}
    return index.search(Query(text, Filters(**options), **{"limit": 25, **limits}))


def titles(hits: Hits) -> list[str]:
    return [item.title for item in hits.items]


def test_every_word_narrows(index: MetadataIndex) -> None:
    totals = [search(index, text).total for text in ("sleep", "sleep nap", "sleep nap melodies")]
    assert totals == sorted(totals, reverse=True)
    assert totals[2] == 1
    assert titles(search(index, "insight number shortcut")) == ["Sleep inspires insight"]


def test_words_may_stand_in_different_fields_and_begin_longer_words(index: MetadataIndex) -> None:
    hits = search(index, "born 2006 oscill")
    assert titles(hits) == ["Boosting slow oscillations during sleep potentiates memory"]
    assert not hits.relaxed


def test_case_and_accents_do_not_matter(index: MetadataIndex) -> None:
    for text in ("BUZSAKI wave-ripple", "Buzsáki sharp", "buzsa\u0301ki"):
        assert any("sharp wave-ripple" in t for t in titles(search(index, text)))
    assert search(index, "molle marshall").total == search(index, "Mölle Marshall").total == 1


def test_a_word_inside_another_is_no_hit(index: MetadataIndex) -> None:
    assert "Sleep Drives Metabolite Clearance from the Adult Brain" not in titles(search(index, "ran"))


def test_without_an_item_that_has_all_words_some_are_enough_and_it_says_so(index: MetadataIndex) -> None:
    hits = search(index, "How large is the overnight gain in motor skill, and who disputes it?")
    assert hits.relaxed
    assert hits.items[0].title.startswith("Practice with Sleep Makes Perfect")


def test_titles_weigh_more_than_abstracts(index: MetadataIndex) -> None:
    assert search(index, "insight").items[0].title == "Sleep inspires insight"
    assert search(index, "nap").items[0].title == "Sleep-dependent learning: a nap is as good as a night"


@pytest.mark.parametrize(
    "text",
    [
        "stickgold2005",
        "10.1038/nature04286",
        "https://doi.org/10.1038/NATURE04286",
        "Sleep-dependent memory consolidation",
    ],
)
def test_an_exact_key_doi_or_title_comes_first(index: MetadataIndex, text: str) -> None:
    assert search(index, text).items[0].title == "Sleep-dependent memory consolidation"


def test_a_key_or_doi_finds_its_item_alone(index: MetadataIndex) -> None:
    for text in ("10.1038/nature04286", "@walkerWhyWeSleep2017", "doi:10.1016/j.tics.2013.01.006"):
        hits = search(index, text)
        assert (hits.total, hits.relaxed) == (1, False)


def test_chinese_and_japanese_are_found_by_any_part(tmp_path: Path) -> None:
    data_dir = generated(tmp_path / "lib", "--items", "37")
    index = MetadataIndex(contents_of(data_dir, tmp_path / "private"))
    for text in ("睡", "睡眠", "记忆巩固", "小明", "王小明", "睡眠 元分析"):
        assert search(index, text).items[0].title.startswith("睡眠"), text
    assert search(index, "紡錘波").items[0].year == 2016
    assert search(index, "النوم").total == 1


def test_years_filter_by_the_iso_half_and_undated_items_never_match(
    tmp_path: Path, index: MetadataIndex
) -> None:
    hits = search(index, year_from=2013, year_to=2014)
    assert {i.year for i in hits.items} == {2013, 2014}
    data_dir = generated(tmp_path / "lib", "--items", "37")
    fixtures = MetadataIndex(contents_of(data_dir, tmp_path / "private"))
    assert search(fixtures, "Spindeln").total == 1
    assert search(fixtures, "Spindeln", year_from=1).total == 0
    assert search(fixtures, year_to=1990).total == 1


def test_filters_narrow_together(index: MetadataIndex) -> None:
    assert {i.title for i in search(index, tags=("nap", "targeted memory reactivation")).items} == {
        "Strengthening Individual Memories by Reactivating Them During Sleep",
        "Cued memory reactivation during sleep influences skill learning",
        "Targeted Memory Reactivation during Sleep Depends on Prior Learning",
    }
    assert search(index, tags=("nap", "insight"), tags_mode="any").total == 5
    assert search(index, author="paller ken", year_from=2010).total == 4
    assert titles(search(index, item_type="book")) == [
        "Why We Sleep: Unlocking the Power of Sleep and Dreams"
    ]
    assert search(index, has_pdf=False).total == 3
    assert titles(search(index, citekey="@stickgold2005")) == ["Sleep-dependent memory consolidation"]
    assert search(index, doi="doi:10.1038/NN1078").total == 1
    assert titles(search(index, library="Journal club")) == ["How robust are sleep-mediated memory benefits?"]
    assert search(index, library="4000001").total == search(index, library="g4000001").total == 1
    assert search(index, title="slow oscillation").total == 3


def test_a_collection_is_named_by_path_key_or_name_and_has_its_subcollections(
    index: MetadataIndex, contents: Contents
) -> None:
    collection = next(c for c in contents.collections if c.name == "Systems consolidation")
    totals = {
        search(index, collection=name).total
        for name in (
            collection.id,
            collection.id[2:],
            "Sleep & memory/Systems consolidation",
            "systems consolidation",
        )
    }
    (total,) = totals
    replay = search(index, collection="Sleep & memory / Systems consolidation / Replay and ripples")
    assert 0 < replay.total < total
    assert "subcollections" in replay.scope


@pytest.mark.parametrize(
    ("options", "valid"),
    [
        ({"tags": ("nappp",)}, "nap"),
        ({"collection": "Nowhere"}, "Sleep & memory"),
        ({"library": "g1"}, "u (My Library)"),
        ({"item_type": "paper"}, "journalArticle"),
    ],
)
def test_a_name_that_does_not_exist_is_answered_with_those_that_do(
    index: MetadataIndex, options: dict[str, Any], valid: str
) -> None:
    with pytest.raises(UnknownValue) as caught:
        search(index, **options)
    assert any(valid in name for name in caught.value.valid)


def test_a_trashed_collection_is_said_to_be_in_the_trash(contents: Contents) -> None:
    trashed = replace(contents.collections[0], trashed=True)
    index = MetadataIndex(replace(contents, collections=(trashed, *contents.collections[1:])))
    with pytest.raises(UnknownValue) as caught:
        search(index, collection=trashed.display)
    assert "trash" in caught.value.hint


def test_pages_of_hits_are_complete_and_without_repetition(index: MetadataIndex) -> None:
    whole = search(index, "sleep", limit=100)
    parts = [search(index, "sleep", limit=7, offset=o) for o in range(0, whole.total, 7)]
    assert [i.id for p in parts for i in p.items] == [i.id for i in whole.items]
    assert {p.total for p in parts} == {whole.total}


def test_orders_other_than_relevance(index: MetadataIndex) -> None:
    years = [i.year for i in search(index, sort="year", limit=100).items]
    assert years == sorted(years, key=lambda y: y or 0, reverse=True)
    names = [key(t) for t in titles(search(index, sort="title", limit=100))]
    assert names == sorted(names)
    added = [i.added for i in search(index, limit=100).items]
    assert added == sorted(added, reverse=True)


def test_an_empty_result_knows_what_the_words_find_elsewhere(index: MetadataIndex) -> None:
    hits = search(index, "nap", year_from=1900, year_to=1950)
    assert (hits.total, hits.items) == (0, ())
    assert hits.unfiltered > 0
    assert "1900" in hits.scope


def test_a_missing_word_alone_finds_nothing(index: MetadataIndex) -> None:
    hits = search(index, "zygomorphic")
    assert (hits.total, hits.relaxed) == (0, False)
