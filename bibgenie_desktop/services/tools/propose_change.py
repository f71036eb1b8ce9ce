"""`propose_change`: a note, tags or collections for the person's Zotero, as a card to accept or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from bibgenie_desktop.domain.models import ToolSpec
from bibgenie_desktop.services.tools.arguments import Arguments, BadArguments
from bibgenie_desktop.services.tools.base import Card, Decision, ToolResult
from bibgenie_desktop.services.zotero_changes.building import KINDS, ChangeBuilder
from bibgenie_desktop.services.zotero_changes.executor import ZoteroChanges
from bibgenie_desktop.services.zotero_changes.homes import home_name
from bibgenie_desktop.zotero.service import ZoteroLibrary

NOWHERE: Final = "Changes cannot be written here."


class ProposeChange:
    spec = ToolSpec(
        name="propose_change",
        description=(
            "Propose to save a note, or to change tags or collections of an item. The person sees a card and "
            "accepts, edits or declines it. Only where they ask for it."
        ),
        parameters={
            "type": "object",
            "properties": {
                "kind": {"type": "string", "enum": list(KINDS)},
                "target": {
                    "type": "string",
                    "description": "item id; of a note also a collection id or a library (u, g12)",
                },
                "content": {
                    "type": "string",
                    "description": "the note's Markdown with citations; else a tag or collection a line, "
                    "-name removes",
                },
            },
            "required": ["kind", "target", "content"],
        },
        slim_description="Propose a note, tags or a collection for Zotero; the person decides.",
    )

    def __init__(self, library: ZoteroLibrary, changes: ZoteroChanges | None = None) -> None:
        self._library = library
        self._changes = changes

    async def run(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Never without a card."""
        found = await self.propose(arguments)
        return found if isinstance(found, ToolResult) else ToolResult(NOWHERE, error=True)

    async def propose(self, arguments: Mapping[str, Any]) -> Card | ToolResult:
        try:
            given = Arguments(arguments, self.spec.parameters["properties"])
            kind, target = given.text("kind").lower(), given.text("target")
            listed = _is_list(arguments)
            content = "\n".join(given.texts("content", 100)) if listed else given.text("content")
            await self._library.ensure_loaded()
            builder = ChangeBuilder(self._library)
            if not listed:
                content = builder.one_a_line(kind, content)
            change = builder.change(kind, target, content)
        except BadArguments as error:
            return ToolResult(str(error), error=True)
        refusal = NOWHERE if self._changes is None else await self._changes.refusal(change.library)
        card = builder.card(kind, target, content, change)
        return replace(card, refusal=refusal, kept=True, home=home_name(self._library))

    async def carry_out(self, card: Card, decision: Decision) -> ToolResult:
        if self._changes is None:
            return ToolResult(NOWHERE, error=True)
        outcome = await self._changes.accept(card.call_id, decision)
        if outcome.unknown:
            return ToolResult(
                f"The person accepted, but whether it was written is not known: {outcome.words} "
                "They can look again from the card; do not propose it again by yourself.",
                note="not known",
                error=True,
            )
        if not outcome.written:
            return ToolResult(
                f"The person accepted, but nothing was written: {outcome.words} "
                "They can try it again from the card; do not propose it again by yourself.",
                note="not written",
                error=True,
            )
        if outcome.content:
            text = f"Accepted with changes by the person. {outcome.words} It now says:\n{outcome.content}"
            return ToolResult(text, note="accepted with changes")
        return ToolResult(f"Accepted. {outcome.words}", note="accepted")


def _is_list(arguments: Mapping[str, Any]) -> bool:
    return isinstance(arguments, Mapping) and isinstance(arguments.get("content"), list)
