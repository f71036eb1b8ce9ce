"""Parts, usage, ledger and draft as plain JSON values, and back: the schema that `docs/storage.md` describes.

Reading is strict: a wrong type, an unknown kind of part or an unfinished tool call in a stored message raises
`InvalidContent` with a sentence for people. Unknown extra keys of a known part are ignored, so that a newer
version may add some. Where the text is kept is not decided here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, cast, get_args

from bibgenie_desktop.domain.locators import LedgerEntry, Locator, LocatorKind, Resource
from bibgenie_desktop.domain.parts import (
    Draft,
    ImagePart,
    Part,
    ReasoningPart,
    ResourcePart,
    TextPart,
    ToolPart,
    ToolState,
)
from bibgenie_desktop.domain.usage import Usage

SURROGATE = re.compile("[\ud800-\udfff]")
LOCATOR_TEXTS = ("item", "att", "page_label", "annotation", "href", "cfi", "quote")
PLACE_TEXTS = frozenset(("lib", "kind", *LOCATOR_TEXTS))
LOCATOR_NUMBERS = ("page_index", "section")
LOCATOR_KINDS = get_args(LocatorKind)
TOOL_STATES = get_args(ToolState)


class InvalidContent(ValueError):
    """Content that is not what the schema says; `reason` is a sentence for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


# Text of JSON


def dumps(value: object) -> str:
    """The stored text of a plain JSON value; a value that JSON cannot carry exactly is refused."""
    return json.dumps(plain(value, "The content"), ensure_ascii=False, separators=(",", ":"))


def loads(text: object) -> object:
    if not isinstance(text, str):
        raise InvalidContent("The content is not text.")
    try:
        value: object = DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        if isinstance(error, InvalidContent):
            raise
        raise InvalidContent("The content is not readable JSON.") from error
    return value


def _no_constant(name: str) -> object:
    raise InvalidContent(f"The content holds the number {name}, which JSON does not have.")


DECODER = json.JSONDecoder(parse_constant=_no_constant)


def plain(value: object, what: str) -> Any:
    """A copy of dicts, lists, strings, numbers, booleans and nulls; anything else is refused."""
    match value:
        case None | bool() | int():
            return value
        case float():
            if not math.isfinite(value):
                raise InvalidContent(f"{what} holds a number that JSON does not have.")
            return value
        case str():
            return _clean(value, what)
        case list():
            return [plain(each, what) for each in value]
        case Mapping():
            if not all(isinstance(key, str) for key in value):
                raise InvalidContent(f"{what} has a key that is not text.")
            return {_clean(key, what): plain(each, what) for key, each in value.items()}
        case _:
            raise InvalidContent(f"{what} holds something that JSON does not have: {type(value).__name__}.")


def _clean(text: str, what: str) -> str:
    if not text.isascii() and SURROGATE.search(text):
        raise InvalidContent(f"{what} holds half a character (a lone surrogate), which cannot be stored.")
    return text


# Writing


def parts_to_json(parts: tuple[Part, ...]) -> list[dict[str, Any]]:
    return [_part_to_json(part) for part in parts]


def _part_to_json(part: Part) -> dict[str, Any]:
    match part:
        case TextPart():
            return {"type": "text", "step": part.step, "text": _clean(part.text, "A text")}
        case ReasoningPart():
            value = {"type": "reasoning", "step": part.step, "text": _clean(part.text, "Reasoning")}
            return value | _opaque(part.opaque)
        case ToolPart():
            value = {
                "type": "tool",
                "step": part.step,
                "id": part.id,
                "name": part.name,
                "input": part.input,
                "state": part.state,
                "result": part.result,
                "sent": part.sent,
            }
            if part.resources:
                value["resources"] = [
                    {"locator": locator_to_json(r.locator), "title": r.title} for r in part.resources
                ]
            if part.note:
                value["note"] = part.note
            if part.images:
                value["images"] = [_image_to_json(image) for image in part.images]
            return cast(dict[str, Any], plain(value, "A tool call")) | _opaque(part.opaque)
        case ImagePart():
            return {"type": "image", "step": part.step, **_image_to_json(part)}
        case ResourcePart():
            value = {
                "type": "resource",
                "step": part.step,
                "locator": locator_to_json(part.locator),
                "title": part.title,
                "sent": part.sent,
            }
            return cast(dict[str, Any], plain(value, "An attached resource"))


