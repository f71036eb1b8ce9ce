"""The event reader on bytes: every way of cutting and ending lines."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.domain.errors import BadAnswer
from bibgenie_desktop.providers.sse import SseEvent, SseReader

STREAM = (
    b"\xef\xbb\xbf: connected\r\n\r\n"
    b'event: message\rdata: {"a":1}\r\rdata:first\ndata:  second\n\n'
    b"id: 7\nretry: 100\ndata\n\n"
    + 'data: "ü\u2028\u0085\u4e2d\U0001f600"\r\n\r\n'.encode()
    + b": ping\n\ndata: [DONE]\n\n"
)
EVENTS = [
    SseEvent('{"a":1}', "message"),
    SseEvent("first\n second"),
    SseEvent(""),
    SseEvent('"ü\u2028\u0085\u4e2d\U0001f600"'),
    SseEvent("[DONE]"),
]


def read(*pieces: bytes) -> list[SseEvent]:
    reader = SseReader()
    events = [event for piece in pieces for event in reader.feed(piece)]
    return [*events, *reader.close()]


def test_whole_stream_is_read() -> None:
    assert read(STREAM) == EVENTS


def test_cut_at_every_byte_changes_nothing() -> None:
    for at in range(len(STREAM) + 1):
        assert read(STREAM[:at], STREAM[at:]) == EVENTS, at


def test_single_bytes_are_enough() -> None:
    assert read(*(STREAM[i : i + 1] for i in range(len(STREAM)))) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=6))
def test_any_cuts_change_nothing(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    assert read(*(STREAM[a:b] for a, b in pairwise(edges))) == EVENTS


def test_event_is_given_as_soon_as_its_blank_line_is_there() -> None:
    reader = SseReader()
    assert reader.feed(b"data: x\r\n\r") == [SseEvent("x")]
    assert reader.feed(b"\ndata: y\n") == []
    assert reader.feed(b"\n") == [SseEvent("y")]


def test_last_event_without_blank_line_is_given_at_the_end() -> None:
    assert read(b"data: a\n\ndata: b") == [SseEvent("a"), SseEvent("b")]
    assert read(b"data: a\n\ndata: b\n") == [SseEvent("a"), SseEvent("b")]


def test_endless_event_is_refused_in_time() -> None:
    reader = SseReader(max_event_bytes=100)
    for _ in range(10):
        reader.feed(b"x" * 10)
    with pytest.raises(BadAnswer):
        reader.feed(b"x")


def test_many_pings_are_not_an_endless_event() -> None:
    reader = SseReader(max_event_bytes=100)
    for _ in range(100):
        assert reader.feed(b": ping\n") == []
    assert reader.feed(b"data: x\n\n") == [SseEvent("x")]


def test_bytes_that_are_no_utf8_do_not_stop_the_stream() -> None:
    assert read(b"data: a\xff\n\ndata: b\n\n") == [SseEvent("a\ufffd"), SseEvent("b")]
