"""When a quotation counts as verified, as a paraphrase, as not found."""

from __future__ import annotations

import pytest

from bibgenie_desktop.zotero.citing.quotes import check_across_pages, check_quote

PAGE = (
    "Practice with Sleep Makes Perfect\n206\n"
    "A night of sleep produced an improvement in speed of about 20 percent without any loss of\n"
    "accuracy. The consoli-\ndation of “pro-\ncedural” memories — a sleep-\ndependent process — takes time;\n"
    "ﬁndings were signiﬁcant (p < 0.05, r = –0.3). It's 1,205 cases.\nMatthew’s note."
)


@pytest.mark.parametrize(
    "quote",
    [
        "improvement in speed of about 20 percent",
        "IMPROVEMENT IN SPEED",
        "without any loss of accuracy.",
        "The consolidation of procedural memories",
        'consolidation of "procedural" memories - a sleep-dependent process - takes time',
        "sleep- dependent process",
        "findings were significant",
        "(p < 0.05, r = −0.3)",
        "p<0.05",
        "1,205 cases",
        "Matthew's note",
        "A night of sleep … without any loss of accuracy",
        "A night of sleep produced [...] accuracy",
        "speed of about   20\npercent",
    ],
)
def test_typesetting_does_not_matter(quote: str) -> None:
    assert check_quote(quote, PAGE) == "verified"


@pytest.mark.parametrize(
    "quote",
    [
        "An improvement in the speed of about 20 percent was produced by a night of sleep",
        "improvement in speed of about 20 percents without any loss of accuracy",
        "accuracy … A night of sleep produced an improvement in speed",
    ],
)
def test_other_words_make_it_a_paraphrase(quote: str) -> None:
    assert check_quote(quote, PAGE) == "paraphrase"


@pytest.mark.parametrize(
    "quote",
    [
        "r = 0.3",
        "(p < 05, r",
        "ight of sleep prod",
        "coral reefs bleach in warm water",
        "",
        "…",
        "“”",
        "120,5",
    ],
)
def test_what_is_not_there_is_not_found(quote: str) -> None:
    assert check_quote(quote, PAGE) in ("not found", "paraphrase")
    assert check_quote(quote, PAGE) != "verified"


def test_nothing_like_it_is_not_found() -> None:
    assert check_quote("improvement in speed of about 30 percent without any loss", PAGE) == "not found"
    assert check_quote("coral reefs bleach in warm water", PAGE) == "not found"
    assert check_quote("", PAGE) == "not found"
    assert check_quote("speed of about", "") == "not found"


def test_chinese_is_compared_by_characters() -> None:
    page = "睡眠对记忆\n巩固的影响：一项元分析。"
    assert check_quote("记忆巩固的影响", page) == "verified"
    assert check_quote("睡眠对记忆的巩固影响", page) == "paraphrase"
    assert check_quote("紡錘波の役割", page) == "not found"


def test_a_sentence_may_run_on_to_the_next_page() -> None:
    first = "Some text before. The gain correlated with the per-\n17\nJournal of Sleep"
    second = "A. Author\n18\ncentage of stage 2 sleep, and more."
    quote = "The gain correlated with the percentage of stage 2 sleep"
    assert check_quote(quote, first) != "verified"
    assert check_across_pages(quote, first, second) == "verified"
    assert check_across_pages("quite another sentence altogether", first, second) == "not found"
