"""Streams that were damaged in every way: either right events or a `ProviderError`, never anything else.

Never a crash: any other exception fails. Never a hang or a full memory: each case has a bound on the events
and the text it may give, which grow with the bytes it was fed and with nothing else.
"""

# A row of a table stays one line.
# ruff: noqa: E501

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable

from bibgenie_desktop.domain.errors import ProviderError
from bibgenie_desktop.domain.projection import Projection
from bibgenie_desktop.providers.base import (
    Event,
    Finished,
    ReasoningClosed,
    ReasoningDelta,
    Request,
    TextDelta,
    ToolCalled,
    ToolCallStarted,
    UsageReported,
)
from bibgenie_desktop.providers.factory import codec_of
from tests.harness import Soak
from tests.providers.bodies import FULL
from tests.providers.helpers import PROFILE
from tests.providers.test_round_trip import LAST, STEP

EMPTY = Request(PROFILE, "", (), Projection(()), None)
SLOWEST = 2.0
"""Seconds for one body of a few kilobytes on a busy machine; a hang takes longer."""

TOKENS = (
    b"null", b"true", b"-1", b"0", b"1e999", b"NaN", b"99999999999999999999", b'""', b"[]", b"{}", b'"x"', b"[[[[[",
    b"\n\n", b"\r", b"\r\n", b"data:", b"event: error\n", b"data: [DONE]\n\n", b": x\n", b"\x00", b"\xff\xfe", b"\xe2\x80",
    b"\\ud800", b"\\", b'"error":{"message":"x"},', b'"index":1,', b'"index":[],', b'"type":"error",', b'"usage":7,',
    b'"type":"message_stop",', b'"done":true,', b'"finish_reason":"length",', b"data: {}\n\n", b'{"choices":[{}]}',
)  # fmt: skip


def flip(chance: random.Random, body: bytearray) -> None:
    body[chance.randrange(len(body))] = chance.randrange(256)


def drop(chance: random.Random, body: bytearray) -> None:
    start = chance.randrange(len(body))
    del body[start : start + chance.choice((1, 2, 8, 64))]


def double(chance: random.Random, body: bytearray) -> None:
    start = chance.randrange(len(body))
    piece = body[start : start + chance.choice((1, 16, 200))]
    body[start:start] = piece * chance.choice((1, 2, 20))


def insert(chance: random.Random, body: bytearray) -> None:
    start = chance.randrange(len(body))
    body[start:start] = chance.choice(TOKENS)


def replace_value(chance: random.Random, body: bytearray) -> None:
    """Something else behind a colon: the wrong type where a value is expected."""
    start = body.find(b":", chance.randrange(len(body)))
    if start >= 0:
        end = min((at for at in (body.find(b",", start), body.find(b"}", start)) if at >= 0), default=start)
        body[start + 1 : end] = chance.choice(TOKENS)


ODD = (
    None,
    True,
    -1,
    0,
    10**30,
    1.5,
    "",
    "x",
    "\ud800",
    [],
    {},
    [[]],
    [None],
    {"type": "text"},
    "error",
    400,
)


def change_node(chance: random.Random, body: bytearray) -> None:
    """One value anywhere in one event, exchanged, doubled or left out: well formed, and wrong."""
    rows = bytes(body).split(b"\n")
    number = chance.randrange(len(rows))
    prefix = b"data: " if rows[number].startswith(b"data: ") else b""
    try:
        root = json.loads(rows[number].removeprefix(prefix))
    except ValueError:
        return
    node = root
    while isinstance(node, dict | list) and node:
        place = chance.choice(list(node) if isinstance(node, dict) else range(len(node)))
        inner = node[place]
        if isinstance(inner, dict | list) and inner and chance.random() < 0.8:
            node = inner
            continue
        if chance.random() < 0.2:
            del node[place]
        elif isinstance(node, list) and chance.random() < 0.5:
            node.extend([inner] * chance.choice((1, 3)))
        else:
            node[place] = chance.choice(ODD)
        break
    rows[number] = prefix + json.dumps(root).encode()
    body[:] = b"\n".join(rows)


