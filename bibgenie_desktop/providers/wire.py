"""What all encoders share: a request taken apart into the few things that every dialect can say.

Decides what no dialect decides for itself: which reasoning goes back, what a model without tools or without
eyes reads instead, that a call never stands without its result and that a turn ends in words. An encoder only
spells the entries out, each the same way for ever (I8).
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from bibgenie_desktop.domain.models import ModelProfile, ReasoningReplay
from bibgenie_desktop.domain.parts import ImagePart, Part, ReasoningPart, ResourcePart, TextPart, ToolPart
from bibgenie_desktop.domain.projection import ProjectedMessage
from bibgenie_desktop.providers.base import Request

Wire = dict[str, Any]

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
MODEST_OUTPUT = 4_096
"""Every hosted model of today writes at least so many tokens."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An image the model can see; `data` is base64."""

    mime: str
    data: str


@dataclass(frozen=True, slots=True)
class FromPerson:
    """Words and pictures in order; neighbouring words are one piece."""

    pieces: tuple[str | Picture, ...]

    @property
    def pictures(self) -> bool:
        return any(isinstance(piece, Picture) for piece in self.pieces)

    @property
    def text(self) -> str:
        return "\n\n".join(piece for piece in self.pieces if isinstance(piece, str))


@dataclass(frozen=True, slots=True)
class FromModel:
    """One request's answer, in the order in which it came. `again`: its reasoning goes back."""

    message_id: str
    parts: tuple[TextPart | ReasoningPart | ToolPart, ...]
    again: bool = False

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def calls(self) -> tuple[ToolPart, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolPart))

    @property
    def thoughts(self) -> tuple[ReasoningPart, ...]:
        """The reasoning that goes back."""
        return tuple(part for part in self.parts if self.again and isinstance(part, ReasoningPart))


@dataclass(frozen=True, slots=True)
class Result:
    """What one call brought: words, and the pictures the model can see of it."""

    call: ToolPart
    text: str
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class Results:
    """The results of all calls of the `FromModel` right before, in their order."""

    message_id: str
    results: tuple[Result, ...]


Entry: TypeAlias = FromPerson | FromModel | Results


def conversation(request: Request, replay: ReasoningReplay) -> Iterator[Entry]:
    """The messages of a request. `replay`: which reasoning this provider gets again; what is older than the
    checkpoint it never does."""
    projection = request.projection
    newer = 0 if projection.checkpoint is None else 1 + projection.tail
    for index, message in enumerate(projection.messages):
        if message.kind == "assistant":
            turn = message.status == "pending"
            again = replay != "none" and (turn or (replay == "always" and index >= newer))
            yield from _answer(message, request, again)
        else:
            yield FromPerson(tuple(_pieces(message.parts, request)))


def apart(entries: Iterable[Entry]) -> Iterator[Entry]:
    """For those whose tool results are text only: the pictures of results follow them as words of the
    person, each under its name."""
    for entry in entries:
        yield entry
        if isinstance(entry, Results):
            pieces = [
                piece
                for result in entry.results
                for image, picture in zip(result.call.images, result.pictures, strict=False)
                for piece in (f"[shown by {result.call.name}: {image.name}]", picture)
            ]
            if pieces:
                yield FromPerson(tuple(pieces))


