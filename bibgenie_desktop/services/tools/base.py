"""What a tool for the model is: a description, and a coroutine that answers with text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
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
    """A change that a model proposes: shown to the person before anything is done.

    `target` says where in words, `target_id` is what the model named. `add` and `remove` are the tags or
    collections of a change that is no note. `refusal` says why it cannot be written now, only copied.
    `edited` is what the person made of `content`. `kept`: it is recorded, and can be answered after its turn.
    `home` names the Zotero library it was made for.
    """

    title: str
    target: str
    content: str
    kind: Literal["note", "tags", "collection"] = "note"
    target_id: str = ""
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    refusal: str = ""
    edited: str = ""
    kept: bool = False
    call_id: str = ""
    library: str = ""
    home: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def card_from_json(data: Mapping[str, Any]) -> Card:
    """What can be read of a stored card; what is missing is empty."""
    names = {f.name for f in fields(Card)}
    known: dict[str, Any] = {"title": "", "target": "", "content": ""}
    known |= {k: tuple(v) if isinstance(v, list) else v for k, v in data.items() if k in names}
    return Card(**known)


@dataclass(frozen=True, slots=True)
class Decision:
    """What the person said to a card; `content` is what they edited it to."""

    kind: Literal["accepted", "edited", "declined", "copied"]
    content: str = ""


@runtime_checkable
class ProposingTool(Tool, Protocol):
    """A tool that changes something: the turn waits for the person between `propose` and `carry_out`."""

    async def propose(self, arguments: Mapping[str, Any]) -> Card | ToolResult:
        """The card, or a result right away where the arguments cannot be proposed."""

    async def carry_out(self, card: Card, decision: Decision) -> ToolResult:
        """Does what was accepted or edited; never called for a card that was declined or only copied."""


UNTRUSTED = '<zotero_data trust="untrusted">\n{0}\n</zotero_data>'
"""The fence around library text: data, never instructions."""
