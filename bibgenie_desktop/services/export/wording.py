"""The words that the readable exports share: who speaks, when, one line for a tool step or a checkpoint."""

from __future__ import annotations

from datetime import UTC, datetime

from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Session
from bibgenie_desktop.domain.parts import ImagePart, ResourcePart, ToolPart
from bibgenie_desktop.domain.serialise import grapheme_border
from bibgenie_desktop.domain.tokens import as_json
from bibgenie_desktop.services.export.proposals import Fate

INPUT_LENGTH = 200
NO_ANSWER_YET = "There was no answer yet when this was exported."
STATUS = {
    "stopped": "This answer was stopped.",
    "failed": "This answer failed.",
    "interrupted": "This answer was interrupted.",
}
ENDED = {"error": "failed", "denied": "declined", "cancelled": "cancelled", "interrupted": "interrupted"}


def title_of(session: Session) -> str:
    return one_line(session.title) or "Untitled conversation"


def one_line(text: str) -> str:
    return " ".join(text.split())


def time_of(created_at: int) -> str:
    """`2026-01-31 14:05 UTC`; empty for a time that no calendar has."""
    try:
        return f"{datetime.fromtimestamp(created_at / 1000, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):
        return ""


def tool_input(part: ToolPart) -> str:
    """The arguments of a call on one line, cut where they are long."""
    text = as_json(dict(part.input))
    return text if len(text) <= INPUT_LENGTH else text[: grapheme_border(text, INPUT_LENGTH)] + "…"


def tool_outcome(part: ToolPart, fate: Fate | None = None) -> str:
    """What came of a call: `12 items`, or how it ended; of a proposal what the journal says of it."""
    if fate is not None:
        return f"{fate.said} ({time_of(fate.at)})" if time_of(fate.at) else fate.said
    said = one_line(part.note)
    ended = ENDED.get(part.state, "")
    return ": ".join(word for word in (ended, said) if word) or "done"


def status_of(message: AssistantMessage) -> str:
    """Why an answer is not complete, or what it says about its end; empty for a plain good end."""
    return " ".join(word for word in (STATUS.get(message.status, ""), one_line(message.error)) if word)


def checkpoint_line(checkpoint: Checkpoint) -> str:
    imported = ", imported" if checkpoint.imported else ""
    return (
        f"Compacted: {checkpoint.tokens_before:,} → {checkpoint.tokens_after:,} tokens "
        f"({checkpoint.trigger}, by {checkpoint.model}{imported})"
    )


def from_here(checkpoint: Checkpoint) -> str:
    kept = " and from the newest turns before it, word for word" if checkpoint.first_kept_id else ""
    return f"From here on the model worked from this summary{kept}. The messages above are unchanged."


def image_line(part: ImagePart) -> str:
    return f"image: {one_line(part.name)} ({part.mime})"


def attachment_line(part: ResourcePart) -> str:
    page = "" if part.locator.page_index is None else f", page {part.locator.page_index + 1}"
    return f"{one_line(part.title)} ({part.locator.id}{page})"
