"""JSON schemas in the subset that Gemini's function declarations take.

What it refuses is left out or said otherwise; nothing a model needs to fill in the arguments is lost, for the
tools check what they get themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PLAIN = (
    "description", "nullable", "minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength",
    "pattern", "required",
)  # fmt: skip
_FORMATS = {"string": {"enum", "date-time"}, "integer": {"int32", "int64"}, "number": {"float", "double"}}


def gemini_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema without what Gemini does not know."""
    kind, nullable = _kind(schema.get("type"))
    made: dict[str, Any] = {}
    if kind:
        made["type"] = kind
    made.update({name: schema[name] for name in _PLAIN if name in schema})
    if nullable:
        made["nullable"] = True
    if schema.get("format") in _FORMATS.get(kind, ()):
        made["format"] = schema["format"]
    _add_values(made, schema)
    if "default" in schema:  # the field itself is ignored
        _describe(made, f"Default: {schema['default']}.")
    if isinstance(items := schema.get("items"), Mapping):
        made["items"] = gemini_schema(items)
    elif kind == "array":
        made["items"] = {"type": "string"}  # demanded
    if isinstance(properties := schema.get("properties"), Mapping):
        made["properties"] = {name: gemini_schema(value) for name, value in properties.items()}
    choices = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(choices, list):
        _add_choices(made, [choice for choice in choices if isinstance(choice, Mapping)])
    if not made.keys() & {"type", "anyOf"}:
        made["type"] = "string"  # one is demanded
    if "required" in made:
        made["required"] = [name for name in made["required"] if name in made.get("properties", {})]
        if not made["required"]:
            del made["required"]
    return made


def _kind(stated: object) -> tuple[str, bool]:
    """(type, whether it may be null) of a type that may be a list."""
    if isinstance(stated, str):
        return stated, False
    if isinstance(stated, list):
        kinds = [kind for kind in stated if kind != "null"]
        return (str(kinds[0]) if kinds else "string"), len(kinds) < len(stated)
    return "", False


def _add_values(made: dict[str, Any], schema: Mapping[str, Any]) -> None:
    """The values allowed: a list of its own for text, words in the description for anything else."""
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if not isinstance(values, list):
        return
    if made.get("type", "string") == "string" and all(isinstance(value, str) and value for value in values):
        made["type"] = "string"
        made["enum"] = list(values)
        return
    _describe(made, "One of " + ", ".join(str(value) for value in values) + ".")


def _describe(made: dict[str, Any], sentence: str) -> None:
    made["description"] = f"{made['description']} {sentence}" if made.get("description") else sentence


def _add_choices(made: dict[str, Any], choices: list[Mapping[str, Any]]) -> None:
    real = [choice for choice in choices if choice.get("type") != "null"]
    if len(real) < len(choices):
        made["nullable"] = True
    if len(real) == 1:
        made.update({name: value for name, value in gemini_schema(real[0]).items() if name not in made})
    elif real:
        made["anyOf"] = [gemini_schema(choice) for choice in real]
