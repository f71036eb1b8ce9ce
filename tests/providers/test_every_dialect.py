"""What holds for each dialect alike: how bodies may be cut, what requests begin with, which calls have
results."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.domain.errors import BadAnswer, ProviderError, StreamCut
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.parts import ImagePart, Part, ReasoningPart, TextPart, ToolPart
from bibgenie_desktop.domain.projection import ProjectedMessage, Projection
from bibgenie_desktop.providers.base import (
    Finished,
    ReasoningClosed,
    ReasoningDelta,
    Request,
    TextDelta,
    ToolCalled,
    ToolCallStarted,
)
from bibgenie_desktop.providers.factory import codec_of
from bibgenie_desktop.providers.http_provider import Codec, encode_body
from tests.providers.bodies import ENCRYPTED, FULL, GIVEN, ODD, SIGNATURE
from tests.providers.helpers import PROFILE, SEARCH, answer, decode, request, text_of, usage_of, user

KINDS = sorted(FULL)
EMPTY = Request(PROFILE, "", (), Projection(()), None)
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


def codec_for(kind: str) -> Codec:
    return codec_of(kind, "https://host/v1")


def listed(kind: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of a body."""
    name = {"openai-responses": "input", "gemini": "contents"}.get(kind, "messages")
    found: list[dict[str, Any]] = body[name]
    return found


@EVERY_KIND
def test_answer_with_everything_becomes_the_same_events(kind: str) -> None:
    events = decode(FULL[kind], codec=codec_for(kind))
    assert "".join(e.text for e in events if isinstance(e, ReasoningDelta)) == "hm so"
    assert text_of(events) == f"{ODD} more"
    order = [type(e) for e in events if not isinstance(e, TextDelta | ReasoningDelta)]
    assert order[:3] == [ReasoningClosed, ToolCallStarted, ToolCalled]
    assert [(e.name, e.input) for e in events if isinstance(e, ToolCalled)] == [("search_items", GIVEN)]
    assert usage_of(events) == (20, 5)
    assert events[-1] == Finished("tool_calls")


@EVERY_KIND
def test_body_cut_anywhere_decodes_alike(kind: str) -> None:
    """At every byte, so also within characters, line ends and keywords."""
    codec, body = codec_for(kind), FULL[kind]
    whole = decode(body, codec=codec)
    for size in (1, 2, 3, 7, 64):
        assert decode(body, codec=codec, size=size) == whole
    for at in range(1, len(body), 1 if len(body) < 1_500 else 3):
        reader, decoder = codec.reader(), codec.decoder(EMPTY)
        events = [
            event
            for piece in (body[:at], body[at:])
            for sent in reader.feed(piece)
            for event in decoder.feed(sent)
        ]
        events += [event for sent in reader.close() for event in decoder.feed(sent)]
        assert [*events, *decoder.finish()] == whole


@EVERY_KIND
@pytest.mark.parametrize("ends", [b"\r\n", b"\r"])
def test_line_ends_of_all_kinds_are_understood(kind: str, ends: bytes) -> None:
    if kind == "ollama" and ends == b"\r":
        pytest.skip("JSON lines end with a line feed")
    codec, body = codec_for(kind), FULL[kind].replace(b"\r\n", b"\n")
    turned = body.replace(b"\n", ends)
    assert decode(turned, codec=codec) == decode(body, codec=codec)
    assert decode(turned, codec=codec, size=1) == decode(body, codec=codec)


@EVERY_KIND
def test_comments_and_pings_between_events_change_nothing(kind: str) -> None:
    if kind == "ollama":
        noise, gap = b"\n \n", b"\n"
    else:
        noise, gap = b"\n\n: keep-alive\n\n: ping\r\n\r\n", b"\n\n"
    codec, body = codec_for(kind), FULL[kind].replace(b"\r\n", b"\n")
    assert decode(body.replace(gap, noise), codec=codec) == decode(body, codec=codec)


@EVERY_KIND
def test_body_that_stops_before_its_end_is_a_cut_and_reports_no_usage(kind: str) -> None:
    codec, body = codec_for(kind), FULL[kind]
    for share in (0.0, 0.2, 0.5):
        cut = body[: int(len(body) * share)].rpartition(b"\n\n" if kind == "anthropic" else b"\n")[0]
        with pytest.raises(StreamCut):
            decode(cut + b"\n\n", codec=codec)


