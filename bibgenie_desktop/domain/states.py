"""What a session allows in each of its states. The interface enables its actions from this table and
nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class SessionState(StrEnum):
    IDLE = "idle"
    PREFLIGHT = "preflight"
    COMPACTING = "compacting"
    STREAMING = "streaming"
    AWAITING_APPROVAL = "awaiting approval"
    READ_ONLY = "read-only"


class Action(StrEnum):
    TYPE = "type"
    SEND = "send"
    QUEUE = "queue a follow-up"
    CANCEL = "cancel"
    STOP = "stop"
    RETRY = "retry"
    EDIT = "edit"
    FORK = "fork"
    SWITCH_BRANCH = "switch branch"
    SWITCH_SESSION = "switch session"
    COMPACT = "compact"
    CHOOSE_MODEL = "choose a model"
    UNDO_CHECKPOINT = "undo the checkpoint"
    REVISE_SUMMARY = "revise the summary"
    ARCHIVE = "archive a branch"
    ANSWER_CARD = "answer the card"
    COPY = "copy"
    SEARCH = "search"
    EXPORT = "export"
    COPY_READABLE = "copy the readable part"


_ALWAYS: Final = frozenset({Action.SWITCH_SESSION, Action.COPY, Action.SEARCH, Action.EXPORT})
_WORKING: Final = _ALWAYS | {Action.TYPE, Action.QUEUE, Action.STOP, Action.FORK}

ALLOWED: Final[Mapping[SessionState, frozenset[Action]]] = {
    SessionState.IDLE: frozenset(Action)
    - {Action.QUEUE, Action.CANCEL, Action.STOP, Action.ANSWER_CARD, Action.COPY_READABLE},
    SessionState.PREFLIGHT: _ALWAYS | {Action.CANCEL, Action.TYPE},
    SessionState.COMPACTING: _ALWAYS | {Action.CANCEL, Action.TYPE, Action.SEND},
    SessionState.STREAMING: _WORKING,
    SessionState.AWAITING_APPROVAL: _WORKING | {Action.ANSWER_CARD},
    SessionState.READ_ONLY: _ALWAYS | {Action.COPY_READABLE},
}

_REASON: Final[Mapping[SessionState, str]] = {
    SessionState.IDLE: "Nothing is running.",
    SessionState.PREFLIGHT: "The request is being checked before it is sent.",
    SessionState.COMPACTING: "Earlier context is being compacted. Wait for it or cancel it.",
    SessionState.STREAMING: "An answer is being written. Wait for it or stop it.",
    SessionState.AWAITING_APPROVAL: "A proposal waits for your answer.",
    SessionState.READ_ONLY: "This session is damaged and can only be read.",
}


def refusal(state: SessionState, action: Action) -> str | None:
    """Why an action is not possible in a state, as a sentence; None when it is."""
    return None if action in ALLOWED[state] else _REASON[state]
