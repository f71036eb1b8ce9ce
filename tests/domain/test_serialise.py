"""A span as the summariser reads it."""

from __future__ import annotations

from dataclasses import replace

import regex
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.domain.locators import Locator, Resource
from bibgenie_desktop.domain.messages import AssistantMessage
from bibgenie_desktop.domain.parts import ImagePart, ReasoningPart, ResourcePart, TextPart, ToolPart
from bibgenie_desktop.domain.serialise import cut, describe, grapheme_border, serialise, serialise_message
from tests.domain.paths import path_of

PAGE = Locator("u", "pdf", item="AAAA2222", att="BBBB3333", page_index=3, page_label="218")


def answer(*parts: object, **changes: object) -> AssistantMessage:
    message = path_of("U1 A1")[1]
    assert isinstance(message, AssistantMessage)
    return replace(message, parts=parts, **changes)  # type: ignore[arg-type]


def test_messages_are_marked_by_role_in_order() -> None:
    text = serialise(m for m in path_of("U1 A1") if True)  # type: ignore[misc]
    assert text.index("[user]\nU1") < text.index("[assistant]\nA1")


def test_reasoning_is_left_out() -> None:
    assert "secret thought" not in serialise_message(
        answer(ReasoningPart("secret thought"), TextPart("said"))
    )


def test_tool_input_is_whole_and_a_long_result_is_cut_saying_how_much() -> None:
    query = "q" * 5_000
    call = ToolPart("1", "search_items", {"query": query}, "done", sent="A" * 9_000)
    text = serialise_message(answer(call))
    assert query in text
    assert "5,000 characters left out" in text
    assert "[tool result: done]" in text


def test_failed_answers_and_calls_say_so() -> None:
    call = ToolPart("1", "get_items", {}, "error", sent="no such id")
    text = serialise_message(answer(call, status="failed", error="The key was refused."))
    assert "[tool result: error]" in text
    assert "[answer failed: The key was refused.]" in text


def test_zotero_places_keep_their_full_keys_page_and_label() -> None:
    described = describe(Resource(PAGE, "Promoting memory"))
    assert "u-BBBB3333" in described
    assert "page 4 (printed 218)" in described
    assert "of u-AAAA2222" in described
    call = ToolPart("1", "read_document", {}, "done", sent="text", resources=(Resource(PAGE, "T"),))
    assert "u-BBBB3333" in serialise_message(answer(call))


def test_images_and_attached_items_are_named() -> None:
    text = serialise_message(
        answer(ImagePart("sha", "figure.png", "image/png"), ResourcePart(PAGE, "Paper", "page text"))
    )
    assert "[image figure.png, image/png]" in text
    assert "u-BBBB3333" in text
    assert "page text" in text


def test_a_page_that_was_looked_at_is_named() -> None:
    page = ImagePart("sha", "Hu 2020, p. 4", "image/png", 909, 1286)
    text = serialise_message(answer(ToolPart("t", "view_page", {}, "done", sent="shown", images=(page,))))
    assert "shown\n[image Hu 2020, p. 4, image/png]" in text


@given(st.text(alphabet="ae\u0301\u0308\u200d👩👨🏽🇩🇪\n ", max_size=400), st.integers(0, 400))
def test_a_cut_never_splits_a_grapheme(text: str, at: int) -> None:
    border = grapheme_border(text, at)
    assert border <= max(0, min(at, len(text)))
    borders = {0, *(m.end() for m in regex.finditer(r"\X", text))}
    assert border in borders


def test_a_short_text_is_not_cut() -> None:
    assert cut("x" * 4_100, 3_000, 1_000) == "x" * 4_100