def _image_to_json(part: ImagePart) -> dict[str, Any]:
    value = {
        "blob": part.blob,
        "name": part.name,
        "mime": part.mime,
        "width": part.width,
        "height": part.height,
    }
    return cast(dict[str, Any], plain(value, "A picture"))


def _opaque(opaque: Mapping[str, Any] | None) -> dict[str, Any]:
    return {} if opaque is None else {"opaque": plain(opaque, "Provider data")}


def locator_to_json(locator: Locator) -> dict[str, Any]:
    """Fields that say nothing are left out."""
    value: dict[str, Any] = {"lib": locator.lib, "kind": locator.kind}
    value |= {name: text for name in LOCATOR_TEXTS if (text := getattr(locator, name))}
    value |= {n: i for n in LOCATOR_NUMBERS if (i := getattr(locator, n)) is not None}
    return cast(dict[str, Any], plain(value, "A place in a source"))


def usage_to_json(usage: tuple[Usage, ...]) -> list[dict[str, Any]]:
    return [
        {
            "provider": one.provider,
            "base_url": one.base_url,
            "model": one.model,
            "input_total": one.input_total,
            "output_total": one.output_total,
            "cache_read": one.cache_read,
            "cache_write": one.cache_write,
            "reasoning": one.reasoning,
            "source": one.source,
            "complete": one.complete,
            "step": one.step,
            **({} if one.cost is None else {"cost": one.cost}),
        }
        for one in usage
    ]


def ledger_to_json(ledger: tuple[LedgerEntry, ...]) -> list[dict[str, Any]]:
    return [
        {
            "locator": None if entry.locator is None else locator_to_json(entry.locator),
            "title": _clean(entry.title, "A title"),
            "count": entry.count,
            "last_used": entry.last_used,
            "pinned": entry.pinned,
        }
        for entry in ledger
    ]


def draft_to_json(draft: Draft) -> dict[str, Any]:
    return {"text": _clean(draft.text, "The draft"), "attached": parts_to_json(draft.attached)}


# Reading


def parts_from_json(value: object, *, unfinished: bool = False) -> tuple[Part, ...]:
    """`unfinished` allows open tool calls, which only a pending reply has."""
    parts = tuple(_part_from_json(_object(each, "A part")) for each in _list(value, "The parts"))
    if not unfinished and any(isinstance(p, ToolPart) and p.state == "pending" for p in parts):
        raise InvalidContent("A tool call has no result.")
    return parts


def _part_from_json(value: Mapping[str, Any]) -> Part:
    step = _integer(value, "step", 0)
    match _text(value, "type"):
        case "text":
            return TextPart(_text(value, "text"), step)
        case "reasoning":
            return ReasoningPart(_text(value, "text", ""), step, _opaque_from(value))
        case "tool":
            return ToolPart(
                id=_text(value, "id"),
                name=_text(value, "name"),
                input=_object(value.get("input"), "The input of a tool call"),
                state=cast(ToolState, _one_of(value, "state", TOOL_STATES)),
                step=step,
                result=_text(value, "result", ""),
                sent=_text(value, "sent", ""),
                resources=tuple(
                    Resource(locator_from_json(each.get("locator")), _text(each, "title"))
                    for each in (
                        _object(r, "A resource") for r in _list(value.get("resources", []), "The resources")
                    )
                ),
                note=_text(value, "note", ""),
                opaque=_opaque_from(value),
                images=tuple(
                    _image_from_json(_object(each, "A picture"))
                    for each in _list(value.get("images", []), "The pictures")
                ),
            )
        case "image":
            return _image_from_json(value, step)
        case "resource":
            return ResourcePart(
                locator_from_json(value.get("locator")), _text(value, "title"), _text(value, "sent"), step
            )
        case other:
            raise InvalidContent(f"A part has the unknown type “{other[:40]}”.")


def _image_from_json(value: Mapping[str, Any], step: int = 0) -> ImagePart:
    return ImagePart(
        blob=_text(value, "blob"),
        name=_text(value, "name"),
        mime=_text(value, "mime"),
        width=_integer(value, "width", 0),
        height=_integer(value, "height", 0),
        step=step,
    )


