"""Messages of a path as rows of the conversation. Pure: everything a row says comes in as a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bibgenie_desktop.domain.checkpoint import sections_of
from bibgenie_desktop.domain.ids import MessageId
from bibgenie_desktop.domain.locators import Locator
from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Message, UserMessage
from bibgenie_desktop.domain.parts import (
    ImagePart,
    Part,
    ReasoningPart,
    ResourcePart,
    ToolPart,
    text_of,
)
from bibgenie_desktop.domain.topology import Placeholder
from bibgenie_desktop.gui.conversation.rows import (
    AnswerRow,
    AttachmentView,
    CheckpointRow,
    CitationView,
    PlaceholderRow,
    Row,
    Siblings,
    UserRow,
    VerbatimRow,
)
from bibgenie_desktop.gui.presenters.steps import running_summary, step_of, summary_of
from bibgenie_desktop.gui.tr import thousands, tr
from bibgenie_desktop.gui.when import clock_time
from bibgenie_desktop.services.library.citing import CheckedCitation
from bibgenie_desktop.services.turn import ended_early

Entry = Message | Placeholder

CITED = {
    "verified": "verified",
    "paraphrase": "paraphrase",
    "not found": "missing",
    "unchecked": "unverified",
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What rows need beside the messages themselves."""

    now: int
    label: Callable[[str], str]
    """The name of a model, from `provider/model`."""
    versions: Mapping[MessageId, Siblings] = field(default_factory=dict)
    citations: Mapping[MessageId, Mapping[str, CheckedCitation]] = field(default_factory=dict)
    read_only: bool = False
    spent: Callable[[AssistantMessage], str] = lambda message: ""
    """What an answer cost, in words; empty where nobody pays or knows."""


def rows_of(entries: Sequence[Entry], facts: Facts) -> list[Row]:
    """All rows, with the mark where the newest checkpoint's verbatim part starts."""
    newest = next((m for m in reversed(entries) if isinstance(m, Checkpoint)), None)
    kept = newest.first_kept_id if newest is not None else None
    rows: list[Row] = []
    asked: UserMessage | None = None
    for entry in entries:
        if kept is not None and entry.id == kept:
            rows.append(VerbatimRow())
        match entry:
            case Placeholder():
                rows.append(PlaceholderRow(entry.id, entry.reason))
            case UserMessage():
                asked = entry
                rows.append(user_row(entry, facts))
            case AssistantMessage():
                since = asked.created_at if asked is not None and asked.id == entry.parent_id else None
                rows.append(answer_row(entry, facts, since))
            case Checkpoint():
                rows.append(checkpoint_row(entry))
    return rows


def user_row(message: UserMessage, facts: Facts) -> UserRow:
    return UserRow(
        id=message.id,
        text=text_of(message.parts),
        attachments=attachments_of(message.parts),
        siblings=facts.versions.get(message.id),
        meta=clock_time(message.created_at, facts.now),
        can_edit=not facts.read_only,
    )


def attachments_of(parts: Sequence[Part]) -> tuple[AttachmentView, ...]:
    found: list[AttachmentView] = []
    for part in parts:
        if isinstance(part, ImagePart):
            name = part.name or tr("Image")
            found.append(AttachmentView(name, "image", part.blob, "", part.width, part.height))
        elif isinstance(part, ResourcePart):
            found.append(AttachmentView(part.title, _icon(part.locator), part.locator.id, part.title))
    return tuple(found)


def _icon(locator: Locator) -> str:
    if locator.annotation:
        return "highlight"
    if locator.kind == "note":
        return "note"
    return "page" if locator.att else "article"


def answer_row(message: AssistantMessage, facts: Facts, asked_at: int | None) -> AnswerRow:
    tools = [p for p in message.parts if isinstance(p, ToolPart)]
    took = message.created_at - asked_at if asked_at is not None else None
    title, _, advice = message.error.partition(". ")
    if advice:
        title += "."
    return AnswerRow(
        id=message.id,
        text=text_of(message.parts),
        steps=tuple(step_of(p) for p in tools),
        tool_summary=summary_of(tools, took),
        status=message.status,
        error_title=title,
        error_advice=advice,
        can_go_on=ended_early(message.error),
        citations=citation_views(facts.citations.get(message.id, {})),
        meta=_meta(message, facts),
        siblings=facts.versions.get(message.id),
        reasoning=reasoning_of(message.parts),
    )


def live_row(message_id: MessageId, parts: Sequence[Part], siblings: Siblings | None) -> AnswerRow:
    """The answer under way, as far as it has come."""
    tools = [p for p in parts if isinstance(p, ToolPart)]
    return AnswerRow(
        id=message_id,
        text=text_of(tuple(parts)),
        steps=tuple(step_of(p) for p in tools),
        tool_summary=running_summary(tools),
        reasoning=reasoning_of(parts),
        siblings=siblings,
        streaming=True,
    )


def checkpoint_row(message: Checkpoint) -> CheckpointRow:
    return CheckpointRow(
        id=message.id,
        title=checkpoint_title(message),
        sections=sections_of(message.summary),
        resources=len(message.ledger),
    )


def checkpoint_title(message: Checkpoint) -> str:
    before, after = thousands(message.tokens_before), thousands(message.tokens_after)
    return tr("Compacted · {0} → {1}").format(before, after)


def reasoning_of(parts: Sequence[Part]) -> str:
    return "\n\n".join(p.text for p in parts if isinstance(p, ReasoningPart) and p.text)


def citation_views(checked: Mapping[str, CheckedCitation]) -> dict[str, CitationView]:
    return {raw: citation_view(found) for raw, found in checked.items()}


def citation_view(found: CheckedCitation) -> CitationView:
    return CitationView(
        label=found.label or tr("Unknown source"),
        state=CITED[found.state],  # type: ignore[arg-type]
        link=found.link,
        quote=found.quote,
        title=found.title,
        byline=found.source,
        page=str(found.page) if found.page else "",
        check=found.reason,
    )


def _meta(message: AssistantMessage, facts: Facts) -> str:
    said = [facts.label(message.model), clock_time(message.created_at, facts.now)]
    written = sum(u.output_total for u in message.usage)
    if written:
        estimated = any(u.source == "estimate" for u in message.usage)
        words = tr("about {0} tokens") if estimated else tr("{0} tokens")
        said.append(words.format(thousands(written, 1)))
    if spent := facts.spent(message):
        said.append(spent)
    return " · ".join(said)
