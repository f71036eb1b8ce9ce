"""Which widget shows which row."""

from bibgenie_desktop.gui.conversation.answer import AnswerMessage
from bibgenie_desktop.gui.conversation.checkpoint import CheckpointMessage
from bibgenie_desktop.gui.conversation.intents import Surroundings
from bibgenie_desktop.gui.conversation.marks import (
    CustomMessage,
    PlaceholderMessage,
    VerbatimMark,
)
from bibgenie_desktop.gui.conversation.message import MessageWidget
from bibgenie_desktop.gui.conversation.rows import (
    AnswerRow,
    CheckpointRow,
    PlaceholderRow,
    Row,
    UserRow,
    VerbatimRow,
    WidgetRow,
)
from bibgenie_desktop.gui.conversation.user import UserMessage


def make_message(row: Row, surroundings: Surroundings) -> MessageWidget:
    """A widget for a row."""
    match row:
        case UserRow():
            return UserMessage(row, surroundings)
        case AnswerRow():
            return AnswerMessage(row, surroundings)
        case CheckpointRow():
            return CheckpointMessage(row, surroundings)
        case VerbatimRow():
            return VerbatimMark(row, surroundings)
        case PlaceholderRow():
            return PlaceholderMessage(row, surroundings)
        case WidgetRow():
            return CustomMessage(row, surroundings)