def locator_from_json(value: object) -> Locator:
    # A ledger holds thousands of these, so the fields are walked once, in whatever order they stand.
    source = _object(value, "A place in a source")
    fields: dict[str, Any] = {}
    for name, field in source.items():
        if name in PLACE_TEXTS:
            fields[name] = field if type(field) is str and field.isascii() else _text(source, name)
        elif name in LOCATOR_NUMBERS and field is not None:
            fields[name] = _integer(source, name)
    if "lib" not in fields or fields.get("kind") not in LOCATOR_KINDS:
        _text(source, "lib")
        _one_of(source, "kind", LOCATOR_KINDS)
    return Locator(**fields)


def usage_from_json(value: object) -> tuple[Usage, ...]:
    return tuple(_usage(_object(each, "A usage record")) for each in _list(value, "The usage"))


def _usage(value: Mapping[str, Any]) -> Usage:
    source = _one_of(value, "source", ("provider", "estimate"), "provider")
    return Usage(
        provider=_text(value, "provider"),
        base_url=_text(value, "base_url", ""),
        model=_text(value, "model"),
        input_total=_integer(value, "input_total"),
        output_total=_integer(value, "output_total"),
        cache_read=_integer(value, "cache_read", 0),
        cache_write=_integer(value, "cache_write", 0),
        reasoning=_integer(value, "reasoning", 0),
        source="estimate" if source == "estimate" else "provider",
        complete=_boolean(value, "complete", True),
        step=_integer(value, "step", 0),
        cost=_amount(value, "cost"),
    )


def _amount(value: Mapping[str, Any], name: str) -> float | None:
    found = value.get(name)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found < math.inf:
        raise InvalidContent(f"{name} is not an amount.")
    return float(found)


def ledger_from_json(value: object) -> tuple[LedgerEntry, ...]:
    return tuple(map(_ledger_entry, _list(value, "The ledger")))


def _ledger_entry(value: object) -> LedgerEntry:
    entry = _object(value, "A ledger entry")
    return LedgerEntry(
        None if entry.get("locator") is None else locator_from_json(entry["locator"]),
        _text(entry, "title"),
        _integer(entry, "count"),
        _integer(entry, "last_used"),
        _boolean(entry, "pinned", False),
    )


def draft_from_json(value: object) -> Draft:
    source = _object(value, "The draft")
    attached = parts_from_json(source.get("attached", []))
    fitting = tuple(part for part in attached if isinstance(part, ImagePart | ResourcePart))
    if len(fitting) != len(attached):
        raise InvalidContent("The draft holds a part that cannot be attached.")
    return Draft(_text(source, "text", ""), fitting)


# Fields


def _object(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InvalidContent(f"{what} is not an object.")
    return value


def _list(value: object, what: str) -> list[object]:
    if not isinstance(value, list):
        raise InvalidContent(f"{what} are not a list.")
    return value


def _text(source: Mapping[str, Any], key: str, default: str | None = None) -> str:
    value = source.get(key, default)
    if not isinstance(value, str):
        raise InvalidContent(f"The field “{key}” is missing or not text.")
    return value if value.isascii() else _clean(value, f"The field “{key}”")


def _integer(source: Mapping[str, Any], key: str, default: int | None = None) -> int:
    value = source.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidContent(f"The field “{key}” is missing or not a whole number.")
    return value


def _boolean(source: Mapping[str, Any], key: str, default: bool) -> bool:
    value = source.get(key, default)
    if not isinstance(value, bool):
        raise InvalidContent(f"The field “{key}” is neither true nor false.")
    return value


def _one_of(source: Mapping[str, Any], key: str, allowed: tuple[str, ...], default: str | None = None) -> str:
    value = _text(source, key, default)
    if value not in allowed:
        raise InvalidContent(f"The field “{key}” has the unknown value “{value[:40]}”.")
    return value


def _opaque_from(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    opaque = value.get("opaque")
    if opaque is None:
        return None
    return cast(Mapping[str, Any], plain(_object(opaque, "Provider data"), "Provider data"))
