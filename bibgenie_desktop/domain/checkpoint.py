"""The eight sections of a summary, the marks of its statements, and the judge that lets a summary in or
not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bibgenie_desktop.domain.locators import FULL_KEY
from bibgenie_desktop.domain.tokens import estimate_text

SECTIONS: Final = (
    "Research Goal",
    "User Requirements and Constraints",
    "Research Progress",
    "Findings and Evidence",
    "Key Zotero Resources",
    "Decisions",
    "Next Steps",
    "Critical Context",
)
MARKS: Final = ("[user]", "[tool]", "[inference]")
BUDGET_TOLERANCE: Final = 1.25

_HEADING: Final = re.compile(r"^#{1,4}\s*(?:\d+[.)]\s*)?\**(.+?)\**:?\s*$")
_BULLET: Final = re.compile(r"^(?:[-*•]|\d+[.)])\s+(.*)$")
_REPLACED: Final = "[unknown key]"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`faults` are sentences a model can act on; none: the summary may be committed."""

    faults: tuple[str, ...]

    @property
    def accepted(self) -> bool:
        return not self.faults


def sections_of(summary: str) -> tuple[tuple[str, str], ...]:
    """(heading, text) pairs as they stand, headings of the eight sections only."""
    names = {s.lower(): s for s in SECTIONS}
    found: list[tuple[str, list[str]]] = []
    for line in summary.splitlines():
        match = _HEADING.match(line)
        name = names.get(match[1].strip(" *:").lower()) if match else None
        if name is not None:
            found.append((name, []))
        elif found:
            found[-1][1].append(line)
    return tuple((name, "\n".join(lines).strip()) for name, lines in found)


def statements_of(text: str) -> list[str]:
    """The top-level statements of a section: its bullets, or its lines where it has none."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith((" ", "\t"))]
    bullets = [match[1].strip() for line in lines if (match := _BULLET.match(line))]
    return bullets or [line.strip() for line in lines]


def judge(summary: str, *, finished: bool, budget: int, replaces: int | None) -> Verdict:
    """Whether a summary may become a checkpoint.

    `finished`: the model ended by itself. `budget` is what it was told. `replaces` is the size of what it
    stands for, None where nothing new is replaced.
    """
    if not summary.strip():
        return Verdict(("The summary is empty.",))
    faults: list[str] = []
    if not finished:
        faults.append("The summary was cut off before its end.")
    found = sections_of(summary)
    names = tuple(name for name, _ in found)
    if names != SECTIONS:
        missing = [s for s in SECTIONS if s not in names]
        faults.append(
            f"Sections are missing: {', '.join(missing)}."
            if missing
            else "The sections are not in the given order, each once."
        )
    faults += [f"The section {name} is empty." for name, text in found if not text]
    unmarked = [name for name, text in found if any(not s.startswith(MARKS) for s in statements_of(text))]
    if unmarked:
        faults.append(f"Statements without a mark [user], [tool] or [inference] in: {', '.join(unmarked)}.")
    size = estimate_text(summary)
    if size > BUDGET_TOLERANCE * budget:
        faults.append(f"It is too long: about {size:,} tokens where {budget:,} were asked for.")
    if replaces is not None and size >= replaces:
        faults.append(f"It is not shorter than what it replaces ({size:,} of {replaces:,} tokens).")
    return Verdict(tuple(faults))


def strike_unknown_keys(summary: str, known: frozenset[str]) -> tuple[str, tuple[str, ...]]:
    """The summary with every full key that nobody has seen replaced, and those keys."""
    unknown: dict[str, None] = {}

    def check(match: re.Match[str]) -> str:
        if match[0] in known:
            return match[0]
        unknown[match[0]] = None
        return _REPLACED

    return FULL_KEY.sub(check, summary), tuple(unknown)


def keys_in(text: str) -> frozenset[str]:
    """All full keys that occur in a text."""
    return frozenset(match[0] for match in FULL_KEY.finditer(text))


@dataclass(frozen=True, slots=True)
class SectionDiff:
    """What a section's statements gained and lost between two summaries."""

    name: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


def diff_sections(old: str, new: str) -> tuple[SectionDiff, ...]:
    """All eight sections in order; a reworded statement is one lost and one gained."""
    before, after = dict(sections_of(old)), dict(sections_of(new))
    diffs = []
    for name in SECTIONS:
        was, now = statements_of(before.get(name, "")), statements_of(after.get(name, ""))
        added = tuple(s for s in now if s not in was)
        removed = tuple(s for s in was if s not in now)
        diffs.append(SectionDiff(name, added, removed))
    return tuple(diffs)


def in_order(sections: Mapping[str, str]) -> str:
    """A summary's text from its sections."""
    return "\n\n".join(f"## {name}\n{sections[name].strip()}" for name in SECTIONS)
