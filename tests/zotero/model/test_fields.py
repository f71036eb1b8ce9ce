"""Dates, markup, citation keys and DOIs as Zotero stores them."""

from __future__ import annotations

import pytest

from bibgenie_desktop.zotero.model.fields import bare_doi, citation_key, split_date, strip_markup


@pytest.mark.parametrize(
    ("stored", "year", "shown", "sorted_as"),
    [
        ("2019-05-00 May 2019", 2019, "May 2019", "2019-05-00"),
        ("1985-04-00 04/1985", 1985, "04/1985", "1985-04-00"),
        ("2008-01-01 January 1, 2008", 2008, "January 1, 2008", "2008-01-01"),
        ("2025-09-17 2025-09-17", 2025, "2025-09-17", "2025-09-17"),
        ("2006-00-00 2006", 2006, "2006", "2006-00-00"),
        ("2006-00-00", 2006, "2006", "2006-00-00"),
        ("0000-00-00 n.d.", None, "n.d.", "0000-00-00"),
        ("2021-02-29 not a real date", 2021, "not a real date", "2021-02-29"),
        ("June 14, 1990", 1990, "June 14, 1990", "1990-00-00"),
        ("2022-06-03/2022-06-05", 2022, "2022-06-03/2022-06-05", "2022-00-00"),
        ("forthcoming", None, "forthcoming", ""),
        ("12345678", None, "12345678", ""),
        ("", None, "", ""),
    ],
)
def test_dates_have_a_year_a_text_and_an_order(
    stored: str, year: int | None, shown: str, sorted_as: str
) -> None:
    assert split_date(stored) == (year, shown, sorted_as)


def test_titles_lose_zoteros_markup_and_nothing_else() -> None:
    title = 'A <i>naïve</i> <span class="nocase">in vivo</span> H<sub>2</sub>O test, a < b > c <em>'
    assert strip_markup(title) == "A naïve in vivo H2O test, a < b > c <em>"


@pytest.mark.parametrize(
    ("native", "extra", "key"),
    [
        ("native2020", "Citation Key: other", "native2020"),
        ("", "PMID: 1\nCitation Key: smith2020\nx", "smith2020"),
        ("", "citation key:smith2020", "smith2020"),
        ("", "bibtex: old1999", "old1999"),
        ("", "Citation Key Alias: not_this", ""),
        ("", "a note about my citation key", ""),
        ("", "", ""),
    ],
)
def test_citation_keys_come_from_the_field_then_from_extra(native: str, extra: str, key: str) -> None:
    assert citation_key(native, extra) == key


def test_a_doi_is_the_same_with_and_without_its_resolver() -> None:
    assert bare_doi("https://doi.org/10.1038/NN1078") == bare_doi("doi: 10.1038/nn1078") == "10.1038/nn1078"
