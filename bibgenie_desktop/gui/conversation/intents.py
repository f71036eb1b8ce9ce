"""What a person can ask for in the conversation, as signals, and what message widgets share.

The view hands one `Intents` to every message; messages never know the view. The view shows the same signals
as its own.
"""

import weakref
from dataclasses import dataclass, field

from PySide6.QtCore import QObject, QRect, Signal

from bibgenie_desktop.gui.conversation.rows import Action, Allowed
from bibgenie_desktop.gui.pictures.thumbnails import Thumbnails
from bibgenie_desktop.gui.render.math import MathRenderer
from bibgenie_desktop.gui.tr import tr


class Intents(QObject):
    """Wishes about messages; ids are row ids."""

    retry_requested = Signal(str)
    retry_with_requested = Signal(str)
    go_on_requested = Signal(str)
    edit_requested = Signal(str)
    fork_requested = Signal(str)
    sibling_requested = Signal(str, int)
    copy_requested = Signal(str, str)
    """Row id and form: markdown, plain, citations, code."""
    quote_requested = Signal(str)
    """The text to quote."""
    citation_opened = Signal(object)
    link_opened = Signal(str)
    card_requested = Signal(object, QRect, bool)
    checkpoint_toggled = Signal(str, bool)
    compare_requested = Signal(str)
    pin_requested = Signal(str)
    """A sentence that is never to be dropped."""
    whole_text_requested = Signal(str)
    """A text of which only beginning and end are shown."""
    picture_requested = Signal(str, str)
    """A picture's key and name, to be shown large."""
    menu_requested = Signal(str)
    """The More button of a message."""
    notice = Signal(str)
    """Something small was done, such as copied."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._allowed: weakref.WeakMethod[Allowed] | Allowed | None = None

    def set_allowed(self, allowed: Allowed | None) -> None:
        """Who says what can be done now.

        A bound method is held weakly, so that no window outlives its use.
        """
        bound = getattr(allowed, "__self__", None) is not None
        self._allowed = weakref.WeakMethod(allowed) if bound and allowed is not None else allowed

    def reason_against(self, action: Action, row_id: str) -> str | None:
        """Why an action cannot be done now; None when it can."""
        allowed = self._allowed() if isinstance(self._allowed, weakref.WeakMethod) else self._allowed
        return allowed(action, row_id) if allowed is not None else None


@dataclass(slots=True)
class Surroundings:
    """What every message widget of one view shares."""

    intents: Intents
    math: MathRenderer | None = None
    thumbnails: Thumbnails | None = None
    folds: dict[str, bool] = field(default_factory=dict)
    """What the person opened or closed, by row and part; it outlives the widgets."""


def reason_by_kind(action: Action, kind: str) -> str | None:
    """What can never be done with a kind of row, whatever the state of the session."""
    if kind == "checkpoint" and action in ("retry", "retry_with", "go_on", "edit", "fork"):
        return tr("A checkpoint is not a message: continue from a message before or after it")
    if kind == "assistant" and action == "edit":
        return tr("Only your own messages can be edited")
    return None
