"""What the conversation shows: frozen values that presenters make of messages and hand to the view.

Nothing here knows Qt. A row's `id` is its message's id; giving a row with a known id to the view again
changes what is shown of it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

StepState = Literal["running", "done", "error", "denied", "cancelled", "interrupted"]
AnswerStatus = Literal["complete", "stopped", "failed", "interrupted"]
CitationState = Literal["verified", "paraphrase", "missing", "unverified"]
Action = Literal["retry", "go_on", "retry_with", "edit", "fork", "copy", "quote"]
Siblings: TypeAlias = tuple[int, int]
"""Which version this is, from 1, and how many there are."""

Allowed: TypeAlias = Callable[[Action, str], str | None]
"""Asked with an action and a row id: None when it can be done now, else the reason why not."""


@dataclass(frozen=True, slots=True)
class AttachmentView:
    """An item or a picture that belongs to a message. `icon` is a name of the icon set; width and height
    are a picture's pixels, its key is the hash of its content."""

    text: str
    icon: str = "article"
    key: str = ""
    tip: str = ""
    width: int = 0
    height: int = 0

    @property
    def is_picture(self) -> bool:
        return self.icon == "image" and bool(self.key)


@dataclass(frozen=True, slots=True)
class StepView:
    """One tool step: what was asked, and in two words what came of it."""

    glyph: str
    text: str
    result: str = ""
    state: StepState = "done"
    pictures: tuple[AttachmentView, ...] = ()
    """What the model looked at."""


@dataclass(frozen=True, slots=True)
class CitationView:
    """A citation in an answer, after its quote was looked up in the page's text.

    `label` is the chip ("Hu et al. 2020, p. 218"); `byline` is creators · venue; `page` the printed label;
    `check` overrides the words for the result of the check; `link` is what *Open in Zotero* opens.
    """

    label: str
    state: CitationState = "unverified"
    link: str = ""
    quote: str = ""
    title: str = ""
    byline: str = ""
    page: str = ""
    check: str = ""


@dataclass(frozen=True, slots=True)
class UserRow:
    """What the person wrote. `waiting`: a send that is frozen until compaction is through."""

    id: str
    text: str
    attachments: tuple[AttachmentView, ...] = ()
    siblings: Siblings | None = None
    meta: str = ""
    can_edit: bool = True
    waiting: bool = False


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """An answer, finished or being written (`streaming`).

    `text` holds citation markers as the model wrote them; `citations` maps each whole marker to what is
    known of it. `error_title` and `error_advice` are shown in a banner below the text; `can_go_on`: it ended
    before it was done.
    """

    id: str
    text: str
    steps: tuple[StepView, ...] = ()
    tool_summary: str = ""
    status: AnswerStatus = "complete"
    error_title: str = ""
    error_advice: str = ""
    can_go_on: bool = False
    citations: Mapping[str, CitationView] = field(default_factory=dict)
    meta: str = ""
    siblings: Siblings | None = None
    reasoning: str = ""
    streaming: bool = False


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """Where the model's memory was rewritten. Never a place to fork from or to retry."""

    id: str
    title: str
    sections: tuple[tuple[str, str], ...] = ()
    resources: int = 0
    can_compare: bool = False


@dataclass(frozen=True, slots=True)
class VerbatimRow:
    """From here on the model reads word for word."""

    id: str = "verbatim"


@dataclass(frozen=True, slots=True)
class PlaceholderRow:
    """A message that cannot be shown, and why."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class WidgetRow:
    """Anything else that stands in the conversation, such as a proposal card; `make` builds its widget.

    Rows are equal when `version` is: a changed card gets a new version and is built anew.
    """

    id: str
    make: Callable[[], Any] = field(compare=False)
    name: str = ""
    version: int = 0


Row: TypeAlias = UserRow | AnswerRow | CheckpointRow | VerbatimRow | PlaceholderRow | WidgetRow
