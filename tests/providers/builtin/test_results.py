"""Tool results as the assistant reads them: whole, cut at any place, or not what was expected."""

from __future__ import annotations

import json

import pytest

from bibgenie_desktop.providers.builtin.results import hits_of, pages_of, parse_partial, read_fenced, rows_of
from bibgenie_desktop.providers.builtin.sentences import rank, sentences_of, statements
from bibgenie_desktop.services.results import fit_result
from tests.providers.builtin.helpers import fenced

SEARCH = {
    "total": 12,
    "items": [
        {
            "id": "u-AAAA2222",
            "title": "Soil",
            "creators": ["A. Kim", "B. Lee"],
            "year": 2020,
            "attachments": [
                {"id": "u-CCCC4444", "kind": "epub"},
                {"id": "u-DDDD5555", "kind": "pdf", "status": "missing"},
                {"id": "u-BBBB3333", "kind": "pdf", "pages": 9, "status": "ok"},
            ],
        },
        {"id": "no id", "title": "Bad"},
        {"id": "g12-EEEE6666", "creators": "odd", "attachments": "odd"},
        "odd",
    ],
}
READ = {
    "attachment_id": "u-BBBB3333",
    "source": "Kim & Lee 2020: Soil",
    "pages": [
        {"page": 3, "label": "iii", "text": "One.\nTwo “three”\u2028 \\four."},
        {"page": 0, "text": "x"},
        {"page": 4},
    ],
}


def test_search_rows_have_the_best_readable_pdf() -> None:
    first, second = rows_of(read_fenced(fenced(SEARCH)))
    assert (first.id, first.pdf, first.pages, first.authors, first.year) == (
        "u-AAAA2222", "u-BBBB3333", 9, "A. Kim, B. Lee", "2020",
    )  # fmt: skip
    assert (second.id, second.title, second.pdf) == ("g12-EEEE6666", "Untitled", "")


def test_pages_and_hits_are_read() -> None:
    (page,) = pages_of(read_fenced(fenced(READ)))
    assert (page.att, page.number, page.source) == ("u-BBBB3333", 3, "Kim & Lee 2020: Soil")
    assert page.text.startswith("One.\nTwo")
    assert hits_of({"attachment_id": "u-BBBB3333", "hits": [{"page": 1, "text": "x"}]})[0].number == 1


@pytest.mark.parametrize(
    "text", ["", "An error.", "<zotero_data>", "<zotero_data>\n[1]\n</zotero_data>", "{" * 5000]
)
def test_anything_else_is_nothing(text: str) -> None:
    data = read_fenced(text)
    assert (rows_of(data), pages_of(data), hits_of(data)) == ([], [], [])


def test_object_cut_at_every_place_keeps_what_was_whole() -> None:
    text = json.dumps(SEARCH, ensure_ascii=True)
    for end in range(len(text)):
        rows = rows_of(parse_partial(text[:end]))
        assert len(rows) <= 2
        assert all(row.id in {"u-AAAA2222", "g12-EEEE6666"} for row in rows)
        if end > text.index('"no id"'):
            assert rows[0].pdf == "u-BBBB3333"


def test_page_cut_for_the_window_ends_where_it_was_cut() -> None:
    long = {**READ, "pages": [{"page": 1, "text": "A sentence of many words stands here. " * 200}]}
    (page,) = pages_of(read_fenced(fit_result(fenced(long), 300, "m/1")))
    assert page.text.startswith("A sentence of many words stands here. A sentence")
    assert "cut here" not in page.text
    assert len(page.text) < 2_000


PAGE = """Sleep and Memory
Results
Cued items were remembered better (p < 0.05), as Kim et al. (2019) had reported, e.g. in
children. No effect was seen in wake-
fulness; the dif-
ference was 3.5 points. Smith, J. A. wrote against it!
Table 2 12.3 44.1 9.9 8.8 17.2 3.1
Kim, A. 2019. Sleep and memory. Nature 12, 33-44. doi:10.1/x
A last line that breaks off in the"""


def test_sentences_are_whole_and_on_one_line() -> None:
    assert sentences_of(PAGE) == [
        "Cued items were remembered better (p < 0.05), as Kim et al. (2019) had reported, e.g. in children.",
        "No effect was seen in wakefulness; the difference was 3.5 points.",
        "Smith, J. A. wrote against it!",
    ]


def test_chinese_sentences_are_split() -> None:
    assert sentences_of("生物炭能够提高土壤的持水能力。结果表明，砂质土壤的效果最为明显。") == [
        "生物炭能够提高土壤的持水能力。",
        "结果表明，砂质土壤的效果最为明显。",
    ]


def page_texts(*texts: str) -> list:  # type: ignore[type-arg]
    rows = [{"page": number, "text": text} for number, text in enumerate(texts, 1)]
    return pages_of(
        {"attachment_id": "u-BBBB3333", "source": "Kim 2020: A title with some words.", "pages": rows}
    )


def test_titles_and_feet_of_pages_are_no_statements() -> None:
    foot = "Downloaded from the server of the publisher."
    pages = page_texts(
        f"A title with some words.\nSoil holds the water well here.\n{foot}",
        f"Another thing is said on this page.\n{foot}",
    )
    assert [text for _, text in statements(pages)] == [
        "Soil holds the water well here.",
        "Another thing is said on this page.",
    ]


def test_rarer_words_and_more_of_them_come_first() -> None:
    pages = page_texts(
        "Soil is found all over the world. Soil is brown in many places. Biochar keeps soil moist for weeks."
    )
    best = rank(pages, ("soil", "bioch"))[0]
    assert best.text == "Biochar keeps soil moist for weeks."


def test_long_sentence_is_quoted_in_part_and_word_for_word() -> None:
    clause = "the second half speaks about biochar in sandy soil and its effect on water"
    text = f"{'Many things could be said about the weather of that year, ' * 5}{clause}."
    (found,) = rank(page_texts(text), ("bioch",))
    assert len(found.text) <= 300
    assert found.text in text
    assert clause in found.text
