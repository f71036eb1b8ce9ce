"""What is said of the citations of an answer: the page that counts is the one they name."""

from __future__ import annotations

from pathlib import Path

from bibgenie_desktop.services.library.citing import CheckedCitation, CitationChecker
from tests.zotero.helpers import SAMPLE, opened_library, titled

QUOTE = "the benefit of cueing was small to moderate"


async def checked(private: Path, place: str, quote: str = QUOTE) -> CheckedCitation:
    library = opened_library(SAMPLE, private)
    try:
        await library.ensure_loaded()
        att = titled(library.contents, "Promoting memory").attachments[0].id
        words = f' "{quote}"' if quote else ""
        (found,) = (await CitationChecker(library).check(f"[[{att}{place}{words}]]")).values()
        return found
    finally:
        await library.close()


async def test_the_page_on_which_the_words_stand_verifies_them(tmp_path: Path) -> None:
    found = await checked(tmp_path, " p.2")
    assert (found.state, found.reason) == ("verified", "")
    assert found.link.endswith("page=2")


async def test_words_of_a_neighbouring_page_are_not_found_and_their_page_is_named(tmp_path: Path) -> None:
    for page in (1, 3):
        found = await checked(tmp_path, f" p.{page}")
        assert found.state == "not found"
        assert found.reason == f"These words stand on page 2, not on page {page}."


async def test_words_that_stand_nowhere_are_not_found_without_another_page(tmp_path: Path) -> None:
    found = await checked(tmp_path, " p.1", "coral reefs bleach in warm water")
    assert (found.state, found.reason) == ("not found", "")


async def test_a_page_that_does_not_exist_is_not_found_and_not_linked(tmp_path: Path) -> None:
    for quote in (QUOTE, ""):
        found = await checked(tmp_path, " p.9", quote)
        assert found.state == "not found"
        assert found.reason.startswith("There is no page 9: this document has only ")
        assert "page" not in found.link
        assert found.link
        assert "9" not in found.label
