"""`inspect checkpoints`: the checkpoints on a session's active path, oldest first."""

from __future__ import annotations

from typing import Any

from bibgenie_desktop.cli.output import say
from bibgenie_desktop.domain.codec import ledger_to_json
from bibgenie_desktop.domain.messages import Checkpoint, Message, Path, Session
from bibgenie_desktop.domain.projection import newest_checkpoint, position
from bibgenie_desktop.domain.topology import DamagedBranch, Placeholder
from bibgenie_desktop.services.export import whole_path
from bibgenie_desktop.storage.store import Store


def checkpoints(store: Store, session: Session) -> list[dict[str, Any]]:
    """Of a damaged session, those behind the last break; their spans are null where they reach into it."""
    path = whole_path(store, session)
    if isinstance(path, DamagedBranch):
        say(f"This conversation is damaged. {path.reason}")
        path = _after_break(path)
    return [_checkpoint(path, index, m) for index, m in enumerate(path) if isinstance(m, Checkpoint)]


def _after_break(damaged: DamagedBranch) -> Path:
    sound: list[Message] = []
    for node in reversed(damaged.readable):
        if isinstance(node, Placeholder):
            break
        sound.append(node)
    return tuple(reversed(sound))


def _checkpoint(path: Path, index: int, checkpoint: Checkpoint) -> dict[str, Any]:
    return {
        "id": checkpoint.id,
        "trigger": checkpoint.trigger,
        "head": {"leaf_id": checkpoint.head_leaf_id, "branch_revision": checkpoint.head_revision},
        "boundary": checkpoint.first_kept_id,
        "span": _span(path[: index + 1]),
        "model": checkpoint.model,
        "tokens_before": checkpoint.tokens_before,
        "tokens_after": checkpoint.tokens_after,
        "time": checkpoint.created_at,
        "imported": checkpoint.imported,
        "resources": [
            {"id": entry.locator.id if entry.locator is not None else None, **value}
            for entry, value in zip(checkpoint.ledger, ledger_to_json(checkpoint.ledger), strict=True)
        ],
    }


def _span(path: Path) -> list[str] | None:
    """What the checkpoint at the end of a path newly replaced: from the previous position up to its own."""
    *before, _ = path
    previous = newest_checkpoint(tuple(before))
    whole = path[0].parent_id is None
    try:
        start = 0 if previous is None else position(path[:-1], previous)
        end = position(path, len(path) - 1)
    except StopIteration:  # the boundary lies in the part that cannot be read
        return None
    if previous is None and not whole:
        return None
    return [m.id for m in path[start:end] if not isinstance(m, Checkpoint)]
