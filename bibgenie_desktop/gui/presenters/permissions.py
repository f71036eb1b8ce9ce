"""What can be done with a row of a conversation now: the table of states, and what kind of message it is."""

from __future__ import annotations

from bibgenie_desktop.domain.messages import AssistantMessage, UserMessage
from bibgenie_desktop.domain.states import Action
from bibgenie_desktop.domain.topology import Placeholder
from bibgenie_desktop.gui.conversation import rows as view_rows
from bibgenie_desktop.gui.presenters.conversation import Conversation
from bibgenie_desktop.gui.tr import tr

OF_ROW: dict[view_rows.Action, Action] = {
    "retry": Action.RETRY,
    "retry_with": Action.RETRY,
    "go_on": Action.SEND,
    "edit": Action.EDIT,
    "fork": Action.FORK,
    "copy": Action.COPY,
    "quote": Action.TYPE,
}


def reason_against(conversation: Conversation, action: view_rows.Action, row_id: str) -> str | None:
    """Why an action cannot be done with a row now; None when it can."""
    reason = conversation.chat.refusal(OF_ROW[action])
    if reason is not None or action in ("copy", "quote"):
        return reason
    entry = conversation.entry(row_id)
    if entry is None:
        return tr("This answer is still being written.")
    if action == "edit":
        return None if isinstance(entry, UserMessage) else tr("Only your own messages can be edited.")
    if isinstance(entry, Placeholder) or answer_of(conversation, row_id) is None:
        return tr("There is no answer here.")
    if action == "go_on" and not is_newest(conversation, row_id):
        return tr("The conversation has gone on already.")
    if action == "fork" and not isinstance(entry, AssistantMessage):
        return tr("A fork begins at an answer.")
    return None


def answer_of(conversation: Conversation, row_id: str) -> AssistantMessage | None:
    """The answer that a row is, or that follows the question it is."""
    for entry in conversation.entries:
        if isinstance(entry, AssistantMessage) and row_id in (entry.id, entry.parent_id):
            return entry
    return None


def is_newest(conversation: Conversation, row_id: str) -> bool:
    """Whether a row belongs to the last turn."""
    entries = conversation.entries
    last = max((i for i, e in enumerate(entries) if isinstance(e, UserMessage)), default=0)
    return any(e.id == row_id for e in entries[last:])


def marker_of(conversation: Conversation, citation: view_rows.CitationView) -> str:
    """The marker that a citation stands for."""
    found = (
        raw
        for row in conversation.rows()
        if isinstance(row, view_rows.AnswerRow)
        for raw, view in row.citations.items()
        if view == citation
    )
    return next(found, "")
