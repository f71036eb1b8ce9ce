"""Questions that the fixture library can answer: the right works, verified quotes, figures where asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from bibgenie_desktop.domain.citations import citations_in
from bibgenie_desktop.services.tools.registry import library_tools
from tests.providers.builtin.helpers import ask, user
from tests.providers.builtin.test_sample_library import verdicts
from tests.zotero.helpers import generated, manifest, opened_library

# The question, the works that must be quoted, one that must not, a figure of the answer.
QUESTIONS = [
    (
        "How large is the overnight gain in motor skill, and who disputes it?",
        {"walker2002", "cordi2021"},
        "",
        "20 percent",
    ),
    ("Can a skill be strengthened by cues in sleep?", {"rasch2007", "antony2012"}, "", ""),
    ("Which evidence for ripples is causal?", {"girardeau2009"}, "wilson1994", ""),
    ("How much worse is memory after a night without sleep?", {"yoo2007"}, "", "19 percent"),
    ("How much less is remembered by the sleep-deprived?", {"yoo2007"}, "", "19 percent"),
    ("What share found the hidden rule after sleep?", {"wagner2004"}, "", "59 percent"),
]


@pytest.fixture(scope="module")
def zotero(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generated(tmp_path_factory.mktemp("lib"), "--items", "60")


@pytest.mark.parametrize(("question", "works", "unwanted", "figure"), QUESTIONS)
async def test_the_right_works_are_quoted_word_for_word(
    zotero: Path, tmp_path: Path, question: str, works: set[str], unwanted: str, figure: str
) -> None:
    entries = manifest(zotero)["items"]
    library = opened_library(zotero, tmp_path / "private")
    try:
        turn = await ask(library_tools(library), user(question))
        assert set(await verdicts(library, turn.text)) == {"verified"}
        cited = set()
        for citation in citations_in(turn.text):
            attachment = library.attachment(citation.id)
            item = library.item(attachment.item_id if attachment else citation.id)
            assert item is not None
            cited.add(item.key)
        assert {entries[w]["key"] for w in works} <= cited, turn.text
        assert not unwanted or entries[unwanted]["key"] not in cited, turn.text
        assert figure in turn.text
    finally:
        await library.close()


async def test_the_trash_and_the_feed_never_answer(zotero: Path, tmp_path: Path) -> None:
    trashed = next(e for e in manifest(zotero)["items"].values() if e["trashed"])
    library = opened_library(zotero, tmp_path / "private")
    try:
        for question in (trashed["title"], "What does the feed item say that must not be indexed?"):
            turn = await ask(library_tools(library), user(question))
            assert trashed["key"] not in turn.text
            assert "FEED ITEM" not in turn.text.replace(question, "")
            assert all(c.id.startswith(("u-", "g4512345-")) for c in citations_in(turn.text))
    finally:
        await library.close()
