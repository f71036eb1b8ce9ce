"""The active path as one Markdown text: turns as sections, tool steps as one line each, then the sources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from bibgenie_desktop.domain.messages import AssistantMessage, Checkpoint, Message, Session, UserMessage
from bibgenie_desktop.domain.parts import ImagePart, Part, ReasoningPart, ResourcePart, TextPart, ToolPart
from bibgenie_desktop.domain.topology import Placeholder
from bibgenie_desktop.services.export import wording
from bibgenie_desktop.services.export.proposals import Fate
from bibgenie_desktop.services.export.sources import Source, sources_of

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def export_markdown(
    session: Session,
    path: Sequence[Message | Placeholder],
    damage: str = "",
    fates: Mapping[str, Fate] | None = None,
) -> str:
    """`damage` is the reason why a path has placeholders; citation markers stay as the model wrote them."""
    blocks = [f"# {wording.title_of(session)}"]
    if damage:
        blocks.append(f"> **This conversation is damaged.** {damage} What can be read follows.")
    for message in path:
        blocks += _message(message, fates or {})
    if path and isinstance(path[-1], UserMessage):
        blocks.append(f"*{wording.NO_ANSWER_YET}*")
    sources = sources_of(path)
    if sources:
        blocks += ["---", "## Sources", "\n".join(_source(s) for s in sources)]
    return "\n\n".join(blocks) + "\n"


def _message(message: Message | Placeholder, fates: Mapping[str, Fate]) -> Iterator[str]:
    match message:
        case UserMessage():
            yield "---"
            yield _heading("You", message.created_at)
            yield from _parts(message.parts, fates)
        case AssistantMessage():
            yield _heading(message.model or "Answer", message.created_at)
            yield from _parts(message.parts, fates)
            if note := wording.status_of(message):
                yield f"*{note}*"
        case Checkpoint():
            text = f"**{wording.checkpoint_line(message)}**\n\n{wording.from_here(message)}\n\n"
            yield _quoted("[!NOTE]\n" + text + _closed(message.summary))
        case Placeholder():
            yield _quoted(f"**A message cannot be shown.** {message.reason}")


def _heading(who: str, created_at: int) -> str:
    time = wording.time_of(created_at)
    return f"## {who}" + (f" · {time}" if time else "")


def _parts(parts: tuple[Part, ...], fates: Mapping[str, Fate]) -> Iterator[str]:
    lines: list[str] = []
    for part in parts:
        if isinstance(part, TextPart) and lines and part.text.strip():
            yield "\n".join(lines)
            lines = []
        match part:
            case TextPart():
                if part.text.strip():
                    yield _closed(part.text)
            case ToolPart():
                call = f"*{part.name}* {_code(wording.tool_input(part))}"
                lines.append(f"- {call} → {wording.tool_outcome(part, fates.get(part.id))}")
                lines += [f"  - {wording.image_line(image)}" for image in part.images]
            case ImagePart():
                lines.append(f"- {wording.image_line(part)}")
            case ResourcePart():
                lines.append(f"- attached: {wording.attachment_line(part)}")
            case ReasoningPart():
                continue
    if lines:
        yield "\n".join(lines)


def _source(source: Source) -> str:
    title = f" {source.title}" if source.title else ""
    pages = f", p. {', '.join(map(str, source.pages))}" if source.pages else ""
    link = f" <{source.link}>" if source.link else ""
    return f"- `{source.id}`{title}{pages}{link}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _code(text: str) -> str:
    """A code span; its ticks are longer than any run of ticks in the text."""
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    inner = f" {text} " if text.startswith("`") or text.endswith("`") else text
    return f"{ticks}{inner}{ticks}"


def _closed(text: str) -> str:
    """The text without blank ends; a code block left open, as in a stopped answer, is closed."""
    text = text.strip("\n")
    fence = ""
    for line in text.splitlines():
        match = _FENCE.fullmatch(line)
        if match is None:
            continue
        if not fence:
            fence = match[1]
        elif match[1].startswith(fence) and not match[2].strip():
            fence = ""
    return f"{text}\n{fence}" if fence else text
