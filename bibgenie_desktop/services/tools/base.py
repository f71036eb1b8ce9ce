"""What a tool for the model is: a description, and a coroutine that answers with text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from bibgenie_desktop.domain.locators import Resource
from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.services.images import Picture


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call brought.

    `text` is for the model, the `resources` it touched for the ledger, `note` for the person; `pictures` are
    shown to the model, and `for_eyes` is added to the text for a model that sees.
    """

    text: str
    resources: tuple[Resource, ...] = ()
    note: str = ""
    error: bool = False
    denied: bool = False
    pictures: tuple[Picture, ...] = ()
    for_eyes: str = ""


class Tool(Protocol):
    """Ids are `u-KEY` or `g<groupID>-KEY`. Wrong arguments are answered with a `ToolResult` that teaches."""

    @property
    def spec(self) -> ToolSpec: ...

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult: ...


@dataclass(frozen=True, slots=True)
class Card:
    """A change that a model proposes: shown to the person before anything is done."""

    title: str
    target: str
    content: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What the person said to a card; `content` is what they edited it to."""

    kind: Literal["accepted", "edited", "declined"]
    content: str = ""


@runtime_checkable
class ProposingTool(Tool, Protocol):
    """A tool that changes something: the turn waits for the person between `propose` and `carry_out`."""

    async def propose(self, arguments: Mapping[str, Any]) -> Card | ToolResult:
        """The card, or a result right away where the arguments cannot be proposed."""

    async def carry_out(self, card: Card, decision: Decision) -> ToolResult:
        """Does what was accepted or edited; never called for a declined card."""


UNTRUSTED = '<zotero_data trust="untrusted">\n{0}\n</zotero_data>'
"""The fence around library text: data, never instructions."""