def merged(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Neighbouring words of the person as one entry, for those who demand that the roles alternate."""
    before: FromPerson | None = None
    for entry in entries:
        if isinstance(entry, FromPerson):
            before = entry if before is None else FromPerson(_joined((*before.pieces, *entry.pieces)))
            continue
        if before is not None:
            yield before
            before = None
        yield entry
    if before is not None:
        yield before


def at_least_turn(replay: ReasoningReplay) -> ReasoningReplay:
    """For providers that refuse the next step of a turn without the reasoning of the ones before."""
    return "turn" if replay == "none" else replay


def own(opaque: Mapping[str, Any] | None, profile: ModelProfile) -> Mapping[str, Any]:
    """A provider's data if this very model wrote it, else nothing: no other one can read it."""
    return opaque if opaque is not None and opaque.get("model") == profile.ref else {}


def output_limit(request: Request, least: int = MODEST_OUTPUT) -> int | None:
    """The limit to ask for at providers that refuse more than the model can write.

    Where that is not known, a limit above `least` would be a guess: None leaves it to the provider.
    """
    asked = request.max_output_tokens
    return asked if asked is None or request.profile.max_output is not None or asked <= least else None


def call_id(message_id: str, part_id: str) -> str:
    """The wire's name of a call, derived from ours: nine letters and digits, the form every server
    accepts."""
    number = int.from_bytes(hashlib.sha256(f"{message_id}/{part_id}".encode()).digest()[:8])
    digits = []
    for _ in range(9):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(digits)


def _result(part: ToolPart, request: Request) -> Result:
    """What the model saw; a call without a result gets one that says so, since a call must never stand
    alone. Either all pictures are shown or each is named instead, so that names stay with pictures."""
    text = part.sent
    if not text:
        text = "(empty result)" if part.state == "done" else f"(no result: {part.note or part.state})"
    pieces = tuple(_piece(image, request) for image in part.images)
    pictures = tuple(piece for piece in pieces if isinstance(piece, Picture))
    if len(pictures) == len(pieces):
        return Result(part, text, pictures)
    return Result(part, "\n".join((text, *(_image_note(image, request.profile) for image in part.images))))


def to_json(value: object) -> str:
    """Compact JSON with its characters as they are, keys in the order in which they were written."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _pieces(parts: tuple[Part, ...], request: Request) -> tuple[str | Picture, ...]:
    pieces: list[str | Picture] = []
    for part in parts:
        match part:
            case TextPart(text=text) | ResourcePart(sent=text):
                pieces.append(text)
            case ImagePart():
                pieces.append(_piece(part, request))
            case ReasoningPart() | ToolPart():
                continue
    return _joined(pieces)


def _joined(pieces: Iterable[str | Picture]) -> tuple[str | Picture, ...]:
    """Words next to each other become one piece, a blank line between them; empty ones at the start of a
    piece go."""
    joined: list[str | Picture] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if isinstance(piece, str) and isinstance(last, str):
            joined[-1] = f"{last}\n\n{piece}"
        elif piece:
            joined.append(piece)
    return tuple(joined)


def _piece(part: ImagePart, request: Request) -> str | Picture:
    """A picture where the model can see it, else words that stand for it. The history is the same: a model
    that sees gets the picture again."""
    data = request.images.get(part.blob)
    if not request.profile.vision or data is None:
        return _image_note(part, request.profile)
    return Picture(part.mime, base64.b64encode(data).decode("ascii"))


def _image_note(part: ImagePart, profile: ModelProfile) -> str:
    size = f", {part.width} × {part.height} pixels" if part.width and part.height else ""
    reason = "no longer available" if profile.vision else "not shown to this model"
    return f"[image: {part.name}{size}, {reason}]"


def _answer(message: ProjectedMessage, request: Request, again: bool) -> Iterator[Entry]:
    """Each step as one entry and the results of its calls; ends in words once the turn is over."""
    profile = request.profile
    spoken = False
    for step in dict.fromkeys(part.step for part in message.parts):
        said = FromModel(message.id, tuple(_said(message.parts, step, profile)), again)
        calls = said.calls
        if not said.text and not calls:
            continue
        spoken = not calls
        if calls and not profile.tools:
            yield from _marked(said, request)
            continue
        yield said
        if calls:
            yield Results(message.id, tuple(_result(call, request) for call in calls))
    if not spoken and message.status != "pending":
        yield FromModel(message.id, (TextPart(_no_answer(message)),))


def _said(
    parts: tuple[Part, ...], step: int, profile: ModelProfile
) -> Iterator[TextPart | ReasoningPart | ToolPart]:
    for part in parts:
        if part.step != step:
            continue
        match part:
            case TextPart() | ToolPart() | ReasoningPart():
                yield part
            case ImagePart():
                yield TextPart(_image_note(part, profile), step)
            case _:
                continue


def _marked(said: FromModel, request: Request) -> Iterator[Entry]:
    """Calls and results as text, for models that know no tools."""
    asked = [f"[tool call: {part.name} {to_json(part.input)}]" for part in said.calls]
    yield FromModel(said.message_id, (TextPart("\n\n".join([said.text, *asked] if said.text else asked)),))
    pieces: list[str | Picture] = []
    for result in (_result(part, request) for part in said.calls):
        pieces += (f"[tool result: {result.call.name}]\n{result.text}", *result.pictures)
    yield FromPerson(_joined(pieces))


def _no_answer(message: ProjectedMessage) -> str:
    reason = message.error or ("" if message.status == "complete" else message.status)
    return f"(no answer: {reason})" if reason else "(no answer)"
