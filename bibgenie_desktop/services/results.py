"""How much of a tool result a model gets: what fits, cut with a handle that `read_result` takes."""

from __future__ import annotations

from dataclasses import replace

from bibgenie_desktop.domain.errors import UserError
from bibgenie_desktop.domain.estimate import PER_IMAGE
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.numbers import whole_number
from bibgenie_desktop.domain.serialise import grapheme_border
from bibgenie_desktop.domain.tokens import estimate_text
from bibgenie_desktop.services.planner import Plan
from bibgenie_desktop.services.tools.base import ToolResult

LEAST_RESULT = 150
"""Tokens below which a cut result says nothing any more."""
NO_ROOM_FOR_PICTURE = (
    "The context has no room left for a picture. Answer from the text, or say what is missing."
)


def pictures_cost(result: ToolResult, plan: Plan) -> int:
    """Tokens of the pictures of a result, whatever their size."""
    return plan.estimator.scaled(PER_IMAGE * len(result.pictures))


def for_model(result: ToolResult, plan: Plan, budget: int) -> ToolResult:
    """A result as this model is told it: with the hint for those that see, and without pictures for which
    `budget` has no room."""
    if plan.profile.vision and result.for_eyes:
        result = replace(result, text=f"{result.text}\n{result.for_eyes}")
    if plan.limits.assumed or pictures_cost(result, plan) + LEAST_RESULT <= budget or not result.pictures:
        return result
    return ToolResult(NO_ROOM_FOR_PICTURE, note="no room", error=True)


def handle(message_id: MessageId, part_index: int) -> str:
    """The name under which a whole result can be read again."""
    return f"{message_id}/{part_index}"


def split_handle(text: str) -> tuple[MessageId, int]:
    """Message and part of a handle; `UserError` with the right form otherwise."""
    message, _, index = text.strip().rpartition("/")
    if not message or (number := whole_number(index)) is None:
        raise UserError(
            f"“{text}” is not a handle.", "Use one as a cut result names it: <message id>/<part>."
        )
    return MessageId(message), number


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