@EVERY_KIND
@pytest.mark.parametrize("data", ["<html>", "{half", '{"a":' * 5_000, "[" * 5_000])
def test_what_is_no_json_is_a_bad_answer(kind: str, data: str) -> None:
    body = data if kind == "ollama" else f"data: {data}"
    with pytest.raises(BadAnswer):
        decode(f"{body}\n\n".encode(), codec=codec_for(kind))


@EVERY_KIND
@pytest.mark.parametrize("data", ["5", "null", "[]", '"x"', "{}", '{"type":7}', '{"index":{},"delta":[]}'])
def test_what_no_dialect_knows_is_passed_over(kind: str, data: str) -> None:
    odd = f"{data}\n" if kind == "ollama" else f"event: odd\ndata: {data}\n\n"
    codec = codec_for(kind)
    assert decode(odd.encode() + FULL[kind], codec=codec) == decode(FULL[kind], codec=codec)


@EVERY_KIND
def test_error_within_a_stream_comes_after_what_had_arrived(kind: str) -> None:
    fault = {"error": {"message": "Overloaded", "type": "overloaded_error", "code": 503}}
    written = json.dumps(fault | ({"type": "error"} if kind != "gemini" else {}))
    added = f"{written}\n" if kind == "ollama" else f"data: {written}\n\n"
    whole = FULL[kind]
    at = whole.index(b" more")
    at = whole.index(b"\n", at) + (1 if kind == "ollama" else 3 if kind == "gemini" else 2)
    codec = codec_for(kind)
    reader, decoder = codec.reader(), codec.decoder(EMPTY)
    got = []
    with pytest.raises(ProviderError, match="busy"):  # noqa: PT012
        for sent in reader.feed(whole[:at] + added.encode()):
            got.extend(decoder.feed(sent))
    assert text_of(got).startswith(ODD)


# Encoding


def test_same_request_gives_the_same_bytes() -> None:
    parts = (ReasoningPart("hm", 0), TextPart("Let me see.", 0), call("t1", 0), TextPart("Found.", 1))
    for kind in KINDS:
        sent = request(user("Hi"), answer(*parts), user("And?", id="u2"), vision=True)
        assert encode_body(codec_for(kind).encode(sent)) == encode_body(codec_for(kind).encode(sent))


def call(id: str, step: int, sent: str = "3 items", opaque: Any = None) -> ToolPart:
    return ToolPart(id, "search_items", {"query": "soil"}, "done", step, sent=sent, opaque=opaque)


@EVERY_KIND
def test_model_without_tools_reads_calls_as_marked_text(kind: str) -> None:
    sent = request(user("Q"), answer(TextPart("Let me see."), call("t1", 0), TextPart("Yes", 1)), tools=())
    body = codec_for(kind).encode(replace(sent, profile=replace(PROFILE, tools=False)))
    shown = json.dumps(listed(kind, body), ensure_ascii=False)
    assert "tools" not in body
    assert "[tool call: search_items" in shown
    assert "[tool result: search_items]" in shown


@EVERY_KIND
def test_image_is_shown_to_models_that_see_and_named_to_the_others(kind: str) -> None:
    image = ImagePart("h", "plot.png", "image/png", 10, 10)
    sent = replace(request(user("What is it?", image)), images={"h": b"\x89PNG"})
    blind = json.dumps(codec_for(kind).encode(sent), ensure_ascii=False)
    assert "iVBORw==" not in blind
    assert "[image: plot.png, 10 × 10 pixels, not shown to this model]" in blind
    seeing = json.dumps(codec_for(kind).encode(replace(sent, profile=replace(PROFILE, vision=True))))
    assert "iVBORw==" in seeing
    assert "plot.png" not in seeing


@EVERY_KIND
def test_empty_failed_answer_becomes_words(kind: str) -> None:
    sent = request(user("Q"), answer(status="failed", error="the key was refused"), user("Again", id="u2"))
    assert "(no answer: the key was refused)" in json.dumps(codec_for(kind).encode(sent))


