"""Small stand-ins that are real implementations of our own protocols."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bibgenie_desktop.domain.locators import Locator, Resource
from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.services.tools.base import ToolResult


class Notebook:
    """A tool that answers with whatever text it was given, as long as asked for."""

    spec = ToolSpec(
        "search_items",
        "Look something up.",
        {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    )

    def __init__(self, text: str = "1 item: u-ABCD2345 “Sleep”") -> None:
        self.text = text
        self.calls: list[Mapping[str, Any]] = []

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        self.calls.append(arguments)
        found = Resource(Locator("u", "item", item="ABCD2345"), "Sleep")
        return ToolResult(self.text, (found,), "1 item")


class Clock:
    """A clock that is told the time; every look moves it a millisecond on."""

    def __init__(self, now: int = 1_700_000_000_000) -> None:
        self.now = now

    def __call__(self) -> int:
        self.now += 1
        return self.now
