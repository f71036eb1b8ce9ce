"""A tag as an item carries it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tag:
    name: str
    automatic: bool
