"""A summary request taken apart again: budget, previous record, and the messages of the span."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

_BUDGET = re.compile(r"^Budget:\s*([0-9][0-9,._]*)\s*tokens", re.MULTILINE)
_ROLE = re.compile(r"^\[(user|assistant)\]$")
_CALL = re.compile(r"^\[tool ([a-z_]+)\] (\{.*)$")
_RESULT = re.compile(r"^\[tool result: (\w+)\]$")
_PLACE = re.compile(
    r"^- (?P<kind>item|pdf|epub|html|note|annotation) (?P<id>(?:u|g[0-9]{1,12})-[0-9A-Z]{8}) “(?P<title>.*)”"
    r"(?:, page (?P<page>[0-9]+))?"
)
_FENCE_OPEN, _FENCE_CLOSE = "<zotero_data", "</zotero_data>"


@dataclass(slots=True)
class ToolUse:
    name: str
    input: Mapping[str, Any]
    state: str = "done"
    result: list[str] = field(default_factory=list)
    places: list[tuple[str, str, str]] = field(default_factory=list)
    """(id, title, page or nothing) of what the call touched."""


@dataclass(slots=True)
class Spoken:
    role: Literal["user", "assistant"]
    lines: list[str] = field(default_factory=list)
    tools: list[ToolUse] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()


@dataclass(frozen=True, slots=True)
class SummaryTask:
    """`messages` in their order; `span` is their text as it stood. `budget` None: none was stated."""

    budget: int | None
    previous: str
    span: str
    messages: tuple[Spoken, ...]


def read_task(prompt: str) -> SummaryTask:
    stated = _BUDGET.search(prompt)
    previous_at = prompt.rfind("<previous_summary>\n")
    span_at = prompt.find("<span>\n", max(previous_at, 0))
    previous = prompt[previous_at:span_at].partition("\n")[2] if previous_at >= 0 else ""
    previous = previous.rpartition("</previous_summary>")[0].strip()
    span_end = prompt.rfind("\n</span>")
    span = prompt[span_at + len("<span>\n") : span_end if span_end >= 0 else None] if span_at >= 0 else ""
    budget = int(re.sub(r"\D", "", stated[1])) if stated else None
    return SummaryTask(budget, previous, span, tuple(_messages(span)))


def _messages(span: str) -> Iterator[Spoken]:
    """Who said what. Inside fenced library text nothing counts as a mark."""
    current: Spoken | None = None
    lines = span.split("\n")
    fenced = _fenced(lines)
    for index, line in enumerate(lines):
        role = None if index in fenced else _ROLE.match(line)
        if role:
            if current is not None:
                yield current
            current = Spoken("user" if role[1] == "user" else "assistant")
        else:
            if current is None:  # a piece of a message that began in an earlier chunk
                current = Spoken("assistant")
            _add(current, line, index in fenced)
    if current is not None:
        yield current


def _fenced(lines: list[str]) -> set[int]:
    """The lines between a fence and its end. A result that was cut has no end: its fence does not count."""
    inside: set[int] = set()
    opened: int | None = None
    for index, line in enumerate(lines):
        if line.startswith(_FENCE_OPEN):
            opened = index
        if _FENCE_CLOSE in line and opened is not None:
            inside.update(range(opened, index + 1))
            opened = None
    return inside


def _add(message: Spoken, line: str, fenced: bool) -> None:
    tool = message.tools[-1] if message.tools else None
    if not fenced and (call := _CALL.match(line)) and message.role == "assistant":
        message.tools.append(ToolUse(call[1], _object(call[2]), state=""))
    elif tool is not None and not tool.state and (ended := _RESULT.match(line)):
        tool.state = ended[1]
    elif tool is not None and not fenced and (place := _PLACE.match(line)):
        tool.places.append((place["id"], place["title"], place["page"] or ""))
    elif tool is not None and (fenced or not _after_result(tool)):
        tool.result.append(line)
    elif not fenced:  # what is fenced in a question is an attached text, not what the person said
        message.lines.append(line)


def _after_result(tool: ToolUse) -> bool:
    """Whether the result is over: its fence was closed or cut off, or it was a single line."""
    if tool.places or any(_FENCE_CLOSE in line or line.startswith("[cut here:") for line in tool.result):
        return True
    return bool(tool.result) and not any(_FENCE_OPEN in line for line in tool.result)


def _object(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
