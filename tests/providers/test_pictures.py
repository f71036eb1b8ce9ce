"""Pictures of the person and of tool results, as each dialect sends them, and what stands for them where a
model cannot see."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.domain.parts import Draft, ImagePart, Part, TextPart, ToolPart
from bibgenie_desktop.providers.base import Request
from bibgenie_desktop.providers.factory import codec_of
from bibgenie_desktop.providers.wire import call_id
from bibgenie_desktop.services.images import Picture
from bibgenie_desktop.services.tools.base import ToolResult
from tests.providers.helpers import SEARCH, answer, request, user
from tests.providers.test_every_dialect import bare, calls_and_results, is_reasoning, listed
from tests.providers.test_round_trip import LAST, STEP, in_pieces
from tests.scripted_server import ScriptedServer
from tests.services.desk import desk

DATA = b"\x89PNG page"
CODED = base64.b64encode(DATA).decode("ascii")
URL = f"data:image/png;base64,{CODED}"
PAGE = ImagePart("h", "Hu 2020, p. 218", "image/png", 909, 1286)
SHOWN = ToolPart("t1", "view_page", {"page": "4"}, "done", 0, sent="Page 4 is shown.", images=(PAGE,))
OTHER = ToolPart("t2", "search_items", {"query": "x"}, "done", 0, sent="3 items")
NAMED = "[shown by view_page: Hu 2020, p. 218]"
KINDS = ("anthropic", "gemini", "ollama", "openai-chat", "openai-responses")
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


def looked(*parts: Part, status: Any = "pending") -> Request:
    sent = request(user("What does the figure show?"), answer(*parts, status=status), vision=True)
    return replace(sent, images={"h": DATA})


def body(kind: str, sent: Request, url: str = "https://host/v1") -> dict[str, Any]:
    return codec_of(kind, url).encode(sent)


def test_anthropic_holds_the_page_within_the_result() -> None:
    results = body("anthropic", looked(SHOWN, OTHER))["messages"][-1]["content"]
    assert results[0] == {
        "type": "tool_result",
        "tool_use_id": call_id("a1", "t1"),
        "content": [
            {"type": "text", "text": "Page 4 is shown."},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": CODED}},
        ],
    }
    assert results[1]["content"] == "3 items"


def test_chat_completions_show_the_page_after_all_results_of_the_step() -> None:
    messages = body("openai-chat", looked(SHOWN, OTHER))["messages"][-3:]
    assert [m["role"] for m in messages] == ["tool", "tool", "user"]
    assert [m["content"] for m in messages[:2]] == ["Page 4 is shown.", "3 items"]
    assert messages[2]["content"] == [
        {"type": "text", "text": NAMED},
        {"type": "image_url", "image_url": {"url": URL}},
    ]


def test_mistral_takes_the_page_in_the_result_and_no_user_message_behind_it() -> None:
    messages = body("openai-chat", looked(SHOWN), "https://api.mistral.ai/v1")["messages"]
    assert messages[-1]["role"] == "tool"
    assert messages[-1]["content"] == [
        {"type": "text", "text": "Page 4 is shown."},
        {"type": "image_url", "image_url": {"url": URL}},
    ]


def test_responses_show_the_page_as_an_item_behind_the_outputs() -> None:
    items = body("openai-responses", looked(SHOWN, OTHER))["input"][-3:]
    assert [i["type"] for i in items] == ["function_call_output", "function_call_output", "message"]
    assert items[0]["output"] == "Page 4 is shown."
    assert items[2]["content"] == [
        {"type": "input_text", "text": NAMED},
        {"type": "input_image", "image_url": URL},
    ]


def test_gemini_puts_the_page_beside_the_responses_of_one_turn() -> None:
    contents = body("gemini", looked(SHOWN, OTHER))["contents"]
    assert contents[-1]["role"] == "user"
    parts = contents[-1]["parts"]
    assert [next(iter(p)) for p in parts] == ["functionResponse", "functionResponse", "text", "inlineData"]
    assert parts[2:] == [{"text": NAMED}, {"inlineData": {"mimeType": "image/png", "data": CODED}}]


def test_ollama_shows_the_page_in_a_message_behind_the_results() -> None:
    messages = body("ollama", looked(SHOWN, OTHER))["messages"][-3:]
    assert [m["role"] for m in messages] == ["tool", "tool", "user"]
    assert messages[2] == {"role": "user", "content": NAMED, "images": [CODED]}


@EVERY_KIND
def test_page_of_an_earlier_turn_is_named_with_its_size_to_a_model_that_does_not_see(kind: str) -> None:
    sent = looked(SHOWN, TextPart("It shows sleep.", 1), status="complete")
    blind = replace(sent, profile=replace(sent.profile, vision=False))
    written = json.dumps(body(kind, blind), ensure_ascii=False)
    assert (
        "Page 4 is shown.\\n[image: Hu 2020, p. 218, 909 × 1286 pixels, not shown to this model]" in written
    )
    assert CODED not in written
    assert CODED in json.dumps(body(kind, sent))


@EVERY_KIND
def test_switching_there_and_back_sends_the_same_bytes_as_before(kind: str) -> None:
    sent = looked(SHOWN, TextPart("It shows sleep.", 1), status="complete")
    before = json.dumps(body(kind, sent))
    blind = replace(sent, profile=replace(sent.profile, vision=False))
    assert json.dumps(body(kind, blind)) != before
    again = replace(blind, profile=replace(blind.profile, vision=True))
    assert json.dumps(body(kind, again)) == before


@EVERY_KIND
def test_model_that_sees_but_knows_no_tools_gets_the_page_with_the_marked_result(kind: str) -> None:
    sent = looked(SHOWN, TextPart("It shows sleep.", 1), status="complete")
    written = json.dumps(body(kind, replace(sent, profile=replace(sent.profile, tools=False))))
    assert "[tool result: view_page]" in written
    assert written.count(CODED) == 1


@EVERY_KIND
def test_picture_that_is_gone_leaves_a_note_and_the_conversation_goes_on(kind: str) -> None:
    own = ImagePart("gone", "plot.png", "image/png", 10, 10)
    sent = request(user("Q", own), answer(SHOWN, status="pending"), vision=True)
    written = json.dumps(body(kind, sent), ensure_ascii=False)
    assert "[image: plot.png, 10 × 10 pixels, no longer available]" in written
    assert "[image: Hu 2020, p. 218, 909 × 1286 pixels, no longer available]" in written


@EVERY_KIND
def test_several_pictures_keep_their_order_and_names(kind: str) -> None:
    second = replace(PAGE, blob="i", name="Hu 2020, p. 219")
    sent = looked(SHOWN, replace(SHOWN, id="t2", sent="Page 5 is shown.", images=(second,)))
    other = base64.b64encode(b"second").decode("ascii")
    written = json.dumps(body(kind, replace(sent, images={"h": DATA, "i": b"second"})))
    assert 0 < written.index(CODED) < written.index(other)


# Over HTTP, through the services


class Camera:
    """A tool that answers each query with a picture."""

    spec = replace(SEARCH, needs_vision=True)

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        query = str(arguments.get("query"))
        shown = Picture(f"\x89PNG {query}".encode("latin-1"), "image/png", 64, 48, query)
        return ToolResult(f"{query} is shown.", pictures=(shown,))


@EVERY_KIND
async def test_pictures_arrive_in_every_dialect_and_each_request_begins_with_the_one_before(
    kind: str, tmp_path: Path
) -> None:
    def coded(name: str) -> bytes:
        return base64.b64encode(f"\x89PNG {name}".encode("latin-1"))

    with ScriptedServer() as server:
        async with desk(tmp_path, server, kind=kind, tools=(Camera(),), vision=True) as d:
            chat = await d.chat()
            mine = await d.workspace.keep_pictures([Picture(b"\x89PNG mine", "image/png", 64, 48, "mine")])
            server.script(
                in_pieces(kind, STEP[kind]), in_pieces(kind, LAST[kind]), in_pieces(kind, LAST[kind])
            )
            await chat.send(Draft("What do they show?", mine))
            await chat.send(Draft("And now?"))
            first, second, third = server.requests
            assert [coded(n) in first.raw for n in ("mine", "sleep", "rest")] == [True, False, False]
            assert all(coded(n) in second.raw for n in ("mine", "sleep", "rest"))
            assert all(third.raw.count(coded(n)) == 1 for n in ("mine", "sleep", "rest"))
            for earlier, later in pairwise((first, second, third)):
                before = [bare(m) for m in listed(kind, earlier.body) if not is_reasoning(m)]
                after = [bare(m) for m in listed(kind, later.body) if not is_reasoning(m)]
                assert after[: len(before)] == before
            pairs = calls_and_results(kind, listed(kind, third.body))
            assert [what for what, _ in pairs] == ["call", "call", "result", "result"]
