"""How much of a tool result a model gets: what fits, cut with a handle that `read_result` takes."""

from __future__ import annotations

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.serialise import grapheme_border
from bibgenie_desktop.domain.tokens import estimate_text

LEAST_RESULT = 150
"""Tokens below which a cut result says nothing any more."""


def handle(message_id: MessageId, part_index: int) -> str:
    """The name under which a whole result can be read again."""
    return f"{message_id}/{part_index}"


def split_handle(text: str) -> tuple[MessageId, int]:
    """Message and part of a handle; `UserError` with the right form otherwise."""
    message, _, index = text.strip().rpartition("/")
    if not message or not index.isdigit():
        raise UserError(
            f"“{text}” is not a handle.", "Use one as a cut result names it: <message id>/<part>."
        )
    return MessageId(message), int(index)


def fit_result(result: str, budget: int, name: str) -> str:
    """A result as sent: whole if it fits `budget` tokens, else its beginning and how to read on."""
    if estimate_text(result) <= budget:
        return result
    notice = (
        "\n[cut here: {0:,} of {1:,} characters shown; read_result with handle “{2}” and offset {0} reads on]"
    )
    room = max(1, budget - estimate_text(notice.format(len(result), len(result), name)))
    length = len(result) * room // max(1, estimate_text(result))
    while length > 1 and estimate_text(result[:length]) > room:
        length = length * 9 // 10
    length = grapheme_border(result, length)
    return result[:length] + notice.format(length, len(result), name)
