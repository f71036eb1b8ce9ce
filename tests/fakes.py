"""Small stand-ins that are real implementations of our own protocols."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.locators import Locator, Resource
from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.services.tools.base import Card, Decision, ToolResult


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


class Moody:
    """A tool whose query says how it goes: `huge`, `fails`, `crashes`, anything else is found."""

    spec = Notebook.spec

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        query = str(arguments.get("query", ""))
        if query == "fails":
            raise UserError("The library is closed.", "Open it.")
        if query == "crashes":
            raise ToolBug(query)
        found = Resource(Locator("u", "item", item="ABCD2345"), "Sleep")
        return ToolResult("line of a page " * (3_000 if query == "huge" else 20), (found,), "1 item")


class ToolBug(Exception):
    """A fault of ours inside a tool."""


class Proposer:
    """A tool that asks before it changes something; `done` says what was carried out."""

    spec = ToolSpec(
        "propose_change",
        "Propose a change.",
        {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    )

    def __init__(self) -> None:
        self.done: list[str] = []

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        raise ToolBug("a proposal is never run without a card")

    async def propose(self, arguments: Mapping[str, Any]) -> Card | ToolResult:
        text = str(arguments.get("text", ""))
        if not text:
            return ToolResult("Say in `text` what to write.", error=True)
        return Card("Save a note", "u-ABCD2345", text)

    async def carry_out(self, card: Card, decision: Decision) -> ToolResult:
        self.done.append(decision.content if decision.kind == "edited" else card.content)
        return ToolResult(f"The note was saved ({decision.kind}).", note=decision.kind)
