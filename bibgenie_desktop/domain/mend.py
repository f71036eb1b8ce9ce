"""Content that came from outside, made storable: half characters (lone surrogates) become U+FFFD.

An answer must always find its end in the tree, whatever a model or a clipboard sent; the codec itself stays
strict.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bibgenie_desktop.domain.codec import LOCATOR_TEXTS, SURROGATE
from bibgenie_desktop.domain.locators import Locator, Resource
from bibgenie_desktop.domain.parts import ImagePart, Part, ReasoningPart, ResourcePart, TextPart, ToolPart


def storable(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The same parts as the codec takes them: whole characters, and nested values plain JSON."""
    return tuple(_mended(part) for part in parts)


def mended_text(text: str) -> str:
    return SURROGATE.sub("\ufffd", text)


def _mended(part: Part) -> Part:
    match part:
        case TextPart():
            return replace(part, text=mended_text(part.text))
        case ReasoningPart():
            return replace(part, text=mended_text(part.text), opaque=mended_value(part.opaque))
        case ToolPart():
            return replace(
                part,
                id=mended_text(part.id),
                name=mended_text(part.name),
                input=mended_value(part.input),
                result=mended_text(part.result),
                sent=mended_text(part.sent),
                note=mended_text(part.note),
                opaque=mended_value(part.opaque),
                images=tuple(replace(image, name=mended_text(image.name)) for image in part.images),
                resources=tuple(
                    Resource(_mended_locator(r.locator), mended_text(r.title)) for r in part.resources
                ),
            )
        case ImagePart():
            return replace(part, name=mended_text(part.name))
        case ResourcePart():
            return replace(
                part,
                locator=_mended_locator(part.locator),
                title=mended_text(part.title),
                sent=mended_text(part.sent),
            )


def _mended_locator(locator: Locator) -> Locator:
    texts: dict[str, Any] = {name: mended_text(getattr(locator, name)) for name in LOCATOR_TEXTS}
    return replace(locator, **texts)


def mended_value(value: Any) -> Any:
    """Any value as plain JSON."""
    match value:
        case str():
            return mended_text(value)
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case list() | tuple():
            return [mended_value(each) for each in value]
        case Mapping():
            return {mended_text(str(key)): mended_value(each) for key, each in value.items()}
        case _:
            return repr(value)
