"""The text of a checkpoint's section as statements: whose each one is, how deep it stands. Pure."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from bibgenie_desktop.gui.tr import tr

Mark = Literal["user", "tool", "inference", ""]
LINE: Final = re.compile(r"(?P<indent>[ \t]*)(?P<bullet>(?:[-*•]|\d{1,3}[.)])[ \t]+)?(?P<rest>.*)$")
MARKED: Final = re.compile(r"\[(user|tool|inference)\][ \t]*")
EMPTY: Final = re.compile(
    r"(nothing( was| is| has been)? recorded|nothing( yet)?|none( yet)?|n/a)\.?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement. `depth` counts from 0; a continued line belongs to the statement before it."""

    text: str
    mark: Mark = ""
    depth: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether it only says that there is nothing to say."""
        return EMPTY.fullmatch(self.text.strip()) is not None


def mark_words() -> dict[Mark, tuple[str, str]]:
    """What a mark is called, and what it means."""
    return {
        "user": (tr("You"), tr("You said or decided this")),
        "tool": (tr("Source"), tr("Read in your library, with a tool")),
        "inference": (tr("Inferred"), tr("Concluded by the model: neither you nor a source said it")),
    }


def statements_of(text: str) -> tuple[Statement, ...]:
    """A section's statements in order; none where nothing is recorded."""
    found: list[Statement] = []
    indents: list[int] = []
    after_blank = True
    for line in text.expandtabs(4).splitlines():
        match = LINE.match(line)
        if match is None or not match["rest"].strip():
            after_blank = True
            continue
        indent, bullet, (mark, rest) = len(match["indent"]), match["bullet"] or "", _mark(match["rest"])
        if not bullet and not mark and found and not after_blank and indent:
            last = found[-1]
            found[-1] = Statement(f"{last.text} {rest}", last.mark, last.depth)
            continue
        while indents and indents[-1] >= indent:
            indents.pop()
        depth = len(indents)
        indents.append(indent)
        number = bullet if bullet[:1].isdigit() else ""
        found.append(Statement(f"{number.strip()} {rest}".strip(), mark, depth))
        after_blank = False
    return () if all(s.is_empty for s in found) else tuple(found)


def _mark(text: str) -> tuple[Mark, str]:
    """A mark as models write it, or as `mark_words` calls it."""
    found = MARKED.match(text)
    if found is not None:
        return found[1], text[found.end() :].strip()  # type: ignore[return-value]
    for mark, (word, _) in mark_words().items():
        if text.startswith(f"{word}: "):
            return mark, text[len(word) + 2 :].strip()
    return "", text.strip()
