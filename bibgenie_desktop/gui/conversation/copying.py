"""A message as text for the clipboard, in the form that was asked for."""

from bibgenie_desktop.gui.conversation.long_text import is_long
from bibgenie_desktop.gui.conversation.message import MessageWidget
from bibgenie_desktop.gui.conversation.rows import AnswerRow, CheckpointRow, Row, UserRow
from bibgenie_desktop.gui.render.source import MARKER


def copied_text(row: Row, message: MessageWidget, form: str) -> str:
    """markdown: as written, with readable citations; plain and quote: without marks; code: only the code."""
    if form == "code":
        return "\n\n".join(text for view in message.views() for text in view.code_texts())
    if form == "markdown" and isinstance(row, UserRow | AnswerRow):
        return readable_markdown(row)
    if form == "markdown" and isinstance(row, CheckpointRow):
        return "\n\n".join(f"## {title}\n\n{text}" for title, text in row.sections)
    if isinstance(row, UserRow | AnswerRow) and is_long(row.text):
        return row.text  # only a part of it stands in the view
    return message.plain_text()


def readable_markdown(row: UserRow | AnswerRow) -> str:
    """The Markdown of a message with each citation marker replaced by its label in brackets."""
    if isinstance(row, UserRow):
        return row.text
    labels = {marker: view.label for marker, view in row.citations.items()}
    return MARKER.sub(lambda found: f"({labels.get(found[0], found[0].strip('[]'))})", row.text)
