"""What a tool for the model is: a description, and a coroutine that answers with text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from bibgenie_desktop.domain.locators import Resource
from bibgenie_desktop.domain.models import ToolSpec


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call brought.

    `text` is for the model, the `resources` it touched for the ledger, `note` for the person.
    """

    text: str
    resources: tuple[Resource, ...] = ()
    note: str = ""
    error: bool = False


class Tool(Protocol):
    """Ids are `u-KEY` or `g<groupID>-KEY`. Wrong arguments are answered with a `ToolResult` that teaches."""

    @property
    def spec(self) -> ToolSpec: ...

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult: ...


UNTRUSTED = '<zotero_data trust="untrusted">\n{0}\n</zotero_data>'
"""The fence around library text: data, never instructions."""
