"""What a message consists of. A part never changes once its message is in the tree.

`step` counts the requests of a turn's tool loop from 0: all parts that one request brought share it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from bibgenie_desktop.domain.locators import Locator, Resource

ToolState = Literal["pending", "done", "error", "denied", "cancelled", "interrupted"]


@dataclass(frozen=True, slots=True)
class TextPart:
    text: str
    step: int = 0


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """Reasoning shown by the model; `opaque` is the provider's own data, carried back untouched."""

    text: str
    step: int = 0
    opaque: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ImagePart:
    """A picture, kept by content hash; its size in pixels is what the model was sent."""

    blob: str
    name: str
    mime: str
    width: int = 0
    height: int = 0
    step: int = 0


@dataclass(frozen=True, slots=True)
class ToolPart:
    """A call with its result. `result` is whole; `sent` is what the model saw of it, fixed at that moment.

    `pending` exists only inside a pending reply. `opaque` is provider data that belongs to the call itself.
    """

    id: str
    name: str
    input: Mapping[str, Any]
    state: ToolState
    step: int = 0
    result: str = ""
    sent: str = ""
    resources: tuple[Resource, ...] = ()
    note: str = ""
    """A short fact for the folded line: `12 items`."""
    opaque: Mapping[str, Any] | None = None
    images: tuple[ImagePart, ...] = ()
    """Pictures that belong to the result, such as a page that was looked at."""


@dataclass(frozen=True, slots=True)
class ResourcePart:
    """A Zotero resource the person attached; `sent` is its text as the model sees it."""

    locator: Locator
    title: str
    sent: str
    step: int = 0


Part: TypeAlias = TextPart | ReasoningPart | ToolPart | ImagePart | ResourcePart


@dataclass(frozen=True, slots=True)
class Draft:
    """What stands in the composer. `text` is what was typed; attached things follow it."""

    text: str = ""
    attached: tuple[ImagePart | ResourcePart, ...] = field(default=())

    @property
    def empty(self) -> bool:
        return not self.text.strip() and not self.attached

    def parts(self) -> tuple[Part, ...]:
        """The parts of the user message this draft becomes: attached things first, then the text."""
        text: tuple[Part, ...] = (TextPart(self.text),) if self.text.strip() else ()
        return (*self.attached, *text)


def merged(drafts: Iterable[Draft]) -> Draft:
    """Several drafts as one, so that none is lost where only one can be kept."""
    kept = [d for d in drafts if not d.empty]
    text = "\n\n".join(d.text for d in kept if d.text.strip())
    return kept[0] if len(kept) == 1 else Draft(text, tuple(part for d in kept for part in d.attached))


def images_of(parts: Iterable[Part]) -> Iterator[ImagePart]:
    """All pictures of some parts, those of tool results included."""
    for part in parts:
        if isinstance(part, ImagePart):
            yield part
        elif isinstance(part, ToolPart):
            yield from part.images


def title_of(parts: tuple[Part, ...], most: int = 60) -> str:
    """The first words of a message on one line, at most so many characters."""
    words = " ".join(text_of(parts).split())
    if len(words) <= most:
        return words
    cut = words.rfind(" ", most // 2, most)
    return words[: cut if cut > 0 else most - 1].rstrip(",;:.") + "…"


def text_of(parts: tuple[Part, ...]) -> str:
    """The visible words of a message, steps separated by a blank line."""
    return "\n\n".join(p.text for p in parts if isinstance(p, TextPart) and p.text)
