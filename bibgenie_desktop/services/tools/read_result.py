"""`read_result`: reads on in a result that was cut, and in the checkpoint's whole ledger."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.services.results import fit_result
from bibgenie_desktop.services.tools.base import ToolResult

MOST_TOKENS = 6_000

Reader = Callable[[str], Awaitable[str]]
"""The whole text behind a handle; raises `UserError` for a handle that leads nowhere."""


class ReadResult:
    """Bound to one conversation: handles lead only into its own active path."""

    spec = ToolSpec(
        name="read_result",
        description=(
            "Read on in an earlier tool result that was cut, by the handle its notice names, or in the list "
            "of used resources with handle “ledger”."
        ),
        parameters={
            "type": "object",
            "properties": {
                "handle": {"type": "string"},
                "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "in characters"},
                "max_tokens": {"type": "integer", "minimum": 200, "maximum": MOST_TOKENS, "default": 2000},
            },
            "required": ["handle"],
        },
        slim_description="Read on in a cut result.",
        slim_parameters={
            "type": "object",
            "properties": {"handle": {"type": "string"}, "offset": {"type": "integer"}},
            "required": ["handle"],
        },
    )

    def __init__(self, read: Reader) -> None:
        self._read = read

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        name = str(arguments.get("handle", ""))
        try:
            offset = max(0, int(arguments.get("offset") or 0))
            most = min(MOST_TOKENS, max(200, int(arguments.get("max_tokens") or 2_000)))
            text = await self._read(name)
        except UserError as error:
            return ToolResult(error.text, error=True)
        except (TypeError, ValueError):
            return ToolResult("offset and max_tokens are whole numbers.", error=True)
        if offset >= len(text):
            return ToolResult(
                f"The result has {len(text):,} characters; offset {offset:,} is past its end.", error=True
            )
        shown = fit_result(text[offset:], most, name)
        return ToolResult(f"[characters from {offset:,} of {len(text):,}]\n{shown}", note="read on")
