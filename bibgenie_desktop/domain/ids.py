"""Identities and the two sources that make them testable: a clock and an id maker."""

from __future__ import annotations

from collections.abc import Callable
from typing import NewType, TypeAlias

MessageId = NewType("MessageId", str)
SessionId = NewType("SessionId", str)
TreeId = NewType("TreeId", str)

Clock: TypeAlias = Callable[[], int]
"""UTC milliseconds since 1970."""

IdMaker: TypeAlias = Callable[[], str]
"""A fresh id on each call, later ones sorting after earlier ones."""


def uuid7(now_ms: int, entropy: bytes) -> str:
    """A version 7 UUID (RFC 9562) of a time in UTC milliseconds and ten bytes of entropy."""
    if len(entropy) != 10:
        raise ValueError("uuid7 needs ten bytes of entropy")
    value = (now_ms & 0xFFFFFFFFFFFF) << 80 | int.from_bytes(entropy)
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
