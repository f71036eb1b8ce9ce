"""Parts, usage, ledger and draft as JSON: what goes in comes out, and nothing else is taken."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.domain.codec import (
    InvalidContent,
    draft_from_json,
    draft_to_json,
    dumps,
    ledger_from_json,
    ledger_to_json,
    loads,
    parts_from_json,
    parts_to_json,
    usage_from_json,
    usage_to_json,
)
from bibgenie_desktop.domain.locators import LedgerEntry, Locator, Resource
from bibgenie_desktop.domain.mend import storable
from bibgenie_desktop.domain.parts import Draft, ImagePart, ReasoningPart, ResourcePart, TextPart, ToolPart
from bibgenie_desktop.domain.usage import Usage

text = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
number = st.integers(0, 2**70)
step = st.integers(0, 24)
value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
mapping = st.dictionaries(text, value, max_size=3)
locator = st.builds(
    Locator,
    lib=text,
    kind=st.sampled_from(["item", "pdf", "epub", "html", "note", "annotation", "collection", "tag"]),
    item=text,
    att=text,
    page_index=st.none() | number,
    page_label=text,
    annotation=text,
    section=st.none() | number,
    href=text,
    cfi=text,
    quote=text,
)
image = st.builds(ImagePart, text, text, text, number, number, step)
resource = st.builds(ResourcePart, locator, text, text, step)
tool = st.builds(
    ToolPart,
    id=text,
    name=text,
    input=mapping,
    state=st.sampled_from(["pending", "done", "error", "denied", "cancelled", "interrupted"]),
    step=step,
    result=text,
    sent=text,
    resources=st.lists(st.builds(Resource, locator, text), max_size=2).map(tuple),
    note=text,
    opaque=st.none() | mapping,
    images=st.lists(st.builds(ImagePart, text, text, text, number, number), max_size=2).map(tuple),
)
parts = st.lists(
    st.builds(TextPart, text, step)
    | st.builds(ReasoningPart, text, step, st.none() | mapping)
    | tool
    | image
    | resource,
    max_size=4,
).map(tuple)
usage = st.lists(
    st.builds(
        Usage,
        text,
        text,
        text,
        number,
        number,
        number,
        number,
        number,
        st.sampled_from(["provider", "estimate"]),
        st.booleans(),
        step,
        st.none() | st.floats(0, 1_000, allow_nan=False),
    ),
    max_size=2,
).map(tuple)
ledger = st.lists(
    st.builds(LedgerEntry, st.none() | locator, text, number, number, st.booleans()), max_size=3
).map(tuple)
drafts = st.builds(Draft, text, st.lists(image | resource, max_size=2).map(tuple))


@given(parts)
def test_parts_come_back_as_they_were(given_parts: Any) -> None:
    assert parts_from_json(loads(dumps(parts_to_json(given_parts))), unfinished=True) == given_parts
    assert storable(given_parts) == given_parts


@given(usage, ledger, drafts)
def test_usage_ledger_and_draft_come_back_as_they_were(one: Any, two: Any, three: Draft) -> None:
    assert usage_from_json(loads(dumps(usage_to_json(one)))) == one
    assert ledger_from_json(loads(dumps(ledger_to_json(two)))) == two
    assert draft_from_json(loads(dumps(draft_to_json(three)))) == three


@pytest.mark.parametrize(
    "odd", ["a\x00b", "\u2028\u2029", "\ufeff", "\U0001f600", "e\u0301", "\r\n\x1b", "\uffff"]
)
def test_odd_characters_come_back_as_they_were(odd: str) -> None:
    assert parts_from_json(loads(dumps(parts_to_json((TextPart(odd),))))) == (TextPart(odd),)


SURROGATE = "half \ud83d a character"


@pytest.mark.parametrize(
    "write",
    [
        lambda: parts_to_json((TextPart(SURROGATE),)),
        lambda: parts_to_json((ReasoningPart("", 0, {"k": [SURROGATE]}),)),
        lambda: parts_to_json((ToolPart("t", "n", {SURROGATE: 1}, "done"),)),
        lambda: parts_to_json((ResourcePart(Locator("u", "item", quote=SURROGATE), "", ""),)),
        lambda: ledger_to_json((LedgerEntry(Locator("u", "item"), SURROGATE, 1, 1),)),
        lambda: draft_to_json(Draft(SURROGATE)),
        lambda: dumps({"a": SURROGATE}),
        lambda: parts_from_json([{"type": "text", "text": SURROGATE}]),
    ],
)
def test_half_characters_are_refused_with_a_sentence(write: Callable[[], object]) -> None:
    with pytest.raises(InvalidContent, match="half a character"):
        write()


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), b"bytes", (1, 2), {1: 2}, {"a": object()}])
def test_what_json_cannot_carry_is_refused(bad: object) -> None:
    with pytest.raises(InvalidContent):
        parts_to_json((ToolPart("t", "n", {"value": bad}, "done"),))


def test_everything_from_outside_can_be_made_storable() -> None:
    wild = (
        TextPart(SURROGATE),
        ReasoningPart(SURROGATE, 0, {"f": float("nan"), "b": b"x", "t": (1, SURROGATE)}),
        ToolPart(
            SURROGATE,
            "n",
            {SURROGATE: [object()]},
            "done",
            resources=(Resource(Locator("u", "item", quote=SURROGATE), SURROGATE),),
            images=(ImagePart("ab", SURROGATE, "image/png"),),
        ),
        ImagePart("ab", SURROGATE, "image/png"),
        ResourcePart(Locator("u", "item", cfi=SURROGATE), SURROGATE, SURROGATE),
    )
    mended = storable(wild)
    assert mended[0] == TextPart("half \ufffd a character")
    assert parts_from_json(loads(dumps(parts_to_json(mended)))) == mended


TOOL: dict[str, Any] = {"type": "tool", "id": "t", "name": "n", "input": {}, "state": "done"}


@pytest.mark.parametrize(
    ("bad", "word"),
    [
        ({}, "list"),
        ("text", "list"),
        (["text"], "object"),
        ([{}], "type"),
        ([{"type": "hologram", "text": "x"}], "hologram"),
        ([{"type": "text"}], "text"),
        ([{"type": "text", "text": 5}], "text"),
        ([{"type": "text", "text": "x", "step": "0"}], "step"),
        ([{"type": "text", "text": "x", "step": True}], "step"),
        ([TOOL | {"state": "asleep"}], "asleep"),
        ([TOOL | {"state": "pending"}], "no result"),
        ([TOOL | {"input": []}], "input"),
        ([TOOL | {"opaque": 7}], "Provider data"),
        ([TOOL | {"resources": {}}], "list"),
        ([TOOL | {"images": {}}], "list"),
        ([TOOL | {"images": [{"name": "x", "mime": "image/png"}]}], "blob"),
        ([TOOL | {"resources": [{"title": "x"}]}], "place"),
        ([{"type": "image", "name": "x", "mime": "image/png"}], "blob"),
        ([{"type": "resource", "title": "x", "sent": ""}], "place"),
        ([{"type": "resource", "title": "x", "sent": "", "locator": {"lib": "u", "kind": "moon"}}], "moon"),
    ],
)
def test_wrong_parts_are_refused_with_a_reason(bad: object, word: str) -> None:
    with pytest.raises(InvalidContent, match=word) as caught:
        parts_from_json(json.loads(json.dumps(bad)))
    assert caught.value.reason == str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_unknown_keys_of_a_known_part_are_ignored() -> None:
    assert parts_from_json([{"type": "text", "text": "x", "colour": "red"}]) == (TextPart("x"),)


@pytest.mark.parametrize("bad", ["", "[", "[1", "NaN", "[Infinity]", "\x00", "[" * 100_000, b"[]", None])
def test_text_that_is_no_json_is_refused(bad: object) -> None:
    with pytest.raises(InvalidContent):
        loads(bad)


@pytest.mark.parametrize(
    ("read", "bad"),
    [
        (usage_from_json, [{"provider": "p", "model": "m", "input_total": 1.5, "output_total": 1}]),
        (usage_from_json, [{"provider": "p", "model": "m", "input_total": 1}]),
        (
            usage_from_json,
            [{"provider": "p", "model": "m", "input_total": 1, "output_total": 1, "cost": "1"}],
        ),
        (usage_from_json, [{"provider": "p", "model": "m", "input_total": 1, "output_total": 1, "cost": -1}]),
        (
            usage_from_json,
            [{"provider": "p", "model": "m", "input_total": 1, "output_total": 1, "source": "x"}],
        ),
        (
            usage_from_json,
            [{"provider": "p", "model": "m", "input_total": 1, "output_total": 1, "complete": 1}],
        ),
        (usage_from_json, None),
        (ledger_from_json, [{"locator": {"lib": "u", "kind": "item"}, "title": "t", "count": 1}]),
        (ledger_from_json, [7]),
        (draft_from_json, []),
        (draft_from_json, {"text": "x", "attached": [{"type": "text", "text": "y"}]}),
    ],
)
def test_wrong_records_are_refused(read: Callable[[object], object], bad: object) -> None:
    with pytest.raises(InvalidContent):
        read(bad)
