"""A write as it is recorded before it is sent: enough to find out later whether it arrived.

Plain JSON as well, for the journal; the words of a note are not in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from bibgenie_desktop.zotero.online.changes import (
    Change,
    NoteChange,
    RouteName,
    change_from_json,
    change_to_json,
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """`change` is what was sent, a note without its words, which `digest` stands for.

    `server_id` and `user_id` say to whom; 0: an account that is not known. `twins` are notes with the same
    words that were there before. `added`, `removed` and `automatic` are what it does to the item as it was.
    """

    change: Change
    route: RouteName
    server_id: str = ""
    user_id: int = 0
    digest: str = ""
    twins: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    automatic: tuple[str, ...] = ()


def wordless(change: Change) -> Change:
    return replace(change, markdown="", html="") if isinstance(change, NoteChange) else change


def attempt_to_json(attempt: Attempt) -> dict[str, Any]:
    data = {k: v for k, v in asdict(attempt).items() if v and k != "change"}
    return {**data, "change": change_to_json(wordless(attempt.change))}


def attempt_from_json(data: Mapping[str, Any]) -> Attempt:
    """Raises `ValueError` for what tells nothing."""
    known: dict[str, Any] = {
        k: tuple(v) if isinstance(v, list) else v for k, v in data.items() if k != "change"
    }
    change = data.get("change")
    try:
        return Attempt(change_from_json(change if isinstance(change, dict) else {}), **known)
    except TypeError as error:
        raise ValueError("not an attempt") from error
