"""A short notation for paths: `"U1 A1 U2 A2 C1@U2 U3 A3"`, `C2@null` for a null boundary."""

from __future__ import annotations

from bibgenie_desktop.domain.ids import MessageId, TreeId
from bibgenie_desktop.domain.locators import LedgerEntry
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Message, Path, UserMessage
from bibgenie_desktop.domain.models import ModelProfile
from bibgenie_desktop.domain.parts import TextPart
from bibgenie_desktop.domain.usage import Usage

TREE = TreeId("tree")


def words(tokens: int) -> str:
    """A text that the estimate takes for (nearly) so many tokens: short words of 1.3 each."""
    return "word " * max(1, round(tokens / 1.3))


def path_of(
    notation: str, sizes: dict[str, int] | None = None, usage: dict[str, Usage] | None = None
) -> Path:
    """The path of a notation; `sizes` gives single messages a length in tokens."""
    built: list[Message] = []
    for token in notation.split():
        name, _, boundary = token.partition("@")
        parent = built[-1].id if built else None
        text = words((sizes or {}).get(name, 20))
        common = {"id": MessageId(name), "tree_id": TREE, "depth": len(built), "created_at": len(built)}
        if name[0] == "U":
            built.append(UserMessage(parent_id=parent, parts=(TextPart(f"{name} {text}"),), **common))
        elif name[0] == "A":
            reported = ((usage or {})[name],) if name in (usage or {}) else ()
            built.append(
                AssistantMessage(
                    parent_id=parent or MessageId(""),
                    parts=(TextPart(f"{name} {text}"),),
                    status="complete",
                    model="p/m",
                    usage=reported,
                    **common,
                )
            )
        else:
            built.append(checkpoint(name, parent, boundary, text, len(built)))
    return tuple(built)


def checkpoint(
    name: str,
    parent: MessageId | None,
    boundary: str,
    summary: str,
    depth: int,
    ledger: tuple[LedgerEntry, ...] = (),
) -> Checkpoint:
    return Checkpoint(
        id=MessageId(name),
        tree_id=TREE,
        parent_id=parent or MessageId(""),
        depth=depth,
        first_kept_id=None if boundary in ("", "null") else MessageId(boundary),
        summary=summary,
        ledger=ledger,
        ledger_projected="",
        trigger="manual",
        head_leaf_id=parent or MessageId(""),
        head_revision=0,
        tokens_before=0,
        tokens_after=0,
        model="p/m",
        created_at=depth,
    )


def profile_of(window: int = 10_000, **changes: object) -> ModelProfile:
    values: dict[str, object] = {
        "provider": "p",
        "model": "m",
        "base_url": "http://127.0.0.1",
        "window": window,
        "window_source": "user",
    }
    return ModelProfile(**{**values, **changes})  # type: ignore[arg-type]


def usage_of(input_total: int, output_total: int = 0, **changes: object) -> Usage:
    values: dict[str, object] = {
        "provider": "p",
        "base_url": "http://127.0.0.1",
        "model": "m",
        "input_total": input_total,
        "output_total": output_total,
    }
    return Usage(**{**values, **changes})  # type: ignore[arg-type]


def ids(messages: object) -> str:
    """Message ids in order, as the notation writes them."""
    return " ".join(m.id for m in messages)  # type: ignore[attr-defined]
