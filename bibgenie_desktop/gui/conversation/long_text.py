"""Texts that are too long to be typeset whole while one waits: their beginning and their end stand in the
conversation, the whole is shown on demand.
"""

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from bibgenie_desktop.gui.components import Elided, push, row
from bibgenie_desktop.gui.tr import number, tr

MOST: Final = 200_000
"""Characters that are typeset at once."""
HEAD, TAIL = 40_000, 20_000
MOST_THOUGHTS: Final = 12_000


def is_long(text: str) -> bool:
    return len(text) > MOST


def shortened(text: str) -> str:
    """The text, or its beginning and its end with a rule between them."""
    if not is_long(text):
        return text
    head, tail = text[:HEAD], text[-TAIL:]
    head = head[: head.rfind("\n\n", HEAD // 2) if "\n\n" in head[HEAD // 2 :] else HEAD]
    cut = tail.find("\n\n", 0, TAIL // 2)
    tail = tail[max(0, cut) :]
    if sum(line.lstrip().startswith("```") for line in head.split("\n")) % 2:
        head += "\n```"
    return f"{head.rstrip()} …\n\n---\n\n… {tail.lstrip()}"


def excerpt(thoughts: str) -> str:
    """What is shown of a model's thoughts: never more than a label can hold without being slow."""
    if len(thoughts) <= MOST_THOUGHTS:
        return thoughts
    half = MOST_THOUGHTS // 2
    return f"{thoughts[:half].rstrip()} …\n\n… {thoughts[-half:].lstrip()}"


class WholeTextBar(QFrame):
    """Says that the middle is left out; a click asks for the whole."""

    requested = Signal()

    def __init__(self, length: int) -> None:
        super().__init__()
        self.setObjectName("wholeTextBar")
        said = tr("Beginning and end of {0} characters").format(number(length))
        show = push(tr("Show all"), dense=True, object_name="showWholeText")
        show.clicked.connect(self.requested)
        self.setLayout(row(Elided(said, "small", "2"), show, spacing=8, grow=0))
