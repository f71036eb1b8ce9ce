"""The ledger holds every resource once, and its head fits the budget."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.domain.ledger import extend_ledger, project_ledger
from bibgenie_desktop.domain.locators import LedgerEntry, Locator, Resource
from bibgenie_desktop.domain.parts import ResourcePart, ToolPart
from bibgenie_desktop.domain.tokens import estimate_text
from tests.domain.paths import path_of


def place(n: int, page: int | None = None) -> Locator:
    return Locator("u", "pdf", att=f"AAAA22{n // 10 + 2}{n % 8 + 2}", page_index=page)


def test_each_place_is_listed_once_with_count_and_last_use() -> None:
    question, answer = path_of("U1 A1")
    asked = replace(question, parts=(ResourcePart(place(1, 3), "Paper", "text"),))
    call = ToolPart(
        "1", "read_document", {}, "done", resources=(Resource(place(1, 3), "Paper"), Resource(place(2), "B"))
    )
    ledger = extend_ledger((), (asked, replace(answer, parts=(call,))))  # type: ignore[arg-type]
    assert [(e.count, e.last_used) for e in ledger] == [(2, 1), (1, 1)]


def test_a_previous_ledger_is_carried_on_and_nothing_of_it_is_lost() -> None:
    previous = (LedgerEntry(place(5), "Old", 3, 0), LedgerEntry(place(6), "Older", 1, 0))
    assert extend_ledger(previous, ()) == previous


def test_pins_are_those_of_now_and_a_sentence_no_longer_pinned_goes() -> None:
    sentence = LedgerEntry(None, "Humans only.", 0, 0)
    pinned = extend_ledger(
        (LedgerEntry(place(5), "Old", 3, 0),), (), (sentence, LedgerEntry(place(5), "Old", 0, 0))
    )
    assert [(e.title, e.pinned, e.count) for e in pinned] == [("Old", True, 3), ("Humans only.", True, 0)]
    assert "Never drop: Humans only." in project_ledger(pinned, 500)
    assert [(e.title, e.pinned) for e in extend_ledger(pinned, ())] == [("Old", False)]


@given(st.integers(0, 60), st.integers(40, 2_000))
def test_the_projected_head_keeps_to_its_budget_and_says_how_many_more(count: int, budget: int) -> None:
    ledger = [LedgerEntry(place(n), f"Title of work {n}", 1, n, pinned=n == 0) for n in range(count)]
    text = project_ledger(ledger, budget)
    assert estimate_text(text) <= budget
    shown = text.count("Title of work")
    assert ("more: read_result" in text) == (shown < count)
    if shown:
        assert "(pinned)" in text.splitlines()[0]
