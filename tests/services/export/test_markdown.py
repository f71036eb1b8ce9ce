"""The Markdown of an active path."""

from __future__ import annotations

from pathlib import Path

import pytest

from bibgenie_desktop.domain.parts import TextPart
from bibgenie_desktop.services.export import export_markdown, gather, write
from tests.services.export.paths import MARK, told
from tests.storage.helpers import MODEL, conversation, damaged, database, opened, reply_id, turn


@pytest.fixture
def text(tmp_path: Path) -> str:
    with opened(database(tmp_path)) as store:
        return write(gather(store, told(store).id), "md")


def test_questions_answers_and_marks_stand_word_for_word(text: str) -> None:
    assert text.startswith("# Sleep & <memory>\n")
    assert "Does *sleep* help?" in text
    assert f"It **helps** {MARK}, see [[g77-CCCC4444]] and [[u-BBBB3333 p.2]]." in text
    assert f"## {MODEL} · 2023-11-14 " in text
    assert (
        text.index("Does *sleep*") < text.index("And naps?") < text.index("Thanks") < text.index("Welcome 😀")
    )


def test_a_tool_step_is_one_line_that_says_what_came_of_it(text: str) -> None:
    steps = [line for line in text.splitlines() if line.startswith("- *")]
    assert steps == [
        '- *search_items* ``{"query":"sleep `now`"}`` → 2 items',
        '- *view_page* `{"attachment_id":"u-BBBB3333","page":"4"}` → p. 218',
        '- *read_document* `{"id":"u-XXXX2222"}` → failed',
    ]
    assert "whole" not in text
    assert "→ p. 218\n  - image: Hu 2020, p. 218 (image/png)\n- *read_document*" in text


def test_reasoning_is_not_part_of_it(text: str) -> None:
    assert "hidden thought" not in text
    assert "c2lnbmVk" not in text


def test_what_was_attached_is_named(text: str) -> None:
    assert "- image: figure <1>.png (image/png)\n- attached: Hu 2020 (u-BBBB3333, page 4)" in text


def test_a_checkpoint_is_a_marked_note(text: str) -> None:
    note = text[text.index("> [!NOTE]") : text.index("Thanks")]
    assert f"> **Compacted: 48,000 → 6,000 tokens (manual, by {MODEL})**" in note
    assert "> ## Research Goal\n> To know why." in note


def test_a_code_block_left_open_does_not_swallow_what_follows(text: str) -> None:
    assert "```\nleft open\n```\n\n*This answer was stopped.*" in text


def test_the_sources_follow_with_pages_and_links(text: str) -> None:
    assert text[text.index("## Sources") :] == (
        "## Sources\n\n"
        "- `u-BBBB3333` Hu 2020: Sleep, p. 2, 4 <zotero://open-pdf/library/items/BBBB3333?page=2>\n"
        "- `g77-CCCC4444` Rasch 2013: Memory <zotero://select/groups/77/items/CCCC4444>\n"
    )


def test_only_the_active_path_is_in_it(text: str) -> None:
    assert "provider is down" not in text


def test_a_conversation_without_messages_is_a_title(tmp_path: Path) -> None:
    with opened(database(tmp_path)) as store:
        session = store.create_session("", MODEL)
        assert export_markdown(session, ()) == "# Untitled conversation\n"


def test_a_question_without_an_answer_says_so(tmp_path: Path) -> None:
    with opened(database(tmp_path)) as store:
        session = store.create_session("Open", MODEL)
        store.send(session.id, session.head, (TextPart("still there?"),), reply_id(store), MODEL)
        assert write(gather(store, session.id), "md").endswith(
            "still there?\n\n*There was no answer yet when this was exported.*\n"
        )


def test_a_damaged_conversation_shows_what_can_be_read_and_why(tmp_path: Path) -> None:
    path = database(tmp_path)
    with opened(path) as store:
        session, asked, _ = conversation(store, 3)
    damaged(path, ("UPDATE message SET parts = '{' WHERE id = ?", (asked[1].id,)))
    with opened(path) as store:
        text = write(gather(store, session.id), "md")
    assert "> **This conversation is damaged.** The content is not readable JSON." in text
    assert "> **A message cannot be shown.** The content is not readable JSON." in text
    assert "q1" in text
    assert "q2" not in text
    assert "a2" in text


def test_a_source_that_nothing_names_is_listed_by_its_id(tmp_path: Path) -> None:
    with opened(database(tmp_path)) as store:
        session = store.create_session("", MODEL)
        session, _, _ = turn(store, session, "q", "See [[u-ZZZZ9999 p.7]].")
        assert write(gather(store, session.id), "md").endswith(
            "- `u-ZZZZ9999`, p. 7 <zotero://open-pdf/library/items/ZZZZ9999?page=7>\n"
        )