def signed(profile: ModelProfile) -> dict[str, Any]:
    """Reasoning data of every dialect in one, as one model may have left it."""
    return {
        "model": profile.ref,
        "blocks": [{"type": "thinking", "thinking": "secret thought", "signature": SIGNATURE}],
        "items": [{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": ENCRYPTED}],
        "reasoning_details": [{"type": "reasoning.text", "text": "secret thought", "signature": SIGNATURE}],
        "signed": {"text": "", "thoughtSignature": SIGNATURE},
    }


def has_reasoning(body: dict[str, Any]) -> bool:
    shown = json.dumps(body)
    return any(mark in shown for mark in (SIGNATURE, ENCRYPTED, "secret thought"))


@EVERY_KIND
@pytest.mark.parametrize("replays", ["turn", "always"])
def test_reasoning_goes_back_within_its_turn_and_to_its_own_model_only(kind: str, replays: Any) -> None:
    asked = replace(PROFILE, replays_reasoning=replays)
    thought = ReasoningPart("secret thought", 0, signed(asked))
    sent = request(user("Q"), answer(thought, call("t1", 0), status="pending"), replays_reasoning=replays)
    assert has_reasoning(codec_for(kind).encode(sent))
    foreign = ReasoningPart("", 0, {**signed(asked), "model": "lab/other"})
    sent = request(user("Q"), answer(foreign, call("t1", 0), status="pending"), replays_reasoning=replays)
    assert not has_reasoning(codec_for(kind).encode(sent))


@EVERY_KIND
@pytest.mark.parametrize(("replays", "expected"), [("none", False), ("turn", False), ("always", True)])
def test_reasoning_of_an_earlier_turn_goes_back_only_where_the_profile_says(
    kind: str, replays: Any, expected: bool
) -> None:
    thought = ReasoningPart("secret thought", 0, signed(PROFILE))
    sent = request(user("Q"), answer(thought, TextPart("A")), user("R", id="u2"), replays_reasoning=replays)
    assert has_reasoning(codec_for(kind).encode(sent)) is expected


@EVERY_KIND
def test_no_reasoning_older_than_the_checkpoint_goes_back(kind: str) -> None:
    head = ProjectedMessage(MessageId("c"), "checkpoint", (TextPart("<checkpoint>"),))
    old = answer(ReasoningPart("secret thought", 0, signed(PROFILE)), TextPart("A"))
    sent = request(head, user("Q"), old, user("R", id="u2"), replays_reasoning="always")
    tail = replace(sent, projection=replace(sent.projection, tail=2))
    assert not has_reasoning(codec_for(kind).encode(tail))


# Prefix stability (I8): the requests of a branch, each beginning with the messages of the one before.

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
_LEFT_OUT = {
    "reasoning_content", "reasoning", "reasoning_details", "thinking", "thoughtSignature", "cache_control",
}  # fmt: skip


def bare(value: Any) -> Any:
    """Without the fields of reasoning, and without the marks of the cache, which are no content."""
    if isinstance(value, list):
        return [bare(one) for one in value if not is_reasoning(one)]
    if isinstance(value, dict):
        return {name: bare(one) for name, one in value.items() if name not in _LEFT_OUT}
    return value


def is_reasoning(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if value.get("type") in ("thinking", "redacted_thinking", "reasoning"):
        return True
    return "thoughtSignature" in value and not value.get("text") and "functionCall" not in value


PAGE = ImagePart("h", "Hu 2020, p. 4", "image/png", 900, 1200)


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[Part, ...]]:
    """The parts that each request of one turn brings; the last step has no calls."""
    made: list[tuple[Part, ...]] = []
    number = draw(st.integers(0, 3))
    for step in range(number):
        opaque = signed(PROFILE) if draw(st.booleans()) else None
        kept = {"model": PROFILE.ref, "thoughtSignature": SIGNATURE, "id": "x"} if opaque else None
        calls = tuple(
            ToolPart(
                f"t{step}.{n}",
                draw(st.sampled_from(["search_items", "read_document"])),
                draw(st.dictionaries(st.sampled_from("abc"), TEXT, max_size=2)),
                draw(st.sampled_from(["done", "error", "denied", "cancelled"])),
                step,
                sent=draw(TEXT),
                opaque=kept,
                images=draw(st.sampled_from([(), (PAGE,), (PAGE, PAGE)])),
            )
            for n in range(draw(st.integers(1, 3)))
        )
        said = draw(TEXT)
        text: tuple[Part, ...] = (TextPart(said, step),) if said else ()
        if text and draw(st.booleans()):
            end = {"text": said[-1], "thoughtSignature": SIGNATURE}
            text = (*text, ReasoningPart("", step, {"model": PROFILE.ref, "signed": end}))
        made.append((ReasoningPart(draw(TEXT), step, opaque), *text, *calls))
    said = draw(TEXT)
    made.append((TextPart(said, number),) if said else ())
    return made


@EVERY_KIND
@given(
    turns=st.lists(
        st.tuples(TEXT, steps(), st.sampled_from(["complete", "stopped", "failed"])), min_size=1, max_size=3
    ),
    has_tools=st.booleans(),
    vision=st.booleans(),
    replays=st.sampled_from(["none", "turn", "always"]),
    with_checkpoint=st.booleans(),
)
def test_each_request_starts_with_the_messages_of_the_one_before(
    kind: str,
    turns: list[tuple[str, list[tuple[Part, ...]], Any]],
    has_tools: bool,
    vision: bool,
    replays: Any,
    with_checkpoint: bool,
) -> None:
    profile = replace(PROFILE, tools=has_tools, vision=vision, replays_reasoning=replays)
    codec = codec_for(kind)

    def sent(projection: Projection) -> list[bytes]:
        body = codec.encode(Request(profile, "System", (SEARCH,), projection, None, images={"h": b"png"}))
        return [encode_body(bare(message)) for message in listed(kind, body) if not is_reasoning(message)]

    head = ProjectedMessage(MessageId("c"), "checkpoint", (TextPart("<checkpoint>"),))
    history = Projection((head,) if with_checkpoint else ())
    before: list[bytes] = []
    for number, (question, made, status) in enumerate(turns):
        picture = ImagePart("h", "a.png", "image/png")
        asked = ProjectedMessage(MessageId(f"u{number}"), "user", (picture, TextPart(question)))
        history = Projection((*history.messages, asked))
        id = MessageId(f"a{number}")
        for done in range(len(made)):
            parts = tuple(part for step in made[:done] for part in step)
            now = sent(history.plus_pending(id, parts) if done else history)
            assert now[: len(before)] == before
            before = now
        parts = tuple(part for step in made for part in step)
        history = Projection((*history.messages, ProjectedMessage(id, "assistant", parts, status)))


def calls_and_results(kind: str, messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """(`call` or `result`, its id or name) in the order in which a body has them."""
    found: list[tuple[str, str]] = []
    for message in messages:
        match kind:
            case "openai-chat" | "ollama":
                found += [("call", one["id"]) for one in message.get("tool_calls", ())]
                if message["role"] == "tool":
                    found.append(("result", message["tool_call_id"]))
            case "openai-responses":
                if message["type"].startswith("function_call"):
                    is_call = message["type"] == "function_call"
                    found.append(("call" if is_call else "result", message["call_id"]))
            case "anthropic":
                for one in message["content"]:
                    if one["type"] == "tool_use":
                        found.append(("call", one["id"]))
                    elif one["type"] == "tool_result":
                        found.append(("result", one["tool_use_id"]))
            case "gemini":
                for one in message["parts"]:
                    if "functionCall" in one:
                        found.append(("call", one["functionCall"]["name"]))
                    elif "functionResponse" in one:
                        found.append(("result", one["functionResponse"]["name"]))
    return found


@EVERY_KIND
@given(turn=steps(), has_tools=st.booleans(), cut=st.integers(0, 10))
def test_every_call_is_followed_by_its_result_wherever_the_turn_ends(
    kind: str, turn: list[tuple[Part, ...]], has_tools: bool, cut: int
) -> None:
    parts = tuple(part for step in turn for part in step)[:cut]
    sent = request(user("Q"), answer(*parts, status="interrupted"), user("Next", id="u2"))
    body = codec_for(kind).encode(replace(sent, profile=replace(PROFILE, tools=has_tools)))
    open_calls: list[str] = []
    results_begun = False
    for what, name in calls_and_results(kind, listed(kind, body)):
        if what == "result":
            assert name == open_calls.pop(0)
            results_begun = True
            continue
        assert not (open_calls and results_begun)
        results_begun = False
        open_calls.append(name)
    assert not open_calls


@pytest.mark.parametrize("kind", ["anthropic", "gemini"])
@given(turns=st.lists(steps(), min_size=1, max_size=3), has_tools=st.booleans())
def test_roles_alternate_and_no_message_is_empty(
    kind: str, turns: list[list[tuple[Part, ...]]], has_tools: bool
) -> None:
    head = ProjectedMessage(MessageId("c"), "checkpoint", (TextPart("<checkpoint>"),))
    messages = [head]
    for number, made in enumerate(turns):
        parts = tuple(part for step in made for part in step)
        messages += [user("Q", id=f"u{number}"), answer(*parts, id=f"a{number}")]
    messages.append(user("Next", id="last"))
    sent = request(*messages)
    wire = listed(kind, codec_for(kind).encode(replace(sent, profile=replace(PROFILE, tools=has_tools))))
    roles = [message["role"] for message in wire]
    assert roles[0] == roles[-1] == "user"
    assert all(a != b for a, b in pairwise(roles))
    assert all(message.get("content") or message.get("parts") for message in wire)