def swap_lines(chance: random.Random, body: bytearray) -> None:
    rows = bytes(body).split(b"\n")
    a, b = chance.randrange(len(rows)), chance.randrange(len(rows))
    rows[a], rows[b] = rows[b], rows[a]
    body[:] = b"\n".join(rows)


def cut(chance: random.Random, body: bytearray) -> None:
    del body[chance.randrange(len(body)) :]


MUTATIONS: tuple[Callable[[random.Random, bytearray], None], ...] = (
    flip, drop, double, insert, replace_value, change_node, change_node, change_node, swap_lines, cut,
)  # fmt: skip


def mutated(chance: random.Random, bodies: list[bytes]) -> bytes:
    body = bytearray(chance.choice(bodies))
    for _ in range(chance.choice((1, 1, 2, 3, 8))):
        chance.choice(MUTATIONS)(chance, body)
        if not body:
            break
    return bytes(body)


def run(chance: random.Random, kind: str, body: bytes) -> list[Event]:
    """The events of a body in pieces; raises what the decoder raises."""
    codec = codec_of(kind, "https://host/v1")
    reader, decoder = codec.reader(), codec.decoder(EMPTY)
    size = chance.choice((7, 100, 1_000, max(1, len(body))))
    events: list[Event] = []
    for start in range(0, len(body), size):
        for sent in reader.feed(body[start : start + size]):
            events.extend(decoder.feed(sent))
        if decoder.done:
            break
    else:
        for sent in reader.close():
            events.extend(decoder.feed(sent))
    return [*events, *decoder.finish()]


def check(events: list[Event], size: int) -> None:
    """What is true of every answer that ended well, whatever was sent."""
    assert [type(e) for e in events].count(Finished) == 1
    assert isinstance(events[-1], Finished)
    assert sum(isinstance(e, UsageReported) for e in events) <= 1
    assert len(events) <= size
    text = sum(len(e.text) for e in events if isinstance(e, TextDelta | ReasoningDelta))
    assert text <= size
    begun = [e.index for e in events if isinstance(e, ToolCallStarted)]
    called = [e for e in events if isinstance(e, ToolCalled)]
    assert begun == sorted(set(begun))
    assert len({e.index for e in called}) == len(called)
    assert set(begun) <= {e.index for e in called}
    for event in events:
        match event:
            case TextDelta(text=text_of) | ReasoningDelta(text=text_of):
                assert text_of.encode()
            case ToolCalled():
                assert event.name.encode() is not None
                assert isinstance(event.input, dict)
                assert json.dumps(event.input, ensure_ascii=False).encode()
                assert not (event.malformed and event.input)
            case ReasoningClosed(opaque=opaque):
                assert opaque is None or opaque["model"] == PROFILE.ref
                assert json.dumps(opaque, ensure_ascii=False).encode()
            case UsageReported(usage=usage):
                assert usage.input_total > 0
                assert usage.output_total >= usage.reasoning >= 0
                assert 0 <= usage.cache_read <= usage.input_total


def test_damaged_streams_give_right_events_or_a_typed_error(soak: Soak) -> None:
    bodies = {kind: [FULL[kind], STEP[kind], LAST[kind]] for kind in FULL}
    refused = understood = longest = 0
    for seed in range(soak.count(5_000, 100_000)):
        chance = random.Random(seed)
        kind = chance.choice(sorted(bodies))
        body = mutated(chance, bodies[kind])
        started = time.perf_counter()
        try:
            check(run(chance, kind, body), max(1, len(body)))
        except ProviderError as error:
            refused += 1
            longest = max(longest, len(str(error)))
        except Exception as fault:
            raise AssertionError(f"seed {seed}, {kind}: {fault!r}\n{body!r}") from fault
        else:
            understood += 1
        assert time.perf_counter() - started < SLOWEST, f"seed {seed} took too long"
    assert min(refused, understood) > 1_000
    assert 0 < longest < 600
