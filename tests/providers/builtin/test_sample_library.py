"""The built-in assistant over the sample library, with the real tools: what a person sees without any key."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bibgenie_desktop.domain.citations import citations_in
from bibgenie_desktop.services.tools.base import Tool
from bibgenie_desktop.services.tools.registry import library_tools
from bibgenie_desktop.zotero.citing.quotes import check_quote
from bibgenie_desktop.zotero.service import ZoteroLibrary
from tests.providers.builtin.helpers import ASSISTANT, SMALL, Turn, ask, user
from tests.zotero.helpers import SAMPLE, opened_library

QUESTIONS = (
    "How does sleep affect memory consolidation?",
    "Is targeted memory reactivation reliable?",
    "Do naps help?",
    "Are the benefits of sleep for memory robust?",
    "What do slow oscillations do?",
)


@asynccontextmanager
async def opened(tmp_path: Path) -> AsyncIterator[tuple[ZoteroLibrary, tuple[Tool, ...]]]:
    if not SAMPLE.is_dir():
        pytest.skip("the sample library is not here")
    library = opened_library(SAMPLE, tmp_path / "private")
    try:
        yield library, library_tools(library)
    finally:
        await library.close()


async def verdicts(library: ZoteroLibrary, text: str) -> list[str]:
    """What the check of each quoted passage says."""
    found: list[str] = []
    for citation in citations_in(text):
        if citation.page is None:  # an item of a list
            assert library.item(citation.id) is not None
            continue
        attachment = library.attachment(citation.id)
        assert attachment is not None
        (page,) = await library.pages_text(attachment, citation.page - 1, citation.page - 1)
        found.append(check_quote(citation.quote, page.text))
    return found


async def test_every_quote_stands_on_its_page(tmp_path: Path) -> None:
    async with opened(tmp_path) as (library, tools):
        turn: Turn | None = None
        for number, question in enumerate(QUESTIONS):
            before = turn.after.messages if turn else ()
            turn = await ask(tools, *before, user(question, id=f"u{number}"))
            found = await verdicts(library, turn.text)
            assert found, question
            assert set(found) == {"verified"}
            assert 2 <= len(turn.calls) <= 6
            assert all(call.state == "done" for call in turn.calls)


async def test_several_sources_speak_where_there_are_several(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_, tools):
        turn = await ask(tools, user(QUESTIONS[0]))
        assert len({citation.id for citation in citations_in(turn.text)}) >= 2


async def test_small_window_gets_along_with_short_results(tmp_path: Path) -> None:
    async with opened(tmp_path) as (library, tools):
        turn = await ask(tools, user(QUESTIONS[0]), profile=SMALL, slim=True, result_tokens=400)
        assert set(await verdicts(library, turn.text)) == {"verified"}
        assert len(turn.calls) <= 4


async def test_results_cut_ever_shorter_never_break_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as (library, tools):
        for tokens in (150, 250, 400, 700):
            turn = await ask(tools, user(QUESTIONS[0]), profile=ASSISTANT, result_tokens=tokens)
            found = set(await verdicts(library, turn.text))
            assert found == {"verified"} or (tokens < 400 and not found)
            assert "Built-in assistant" in turn.text


async def test_topic_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_, tools):
        turn = await ask(tools, user("What about quantum chromodynamics?"))
        assert "found nothing in your library" in turn.text
        assert not list(citations_in(turn.text))


async def test_a_missing_file_is_named_with_what_to_do(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_, tools):
        turn = await ask(
            tools, user("What about the hippocampal sharp wave-ripple as a cognitive biomarker?")
        )
        assert "not on this computer" in turn.text
        assert "Hippocampal sharp wave-ripple" in turn.text
        assert "Open it once in Zotero" in turn.text


@pytest.mark.parametrize(
    ("question", "works", "figure"),
    [
        ("How much better is speed after a night of sleep?", {"walker"}, "20 percent"),
        ("How large is the overnight gain in motor skill, and who disputes it?", {"walker", "cordi"}, ""),
        ("Which evidence for ripples is causal?", {"girardeau"}, ""),
        ("What share found the hidden rule after sleep?", {"wagner"}, "59 percent"),
        ("How much worse is memory after a night without sleep?", {"yoo"}, "19 percent"),
        ("Does stimulation at 5 Hz help memory?", {"marshall"}, "unchanged"),
        ("Are the benefits of sleep for memory robust?", {"cordi"}, ""),
        ("How much did odour cues raise retention?", {"raschOdor"}, "97 percent"),
    ],
)
async def test_questions_are_answered_from_the_works_that_answer_them(
    tmp_path: Path, question: str, works: set[str], figure: str
) -> None:
    async with opened(tmp_path) as (library, tools):
        turn = await ask(tools, user(question))
        assert set(await verdicts(library, turn.text)) == {"verified"}
        items = [library.item(library.contents.attachments[c.id].item_id) for c in citations_in(turn.text)]
        cited = {item.citekey for item in items if item is not None}
        assert all(any(key.startswith(work) for key in cited) for work in works), turn.text
        assert figure in turn.text


@pytest.mark.parametrize(
    ("question", "works", "figure"),
    [
        ("What does “Practice with Sleep Makes Perfect” find?", {"walker"}, "20 percent"),
        (
            "What is the evidence in A deficit in the ability to form new human memories without sleep?",
            {"yoo"},
            "19 percent",
        ),
        (
            "Compare “Practice with Sleep Makes Perfect”, “How robust are sleep-mediated memory benefits?”",
            {"walker", "cordi"},
            "20 percent",
        ),
    ],
)
async def test_a_work_named_by_its_title_says_what_it_found(
    tmp_path: Path, question: str, works: set[str], figure: str
) -> None:
    async with opened(tmp_path) as (library, tools):
        turn = await ask(tools, user(question))
        assert set(await verdicts(library, turn.text)) == {"verified"}
        items = [library.item(library.contents.attachments[c.id].item_id) for c in citations_in(turn.text)]
        cited = {item.citekey for item in items if item is not None}
        assert len(cited) == len(works)
        assert all(any(key.startswith(work) for key in cited) for work in works), turn.text
        assert figure in turn.text
        assert "what the work itself says" in turn.text


async def test_what_a_named_work_does_not_speak_of_is_said_to_be_missing(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_, tools):
        turn = await ask(tools, user("How many mice were in “Practice with Sleep Makes Perfect”?"))
        assert "No sentence has the words *mice*" in turn.text
        assert all(c.id == "u-3Z63DMR5" for c in citations_in(turn.text))


async def test_asking_how_one_thing_acts_on_another_is_no_search_for_that_verb(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_, tools):
        for question in ("How does sleep affect memory?", "What is the effect of sleep on memory?"):
            turn = await ask(tools, user(question))
            assert turn.calls[0].input["query"] == "sleep memory"
