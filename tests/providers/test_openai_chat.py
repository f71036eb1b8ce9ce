"""Encoding for Chat Completions: what each kind of history becomes, and that it never changes afterwards."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.locators import Locator
from bibgenie_desktop.domain.parts import (
    ImagePart,
    Part,
    ReasoningPart,
    ResourcePart,
    TextPart,
    ToolPart,
    ToolState,
)
from bibgenie_desktop.domain.projection import ProjectedMessage, Projection, checkpoint_text
from bibgenie_desktop.providers.base import Request
from bibgenie_desktop.providers.http_provider import encode_body
from bibgenie_desktop.providers.openai_chat import ChatCodec, ChatDialect, dialect_of
from bibgenie_desktop.providers.wire import call_id
from tests.providers.helpers import PROFILE, SEARCH, answer, request, user

CODEC = ChatCodec(ChatDialect())


def messages(sent: Request, dialect: ChatDialect | None = None) -> Any:
    return ChatCodec(dialect or ChatDialect()).encode(sent)["messages"]


def tool(id: str = "t1", step: int = 0, sent: str = "3 items", state: ToolState = "done") -> ToolPart:
    return ToolPart(id, "search_items", {"query": "soil ü"}, state, step, result="whole", sent=sent)


def test_body_has_model_stream_usage_limit_and_tools() -> None:
    body = CODEC.encode(request(user("Hi")))
    assert body == {
        "model": "org/model:8b",
        "messages": [{"role": "system", "content": "Be exact."}, {"role": "user", "content": "Hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 1_000,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "search_items",
                    "description": "Find items.",
                    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
                },
            }
        ],
    }


def test_what_is_not_set_is_not_sent() -> None:
    body = CODEC.encode(replace(request(user("Hi"), system="", tools=()), max_output_tokens=None))
    assert set(body) == {"model", "messages", "stream", "stream_options"}
    assert body["messages"] == [{"role": "user", "content": "Hi"}]


@pytest.mark.parametrize(
    ("base_url", "field", "asks"),
    [
        ("https://api.openai.com/v1", "max_completion_tokens", True),
        ("https://api.mistral.ai/v1", "max_tokens", False),
        ("https://openrouter.ai/api/v1", "max_tokens", True),
        ("http://127.0.0.1:8080/v1", "max_tokens", True),
    ],
)
def test_servers_get_the_fields_they_know(base_url: str, field: str, asks: bool) -> None:
    body = ChatCodec(dialect_of(base_url)).encode(request(user("Hi")))
    assert body[field] == 1_000
    assert ("stream_options" in body) is asks


def test_checkpoint_is_a_user_message_before_its_tail() -> None:
    fenced = checkpoint_text("## Research Goal\n- [user] Soil", "u-AAAA2222 Soil")
    checkpoint = ProjectedMessage(MessageId("c1"), "checkpoint", (TextPart(fenced),))
    assert messages(request(checkpoint, user("Next")))[1:] == [
        {"role": "user", "content": fenced},
        {"role": "user", "content": "Next"},
    ]


def test_neighbours_are_merged_for_servers_that_demand_it() -> None:
    checkpoint = ProjectedMessage(MessageId("c1"), "checkpoint", (TextPart("<checkpoint>"),))
    sent = request(checkpoint, user("Next"), answer(TextPart("Yes")), user("And?"))
    assert messages(sent, ChatDialect(merge_neighbours=True))[1:] == [
        {"role": "user", "content": "<checkpoint>\n\nNext"},
        {"role": "assistant", "content": "Yes"},
        {"role": "user", "content": "And?"},
    ]


def test_attached_resource_comes_as_its_frozen_text() -> None:
    resource = ResourcePart(Locator("u", "item", item="AAAA2222"), "Soil", "<zotero_data>Soil</zotero_data>")
    assert messages(request(user("Compare", resource)))[1] == {
        "role": "user",
        "content": "<zotero_data>Soil</zotero_data>\n\nCompare",
    }


def test_image_is_shown_to_models_that_see() -> None:
    image = ImagePart("hash", "plot.png", "image/png", 10, 10)
    sent = replace(request(user("What is it?", image), vision=True), images={"hash": b"\x89PNG"})
    assert messages(sent)[1]["content"] == [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
        {"type": "text", "text": "What is it?"},
    ]


@pytest.mark.parametrize(
    ("vision", "note"), [(False, "not shown to this model"), (True, "no longer available")]
)
def test_image_that_cannot_be_shown_is_named(vision: bool, note: str) -> None:
    sent = request(user("What is it?", ImagePart("gone", "plot.png", "image/png")), vision=vision)
    assert messages(sent)[1]["content"] == f"[image: plot.png, {note}]\n\nWhat is it?"


def test_each_step_is_an_assistant_message_with_its_results() -> None:
    parts = (
        TextPart("Looking.", 0),
        tool("t1", 0),
        tool("t2", 0, sent="none"),
        tool("t3", 1),
        TextPart("Found.", 2),
    )
    ids = [call_id("a1", name) for name in ("t1", "t2", "t3")]
    calls = [
        {
            "id": id,
            "type": "function",
            "function": {"name": "search_items", "arguments": '{"query":"soil ü"}'},
        }
        for id in ids
    ]
    assert messages(request(user("Q"), answer(*parts)))[2:] == [
        {"role": "assistant", "content": "Looking.", "tool_calls": calls[:2]},
        {"role": "tool", "tool_call_id": ids[0], "content": "3 items"},
        {"role": "tool", "tool_call_id": ids[1], "content": "none"},
        {"role": "assistant", "content": None, "tool_calls": calls[2:]},
        {"role": "tool", "tool_call_id": ids[2], "content": "3 items"},
        {"role": "assistant", "content": "Found."},
    ]


def test_call_ids_are_nine_letters_and_digits_and_always_the_same() -> None:
    made = {call_id(f"message-{n}", "0") for n in range(2_000)}
    assert len(made) == 2_000
    assert all(len(id) == 9 and id.isascii() and id.isalnum() for id in made)
    assert call_id("a", "1") == call_id("a", "1") != call_id("b", "1")


@pytest.mark.parametrize(
    ("part", "content"),
    [
        (tool(sent="", state="done"), "(empty result)"),
        (tool(sent="", state="interrupted"), "(no result: interrupted)"),
        (replace(tool(sent="", state="denied"), note="declined by you"), "(no result: declined by you)"),
    ],
)
def test_call_without_result_gets_one_that_says_so(part: ToolPart, content: str) -> None:
    sent = messages(request(user("Q"), answer(part, TextPart("ok", 1))))
    assert [m["content"] for m in sent if m["role"] == "tool"] == [content]


@pytest.mark.parametrize(
    ("message", "content"),
    [
        (answer(status="failed", error="the key was refused"), "(no answer: the key was refused)"),
        (answer(status="stopped"), "(no answer: stopped)"),
        (answer(status="interrupted"), "(no answer: interrupted)"),
        (answer(ReasoningPart("hm")), "(no answer)"),
    ],
)
def test_empty_answer_becomes_words(message: ProjectedMessage, content: str) -> None:
    assert messages(request(user("Q"), message))[2:] == [{"role": "assistant", "content": content}]


def test_turn_that_ended_in_a_result_is_closed_by_words() -> None:
    sent = messages(request(user("Q"), answer(tool(), status="stopped"), user("Go on", id="u2")))
    assert [m["role"] for m in sent[1:]] == ["user", "assistant", "tool", "assistant", "user"]
    assert sent[4]["content"] == "(no answer: stopped)"


def test_model_without_tools_reads_calls_as_marked_text() -> None:
    sent = request(user("Q"), answer(TextPart("Let me see."), tool(), TextPart("Yes", 1)))
    sent = replace(sent, profile=replace(PROFILE, tools=False))
    body = CODEC.encode(sent)
    assert "tools" not in body
    assert body["messages"][2:] == [
        {"role": "assistant", "content": 'Let me see.\n\n[tool call: search_items {"query":"soil ü"}]'},
        {"role": "user", "content": "[tool result: search_items]\n3 items"},
        {"role": "assistant", "content": "Yes"},
    ]


@pytest.mark.parametrize(
    ("replays", "status", "sent_back"),
    [
        ("none", "pending", False),
        ("none", "complete", False),
        ("turn", "pending", True),
        ("turn", "complete", False),
        ("always", "complete", True),
    ],
)
def test_reasoning_goes_back_only_as_the_profile_says(replays: Any, status: Any, sent_back: bool) -> None:
    message = answer(ReasoningPart("Think ", 0), ReasoningPart("hard.", 0), tool(), status=status)
    wire = messages(request(user("Q"), message, replays_reasoning=replays))[2]
    assert wire.get("reasoning_content") == ("Think hard." if sent_back else None)


def test_reasoning_details_go_back_to_the_model_that_wrote_them_only() -> None:
    detail = {"type": "reasoning.text", "text": "Think", "signature": "c2ln", "index": 0}
    mine = ReasoningPart("Think", 0, {"model": PROFILE.ref, "reasoning_details": [detail]})
    other = replace(mine, opaque={"model": "lab/other", "reasoning_details": [detail]})
    asked = {"replays_reasoning": "always"}
    assert messages(request(user("Q"), answer(mine, tool()), **asked))[2]["reasoning_details"] == [detail]
    foreign = messages(request(user("Q"), answer(other, tool()), **asked))[2]
    assert "reasoning_details" not in foreign
    assert foreign["reasoning_content"] == "Think"


def test_data_of_a_call_goes_back_to_the_model_that_wrote_it_only() -> None:
    extra = {"google": {"thought_signature": "c2ln"}}
    mine = replace(tool(), opaque={"model": PROFILE.ref, "extra_content": extra})
    assert messages(request(user("Q"), answer(mine)))[2]["tool_calls"][0]["extra_content"] == extra
    foreign = replace(tool(), opaque={"model": "lab/other", "extra_content": extra})
    assert "extra_content" not in messages(request(user("Q"), answer(foreign)))[2]["tool_calls"][0]


def test_broken_text_still_gives_utf8() -> None:
    assert json.loads(encode_body(CODEC.encode(request(user("half \ud83d pair ü")))))["messages"][1] == {
        "role": "user",
        "content": "half ? pair ü",
    }


# Prefix stability (I8): the requests of a branch, each beginning with the messages of the one before.

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[Part, ...]]:
    """The parts that each request of one turn brings; the last step has no calls."""
    made: list[tuple[Part, ...]] = []
    count = draw(st.integers(0, 3))
    for step in range(count):
        calls = tuple(
            ToolPart(
                f"t{step}.{n}",
                draw(st.sampled_from(["search_items", "read_document"])),
                draw(st.dictionaries(st.sampled_from("abc"), TEXT, max_size=2)),
                draw(st.sampled_from(["done", "error", "denied", "cancelled"])),
                step,
                sent=draw(TEXT),
            )
            for n in range(draw(st.integers(1, 3)))
        )
        words = draw(TEXT)
        made.append(
            (*((ReasoningPart(draw(TEXT), step),)), *((TextPart(words, step),) if words else ()), *calls)
        )
    words = draw(TEXT)
    made.append((TextPart(words, count),) if words else ())
    return made


@given(
    turns=st.lists(
        st.tuples(TEXT, steps(), st.sampled_from(["complete", "stopped", "failed"])), min_size=1, max_size=4
    ),
    has_tools=st.booleans(),
    vision=st.booleans(),
    merge=st.booleans(),
    with_checkpoint=st.booleans(),
)
def test_each_request_starts_with_the_messages_of_the_one_before(
    turns: list[tuple[str, list[tuple[Part, ...]], Any]],
    has_tools: bool,
    vision: bool,
    merge: bool,
    with_checkpoint: bool,
) -> None:
    profile = replace(PROFILE, tools=has_tools, vision=vision)
    codec = ChatCodec(ChatDialect(merge_neighbours=merge))

    def sent(projection: Projection) -> list[bytes]:
        body = codec.encode(Request(profile, "System", (SEARCH,), projection, None, images={"h": b"png"}))
        return [encode_body(message) for message in body["messages"]]

    head = ProjectedMessage(MessageId("c"), "checkpoint", (TextPart("<checkpoint>"),))
    history = Projection((head,) if with_checkpoint else ())
    before: list[bytes] = []
    for number, (question, made, status) in enumerate(turns):
        asked = ProjectedMessage(
            MessageId(f"u{number}"), "user", (ImagePart("h", "a.png", "image/png"), TextPart(question))
        )
        history = Projection((*history.messages, asked))
        id = MessageId(f"a{number}")
        for done in range(len(made)):
            parts = tuple(part for step in made[:done] for part in step)
            now = sent(history.plus_pending(id, parts) if done else history)
            assert now[: len(before)] == before
            before = now
        parts = tuple(part for step in made for part in step)
        history = Projection((*history.messages, ProjectedMessage(id, "assistant", parts, status)))


@given(turn=steps(), has_tools=st.booleans(), cut=st.integers(0, 10))
def test_every_call_is_followed_by_its_result_wherever_the_turn_ends(
    turn: list[tuple[Part, ...]], has_tools: bool, cut: int
) -> None:
    parts = tuple(part for step in turn for part in step)[:cut]
    sent = request(user("Q"), answer(*parts, status="interrupted"), user("Next", id="u2"))
    wire = messages(replace(sent, profile=replace(PROFILE, tools=has_tools)))
    open_calls: list[str] = []
    for message in wire:
        if message["role"] == "tool":
            assert message["tool_call_id"] == open_calls.pop(0)
            continue
        assert not open_calls
        open_calls = [call["id"] for call in message.get("tool_calls", ())]
    assert not open_calls
    assert wire[-2]["role"] == "assistant"
